/** The running score, step by step and rounded half-even (CH-10). */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import {
  applyFailure,
  applySuccess,
  HIGHEST_MICRO,
  NO_RUNNING,
  type RunningRecord,
  START_MICRO,
  shownHundredths,
} from './running-score.ts'

const at = (scoreMicro: number): RunningRecord => ({ ...NO_RUNNING, scoreMicro })

describe('CH-10 the formula', () => {
  test('starts at 50', () => assert.equal(NO_RUNNING.scoreMicro, 50_000_000))

  // biome-ignore format: a table is read by its columns
  const successes: [rule: string, before: number, hirer: number | undefined, after: number][] = [
    ['a newcomer vouches for one point',        50_000_000, 50_000_000,  51_000_000],
    ['the best vouch for two',                  50_000_000, 100_000_000, 52_000_000],
    ['the worst for none',                      50_000_000, 0,           50_000_000],
    ['87.5 for 1.75',                           50_000_000, 87_500_000,  51_750_000],
    ['a hirer that is no agent is a newcomer',  50_000_000, undefined,   51_000_000],
    ['no score rises above 100',                99_500_000, 100_000_000, 100_000_000],
    ['below the half is rounded down',          50_000_000, 24,          50_000_000],
    ['above the half is rounded up',            50_000_000, 26,          50_000_001],
    ['a tie goes to the even score, down',      50_000_000, 25,          50_000_000],
    ['a tie goes to the even score, up',        50_000_001, 25,          50_000_002],
  ]
  for (const [rule, before, hirer, after] of successes) {
    test(rule, () => {
      assert.deepEqual(applySuccess(at(before), hirer), { ...at(after), successes: 1 })
    })
  }

  // biome-ignore format: a table is read by its columns
  const failures: [rule: string, before: number, after: number][] = [
    ['a failure costs 4.5',          50_000_000, 45_500_000],
    ['no score falls below 0',        4_499_999, 0],
    ['exactly 4.5 falls to exactly 0', 4_500_000, 0],
  ]
  for (const [rule, before, after] of failures) {
    test(rule, () => assert.deepEqual(applyFailure(at(before)), { ...at(after), failures: 1 }))
  }

  // biome-ignore format: a table is read by its columns
  const shown: [micro: number, hundredths: number][] = [
    [50_000_000, 5_000], [51_005_000, 5_100], [51_015_000, 5_102], [51_004_999, 5_100], [100_000_000, 10_000],
  ]
  for (const [micro, hundredths] of shown) {
    test(`${micro} millionths are shown as ${hundredths} hundredths`, () => {
      assert.equal(shownHundredths(micro), hundredths)
    })
  }

  test('stays a whole number of millionths in 0–100, exact by the formula in fractions', () => {
    const step = fc.oneof(fc.constant('failure' as const), fc.nat(HIGHEST_MICRO))
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        let record = NO_RUNNING
        let exact = BigInt(START_MICRO)
        for (const each of steps) {
          record = each === 'failure' ? applyFailure(record) : applySuccess(record, each)
          exact =
            each === 'failure' ? exact - 4_500_000n : roundFiftieths(exact * 50n + BigInt(each))
          if (exact < 0n) exact = 0n
          if (exact > 100_000_000n) exact = 100_000_000n
          assert.equal(BigInt(record.scoreMicro), exact)
        }
        assert.equal(record.successes + record.failures, steps.length)
      }),
    )
  })
})

/** Half to even by the definition: nearer neighbour, else the even one. */
function roundFiftieths(fiftieths: bigint): bigint {
  const below = fiftieths / 50n
  const [down, up] = [fiftieths - below * 50n, (below + 1n) * 50n - fiftieths]
  if (down !== up) return down < up ? below : below + 1n
  return below % 2n === 0n ? below : below + 1n
}
