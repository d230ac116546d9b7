/** RFC 8032's vectors, and the cases on which libraries differ: here they must not. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import type { Sodium } from './bulk.ts'
import {
  decodeSignature,
  encodeSignature,
  isCanonicalPoint,
  isSmallOrder,
  signBytes,
  verifyBytes,
  verifyBytesAside,
} from './ed25519.ts'
import { generateKeyPair, keyPairFromSeed, readVerifyingKey } from './keys.ts'

type Rfc8032 = {
  readonly vectors: readonly {
    readonly name: string
    readonly secret: string
    readonly public: string
    readonly message: string
    readonly signature: string
  }[]
}
type Edges = {
  readonly vectors: readonly {
    readonly why: string
    readonly valid: boolean
    readonly public: string
    readonly message: string
    readonly signature: string
  }[]
}

const read = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../vectors/${name}`, import.meta.url), 'utf8'))
const rfc = read('rfc8032.json') as Rfc8032
const edges = read('ed25519-edges.json') as Edges
const sodium: Sodium = createRequire(import.meta.url)('sodium-native')

const bytes = (hex: string): Buffer => Buffer.from(hex, 'hex')
const keyOf = (hex: string) => readVerifyingKey(bytes(hex).toString('base64url'))

describe('X-9 RFC 8032, section 7.1', () => {
  for (const vector of rfc.vectors) {
    test(vector.name, async () => {
      const pair = keyPairFromSeed(bytes(vector.secret))
      const key = keyOf(vector.public)
      assert.ok(key)
      assert.equal(pair.publicKey, key.publicKey)
      const signature = signBytes(bytes(vector.message), pair)
      assert.equal(Buffer.from(signature).toString('hex'), vector.signature)
      assert.equal(verifyBytes(bytes(vector.message), signature, key), true)
      assert.equal(await verifyBytesAside(bytes(vector.message), signature, key), true)
    })
  }
})

describe('both libraries give the same answer where RFC 8032 leaves room', () => {
  for (const { why, valid, ...vector } of edges.vectors) {
    test(`${valid ? 'valid' : 'refused'}: ${why}`, async () => {
      const [message, signature] = [bytes(vector.message), bytes(vector.signature)]
      const key = keyOf(vector.public)
      const ours = key !== undefined && verifyBytes(message, signature, key)
      const aside = key !== undefined && (await verifyBytesAside(message, signature, key))
      assert.equal(ours, valid)
      assert.equal(aside, valid)
      const theirs = sodium.crypto_sign_verify_detached(signature, message, bytes(vector.public))
      assert.equal(theirs, valid)
    })
  }

  test('S plus the group order is refused by both', () => {
    const order = 2n ** 252n + 27742317777372353535851937790883648493n
    const pair = keyPairFromSeed(Buffer.alloc(32, 7))
    const key = readVerifyingKey(pair.publicKey)
    assert.ok(key)
    const message = Buffer.from('once')
    const good = Buffer.from(signBytes(message, pair))
    const s = BigInt(`0x${Buffer.from(good.subarray(32)).reverse().toString('hex')}`) + order
    const tail = bytes(s.toString(16).padStart(64, '0')).reverse()
    const forged = Buffer.concat([good.subarray(0, 32), tail])
    assert.equal(verifyBytes(message, good, key), true)
    assert.equal(verifyBytes(message, forged, key), false)
    assert.equal(sodium.crypto_sign_verify_detached(forged, message, Buffer.from(key.bytes)), false)
  })
})

describe('points of small order, and second spellings', () => {
  const small = [
    '0000000000000000000000000000000000000000000000000000000000000000',
    '0100000000000000000000000000000000000000000000000000000000000000',
    '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
    'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
    'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
    'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  ].flatMap((hex) => {
    const signed = bytes(hex)
    signed[31] = (signed[31] ?? 0) | 0x80
    return [bytes(hex), signed]
  })
  for (const point of small) {
    test(`${point.toString('hex')} is neither a key nor an R`, () => {
      assert.equal(isSmallOrder(point), true)
      assert.equal(readVerifyingKey(point.toString('base64url')), undefined)
      // The equation holds for such a key whenever k happens to cancel, whatever was signed.
      const blank = Buffer.concat([point, Buffer.alloc(32)])
      for (let at = 0; at < 16; at += 1) {
        assert.equal(sodium.crypto_sign_verify_detached(blank, Buffer.from([at]), point), false)
      }
    })
  }

  // biome-ignore format: a table is read by its columns
  const rows: readonly (readonly [why: string, hex: string, canonical: boolean])[] = [
    ['p itself',        `ed${'ff'.repeat(30)}7f`, false],
    ['p with sign bit', `ed${'ff'.repeat(30)}ff`, false],
    ['2^255 - 1',       `${'ff'.repeat(31)}7f`,   false],
    ['p - 1',           `ec${'ff'.repeat(30)}7f`, true],
    ['far below p',     `ed${'ff'.repeat(29)}fe7f`, true],
    ['the base point',  `58${'66'.repeat(31)}`,   true],
  ]
  for (const [why, hex, canonical] of rows) {
    test(`${why} is ${canonical ? '' : 'not '}a canonical y`, () => {
      assert.equal(isCanonicalPoint(bytes(hex)), canonical)
    })
  }
})

describe('AV-1 a signature is 64 bytes in one spelling of base64', () => {
  const signature = Buffer.alloc(64, 0xfb)
  const text = signature.toString('base64')
  // biome-ignore format: a table is read by its columns
  const refused: readonly (readonly [why: string, text: unknown])[] = [
    ['without padding',          text.replaceAll('=', '')],
    ['in the URL alphabet',      signature.toString('base64url')],
    ['URL alphabet with padding', text.replaceAll('+', '-').replaceAll('/', '_')],
    ['63 bytes',                 signature.subarray(1).toString('base64')],
    ['65 bytes',                 Buffer.alloc(65, 1).toString('base64')],
    ['with a line break',        `${text.slice(0, 40)}\n${text.slice(40)}`],
    ['with a blank behind',      `${text} `],
    ['with loose bits',          `${text.slice(0, 85)}B==`],
    ['hexadecimal',              signature.toString('hex')],
    ['empty',                    ''],
    ['absent',                   undefined],
    ['a list',                   [text]],
  ]
  test('the one spelling', () => {
    const decoded = decodeSignature(text)
    assert.ok(decoded)
    assert.deepEqual(Buffer.from(decoded), signature)
  })
  for (const [why, value] of refused) {
    test(why, () => assert.equal(decodeSignature(value), undefined))
  }

  test('any 64 bytes come back as they were', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 64, maxLength: 64 }), (any) => {
        assert.deepEqual(decodeSignature(encodeSignature(any)), Buffer.from(any))
      }),
    )
  })
})

test('a signature of another length is refused, not thrown about', () => {
  const pair = generateKeyPair()
  const key = readVerifyingKey(pair.publicKey)
  assert.ok(key)
  for (const length of [0, 32, 63, 65]) {
    assert.equal(verifyBytes(Buffer.from('x'), Buffer.alloc(length, 1), key), false)
  }
})
