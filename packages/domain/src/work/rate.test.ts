/** OC-20 by table and, for Q1 and Q2, over any run of asks. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { applyRate, decideRate, type Rate } from './rate.ts'

const NOW = 1_000_000
const empty = (perMinute: number): Rate => ({ perMinute, admitted: [], waiting: [] })

/** Asks one after another, 1 ms apart, and says who was let in. */
function run(rate: Rate, requesters: string): { rate: Rate; letIn: string } {
  let state = rate
  let letIn = ''
  for (const [index, requester] of [...requesters].entries()) {
    const at = NOW + index
    const decision = decideRate(state, requester, at)
    letIn += decision.ok ? requester : '.'
    state = applyRate(state, {
      type: decision.ok ? 'ask_counted' : 'ask_turned_away',
      requester,
      at,
    })
  }
  return { rate: state, letIn }
}

// biome-ignore format: a table is read by its columns
const rows: [rule: string, perMinute: number, asks: string, letIn: string][] = [
  ['OC-20 the limit is in total per agent',               4, 'abcdef',   'abcd..'],
  ['OC-20 alone, a requester may take all of it',         4, 'aaaaa',    'aaaa.'],
  ['OC-20 not more than half once another has come',      4, 'baaaa',    'baa..'],
  ['OC-20 the half is rounded up',                        5, 'baaaaa',   'baaa..'],
  ['OC-20 who was turned away counts as waiting',         2, 'aab',      'aa.'],
]

describe('asks in one minute', () => {
  for (const [rule, perMinute, asks, letIn] of rows) {
    test(rule, () => assert.equal(run(empty(perMinute), asks).letIn, letIn))
  }

  test('OC-22 a refusal says when to ask again, and then it is let in', () => {
    const { rate } = run(empty(2), 'ab')
    const refused = decideRate(rate, 'c', NOW + 10)
    assert.ok(!refused.ok)
    assert.equal(refused.particulars.retryAt, NOW + 60_000)
    assert.ok(!decideRate(rate, 'c', NOW + 59_999).ok)
    assert.ok(decideRate(rate, 'c', NOW + 60_000).ok)
  })

  test('OC-20 the one who waited gets in before the one who took all', () => {
    const { rate } = run(empty(2), 'aab')
    const later = NOW + 60_000
    assert.ok(decideRate(rate, 'b', later).ok)
  })
})

test('OC-20 Q1 and Q3 hold over any run of asks', () => {
  const ask = fc.record({
    requester: fc.constantFrom('a', 'b', 'c', 'd'),
    passes: fc.integer({ min: 0, max: 9_000 }),
  })
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 8 }),
      fc.array(ask, { maxLength: 100 }),
      (limit, asks) => {
        let rate = empty(limit)
        let at = NOW
        const letIn: { requester: string; at: number }[] = []
        for (const { requester, passes } of asks) {
          at += passes
          const { ok } = decideRate(rate, requester, at)
          rate = applyRate(rate, { type: ok ? 'ask_counted' : 'ask_turned_away', requester, at })
          if (ok) letIn.push({ requester, at })
          assert.ok(letIn.filter((each) => each.at > at - 60_000).length <= limit)
          assert.ok(rate.admitted.length <= limit && rate.waiting.length <= limit)
        }
      },
    ),
  )
})
