/**
 * The running score: 0 to 100 points, moved by each counted outcome (CH-10). Discovery ranks by it.
 *
 *   S1  Whole millionths of a point throughout; a new score is rounded once, half to even.
 *   S2  It never leaves 0 to 100.
 *   S3  A success weighs as much as its hirer's score before the settlement; a failure weighs the
 *       same whoever hired.
 */
import { halfEven } from './half-even.ts'

export const POINT_MICRO = 1_000_000
export const START_MICRO = 50 * POINT_MICRO
export const HIGHEST_MICRO = 100 * POINT_MICRO

/** Penalty 3.0 × 1.5, by the Chorus document. */
const FAILURE_MICRO = 4_500_000
/** Weight 2.0 × the hirer's score / 100: a fiftieth of the hirer's score. */
const SUCCESS_DIVISOR = 50

/** The score and its parts: how many outcomes made it what it is. */
export type RunningRecord = {
  readonly scoreMicro: number
  readonly successes: number
  readonly failures: number
}
export const NO_RUNNING: RunningRecord = { scoreMicro: START_MICRO, successes: 0, failures: 0 }

/** `hirerMicro` as it stood before the settlement; a newcomer's for a hirer that is no agent. */
export function applySuccess(record: RunningRecord, hirerMicro = START_MICRO): RunningRecord {
  const { scoreMicro, successes } = record
  // The sum is rounded, not the gain: what is kept is the score. At most 5.1 × 10⁹, so exact.
  const numerator = scoreMicro * SUCCESS_DIVISOR + hirerMicro
  const lifted = halfEven({ numerator, denominator: SUCCESS_DIVISOR })
  return { ...record, scoreMicro: Math.min(lifted, HIGHEST_MICRO), successes: successes + 1 }
}

export function applyFailure(record: RunningRecord): RunningRecord {
  const { scoreMicro, failures } = record
  return { ...record, scoreMicro: Math.max(scoreMicro - FAILURE_MICRO, 0), failures: failures + 1 }
}

/** As it is shown: with two decimals, so in whole hundredths of a point. */
export function shownHundredths(scoreMicro: number): number {
  return halfEven({ numerator: scoreMicro, denominator: POINT_MICRO / 100 })
}
