/**
 * Wallet money. On the wire it is a decimal number; a chain counts whole base units, so that is
 * what is counted here, and nothing is ever computed with a float.
 *
 *   N1  An amount is read by its decimal digits, exactly, or not at all: it is never rounded. A
 *       JSON number of more than 15 digits was rounded before it came here, so it is not read
 *       either.
 *   N2  What is written exactly is read back exactly.
 *   N3  A figure that is only shown may be rounded, and is never a ground for spending.
 */
import { type Static, Type } from 'typebox'

export const CURRENCIES = ['USDC', 'ETH', 'BASE'] as const
export const Currency = Type.Enum(CURRENCIES)
export type Currency = Static<typeof Currency>

/** BASE is the native ETH of the Base network (SK-13). */
export const DECIMALS: Readonly<Record<Currency, number>> = { USDC: 6, ETH: 18, BASE: 18 }

/** A number of so many digits fits into the 256 bits of a chain; a longer one may not. */
const MOST_DIGITS = 77

/** Digits, a fraction, and the exponent that JavaScript writes for the very large and small. */
const DECIMAL = /^(\d{1,77})(?:\.(\d{1,77}))?(?:e([+-]?\d{1,3}))?$/

/** What a double holds of any decimal. */
const EXACT_DIGITS = 15

/** Base units of a JSON number or a decimal text; undefined when it is no whole number of them. */
export function readUnits(amount: number | string, decimals: number): bigint | undefined {
  const match = DECIMAL.exec(String(amount))
  if (match === null) return undefined
  const [, whole = '', fraction = '', exponent = '0'] = match
  const digits = (whole + fraction).replace(/^0+/, '')
  if (digits === '') return 0n
  if (typeof amount === 'number' && digits.replace(/0+$/, '').length > EXACT_DIGITS)
    return undefined
  /** How many zeros to append to the digits; when negative, to take away. */
  const shift = decimals + Number(exponent) - fraction.length
  if (shift >= 0) {
    return digits.length + shift > MOST_DIGITS ? undefined : BigInt(digits + '0'.repeat(shift))
  }
  const kept = digits.slice(0, shift)
  const rest = digits.slice(shift)
  if (/[1-9]/.test(rest) || kept.length > MOST_DIGITS) return undefined
  return BigInt(kept)
}

/** The exact decimal text, without needless zeros: `1.5`, `0.000001`, `100`. */
export function writeUnits(units: bigint, decimals: number): string {
  const digits = units.toString().padStart(decimals + 1, '0')
  const whole = digits.slice(0, digits.length - decimals)
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '')
  return fraction === '' ? whole : `${whole}.${fraction}`
}

/** N3: the JSON number nearest to it. Exact up to 15 digits, which ETH often exceeds. */
export function showUnits(units: bigint, decimals: number): number {
  return Number(writeUnits(units, decimals))
}
