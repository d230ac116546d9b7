/**
 * The same ask twice is one ask (P-4): one contract for every door.
 *
 *   I1  The scope is (authenticated requester, responder, key); where there is no key, the id of
 *       the request is the key.
 *   I2  What is compared is the digest of what was asked for, never the envelope: a retry may carry
 *       a new time and a new correlation.
 *   I3  Other content under a known key is a conflict, never a second run and never the old answer.
 *   I4  What is worth asking again is not remembered: a refusal that may pass is decided anew.
 */

import type { Digest, IdempotencyKey, Instant } from '../ids.ts'
import { LIMITS } from '../limits.ts'
import { isRetryable, type Refusal } from '../refusals.ts'

export type Scope = {
  readonly requester: string
  readonly responder: string
  readonly key: IdempotencyKey
}

export type Remembered<Answer> = {
  readonly content: Digest
  readonly answer: Answer
  /** Absent: kept for ever, as for the ledger, jobs and debits, or while the work has not ended. */
  readonly forgetAt?: Instant
}

export type Repeat<Answer> =
  | { readonly kind: 'new' }
  | { readonly kind: 'same'; readonly answer: Answer }
  | { readonly kind: 'conflict'; readonly refusal: 'key_conflict' }

/** One string for the scope. Lengths are written out, so that no two scopes share a string. */
export function scopeKey({ requester, responder, key }: Scope): string {
  return `${requester.length}:${requester}${responder.length}:${responder}${key.length}:${key}`
}

export function decideRepeat<Answer>(
  remembered: Remembered<Answer> | undefined,
  content: Digest,
  now: Instant,
): Repeat<Answer> {
  if (remembered === undefined || isForgotten(remembered, now)) return { kind: 'new' }
  if (remembered.content !== content) return { kind: 'conflict', refusal: 'key_conflict' }
  return { kind: 'same', answer: remembered.answer }
}

export function isForgotten(remembered: Remembered<unknown>, now: Instant): boolean {
  return remembered.forgetAt !== undefined && remembered.forgetAt <= now
}

/**
 * OC-12: accepted and deferred answers are remembered, and refusals that asking again cannot cure.
 */
export function isRemembered(answer: 'accepted' | 'deferred' | Refusal): boolean {
  return answer === 'accepted' || answer === 'deferred' || !isRetryable(answer)
}

/** The clock of forgetting starts with the result: until then a repeat must find its work. */
export function rememberUntil(resultAt: Instant): Instant {
  return resultAt + LIMITS.answerMs
}
