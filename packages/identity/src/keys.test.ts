/** Keys: RFC 8037 and 8032 vectors, and what is not a key. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import type { PublicKey } from '@chimera/domain/ids'
import { describe, test } from 'vitest'
import { createKeyring } from './keyring.ts'
import {
  decodePublicJwk,
  decodePublicKey,
  generateKeyPair,
  keyIdOf,
  keyPairFromJwk,
  keyPairFromSeed,
  privateJwk,
  publicJwk,
} from './keys.ts'

const rfc8037 = JSON.parse(
  readFileSync(new URL('../vectors/jose.json', import.meta.url), 'utf8'),
) as { readonly key: { readonly d: string; readonly x: PublicKey }; readonly thumbprint: string }

const pair = keyPairFromJwk(rfc8037.key)

describe('keys as JWK', () => {
  test('RFC 8037 A.1 and A.2: both halves come back as they were read', () => {
    assert.deepEqual(privateJwk(pair), { ...rfc8037.key })
    assert.deepEqual(publicJwk(pair.publicKey), { kty: 'OKP', crv: 'Ed25519', x: rfc8037.key.x })
    assert.equal(decodePublicJwk(publicJwk(pair.publicKey)), rfc8037.key.x)
  })

  test('K1 RFC 8037 A.3: the thumbprint is the name', () => {
    assert.equal(keyIdOf(pair.publicKey), rfc8037.thumbprint)
    assert.equal(pair.id, rfc8037.thumbprint)
  })

  test('K2 a pair that is logged or sent shows no private half', () => {
    assert.equal(JSON.stringify(pair).includes(rfc8037.key.d), false)
  })

  test('X-8 chance is handed in: the same bytes make the same key', () => {
    const fixed = () => Buffer.alloc(32, 9)
    assert.equal(generateKeyPair(fixed).id, generateKeyPair(fixed).id)
    assert.notEqual(generateKeyPair().id, generateKeyPair().id)
  })

  const { d, x } = rfc8037.key
  const other = generateKeyPair().publicKey
  // biome-ignore format: a table is read by its columns
  const malformed: readonly (readonly [why: string, jwk: unknown])[] = [
    ['another curve',              { kty: 'OKP', crv: 'X25519', d, x }],
    ['another kind',               { kty: 'EC', crv: 'Ed25519', d, x }],
    ['no private half',            { kty: 'OKP', crv: 'Ed25519', x }],
    ['a short private half',       { kty: 'OKP', crv: 'Ed25519', d: d.slice(1), x }],
    ['a private half with padding', { kty: 'OKP', crv: 'Ed25519', d: `${d}=`, x }],
    ['a public half of another',   { kty: 'OKP', crv: 'Ed25519', d, x: other }],
    ['nothing',                    null],
    ['a text',                     'key'],
  ]
  for (const [why, jwk] of malformed) {
    test(`refused: ${why}`, () => {
      assert.throws(() => keyPairFromJwk(jwk), { code: 'key_malformed' })
    })
  }

  test('a seed has 32 bytes', () => {
    assert.throws(() => keyPairFromSeed(Buffer.alloc(31)), { code: 'key_malformed' })
  })
})

describe('K3 a public key in its one spelling', () => {
  const { x } = rfc8037.key
  // biome-ignore format: a table is read by its columns
  const rows: readonly (readonly [why: string, text: unknown, good: boolean])[] = [
    ['as it is',             x,                                      true],
    ['too short',            x.slice(1),                             false],
    ['too long',             `${x}A`,                                false],
    ['with padding',         `${x}=`,                                false],
    ['with loose bits',      `${x.slice(0, 42)}p`,                   false],
    ['standard alphabet',    x.replaceAll('_', '/'),                 false],
    ['of small order',       Buffer.alloc(32).toString('base64url'), false],
    ['y of p and more',      Buffer.alloc(32, 0xff).toString('base64url'), false],
    ['not a text',           32,                                     false],
  ]
  for (const [why, text, good] of rows) {
    test(why, () => assert.equal(decodePublicKey(text), good ? text : undefined))
  }
})

describe('J1 a keyring', () => {
  const keys = [1, 2, 3].map((byte) => keyPairFromSeed(Buffer.alloc(32, byte)).publicKey)
  const [first, second, third] = keys as [PublicKey, PublicKey, PublicKey]

  test('reads a key once', () => {
    const ring = createKeyring()
    const found = ring.find(first)
    assert.ok(found)
    assert.equal(found.id, keyIdOf(first))
    assert.equal(ring.find(first), found)
  })

  test('keeps no more than it may, and lets go of the one used longest ago', () => {
    const ring = createKeyring(2)
    const [one, two] = [ring.find(first), ring.find(second)]
    assert.equal(ring.find(first), one)
    ring.find(third)
    assert.equal(ring.find(first), one)
    assert.notEqual(ring.find(second), two)
  })

  test('does not keep what is no key', () => {
    assert.equal(createKeyring().find('nonsense' as PublicKey), undefined)
  })
})
