/**
 * How often callers have asked all hubs that share what they keep. Absent where one hub is alone:
 * it counts by itself, and exactly.
 */
import type { Instant } from '@chimera/domain/ids'
import type { AllowanceAsked, AllowanceDecided } from '@chimera/domain/work/allowance'

export type Allowances = {
  /** `away` when nobody answers, `full` when too many wait. `caller` is a digest. */
  readonly ask: (
    caller: string,
    asked: AllowanceAsked,
    now: Instant,
  ) => Promise<AllowanceDecided | 'away' | 'full'>
  /** Removes what has lapsed; answers how many. */
  readonly purge: (now: Instant) => Promise<number>
}
