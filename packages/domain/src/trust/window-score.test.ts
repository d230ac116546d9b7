/** The window score, with the document's own two examples (OC-7, OC-8). */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import type { AgentId, OwnerId, WorkId } from '../ids.ts'
import type { Outcome } from './outcome.ts'
import {
  applyToWindow,
  measureWindow,
  NO_WINDOW,
  responseMicro,
  UNTRIED_WINDOW_MICRO,
  type WindowRecord,
  windowScore,
} from './window-score.ts'

const outcome = (change: Partial<Outcome> = {}): Outcome => ({
  work: 'w1' as WorkId,
  agent: 'a1' as AgentId,
  owner: 'ann' as OwnerId,
  hirerOwner: 'ann' as OwnerId,
  ending: { how: 'done' },
  priceCents: 0,
  receivedAt: 0,
  respondedAt: 0,
  endedAt: 50_000,
  settledAt: 60_000,
  ...change,
})
const done = outcome()
const failed = outcome({ ending: { how: 'failed', cause: 'agent' } })
const cancelled = outcome({ ending: { how: 'cancelled' } })
const times = (count: number, each: Outcome) => Array.from({ length: count }, () => each)
const after = (...outcomes: Outcome[]) => outcomes.reduce(applyToWindow, NO_WINDOW)
const scoreOf = (record: WindowRecord) => windowScore(measureWindow(record))

describe('OC-7 the score is made of three rates', () => {
  // biome-ignore format: a table is read by its columns
  const examples: [success: number, onTime: number, waitMs: number, ours: number, printed: number][] = [
    [960_000, 940_000, 3_450, 923_500, 0.93],
    [960_000, 930_000, 3_500, 920_000, 0.92],
  ]
  for (const [successMicro, onTimeMicro, averageResponseMs, ours, printed] of examples) {
    test(`the document's example that prints ${printed}`, () => {
      const score = windowScore({ successMicro, onTimeMicro, averageResponseMs })
      assert.equal(score, ours)
      assert.ok(Math.abs(score / 1_000_000 - printed) < 0.01)
    })
  }

  // biome-ignore format: a table is read by its columns
  const speeds: [averageMs: number, micro: number][] = [
    [0, 1_000_000], [1, 999_900], [3_450, 655_000], [9_999, 100], [10_000, 0], [60_000, 0],
  ]
  for (const [averageMs, micro] of speeds) {
    test(`an average response of ${averageMs} ms scores ${micro} millionths`, () => {
      assert.equal(responseMicro(averageMs), micro)
    })
  }

  test('no history scores 0.5 and has no rates', () => {
    assert.equal(measureWindow(NO_WINDOW), undefined)
    assert.equal(scoreOf(NO_WINDOW), UNTRIED_WINDOW_MICRO)
    assert.equal(UNTRIED_WINDOW_MICRO, 500_000)
  })

  test('cancelled work counts nowhere', () => {
    assert.deepEqual(after(done, cancelled, failed), after(done, failed))
    assert.deepEqual(after(cancelled), NO_WINDOW)
  })

  test('success is of all, on time is of what was done', () => {
    const late = outcome({ deadline: 49_999 })
    const metrics = measureWindow(after(done, done, late, failed))
    assert.equal(metrics?.successMicro, 750_000)
    assert.equal(metrics?.onTimeMicro, 666_667)
  })

  test('a failure alone is neither a success nor on time', () => {
    assert.deepEqual(measureWindow(after(failed)), {
      successMicro: 0,
      onTimeMicro: 0,
      averageResponseMs: 0,
    })
    assert.equal(scoreOf(after(failed)), 100_000)
  })

  // biome-ignore format: a table is read by its columns
  const punctual: [rule: string, change: Partial<Outcome>, onTime: number][] = [
    ['at the deadline is in time',             { deadline: 50_000 },                       1_000_000],
    ['after it is late',                       { deadline: 49_999 },                       0],
    ['at the estimate is in time',             { estimatedEnd: 50_000 },                   1_000_000],
    ['after the estimate is late',             { estimatedEnd: 49_999 },                   0],
    ['the deadline goes before the estimate',  { deadline: 60_000, estimatedEnd: 40_000 }, 1_000_000],
    ['even when the estimate was the later',   { deadline: 40_000, estimatedEnd: 60_000 }, 0],
    ['nothing promised is nothing broken',     {},                                         1_000_000],
  ]
  for (const [rule, change, onTime] of punctual) {
    test(rule, () => assert.equal(measureWindow(after(outcome(change)))?.onTimeMicro, onTime))
  }

  test('response time runs from receipt to response, over failures too', () => {
    const slow = outcome({ receivedAt: 1_000, respondedAt: 4_001 })
    const slowFailed = { ...failed, receivedAt: 1_000, respondedAt: 2_000 }
    assert.equal(measureWindow(after(slow, slowFailed))?.averageResponseMs, 2_000)
  })

  test('an answer that a skewed clock puts before its question took no time', () => {
    const skewed = outcome({ receivedAt: 1_000, respondedAt: 900 })
    assert.equal(measureWindow(after(skewed))?.averageResponseMs, 0)
  })
})

describe('OC-8 only the last 100 count', () => {
  test('a hundred successes push every failure out, but not out of the life counts', () => {
    const record = after(...times(30, failed), ...times(100, done))
    assert.equal(measureWindow(record)?.successMicro, 1_000_000)
    assert.deepEqual([record.doneCount, record.failedCount], [100, 30])
  })

  test('ninety-nine leave one in', () => {
    const record = after(...times(30, failed), ...times(99, done))
    assert.equal(measureWindow(record)?.successMicro, 990_000)
  })

  test('fewer than a hundred all count', () => {
    assert.equal(measureWindow(after(failed, ...times(3, done)))?.successMicro, 750_000)
  })

  test('whatever happened, the score is that of the last hundred and lies in 0–1', () => {
    const any = fc.record({
      ending: fc.constantFrom(done.ending, failed.ending, cancelled.ending),
      respondedAt: fc.nat(20_000),
      endedAt: fc.nat(100_000),
      deadline: fc.nat(100_000),
    })
    fc.assert(
      fc.property(fc.array(any, { maxLength: 250 }), (changes) => {
        const outcomes = changes.map(outcome)
        const counted = outcomes.filter((each) => each.ending.how !== 'cancelled')
        const last = counted.slice(-100)
        const record = after(...outcomes)
        assert.equal(scoreOf(record), scoreOf(after(...last)))
        assert.equal(record.doneCount + record.failedCount, counted.length)

        const score = scoreOf(record)
        assert.ok(Number.isSafeInteger(score) && score >= 0 && score <= 1_000_000)
        if (last.length === 0) return
        // The same in plain fractions: rounding may differ in the sixth place, the rule may not.
        const good = last.filter((each) => each.ending.how === 'done')
        const punctual = good.filter((each) => each.endedAt <= (each.deadline ?? 0))
        const wait = last.reduce((sum, each) => sum + each.respondedAt, 0) / last.length
        const plain =
          (0.6 * good.length) / last.length +
          0.3 * (good.length === 0 ? 0 : punctual.length / good.length) +
          0.1 * Math.max(0, 1 - wait / 10_000)
        assert.ok(Math.abs(score / 1_000_000 - plain) < 0.000_01)
      }),
    )
  })
})
