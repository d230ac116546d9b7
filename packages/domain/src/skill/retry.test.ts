/** Whether and when a failed skill is tried again: one row, one rule. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { LIMITS } from '../limits.ts'
import { decideRetry, type Recovery, type Tried } from './retry.ts'

const NOW = 1_000_000
const passing: Recovery = { retryable: true, retries: 3 }
const final: Recovery = { retryable: false, retries: 3 }
const twice: Recovery = { retryable: true, retries: 2 }
const later: Recovery = { retryable: true, retries: 0 }
const greedy: Recovery = { retryable: true, retries: 9 }
const first: Recovery = { ...passing, fallback: { to: 'model', fromRetry: 1 } }
const last: Recovery = { ...passing, fallback: { to: 'source', fromRetry: 3 } }

function answer(recovery: Recovery, retries: number, more: Partial<Tried> = {}): string {
  const tried = { recovery, retries, hazardous: false, chance: 0, ...more }
  const decided = decideRetry(tried, NOW)
  if (!decided.again) return decided.because
  const { retry, at, fallback } = decided
  return `${retry} in ${at - NOW}${fallback === undefined ? '' : ` by ${fallback}`}`
}

// biome-ignore format: a table is read by its columns
const rows: [rule: string, got: string, wanted: string][] = [
  ['the first wait is a second',            answer(passing, 0),                            '1 in 1000'],
  ['the second is two',                     answer(passing, 1),                            '2 in 2000'],
  ['the third is four',                     answer(passing, 2),                            '3 in 4000'],
  ['there is no fourth',                    answer(passing, 3),                            'used_up'],
  ['chance adds up to a second',            answer(passing, 0, { chance: 0.9999 }),        '1 in 1999'],
  ['what is final is not tried again',      answer(final, 0),                              'final'],
  ['an error has its own number',           answer(twice, 2),                              'used_up'],
  ['which may be none',                     answer(later, 0),                              'used_up'],
  ['but not more than three',               answer(greedy, 3),                             'used_up'],
  ['who asks for more time gets it',        answer(passing, 0, { retryAfterMs: 9_000 }),   '1 in 9000'],
  ['up to a minute',                        answer(passing, 0, { retryAfterMs: 60_001 }),  'too_long'],
  ['but cannot have us come earlier',       answer(passing, 2, { retryAfterMs: 1 }),       '3 in 4000'],
  ['a try that ends with the deadline',     answer(passing, 0, { deadline: NOW + 1_001 }), '1 in 1000'],
  ['one that begins with it is not made',   answer(passing, 0, { deadline: NOW + 1_000 }), 'too_late'],
  ['what may be done is not done again',    answer(passing, 0, { hazardous: true }),       'hazardous'],
  ['finality is the stronger reason',       answer(final, 9, { hazardous: true }),         'final'],
  ['a fallback from the first retry',       answer(first, 0),                              '1 in 1000 by model'],
  ['a fallback for the last one only',      answer(last, 1),                               '2 in 2000'],
  ['and then it is asked',                  answer(last, 2),                               '3 in 4000 by source'],
]

describe('SK-2 retries for retryable codes only', () => {
  for (const [rule, got, wanted] of rows) {
    test(rule, () => assert.equal(got, wanted))
  }

  test('R2, R4: whatever a call meets, at most three retries and none after the deadline', () => {
    const recovery = fc.record({ retryable: fc.boolean(), retries: fc.nat(10) })
    const met = fc.array(fc.tuple(recovery, fc.double({ min: 0, max: 0.999, noNaN: true })), {
      maxLength: 20,
    })
    fc.assert(
      fc.property(met, fc.nat(20_000), (errors, spanMs) => {
        let [now, retries] = [NOW, 0]
        const deadline = NOW + spanMs
        for (const [each, chance] of errors) {
          const next = decideRetry(
            { recovery: each, retries, hazardous: false, deadline, chance },
            now,
          )
          if (!next.again) break
          assert.ok(each.retryable)
          assert.ok(next.at < deadline && next.at >= now + 1_000)
          now = next.at
          retries = next.retry
        }
        assert.ok(retries <= LIMITS.skillRetries)
      }),
      { seed: 5 },
    )
  })
})
