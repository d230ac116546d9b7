/** Who holds a name in the status feed. Agents claim theirs through the registry. */
import type { Holder } from '@chimera/domain/agent/alias'
import type { Decision } from '@chimera/domain/decision'
import type { Alias, CorrelationId } from '@chimera/domain/ids'
import type { Refusal } from '@chimera/domain/refusals'

export type Aliases = {
  /** Never another one later: a holder that was found holds for good. */
  readonly holderOf: (alias: Alias) => Promise<Holder | undefined>
  /** For a credential, by the name that outlives its renewal. */
  readonly hold: (asked: {
    readonly alias: Alias
    readonly subject: string
    readonly correlation: CorrelationId
  }) => Promise<Decision<unknown, Refusal>>
}
