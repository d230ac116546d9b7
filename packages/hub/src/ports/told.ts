/** What was told of reputations, so that each thing is told once (OC-9). */
import type { AgentId, Instant } from '@chimera/domain/ids'

export type OutcomeClaim = { readonly agent: AgentId; readonly seq: number }

export type Told = {
  /** The number of the last fact whose outcome somebody claimed. */
  readonly through: () => Promise<number>
  /** Claims outcomes up to these; answers the number up to which others had claimed before. */
  readonly claimOutcomes: (claims: readonly OutcomeClaim[], now: Instant) => Promise<number>
  /** Claims up to so many agents that were last told of at this time or before. */
  readonly claimDue: (due: {
    readonly lastBy: Instant
    readonly now: Instant
    readonly limit: number
  }) => Promise<readonly AgentId[]>
}
