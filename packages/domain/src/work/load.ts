/**
 * When a service has more than it can answer in time, so that it says so at once instead of letting
 * a queue grow (A5).
 *
 *   L1  Above a limit everything new is turned away; what has begun goes on.
 *   L2  A delay counts when it lasts: one long pause alone closes nothing.
 */
import { accept, type Decision, refuse } from '../decision.ts'
import type { Instant } from '../ids.ts'

export type Load = {
  /** Requests that have begun and are not answered yet. */
  readonly inFlight: number
  /** How late the process is for what it wants to do, smoothed by `applyDelay`. */
  readonly delayMs: number
}

/** The most of each that is taken; 0 is no limit. */
export type LoadLimits = Load

// A busy second passes in about a second; callers that were turned away together are spread by
// their own back-off.
const RETRY_MS = 1_000

export function decideLoad(
  load: Load,
  limits: LoadLimits,
  now: Instant,
): Decision<never, 'service_unavailable'> {
  const tooMany = limits.inFlight > 0 && load.inFlight >= limits.inFlight
  const tooLate = limits.delayMs > 0 && load.delayMs > limits.delayMs
  if (tooMany || tooLate) return refuse('service_unavailable', { retryAt: now + RETRY_MS })
  return accept()
}

// Of a pause that lasts, half is seen in two samples and nine tenths in seven.
const WEIGHT = 0.3

export function applyDelay(delayMs: number, sampleMs: number): number {
  return delayMs + WEIGHT * (Math.max(0, sampleMs) - delayMs)
}
