/**
 * Verification of many messages, as a directory gets them: from received bytes to a message that is
 * proven, through the fastest library at hand.
 *
 *   B1  Which library verifies changes the speed and nothing else (ed25519.ts says how).
 *   B2  sodium-native is an optional peer. Without it node:crypto does it, on the thread pool.
 *   B3  With a thread beside, what comes together is verified there while the next is read.
 */
import { type Refused, refuse } from '@chimera/domain/decision'
import type { PublicKey } from '@chimera/domain/ids'
import { createAside } from './aside.ts'
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
  readonly verifyMessage: (
    message: object,
    publicKey: PublicKey,
  ) => MessageVerdict | Promise<MessageVerdict>
}

export type BulkOptions = {
  readonly keyring?: Keyring
  /** How the fast library is got; a rejection means that it is not there. */
  readonly load?: () => Promise<Sodium>
  /** Whether many are verified in a thread beside; for a process that lasts, on several cores. */
  readonly aside?: boolean
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
  const { keyring = createKeyring(), load = loadSodium, aside = false } = options
  const sodium = await load().catch(() => undefined)

  function chosen(): Check {
    if (sodium === undefined) {
      return ({ bytes, signature }, key) => verifyBytesAside(bytes, signature, key)
    }
    const verify = sodium.crypto_sign_verify_detached
    if (!aside) return ({ bytes, signature }, key) => verify(signature, bytes, key.bytes)
    const checkAside = createAside(verify)
    return ({ bytes, signature }, key) => checkAside({ signature, bytes, key: key.bytes })
  }
  const check = chosen()

  // No promise where there is nothing to wait for: at ten thousand a second they are felt.
  function verifyMessage(
    message: object,
    publicKey: PublicKey,
  ): MessageVerdict | Promise<MessageVerdict> {
    const signable = takeApart(message)
    if (!signable.ok) return signable
    const key = keyring.find(publicKey)
    if (key === undefined) return refuse('signature_invalid')
    const good = check(signable, key)
    return typeof good === 'boolean' ? verdictOf(good) : good.then(verdictOf)
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

const verdictOf = (good: boolean): MessageVerdict =>
  good ? { ok: true } : refuse('signature_invalid')

async function loadSodium(): Promise<Sodium> {
  // @ts-expect-error: the package ships no types; what is used of it is written above.
  const { default: sodium } = await import('sodium-native')
  return sodium
}
