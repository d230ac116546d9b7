/**
 * Public keys made ready, kept while they are in use, so that a post every ten seconds from every
 * instance does not read the same key again and again.
 *
 *   J1  At most so many keys are kept; the one that was used longest ago goes first.
 */
import type { KeyId, PublicKey } from '@chimera/domain/ids'
import { readVerifyingKey, type VerifyingKey } from './keys.ts'

/** About a kilobyte each: ten megabytes for every agent of a large hub. */
const MOST_KEYS = 10_000

export type Keyring = {
  /** Undefined for a text that is no usable key. */
  readonly find: (publicKey: PublicKey) => VerifyingKey | undefined
}

/** Who is behind a key's name: the directory, the hub's own keys, an operator's settings. */
export type KeyOf = (id: KeyId) => PublicKey | undefined | Promise<PublicKey | undefined>

export function createKeyring(most: number = MOST_KEYS): Keyring {
  // A Map keeps the order of insertion, so its first key is the one used longest ago.
  const kept = new Map<PublicKey, VerifyingKey>()

  function find(publicKey: PublicKey): VerifyingKey | undefined {
    const known = kept.get(publicKey)
    if (known !== undefined) {
      kept.delete(publicKey)
      kept.set(publicKey, known)
      return known
    }
    const read = readVerifyingKey(publicKey)
    if (read === undefined) return undefined
    kept.set(publicKey, read)
    if (kept.size > most) {
      const oldest = kept.keys().next()
      if (!oldest.done) kept.delete(oldest.value)
    }
    return read
  }

  return { find }
}
