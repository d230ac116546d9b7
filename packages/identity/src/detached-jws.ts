/**
 * The status feed's `X-Signature`: a JWS over the body's bytes that leaves the body where it is
 * (RFC 7515 appendix F, EdDSA by RFC 8037).
 *
 *   D1  The signature covers the bytes that travel, not a value read from them.
 *   D2  The algorithm is EdDSA. What the header says otherwise is refused, never followed.
 *   D3  `kid` names the key, so that keys rotate without a restart (SF-6).
 */
import { type Refused, refuse } from '@chimera/domain/decision'
import type { KeyId } from '@chimera/domain/ids'
import { CompactSign, compactVerify } from 'jose'
import type { KeyOf, Keyring } from './keyring.ts'
import type { KeyPair } from './keys.ts'

export type JwsVerdict =
  | { readonly ok: true; readonly key: KeyId }
  | Refused<'caller_unknown' | 'signature_invalid'>

// header..signature, the payload between the dots being the body's own bytes.
const DETACHED = /^([A-Za-z0-9_-]{1,1024})\.\.([A-Za-z0-9_-]{86})$/

export async function signDetached(
  body: Uint8Array,
  pair: KeyPair,
  header: { readonly kid?: KeyId } = { kid: pair.id },
): Promise<string> {
  const whole = await new CompactSign(body)
    .setProtectedHeader({ alg: 'EdDSA', ...header })
    .sign(pair.privateKey)
  const [head, , signature] = whole.split('.')
  return `${head}..${signature}`
}

export type DetachedPolicy = {
  readonly keyOf: KeyOf
  readonly keyring: Keyring
  /** The key of a header that names none; such headers are refused without it. */
  readonly unnamed?: KeyId
}

export async function verifyDetached(
  text: string,
  body: Uint8Array,
  { keyOf, keyring, unnamed }: DetachedPolicy,
): Promise<JwsVerdict> {
  const [, head, signature] = DETACHED.exec(text) ?? []
  if (head === undefined) return refuse('signature_invalid')
  const named = keyNamed(head)
  const id = named ?? unnamed
  if (id === undefined) return refuse('caller_unknown')
  const publicKey = await keyOf(id)
  const key = publicKey === undefined ? undefined : keyring.find(publicKey)
  if (key === undefined) return refuse('caller_unknown')
  const payload = Buffer.from(body).toString('base64url')
  try {
    const { protectedHeader } = await compactVerify(`${head}.${payload}.${signature}`, key.object, {
      algorithms: ['EdDSA'],
    })
    // RFC 7797 would have the payload signed in another form than the one put back above.
    return protectedHeader.b64 === undefined ? { ok: true, key: id } : refuse('signature_invalid')
  } catch {
    return refuse('signature_invalid')
  }
}

/** Only to find the key; nothing in it is believed before the signature is. */
function keyNamed(head: string): KeyId | undefined {
  try {
    const header: unknown = JSON.parse(Buffer.from(head, 'base64url').toString('utf8'))
    if (typeof header !== 'object' || header === null || !('kid' in header)) return undefined
    return typeof header.kid === 'string' ? (header.kid as KeyId) : undefined
  } catch {
    return undefined
  }
}
