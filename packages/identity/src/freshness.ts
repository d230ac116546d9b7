/**
 * When a signed request may still be believed, and that it is believed once.
 *
 *   W1  Signed at most 30 s ahead of our clock: that much is skew.
 *   W2  Signed at most 60 s ago by our clock, and not past its own expiry.
 *   W3  A nonce passes once. It is kept for 120 s, which is longer than W1 and W2 let its request
 *       live, so it is never forgotten too early.
 *   W4  The memory of nonces is bounded and fails closed: when it is full, nothing passes.
 */
import { type Refused, refuse } from '@chimera/domain/decision'
import type { Instant } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'

export type Span = { readonly signedAt: Instant; readonly expiresAt?: Instant }

export type Freshness = { readonly ok: true } | Refused<'message_early' | 'message_expired'>

export function judgeFreshness({ signedAt, expiresAt }: Span, now: Instant): Freshness {
  if (signedAt > now + LIMITS.skewMs) {
    return refuse('message_early', { retryAt: signedAt - LIMITS.skewMs })
  }
  if (now - signedAt > LIMITS.requestAgeMs) return refuse('message_expired')
  if (expiresAt !== undefined && now >= expiresAt) return refuse('message_expired')
  return { ok: true }
}

/** A nonce belongs to the key that signed it: two signers may draw the same one. */
export type Nonce = { readonly key: string; readonly nonce: string }

export type Remembered = 'fresh' | 'seen' | 'full'

/**
 * Where nonces are remembered. One atomic step: of two requests with one nonce, however they race,
 * one hears `fresh`. Ask only after the signature has been verified, or strangers fill the memory.
 */
export type SeenNonces = {
  readonly remember: (nonce: Nonce, now: Instant) => Remembered | Promise<Remembered>
}

/** Two thousand signed requests a second for 120 s; about 40 MB when full. */
const MOST_NONCES = 240_000

/** For one process. Several hubs share the store's. */
export function createSeenNonces(most: number = MOST_NONCES): SeenNonces {
  const until = new Map<string, Instant>()

  // Every nonce is kept equally long, so the first ones of the Map lapse first.
  function forget(now: Instant): void {
    for (const [known, lapsesAt] of until) {
      if (lapsesAt > now) return
      until.delete(known)
    }
  }

  function remember({ key, nonce }: Nonce, now: Instant): Remembered {
    forget(now)
    const name = JSON.stringify([key, nonce])
    if (until.has(name)) return 'seen'
    if (until.size >= most) return 'full'
    until.set(name, now + LIMITS.nonceMs)
    return 'fresh'
  }

  return { remember }
}
