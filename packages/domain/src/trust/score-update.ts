/**
 * When an agent's reputation is told to the others (OC-9): after each outcome that the window
 * counts, and in between often enough that no 24 hours pass without.
 */
import type { Instant } from '../ids.ts'
import { LIMITS } from '../limits.ts'
import { countsForWindow, type Outcome } from './outcome.ts'

export type ScoreUpdate = 'done' | 'failed' | 'periodic'

/** Undefined after cancelled work: it changed nothing that could be told. */
export function updateAfter(
  outcome: Pick<Outcome, 'ending'>,
): Exclude<ScoreUpdate, 'periodic'> | undefined {
  if (!countsForWindow(outcome).counts) return undefined
  return outcome.ending.how === 'done' ? 'done' : 'failed'
}

/** Every update starts the period anew. Before the first one, registration stands for it. */
export function nextUpdateAt(lastUpdateAt: Instant): Instant {
  return lastUpdateAt + LIMITS.reputationBeatMs
}

/** The same, looked at from now: whoever was last told of at this time or before is due. */
export function dueSince(now: Instant): Instant {
  return now - LIMITS.reputationBeatMs
}

export function isUpdateDue(
  { lastUpdateAt }: { readonly lastUpdateAt: Instant },
  now: Instant,
): boolean {
  return now >= nextUpdateAt(lastUpdateAt)
}
