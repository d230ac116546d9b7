/**
 * Signed messages (AV-1, X-9): Ed25519 over the canonical JSON of the message without `signature`,
 * in base64.
 *
 *   S1  Everything but `signature` is under the signature, fields that nobody here knows included.
 *   S2  What is verified is what was received, before anything fills in a default.
 *   S3  A message that verifies is still only what its signer says. Time and replay are looked at
 *       in freshness.ts, meaning in the domain.
 */
import { type Refused, refuse } from '@chimera/domain/decision'
import type { PublicKey } from '@chimera/domain/ids'
import { canonicalParsed, canonicalText } from './canonical.ts'
import { decodeSignature, encodeSignature, signBytes, verifyBytes } from './ed25519.ts'
import type { Keyring } from './keyring.ts'
import type { KeyPair } from './keys.ts'

export type Signed<Message> = Omit<Message, 'signature'> & { readonly signature: string }

export type MessageRefusal = 'message_malformed' | 'signature_invalid'
export type MessageVerdict = { readonly ok: true } | Refused<MessageRefusal>

/** What a signature is checked over, taken apart once for whichever library checks it. */
export type Signable = { readonly bytes: Uint8Array; readonly signature: Uint8Array }

/** A `signature` that is already there is replaced, so that a message can be signed anew. */
export function signMessage<Message extends object>(
  message: Message,
  pair: KeyPair,
): Signed<Message> {
  return signMessageText(message, pair).message
}

/**
 * The same, with the text of the signed message. What is signed is a text already, and only lacks
 * its signature: whoever sends it need not write it again.
 */
export function signMessageText<Message extends object>(
  message: Message,
  pair: KeyPair,
): { readonly message: Signed<Message>; readonly text: string } {
  const body = 'signature' in message ? withoutSignature(message) : message
  const text = canonicalText(body)
  const signature = encodeSignature(signBytes(Buffer.from(text, 'utf8'), pair))
  const comma = text === '{}' ? '' : ','
  return {
    // Not spread (decision 0082).
    message: Object.assign({}, body, { signature }),
    text: `${text.slice(0, -1)}${comma}"signature":"${signature}"}`,
  }
}

function withoutSignature<Message extends object>(message: Message): Message {
  const { signature: _, ...body } = message as Message & { readonly signature?: unknown }
  return body as Message
}

export function verifyMessage(
  message: object,
  publicKey: PublicKey,
  keyring: Keyring,
): MessageVerdict {
  const signable = takeApart(message)
  if (!signable.ok) return signable
  const key = keyring.find(publicKey)
  if (key === undefined) return refuse('signature_invalid')
  return verifyBytes(signable.bytes, signable.signature, key)
    ? { ok: true }
    : refuse('signature_invalid')
}

export function takeApart(
  message: object,
): ({ readonly ok: true } & Signable) | Refused<MessageRefusal> {
  const { signature: text } = message as { readonly signature?: unknown }
  const signature = decodeSignature(text)
  if (signature === undefined) {
    return refuse('signature_invalid', {
      issues: [{ path: '/signature', expected: '64 bytes in base64', got: typeof text }],
    })
  }
  const canonical = canonicalParsed(message, 'signature')
  if (canonical === undefined) {
    return refuse('message_malformed', {
      issues: [{ path: '', expected: 'JSON by RFC 8785', got: 'a number or text outside it' }],
    })
  }
  return { ok: true, bytes: Buffer.from(canonical, 'utf8'), signature }
}
