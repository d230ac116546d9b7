/** The append-only trail and its seals. */
import type { Sealed } from '@chimera/domain/audit'
import type { CorrelationId, Instant } from '@chimera/domain/ids'
import type { TrustRulesSet } from '@chimera/domain/trust/pair-limit'
import type { OutcomeReported } from '@chimera/domain/trust/trail'
import type { AccessDenied } from '../act/denials.ts'

export type Trail = {
  readonly append: (
    fact: OutcomeReported | TrustRulesSet | AccessDenied,
    correlation: CorrelationId,
    now: Instant,
  ) => Promise<void>
  /** Gives new facts their place in the chain; hands them on, and answers how many. */
  readonly seal: (
    take?: (sealed: readonly Sealed<unknown>[]) => void | Promise<void>,
  ) => Promise<number>
  readonly sealedAfter: (seq: number) => Promise<readonly Sealed<unknown>[]>
}
