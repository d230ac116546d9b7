/**
 * Keys as NATS writes them: an Ed25519 key in base32, with a letter in front that says whose it is
 * and a checksum behind. `SU…` is the seed of a user, `UA…` its public half.
 */
import { createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto'
import { Failure } from '../failure.ts'

// The first five bits of each become its letter: O, A, U, and S for the seed of any.
const KINDS = { operator: 14 << 3, account: 0, user: 20 << 3 } as const
const SEED = 18 << 3
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
const KEY_BYTES = 32
// What stands before the 32 bytes in the DER form of an Ed25519 private key (RFC 8410).
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex')

export type KeyKind = keyof typeof KINDS

export type NatsKey = {
  readonly kind: KeyKind
  /** Secret. */
  readonly seed: string
  readonly publicKey: string
  readonly sign: (bytes: Uint8Array) => Uint8Array
}

export type DrawBytes = (count: number) => Uint8Array

export function createNatsKey(kind: KeyKind, draw: DrawBytes): NatsKey {
  return keyFrom(kind, draw(KEY_BYTES))
}

export function readNatsKey(seed: string, wanted: KeyKind): NatsKey {
  const bytes = unwrap(seed)
  const prefix = (((bytes[0] ?? 0) & 7) << 5) | ((bytes[1] ?? 0) >> 3)
  const isSeed = bytes.length === KEY_BYTES + 2 && ((bytes[0] ?? 0) & 0xf8) === SEED
  // The text itself is a secret, so it is not repeated.
  if (!isSeed || prefix !== KINDS[wanted]) throw new Failure('key_malformed', `seed of ${wanted}`)
  return keyFrom(wanted, bytes.subarray(2))
}

export function isPublicKey(text: string, kind: KeyKind): boolean {
  try {
    const bytes = unwrap(text)
    return bytes.length === KEY_BYTES + 1 && bytes[0] === KINDS[kind]
  } catch {
    return false
  }
}

function keyFrom(kind: KeyKind, raw: Uint8Array): NatsKey {
  const der = Buffer.concat([PKCS8, raw])
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  const prefix = KINDS[kind]
  const marks = [SEED | (prefix >> 5), (prefix & 31) << 3]
  return {
    kind,
    seed: wrap(Buffer.from([...marks, ...raw])),
    publicKey: wrap(Buffer.from([prefix, ...rawPublic(privateKey)])),
    sign: (bytes) => sign(null, bytes, privateKey),
  }
}

function rawPublic(privateKey: KeyObject): Uint8Array {
  const { x = '' } = createPublicKey(privateKey).export({ format: 'jwk' })
  return Buffer.from(x, 'base64url')
}

function wrap(bytes: Uint8Array): string {
  const sum = crc16(bytes)
  return base32(Buffer.from([...bytes, sum & 0xff, sum >> 8]))
}

function unwrap(text: string): Uint8Array {
  const all = fromBase32(text)
  const bytes = all.subarray(0, -2)
  const sum = (all.at(-2) ?? 0) | ((all.at(-1) ?? 0) << 8)
  if (all.length < 3 || crc16(bytes) !== sum) throw new Failure('key_malformed', 'checksum')
  return bytes
}

/** CRC-16 as XMODEM has it: polynomial 0x1021, beginning with 0. */
function crc16(bytes: Uint8Array): number {
  let sum = 0
  for (const byte of bytes) {
    sum ^= byte << 8
    for (let bit = 0; bit < 8; bit += 1) {
      sum = (sum & 0x8000 ? (sum << 1) ^ 0x1021 : sum << 1) & 0xffff
    }
  }
  return sum
}

export function base32(bytes: Uint8Array): string {
  let text = ''
  let held = 0
  let bits = 0
  for (const byte of bytes) {
    held = (held << 8) | byte
    for (bits += 8; bits >= 5; bits -= 5) text += ALPHABET[(held >> (bits - 5)) & 31]
    held &= (1 << bits) - 1
  }
  return bits === 0 ? text : text + ALPHABET[(held << (5 - bits)) & 31]
}

function fromBase32(text: string): Uint8Array {
  const bytes: number[] = []
  let held = 0
  let bits = 0
  for (const letter of text) {
    const value = ALPHABET.indexOf(letter)
    if (value < 0) throw new Failure('key_malformed', 'not base32')
    held = (held << 5) | value
    bits += 5
    if (bits >= 8) {
      bits -= 8
      bytes.push(held >> bits)
      held &= (1 << bits) - 1
    }
  }
  return Uint8Array.from(bytes)
}
