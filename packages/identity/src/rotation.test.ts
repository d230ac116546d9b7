/**
 * A key is handed over by who holds it, to who holds the next one; what was signed before stays.
 */
import assert from 'node:assert/strict'
import {
  applyKey,
  decideBind,
  decideRotate,
  type KeyHistory,
  NO_KEYS,
} from '@chimera/domain/agent/keys'
import type { AgentId } from '@chimera/domain/ids'
import { describe, test } from 'vitest'
import { canonicalText } from './canonical.ts'
import { encodeSignature, signBytes } from './ed25519.ts'
import { verifyByHistory } from './history.ts'
import { createKeyring } from './keyring.ts'
import { type KeyPair, keyPairFromSeed } from './keys.ts'
import { signMessage, verifyMessage } from './message.ts'
import { signRotation, verifyRotation } from './rotation.ts'

const NOW = 1_700_000_000_000
const DAY_MS = 24 * 60 * 60 * 1_000
const keyring = createKeyring()
const old = keyPairFromSeed(Buffer.alloc(32, 1))
const next = keyPairFromSeed(Buffer.alloc(32, 2))
const thief = keyPairFromSeed(Buffer.alloc(32, 3))
const agent = '6f2d5b9e-3b52-4f0e-9a53-0c4f4c6f3f11' as AgentId
const present = { agent, publicKey: old.publicKey }

const message = signRotation(agent, { old, next }, NOW)

const outcome = (received: object, now = NOW, bound = present): string => {
  const verdict = verifyRotation(received, bound, keyring, now)
  return verdict.ok ? verdict.key.id : verdict.refusal
}

/** A handover with one thing wrong, otherwise properly signed by whom it says. */
const forge = (
  change: Record<string, unknown>,
  by: { readonly old?: KeyPair; readonly next?: KeyPair } = {},
): object => {
  const { signature: _, new_signature: __, ...honest } = message
  const handover = { ...honest, ...change }
  const proof = signBytes(Buffer.from(canonicalText(handover)), by.next ?? next)
  return signMessage({ ...handover, new_signature: encodeSignature(proof) }, by.old ?? old)
}

describe('AV-12 P-15 a rotation', () => {
  test('introduces the new key by the old one', () => {
    assert.deepEqual(verifyRotation(message, present, keyring, NOW), {
      ok: true,
      agent,
      signedBy: old.id,
      key: { id: next.id, publicKey: next.publicKey },
      signedAt: NOW,
    })
  })

  test('the test’s own forger makes a good one when nothing is wrong', () => {
    assert.deepEqual(forge({}), message)
  })

  test('names the agent in upper or lower case alike, as a uuid is compared', () => {
    assert.equal(outcome(forge({ agent_id: agent.toUpperCase() })), next.id)
  })

  const { new_signature: _, ...unproven } = message
  // biome-ignore format: a table is read by its columns
  const rows: readonly (readonly [rule: string, received: object, outcome: string])[] = [
    ['Q1 signed by another than the old key',  forge({}, { old: thief }),                       'signature_invalid'],
    ['Q1 signed by the new key alone',         forge({}, { old: next }),                        'signature_invalid'],
    ['Q2 to a key whose holder did not sign',  forge({}, { next: thief }),                      'signature_invalid'],
    ['Q2 to a key that the old one vouches for', forge({}, { next: old }),                      'signature_invalid'],
    ['Q2 without the proof of the new key',    signMessage(unproven, old),                      'message_malformed'],
    ['Q2 the proof of another handover',       signMessage({ ...message, agent_id: 'other' }, old), 'key_mismatch'],
    ['Q3 it names another old key',            forge({ old_key: thief.id }),                    'key_mismatch'],
    ['it is for another agent',                forge({ agent_id: 'other' }),                    'key_mismatch'],
    ['to the same key',                        forge({ new_public_key: old.publicKey }, { next: old }), 'key_reused'],
    ['to what is no key',                      forge({ new_public_key: 'nonsense' }),           'message_malformed'],
    ['to a key that verifies anything',        forge({ new_public_key: Buffer.alloc(32).toString('base64url') }), 'message_malformed'],
    ['an edited time',                         { ...message, signed_at: '2023-11-14T22:13:21.000Z' }, 'signature_invalid'],
    ['an added field',                         { ...message, extra: 1 },                        'signature_invalid'],
    ['a time that is none',                    forge({ signed_at: 'yesterday' }),               'message_malformed'],
    ['a time of day only',                     forge({ signed_at: '12:00' }),                   'message_malformed'],
    ['nothing',                                {},                                              'message_malformed'],
    ['a text that is no Unicode',              { ...message, extra: '\ud800' },                 'message_malformed'],
  ]
  for (const [rule, received, expected] of rows) {
    test(rule, () => assert.equal(outcome(received), expected))
  }

  test('fields that nobody here knows are under both signatures', () => {
    assert.equal(outcome(forge({ extra: [1] })), next.id)
  })

  test('it is believed for 60 s', () => {
    assert.equal(outcome(message, NOW + 60_000), next.id)
    assert.equal(outcome(message, NOW + 60_001), 'message_expired')
    assert.equal(outcome(message, NOW - 30_001), 'message_early')
  })

  test('Q3 once obeyed it cannot be played again', () => {
    assert.equal(outcome(message, NOW, { agent, publicKey: next.publicKey }), 'key_mismatch')
  })
})

describe('P-15 AV-12 old receipts still verify', () => {
  const bound = decideBind(NO_KEYS, old, NOW)
  assert.ok(bound.ok)
  const before = bound.facts.reduce<KeyHistory>(applyKey, NO_KEYS)
  const rotation = verifyRotation(
    signRotation(agent, { old, next }, NOW + DAY_MS),
    present,
    keyring,
    NOW + DAY_MS,
  )
  assert.ok(rotation.ok)
  const rotated = decideRotate(before, rotation, NOW + DAY_MS)
  assert.ok(rotated.ok)
  const history = rotated.facts.reduce<KeyHistory>(applyKey, before)

  const receipt = signMessage({ job_id: 'j1', used_at: NOW + 1_000 }, old)
  const verified = (by: object, signedAt: number): boolean =>
    verifyByHistory(by, { history, signedAt }, keyring).ok

  test('under the key of their time, though the present key is another', () => {
    assert.equal(verifyMessage(receipt, next.publicKey, keyring).ok, false)
    assert.equal(verified(receipt, NOW + 1_000), true)
  })

  test('not under a key before or after its period', () => {
    assert.equal(verified(receipt, NOW - 1), false)
    assert.equal(verified(receipt, NOW + DAY_MS), false)
    assert.equal(verified(signMessage({ job_id: 'j2' }, next), NOW + DAY_MS - 1), false)
    assert.equal(verified(signMessage({ job_id: 'j2' }, next), NOW + DAY_MS), true)
  })

  test('and not when they were edited', () => {
    assert.equal(verified({ ...receipt, job_id: 'j9' }, NOW + 1_000), false)
  })
})
