/**
 * What may happen once only is claimed before it is begun, so that a process that dies in the
 * middle leaves a trace (P-3, P-4).
 *
 *   Q1  A claim without an answer is under way as long as whoever claimed it may still be at it.
 *   Q2  After that its outcome is unknown: neither failed nor to be repeated, but looked up.
 */
import type { Instant } from '../ids.ts'
import { LIMITS } from '../limits.ts'

export type Claim = {
  /** The runner that claimed. */
  readonly by: string
  /** By then its run has ended, one way or another. */
  readonly until: Instant
}

export function claimUntil(begunAt: Instant, longestMs: number): Instant {
  // Another machine reads it by its own clock.
  return begunAt + longestMs + LIMITS.skewMs
}

export type Asker = {
  readonly runner: string
  /** Nobody else writes where the claims are kept: a claim of another runner is of a dead one. */
  readonly alone: boolean
}

/** For a claim whose run is not under way at the asker itself. */
export function judgeClaim(
  claim: Claim,
  { runner, alone }: Asker,
  now: Instant,
): 'under_way' | 'unknown' {
  if (alone || claim.by === runner) return 'unknown'
  return now < claim.until ? 'under_way' : 'unknown'
}
