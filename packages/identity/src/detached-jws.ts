/**
 * The status feed's `X-Signature`: a JWS over the body's bytes that leaves the body where it is
 * (RFC 7515 appendix F, EdDSA by RFC 8037).
 *
 *   D1  The signature covers the bytes that travel, not a value read from them.
 *   D2  The algorithm is EdDSA. What the header says otherwise is refused, never followed.
 *   D3  `kid` names the key, so that keys rotate without a restart (SF-6).
 *   D4  What the header demands beyond that (`crit`, or RFC 7797's payload in another form) is not
 *       understood here, and so refused.
 */
import { type Refused, refuse } from '@chimera/domain/decision'
import type { KeyId } from '@chimera/domain/ids'
import { signBytes, verifyBytes } from './ed25519.ts'
import type { KeyOf, Keyring } from './keyring.ts'
import type { KeyPair } from './keys.ts'

export type JwsVerdict =
  | { readonly ok: true; readonly key: KeyId }
  | Refused<'caller_unknown' | 'signature_invalid'>

// header..signature, the payload between the dots being the body's own bytes.
const DETACHED = /^([A-Za-z0-9_-]{1,1024})\.\.([A-Za-z0-9_-]{86})$/

export function signDetached(
  body: Uint8Array,
  pair: KeyPair,
  header: { readonly kid?: KeyId } = { kid: pair.id },
): string {
  const head = base64url(JSON.stringify({ alg: 'EdDSA', ...header }))
  return `${head}..${base64url(signBytes(signed(head, body), pair))}`
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
  const header = readHeader(head)
  const id = header.kid ?? unnamed
  if (id === undefined) return refuse('caller_unknown')
  const publicKey = await keyOf(id)
  const key = publicKey === undefined ? undefined : keyring.find(publicKey)
  if (key === undefined) return refuse('caller_unknown')
  const isGood =
    header.isPlain &&
    verifyBytes(signed(head, body), Buffer.from(signature ?? '', 'base64url'), key)
  return isGood ? { ok: true, key: id } : refuse('signature_invalid')
}

const signed = (head: string, body: Uint8Array): Buffer =>
  Buffer.from(`${head}.${base64url(body)}`, 'latin1')

const base64url = (of: Uint8Array | string): string => Buffer.from(of).toString('base64url')

/** The key is only looked up by it; nothing in it is believed before the signature is. */
function readHeader(head: string): { readonly kid?: KeyId; readonly isPlain: boolean } {
  const header = parsed(head)
  // D2, D4.
  const isPlain = header.alg === 'EdDSA' && !('crit' in header) && !('b64' in header)
  return typeof header.kid === 'string' ? { kid: header.kid as KeyId, isPlain } : { isPlain }
}

function parsed(head: string): Readonly<Record<string, unknown>> {
  try {
    const header: unknown = JSON.parse(Buffer.from(head, 'base64url').toString('utf8'))
    return typeof header === 'object' && header !== null ? { ...header } : {}
  } catch {
    return {}
  }
}
