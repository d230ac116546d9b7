/**
 * Flap damping: an instance that fell and is back is not believed on its first word.
 *
 * A fall is what the directory said, not what a clock would have said: the instance was lost (by
 * silence, by expiry or by an unanswered probe) or revoked itself. A flap is a return within
 * `flapMemoryMs` of the fall. Going busy or draining and back is no flap: it was there all along.
 *
 *   F1  A first-ever post counts at once.
 *   F2  After a flap the second post in a row counts; another fall in between starts anew.
 *   F3  After a longer absence the first post counts: that is a new start, not a loose contact.
 */
import type { Instant } from '../ids.ts'
import { LIMITS } from '../limits.ts'

export type Steadiness =
  | { readonly is: 'steady' }
  | { readonly is: 'down'; readonly fellAt: Instant }
  /** Heard once since the fall; the next post makes it steady. */
  | { readonly is: 'returning' }

export const STEADY: Steadiness = { is: 'steady' }

export function afterPost(before: Steadiness, at: Instant): Steadiness {
  if (before.is !== 'down') return STEADY
  return at - before.fellAt < LIMITS.flapMemoryMs ? { is: 'returning' } : STEADY
}

/** Falling again while down is no new fall: the absence is counted from its beginning. */
export function afterFall(before: Steadiness, at: Instant): Steadiness {
  return before.is === 'down' ? before : { is: 'down', fellAt: at }
}
