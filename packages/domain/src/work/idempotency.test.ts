/** P-4 and OC-12: what is the same ask, what is another, and what is forgotten. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import type { Digest, IdempotencyKey } from '../ids.ts'
import { REFUSALS, type Refusal } from '../refusals.ts'
import { decideRepeat, isRemembered, rememberUntil, scopeKey } from './idempotency.ts'

const NOW = 1_000_000
const [one, other] = ['aa' as Digest, 'bb' as Digest]
const HOURS_24 = 24 * 60 * 60 * 1_000

describe('a repeat', () => {
  test('OC-12 of the same content gets the same answer', () => {
    const repeat = decideRepeat({ content: one, answer: 'accepted' }, one, NOW)
    assert.deepEqual(repeat, { kind: 'same', answer: 'accepted' })
  })
  test('OC-12 of other content is a conflict', () => {
    const repeat = decideRepeat({ content: one, answer: 'accepted' }, other, NOW)
    assert.deepEqual(repeat, { kind: 'conflict', refusal: 'key_conflict' })
  })
  test('OC-12 is remembered until 24 h after the result, to the millisecond', () => {
    const remembered = { content: one, answer: 'done', forgetAt: rememberUntil(NOW) }
    assert.equal(decideRepeat(remembered, one, NOW + HOURS_24 - 1).kind, 'same')
    assert.equal(decideRepeat(remembered, one, NOW + HOURS_24).kind, 'new')
  })
  test('OC-12 keys of the ledger never expire', () => {
    assert.equal(decideRepeat({ content: one, answer: 'moved' }, one, NOW * 1e6).kind, 'same')
  })
})

test('OC-12 what may pass is decided anew, what cannot is remembered', () => {
  assert.ok(isRemembered('accepted') && isRemembered('deferred'))
  for (const refusal of Object.keys(REFUSALS) as Refusal[]) {
    assert.equal(isRemembered(refusal), REFUSALS[refusal].retry !== 'later', refusal)
  }
})

test('P-4 no two scopes share a key, whatever the names contain', () => {
  const part = fc.string({ maxLength: 12 })
  const scope = fc.tuple(part, part, part)
  const keyOf = ([requester, responder, key]: [string, string, string]) =>
    scopeKey({ requester, responder, key: key as IdempotencyKey })
  fc.assert(
    fc.property(scope, scope, (a, b) => {
      assert.equal(
        keyOf(a) === keyOf(b),
        a.every((each, index) => each === b[index]),
      )
    }),
  )
  assert.notEqual(keyOf(['1:', 'a', 'b']), keyOf(['1', ':a', 'b']))
})
