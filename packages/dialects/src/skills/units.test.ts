/** Wallet money: by its digits, exactly or not at all. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { CURRENCIES, DECIMALS, readUnits, showUnits, writeUnits } from './units.ts'

// biome-ignore format: a table is read by its columns
const rows: [amount: number | string, decimals: number, units: bigint | undefined, why: string][] = [
  [0,                      6,  0n,                        'nothing'],
  [0.01,                   6,  10_000n,                   'the least debit'],
  [0.07,                   6,  70_000n,                   'times a million it is 70000.00000000001 in floats'],
  [1.1,                    18, 1_100_000_000_000_000_000n, 'beyond what a float can count'],
  [0.1 + 0.2,              6,  undefined,                 'float noise is not a sum of USDC'],
  [0.0000001,              6,  undefined,                 'a seventh decimal; JavaScript writes 1e-7'],
  [0.0000001,              18, 100_000_000_000n,          'the same of ETH'],
  [1e21,                   6,  10n ** 27n,                'JavaScript writes 1e+21'],
  [1.5e22,                 0,  15n * 10n ** 21n,          'a point and an exponent'],
  [1e80,                   18, undefined,                 'more than 256 bits'],
  [-1,                     6,  undefined,                 'below zero'],
  [-0,                     6,  0n,                        'minus nothing is nothing'],
  [Number.NaN,             6,  undefined,                 'not a number'],
  [Number.POSITIVE_INFINITY, 6, undefined,                'no end'],
  [999_999_999.999999,     6,  999_999_999_999_999n,      'fifteen digits are exact'],
  [1_000_000_000.000001,   6,  undefined,                 'of sixteen a double may have lost one'],
  ['1000000000.000001',    6,  1_000_000_000_000_001n,    'a text has lost none'],
  [0.1 + 0.2,              18, undefined,                 'float noise is not a sum of ETH either'],
  [120_000_000_000_000_000_000, 6, 12n * 10n ** 25n,      'zeros at the end are no digits to lose'],
  ['1.000000',             6,  1_000_000n,                'needless zeros'],
  ['1.0000000',            6,  1_000_000n,                'needless zeros past the last decimal lose nothing'],
  ['1.0000001',            6,  undefined,                 'and others would'],
  ['007',                  6,  7_000_000n,                'zeros in front'],
  ['1.',                   6,  undefined,                 'a point without a fraction'],
  ['.5',                   6,  undefined,                 'a fraction without a whole'],
  ['1,5',                  6,  undefined,                 'a comma'],
  ['0x10',                 6,  undefined,                 'hexadecimal'],
  [' 1',                   6,  undefined,                 'a blank'],
  ['+1',                   6,  undefined,                 'a sign'],
  ['',                     6,  undefined,                 'no text'],
  ['１',                   6,  undefined,                 'a digit of another script'],
]

describe('SK-14 whole base units', () => {
  for (const [amount, decimals, units, why] of rows) {
    test(`${JSON.stringify(amount)} with ${decimals} decimals: ${why}`, () => {
      assert.equal(readUnits(amount, decimals), units)
    })
  }

  const units = fc.bigInt({ min: 0n, max: 10n ** 59n })
  const decimals = fc.constantFrom(0, ...Object.values(DECIMALS))

  test('N2 what is written exactly is read back exactly', () => {
    fc.assert(
      fc.property(units, decimals, (sum, places) => {
        const text = writeUnits(sum, places)
        assert.equal(readUnits(text, places), sum)
        assert.match(text, /^(0|[1-9]\d*)(\.\d*[1-9])?$/)
      }),
      { numRuns: 1_000 },
    )
  })

  test('N1 an amount is read as its digits say, or not at all', () => {
    const digits = fc.stringMatching(/^\d{1,20}$/)
    fc.assert(
      fc.property(digits, digits, decimals, (whole, fraction, places) => {
        const lost = fraction.slice(places)
        const kept = BigInt(whole + fraction.slice(0, places).padEnd(places, '0'))
        const expected = /[1-9]/.test(lost) ? undefined : kept
        assert.equal(readUnits(`${whole}.${fraction}`, places), expected)
      }),
      { numRuns: 1_000 },
    )
  })

  test('what was written with up to 15 digits survives JSON', () => {
    const sum = fc.bigInt({ min: 0n, max: 10n ** 15n - 1n })
    fc.assert(
      fc.property(sum, decimals, (each, places) => {
        const wire: number = JSON.parse(writeUnits(each, places))
        assert.equal(readUnits(wire, places), each)
        assert.equal(showUnits(each, places), wire)
      }),
      { numRuns: 1_000 },
    )
  })

  test('a shown figure is off by less than one part in 10¹⁵', () => {
    fc.assert(
      fc.property(units, fc.constantFrom(...CURRENCIES), (sum, currency) => {
        const places = DECIMALS[currency]
        const shown = BigInt(Math.round(showUnits(sum, places) * 10 ** places))
        const off = shown > sum ? shown - sum : sum - shown
        assert.ok(off * 10n ** 15n <= sum + 10n ** 15n, `${off} of ${sum}`)
      }),
    )
  })
})
