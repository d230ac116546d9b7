/** Our keys are the library's keys, and what is damaged is refused. */
import assert from 'node:assert/strict'
import { nkeys } from '@nats-io/transport-node'
import fc from 'fast-check'
import { test } from 'vitest'
import { hasCode } from '../failure.ts'
import { createNatsKey, isPublicKey, type KeyKind, readNatsKey } from './nkeys.ts'

const KINDS: readonly KeyKind[] = ['operator', 'account', 'user']
const raw = fc.uint8Array({ minLength: 32, maxLength: 32 })

test('the library reads our seeds, and verifies what we sign', () => {
  fc.assert(
    fc.property(raw, fc.constantFrom(...KINDS), fc.uint8Array(), (bytes, kind, message) => {
      const key = createNatsKey(kind, () => bytes)
      const theirs = nkeys.fromSeed(new TextEncoder().encode(key.seed))
      assert.equal(theirs.getPublicKey(), key.publicKey)
      assert.ok(theirs.verify(message, key.sign(message)))
      assert.equal(readNatsKey(key.seed, kind).publicKey, key.publicKey)
      for (const other of KINDS) assert.equal(isPublicKey(key.publicKey, other), other === kind)
    }),
    { numRuns: 30 },
  )
})

test('we read the seeds of the library', () => {
  const theirs = nkeys.createUser()
  const seed = new TextDecoder().decode(theirs.getSeed())
  assert.equal(readNatsKey(seed, 'user').publicKey, theirs.getPublicKey())
})

test('a damaged seed, another kind, and a public key are refused without being repeated', () => {
  const { seed, publicKey } = createNatsKey('user', () => new Uint8Array(32).fill(3))
  const wrong = [`${seed.slice(0, -1)}A`, seed.slice(0, -4), '', 'SU', `${seed}!`, publicKey]
  for (const each of [...wrong, createNatsKey('account', () => new Uint8Array(32)).seed]) {
    assert.throws(
      () => readNatsKey(each, 'user'),
      (error) => hasCode(error, 'key_malformed') && (each === '' || !error.detail.includes(each)),
    )
  }
  assert.equal(isPublicKey(seed, 'user'), false)
  assert.equal(isPublicKey('', 'user'), false)
})
