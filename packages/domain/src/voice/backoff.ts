/**
 * How long to wait before trying again. Chance is handed in.
 *
 *   B1  The wait doubles with each failure in a row, and never exceeds the plan's longest.
 *   B2  Chance only shortens a wait, so that a bound stays a bound and a crowd still spreads out.
 */
import { LIMITS } from '../limits.ts'

export type BackoffPlan = {
  readonly firstMs: number
  readonly factor: number
  readonly mostMs: number
  /** The share of a wait that chance may take off. */
  readonly spread: number
}

export const BACKOFF = {
  /** 1, 2, 4, 8, 16 s (SF-5). A fifth off at most: the document names the seconds. */
  feed: { firstMs: 1_000, factor: 2, mostMs: 16_000, spread: 0.2 },
  /** Up to 5 min (AV-4). Half off: a whole network comes back to one hub. */
  presence: { firstMs: 1_000, factor: 2, mostMs: LIMITS.presenceBackoffMs, spread: 0.5 },
} as const satisfies Record<string, BackoffPlan>

export type Trouble = {
  /** Failures in a row, the one just now included. */
  readonly failures: number
  /** From 0 up to, but not including, 1. */
  readonly chance: number
}

export function backoffMs(plan: BackoffPlan, { failures, chance }: Trouble): number {
  const grownMs = plan.firstMs * plan.factor ** Math.max(0, failures - 1)
  const fullMs = Math.min(grownMs, plan.mostMs)
  return Math.round(fullMs * (1 - plan.spread * chance))
}
