/**
 * Ed25519 keys: made, read from and written as JWK, and named by their RFC 7638 thumbprint.
 *
 *   K1  A key's name is computed from the key; nobody can choose it.
 *   K2  A private key is kept as a KeyObject, which no log or JSON ever shows.
 *   K3  A public key that could verify more than one signer's words (small order, a second
 *       spelling) is not a key.
 */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  randomBytes,
} from 'node:crypto'
import type { KeyId, PublicKey } from '@chimera/domain/ids'
import { isCanonicalPoint, isSmallOrder, KEY_BYTES } from './ed25519.ts'
import { Failure } from './failure.ts'

/** So many unpredictable bytes. The operating system's, unless a test hands in its own. */
export type Random = (size: number) => Uint8Array

export type KeyPair = {
  readonly id: KeyId
  readonly publicKey: PublicKey
  readonly privateKey: KeyObject
  /** A faster way to the same signature (quick.ts). */
  readonly sign?: (bytes: Uint8Array) => Uint8Array
}

/** A public key made ready: reading one costs as much as half a verification. */
export type VerifyingKey = {
  readonly id: KeyId
  readonly publicKey: PublicKey
  readonly bytes: Uint8Array
  readonly object: KeyObject
}

export type PublicJwk = { readonly kty: 'OKP'; readonly crv: 'Ed25519'; readonly x: PublicKey }
export type PrivateJwk = PublicJwk & { readonly d: string }

// 32 bytes are 42 full characters and one that carries 4 bits.
const KEY_TEXT = /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/

// RFC 8410: the fixed head of a PKCS #8 document that holds nothing but an Ed25519 seed.
const SEED_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex')

export function generateKeyPair(random: Random = randomBytes): KeyPair {
  return keyPairFromSeed(random(KEY_BYTES))
}

export function keyPairFromSeed(seed: Uint8Array): KeyPair {
  if (seed.length !== KEY_BYTES) throw new Failure('key_malformed', `${seed.length} bytes of seed`)
  const privateKey = createPrivateKey({
    key: Buffer.concat([SEED_HEAD, seed]),
    format: 'der',
    type: 'pkcs8',
  })
  const publicKey = createPublicKey(privateKey).export({ format: 'jwk' }).x as PublicKey
  return { id: keyIdOf(publicKey), publicKey, privateKey }
}

/** The public half is computed, and must be the one that the JWK claims. */
export function keyPairFromJwk(jwk: unknown): KeyPair {
  const { kty, crv, x, d } = isRecord(jwk) ? jwk : {}
  if (kty !== 'OKP' || crv !== 'Ed25519') throw new Failure('key_malformed', 'not OKP Ed25519')
  if (typeof d !== 'string' || !KEY_TEXT.test(d)) throw new Failure('key_malformed', 'no valid d')
  const pair = keyPairFromSeed(Buffer.from(d, 'base64url'))
  if (pair.publicKey !== x) throw new Failure('key_malformed', 'x does not belong to d')
  return pair
}

export function privateJwk(pair: KeyPair): PrivateJwk {
  const { d } = pair.privateKey.export({ format: 'jwk' })
  if (d === undefined) throw new Failure('key_malformed', 'the key object is not a private key')
  return { ...publicJwk(pair.publicKey), d }
}

export function publicJwk(publicKey: PublicKey): PublicJwk {
  return { kty: 'OKP', crv: 'Ed25519', x: publicKey }
}

/** RFC 7638: the digest of the required members, in order and without spaces. */
export function keyIdOf(publicKey: PublicKey): KeyId {
  const members = `{"crv":"Ed25519","kty":"OKP","x":"${publicKey}"}`
  return createHash('sha256').update(members).digest('base64url') as KeyId
}

/** What somebody sent as a public key, if it is one (K3). */
export function decodePublicKey(text: unknown): PublicKey | undefined {
  if (typeof text !== 'string' || !KEY_TEXT.test(text)) return undefined
  const bytes = Buffer.from(text, 'base64url')
  return isCanonicalPoint(bytes) && !isSmallOrder(bytes) ? (text as PublicKey) : undefined
}

export function decodePublicJwk(jwk: unknown): PublicKey | undefined {
  const { kty, crv, x } = isRecord(jwk) ? jwk : {}
  return kty === 'OKP' && crv === 'Ed25519' ? decodePublicKey(x) : undefined
}

export function readVerifyingKey(text: string): VerifyingKey | undefined {
  const publicKey = decodePublicKey(text)
  if (publicKey === undefined) return undefined
  const object = createPublicKey({ key: { ...publicJwk(publicKey) }, format: 'jwk' })
  const bytes = Buffer.from(publicKey, 'base64url')
  return { id: keyIdOf(publicKey), publicKey, bytes, object }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
