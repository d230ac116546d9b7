/**
 * Verification of many messages, as a directory gets them: from received bytes to a message that is
 * proven, through the fastest library at hand.
 *
 *   B1  Which library verifies changes the speed and nothing else (ed25519.ts says how).
 *   B2  sodium-native is an optional peer. Without it node:crypto does it, on the thread pool.
 */
import { type Refused, refuse } from '@chimera/domain/decision'
import type { PublicKey } from '@chimera/domain/ids'
import { verifyBytesAside } from './ed25519.ts'
import { createKeyring, type Keyring } from './keyring.ts'
import type { VerifyingKey } from './keys.ts'
import { type MessageRefusal, type MessageVerdict, type Signable, takeApart } from './message.ts'
import { type ReceivedMessage, readMessage } from './received.ts'

export type BulkVerdict =
  | { readonly ok: true; readonly message: ReceivedMessage }
  | Refused<MessageRefusal | 'message_oversized'>

export type Bulk = {
  readonly library: 'sodium-native' | 'node:crypto'
  readonly verifyMessageBytes: (bytes: Uint8Array, publicKey: PublicKey) => Promise<BulkVerdict>
  /** For a message that was read first, because its fields say whose key it is. */
  readonly verifyMessage: (message: object, publicKey: PublicKey) => Promise<MessageVerdict>
}

export type BulkOptions = {
  readonly keyring?: Keyring
  /** How the fast library is got; a rejection means that it is not there. */
  readonly load?: () => Promise<Sodium>
}

/** The one function that is used of the library. */
export type Sodium = {
  readonly crypto_sign_verify_detached: (
    signature: Uint8Array,
    message: Uint8Array,
    publicKey: Uint8Array,
  ) => boolean
}

type Check = (signable: Signable, key: VerifyingKey) => boolean | Promise<boolean>

export async function openBulk(options: BulkOptions = {}): Promise<Bulk> {
  const { keyring = createKeyring(), load = loadSodium } = options
  const sodium = await load().catch(() => undefined)

  const check: Check =
    sodium === undefined
      ? ({ bytes, signature }, key) => verifyBytesAside(bytes, signature, key)
      : ({ bytes, signature }, key) =>
          sodium.crypto_sign_verify_detached(signature, bytes, key.bytes)

  async function verifyMessage(message: object, publicKey: PublicKey): Promise<MessageVerdict> {
    const signable = takeApart(message)
    if (!signable.ok) return signable
    const key = keyring.find(publicKey)
    if (key === undefined) return refuse('signature_invalid')
    return (await check(signable, key)) ? { ok: true } : refuse('signature_invalid')
  }

  async function verifyMessageBytes(bytes: Uint8Array, publicKey: PublicKey): Promise<BulkVerdict> {
    const read = readMessage(bytes)
    if (!read.ok) return read
    const verdict = await verifyMessage(read.message, publicKey)
    return verdict.ok ? { ok: true, message: read.message } : verdict
  }

  return {
    library: sodium === undefined ? 'node:crypto' : 'sodium-native',
    verifyMessageBytes,
    verifyMessage,
  }
}

async function loadSodium(): Promise<Sodium> {
  // @ts-expect-error: the package ships no types; what is used of it is written above.
  const { default: sodium } = await import('sodium-native')
  return sodium
}
