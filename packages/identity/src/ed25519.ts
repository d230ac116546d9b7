/**
 * Ed25519 over bytes, with one meaning of "valid" whichever library does the arithmetic.
 *
 * RFC 8032 leaves room: node:crypto (OpenSSL) accepts keys and nonce points of small order,
 * libsodium does not. A message must not be good at one hub and bad at the next, so the stricter
 * reading holds everywhere:
 *
 *   G1  A signature is 64 bytes; its S is below the group order.
 *   G2  A public key is a canonical encoding (y < p) and not a point of small order.
 *   G3  The signature's R is not a point of small order.
 *   G4  The equation is checked without the cofactor, on the encoded R.
 *
 * Both libraries do G1 and G4 by themselves; G2 is checked once, when a key is read (keys.ts), and
 * G3 here, since only libsodium does it.
 */
import { sign, verify } from 'node:crypto'
import type { KeyPair, VerifyingKey } from './keys.ts'

export const SIGNATURE_BYTES = 64
export const KEY_BYTES = 32

// 64 bytes are 85 full characters, one that carries 2 bits, and two of padding.
const SIGNATURE_TEXT = /^[A-Za-z0-9+/]{85}[AQgw]==$/

/** The y of every point of small order, p and p + 1 being second spellings of 0 and 1. */
const SMALL_ORDER = new Set([
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
])

export function signBytes(bytes: Uint8Array, pair: KeyPair): Uint8Array {
  return pair.sign?.(bytes) ?? sign(null, bytes, pair.privateKey)
}

export function verifyBytes(bytes: Uint8Array, signature: Uint8Array, key: VerifyingKey): boolean {
  return mayVerify(signature) && verify(null, bytes, key.object, signature)
}

/** The same on the thread pool, for where one core is not enough. */
export function verifyBytesAside(
  bytes: Uint8Array,
  signature: Uint8Array,
  key: VerifyingKey,
): Promise<boolean> {
  if (!mayVerify(signature)) return Promise.resolve(false)
  return new Promise((resolve, reject) => {
    verify(null, bytes, key.object, signature, (error, good) => {
      if (error === null) resolve(good)
      else reject(error)
    })
  })
}

export function encodeSignature(signature: Uint8Array): string {
  return Buffer.from(signature).toString('base64')
}

/** Only the one spelling of 64 bytes: padded, standard alphabet, no loose bits, no white space. */
export function decodeSignature(text: unknown): Uint8Array | undefined {
  if (typeof text !== 'string' || !SIGNATURE_TEXT.test(text)) return undefined
  return Buffer.from(text, 'base64')
}

export function isSmallOrder(point: Uint8Array): boolean {
  // The top bit is the sign of x, which does not matter to the order.
  const y = Buffer.from(point.subarray(0, KEY_BYTES))
  y[KEY_BYTES - 1] = (y[KEY_BYTES - 1] ?? 0) & 0x7f
  return SMALL_ORDER.has(y.toString('hex'))
}

/** y < p = 2^255 − 19, whose little-endian bytes are ed, thirty times ff, and 7f. */
export function isCanonicalPoint(point: Uint8Array): boolean {
  if (((point[KEY_BYTES - 1] ?? 0) & 0x7f) !== 0x7f) return true
  for (let at = 1; at < KEY_BYTES - 1; at += 1) if (point[at] !== 0xff) return true
  return (point[0] ?? 0) < 0xed
}

const mayVerify = (signature: Uint8Array): boolean =>
  signature.length === SIGNATURE_BYTES && !isSmallOrder(signature)
