/**
 * Signing with the faster library, where it is installed: half of what node:crypto takes, for an
 * agent whose every result is signed.
 *
 *   Q1  Ed25519 leaves a signer no choice: both libraries make the same 64 bytes.
 *   Q2  sodium-native is an optional peer. Without it a key signs as it did.
 */
import { createRequire } from 'node:module'
import type { KeyPair } from './keys.ts'

/** As much as is used of the library. */
export type SigningSodium = {
  readonly crypto_sign_SECRETKEYBYTES: number
  readonly crypto_sign_PUBLICKEYBYTES: number
  readonly crypto_sign_BYTES: number
  readonly crypto_sign_seed_keypair: (
    publicKey: Uint8Array,
    secretKey: Uint8Array,
    seed: Uint8Array,
  ) => void
  readonly crypto_sign_detached: (
    signature: Uint8Array,
    message: Uint8Array,
    secretKey: Uint8Array,
  ) => void
}

/** The same key, signing as fast as it can be had here. */
export type Quicken = (pair: KeyPair) => KeyPair

export function createQuicken(load: () => SigningSodium = loadSodium): Quicken {
  let sodium: SigningSodium
  try {
    sodium = load()
  } catch {
    return (pair) => pair
  }
  const quick = new WeakMap<KeyPair, KeyPair>()
  return (pair) => {
    const known = quick.get(pair)
    if (known !== undefined) return known
    const made: KeyPair = { ...pair, sign: signerOf(sodium, pair) }
    quick.set(pair, made)
    return made
  }
}

function signerOf(sodium: SigningSodium, { privateKey }: KeyPair): NonNullable<KeyPair['sign']> {
  const seed = Buffer.from(privateKey.export({ format: 'jwk' }).d ?? '', 'base64url')
  const secret = Buffer.alloc(sodium.crypto_sign_SECRETKEYBYTES)
  sodium.crypto_sign_seed_keypair(Buffer.alloc(sodium.crypto_sign_PUBLICKEYBYTES), secret, seed)
  seed.fill(0)
  return (bytes) => {
    const signature = Buffer.alloc(sodium.crypto_sign_BYTES)
    sodium.crypto_sign_detached(signature, bytes, secret)
    return signature
  }
}

const loadSodium = (): SigningSodium => createRequire(import.meta.url)('sodium-native')
