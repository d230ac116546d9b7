/** One row, one rule: what is a sum of credits, and what is kept of it on settling. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { LIMITS } from '../limits.ts'
import { feeOf, isAmount, isPrice, withinCap } from './amount.ts'

// biome-ignore format: a table is read by its columns
const sums: [rule: string, cents: number, amount: boolean, price: boolean][] = [
  ['a hundredth is the least amount',    1,                       true,  true],
  ['nothing is a price, not an amount',  0,                       false, true],
  ['less than nothing is neither',       -1,                      false, false],
  ['half a hundredth is neither',        0.5,                     false, false],
  ['a float\'s near miss is neither',    0.1 * 3 * 100,           false, false],
  ['the limit is allowed',               LIMITS.amountCents,      true,  true],
  ['above the limit is not',             LIMITS.amountCents + 1,  false, false],
  ['nor is what is no number',           Number.NaN,              false, false],
  ['nor what never ends',                Number.POSITIVE_INFINITY, false, false],
]

describe('CH-7 credits are whole hundredths', () => {
  for (const [rule, cents, amount, price] of sums) {
    test(rule, () => assert.deepEqual([isAmount(cents), isPrice(cents)], [amount, price]))
  }
})

// biome-ignore format: a table is read by its columns
const fees: [rule: string, paidCents: number, feeBasisPoints: number, feeCents: number][] = [
  ['nothing by default',                  1_000,              0,      0],
  ['one per cent',                        1_000,              100,    10],
  ['a part of a hundredth is rounded up', 1_001,              100,    11],
  ['so the least payment bears it too',   1,                  1,      1],
  ['nothing of nothing',                  0,                  500,    0],
  ['never more than all of it',           7,                  10_000, 7],
  ['exact at the limit',                  LIMITS.amountCents, 9_999,  9_999_000_000],
]

describe('the settlement fee', () => {
  for (const [rule, paidCents, feeBasisPoints, feeCents] of fees) {
    test(rule, () => assert.equal(feeOf(paidCents, { feeBasisPoints }), feeCents))
  }
})

test('a token spends up to its cap and no further', () => {
  const cap = { spentCents: 70, capCents: 100 }
  assert.deepEqual([withinCap(cap, 30), withinCap(cap, 31)], [true, false])
  assert.equal(withinCap({ spentCents: 70 }, LIMITS.amountCents), true)
})
