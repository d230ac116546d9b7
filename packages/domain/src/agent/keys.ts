/**
 * Which key speaks for an agent, and which ones did (AV-12, P-15).
 *
 *   E1  The first key binds; from then on only the present key introduces the next (rotation), or
 *       the owner does after a delay that everybody can see (recovery).
 *   E2  A key has one period. It is never used again, by this agent or any other.
 *   E3  What was signed in a key's period stays verifiable for ever; what was signed outside is not
 *       believed, even by the right key.
 *   E4  The present key can call a recovery off: who still has the key has not lost it.
 */
import { accept, type Decision, refuse } from '../decision.ts'
import type { Instant, KeyId, PublicKey } from '../ids.ts'
import { LIMITS } from '../limits.ts'

export type Key = { readonly id: KeyId; readonly publicKey: PublicKey }

export type KeyPeriod = Key & {
  readonly from: Instant
  /** Absent on the present key. */
  readonly until?: Instant
}

export type KeyHistory = {
  /** Oldest first; the last one is the present key. Empty until something is signed. */
  readonly periods: readonly KeyPeriod[]
  readonly recovery?: { readonly key: Key; readonly takesEffectAt: Instant }
}

export type KeyFact =
  | { readonly type: 'key_bound'; readonly key: Key; readonly at: Instant }
  | { readonly type: 'key_rotated'; readonly key: Key; readonly at: Instant }
  | { readonly type: 'recovery_begun'; readonly key: Key; readonly takesEffectAt: Instant }
  | { readonly type: 'recovery_called_off' }

export const NO_KEYS: KeyHistory = { periods: [] }

export function presentKey({ periods }: KeyHistory): KeyPeriod | undefined {
  return periods.at(-1)
}

/** E3: the key that spoke for the agent at that moment. */
export function keyAt({ periods }: KeyHistory, at: Instant): KeyPeriod | undefined {
  return periods.find((each) => each.from <= at && (each.until === undefined || at < each.until))
}

/** The first signature binds; later ones must come from the present key. */
export function decideBind(
  history: KeyHistory,
  key: Key,
  now: Instant,
): Decision<KeyFact, 'key_mismatch'> {
  const present = presentKey(history)
  if (present === undefined) return accept({ type: 'key_bound', key, at: now })
  return present.id === key.id ? accept() : refuse('key_mismatch')
}

/** `signedBy` is the key whose signature on the rotation message was verified. */
export function decideRotate(
  history: KeyHistory,
  { key, signedBy }: { readonly key: Key; readonly signedBy: KeyId },
  now: Instant,
): Decision<KeyFact, 'key_mismatch' | 'key_reused'> {
  const present = presentKey(history)
  if (present?.id === key.id) return accept()
  if (present === undefined || present.id !== signedBy) return refuse('key_mismatch')
  if (wasUsed(history, key)) return refuse('key_reused')
  return accept({ type: 'key_rotated', key, at: now })
}

/** The owner replaces a lost key. It takes effect only later, so that a thief is noticed. */
export function decideRecover(
  history: KeyHistory,
  key: Key,
  now: Instant,
  delayMs: number = LIMITS.recoveryDelayMs,
): Decision<KeyFact, 'key_reused'> {
  if (history.recovery?.key.id === key.id) return accept()
  if (wasUsed(history, key)) return refuse('key_reused')
  return accept({ type: 'recovery_begun', key, takesEffectAt: now + delayMs })
}

export function decideFinishRecovery(
  history: KeyHistory,
  now: Instant,
): Decision<KeyFact, 'recovery_unknown' | 'recovery_pending'> {
  const { recovery } = history
  if (recovery === undefined) return refuse('recovery_unknown')
  if (now < recovery.takesEffectAt) {
    return refuse('recovery_pending', { retryAt: recovery.takesEffectAt })
  }
  return accept({ type: 'key_rotated', key: recovery.key, at: now })
}

/** E4. */
export function decideCallOffRecovery(
  history: KeyHistory,
  signedBy: KeyId,
): Decision<KeyFact, 'recovery_unknown' | 'key_mismatch'> {
  if (history.recovery === undefined) return refuse('recovery_unknown')
  if (presentKey(history)?.id !== signedBy) return refuse('key_mismatch')
  return accept({ type: 'recovery_called_off' })
}

/** A hub's own key is the one that its operator starts it with, but never one of before (E2). */
export function decideAdopt(
  history: KeyHistory,
  key: Key,
  now: Instant,
): Decision<KeyFact, 'key_reused'> {
  const present = presentKey(history)
  if (present === undefined) return accept({ type: 'key_bound', key, at: now })
  if (present.id === key.id) return accept()
  if (wasUsed(history, key)) return refuse('key_reused')
  return accept({ type: 'key_rotated', key, at: now })
}

export function applyKey(history: KeyHistory, fact: KeyFact): KeyHistory {
  switch (fact.type) {
    case 'key_bound':
      return { periods: [{ ...fact.key, from: fact.at }] }
    case 'key_rotated': {
      const closed = history.periods.map((each) =>
        each.until === undefined ? { ...each, until: fact.at } : each,
      )
      return { periods: [...closed, { ...fact.key, from: fact.at }] }
    }
    case 'recovery_begun':
      return { ...history, recovery: { key: fact.key, takesEffectAt: fact.takesEffectAt } }
    case 'recovery_called_off':
      return { periods: history.periods }
  }
}

const wasUsed = ({ periods }: KeyHistory, key: Key): boolean =>
  periods.some((each) => each.id === key.id)
