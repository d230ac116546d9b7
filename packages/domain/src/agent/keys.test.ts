/** AV-12 and P-15: who may speak for an agent, then and now. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import type { Decision } from '../decision.ts'
import type { KeyId, PublicKey } from '../ids.ts'
import type { Refusal } from '../refusals.ts'
import {
  applyKey,
  decideAdopt,
  decideBind,
  decideCallOffRecovery,
  decideFinishRecovery,
  decideRecover,
  decideRotate,
  type Key,
  type KeyFact,
  type KeyHistory,
  keyAt,
  NO_KEYS,
  presentKey,
} from './keys.ts'

const NOW = 1_000_000
const DAY = 86_400_000
const key = (name: string): Key => ({ id: name as KeyId, publicKey: `public-${name}` as PublicKey })
const id = (name: string) => name as KeyId

const after = (history: KeyHistory, decision: Decision<KeyFact, Refusal>): KeyHistory => {
  assert.ok(decision.ok, decision.ok ? '' : decision.refusal)
  return decision.facts.reduce(applyKey, history)
}
const refusalOf = (decision: Decision<KeyFact, Refusal>) =>
  decision.ok ? 'accepted' : decision.refusal

const bound = after(NO_KEYS, decideBind(NO_KEYS, key('a'), NOW))
const rotated = after(bound, decideRotate(bound, { key: key('b'), signedBy: id('a') }, NOW + 100))

describe('binding', () => {
  test('X-10 the first signature binds', () => assert.equal(presentKey(bound)?.id, 'a'))
  test('X-10 the same key again is nothing new', () => {
    assert.deepEqual(decideBind(bound, key('a'), NOW + 1), { ok: true, facts: [] })
  })
  test('X-10 another key is refused', () => {
    assert.equal(refusalOf(decideBind(bound, key('x'), NOW + 1)), 'key_mismatch')
  })
})

describe('AV-12 rotation', () => {
  test('the present key introduces the next', () => assert.equal(presentKey(rotated)?.id, 'b'))
  test('a retry of the same rotation is nothing new', () => {
    const again = decideRotate(rotated, { key: key('b'), signedBy: id('a') }, NOW + 200)
    assert.deepEqual(again, { ok: true, facts: [] })
  })
  test('an old key introduces nobody', () => {
    const late = decideRotate(rotated, { key: key('c'), signedBy: id('a') }, NOW + 200)
    assert.equal(refusalOf(late), 'key_mismatch')
  })
  test('a key does not come back', () => {
    const back = decideRotate(rotated, { key: key('a'), signedBy: id('b') }, NOW + 200)
    assert.equal(refusalOf(back), 'key_reused')
  })
  test('without a first key there is nothing to rotate', () => {
    const none = decideRotate(NO_KEYS, { key: key('b'), signedBy: id('a') }, NOW)
    assert.equal(refusalOf(none), 'key_mismatch')
  })
})

describe('P-15 the key of a hub', () => {
  // biome-ignore format: a table is read by its columns
  const rows: [rule: string, history: KeyHistory, name: string, answer: string][] = [
    ['its first one binds',              NO_KEYS, 'a', 'key_bound'],
    ['the same one again changes nothing', bound, 'a', 'nothing'],
    ['another one takes its place',      bound,   'b', 'key_rotated'],
    ['one of before does not come back', rotated, 'a', 'key_reused'],
  ]
  for (const [rule, history, name, answer] of rows) {
    test(rule, () => {
      const decision = decideAdopt(history, key(name), NOW + 300)
      const got = decision.ok ? (decision.facts[0]?.type ?? 'nothing') : decision.refusal
      assert.equal(got, answer)
    })
  }
})

describe('P-15 old receipts still verify', () => {
  test('each moment has the key of its period', () => {
    assert.equal(keyAt(rotated, NOW - 1), undefined)
    assert.equal(keyAt(rotated, NOW)?.id, 'a')
    assert.equal(keyAt(rotated, NOW + 99)?.id, 'a')
    assert.equal(keyAt(rotated, NOW + 100)?.id, 'b')
  })
})

describe('recovery by the owner', () => {
  const begun = after(bound, decideRecover(bound, key('r'), NOW))
  test('takes effect after its delay and not a millisecond before', () => {
    const early = decideFinishRecovery(begun, NOW + 2 * DAY - 1)
    assert.equal(refusalOf(early), 'recovery_pending')
    assert.equal(!early.ok && early.particulars.retryAt, NOW + 2 * DAY)
    const done = after(begun, decideFinishRecovery(begun, NOW + 2 * DAY))
    assert.equal(presentKey(done)?.id, 'r')
    assert.equal(done.recovery, undefined)
  })
  test('the present key calls it off; another one does not', () => {
    assert.equal(refusalOf(decideCallOffRecovery(begun, id('r'))), 'key_mismatch')
    const off = after(begun, decideCallOffRecovery(begun, id('a')))
    assert.equal(refusalOf(decideFinishRecovery(off, NOW + 9 * DAY)), 'recovery_unknown')
  })
  test('a used key is not recovered to', () => {
    assert.equal(refusalOf(decideRecover(rotated, key('a'), NOW)), 'key_reused')
  })
})

test('E2 periods never overlap and no key has two, over any run', () => {
  const step = fc.record({
    what: fc.constantFrom('bind', 'rotate', 'recover', 'finish', 'off'),
    name: fc.constantFrom('a', 'b', 'c', 'd'),
    by: fc.constantFrom('a', 'b', 'c', 'd'),
    passes: fc.integer({ min: 1, max: DAY }),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      let history = NO_KEYS
      let now = NOW
      for (const { what, name, by, passes } of steps) {
        now += passes
        const decisions = {
          bind: () => decideBind(history, key(name), now),
          rotate: () => decideRotate(history, { key: key(name), signedBy: id(by) }, now),
          recover: () => decideRecover(history, key(name), now),
          finish: () => decideFinishRecovery(history, now),
          off: () => decideCallOffRecovery(history, id(by)),
        } as const
        const decision = decisions[what]()
        if (decision.ok) history = decision.facts.reduce(applyKey, history)
      }
      const { periods } = history
      assert.equal(new Set(periods.map((each) => each.id)).size, periods.length)
      for (const [index, period] of periods.entries()) {
        assert.equal(period.until, periods[index + 1]?.from)
      }
    }),
  )
})
