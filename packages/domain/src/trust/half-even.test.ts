/** Exact rounding of integer fractions, ties to the even neighbour. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { halfEven } from './half-even.ts'

// biome-ignore format: a table is read by its columns
const rows: [rule: string, numerator: number, denominator: number, rounded: number][] = [
  ['what divides evenly is exact',   150, 50, 3],
  ['below the half falls',           174, 50, 3],
  ['above the half rises',           176, 50, 4],
  ['a half above an odd one rises',  175, 50, 4],
  ['a half above an even one falls', 125, 50, 2],
  ['half of one is nothing',           1,  2, 0],
  ['an odd denominator has no half',   2,  3, 1],
  ['nothing stays nothing',            0, 50, 0],
]

describe('half-even division', () => {
  for (const [rule, numerator, denominator, rounded] of rows) {
    test(rule, () => assert.equal(halfEven({ numerator, denominator }), rounded))
  }

  test('is the nearest whole number, and the even one of two', () => {
    const whole = fc.maxSafeNat()
    fc.assert(
      fc.property(whole, fc.integer({ min: 1, max: 1_000_000 }), (numerator, denominator) => {
        const rounded = BigInt(halfEven({ numerator, denominator }))
        const off = 2n * (rounded * BigInt(denominator) - BigInt(numerator))
        const apart = off < 0n ? -off : off
        assert.ok(apart <= BigInt(denominator))
        if (apart === BigInt(denominator)) assert.equal(rounded % 2n, 0n)
      }),
    )
  })
})
