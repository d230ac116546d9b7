/**
 * Sums of credits: whole hundredths, never a fraction of one (CH-7), and the fee on settling.
 */
import { LIMITS } from '../limits.ts'

/** Above zero and within the limit. */
export function isAmount(cents: number): boolean {
  return isPrice(cents) && cents > 0
}

/** As an amount, but work may be free. */
export function isPrice(cents: number): boolean {
  return Number.isSafeInteger(cents) && cents >= 0 && cents <= LIMITS.amountCents
}

export type SettlementTerms = {
  /**
   * What is kept of each payment for work, in hundredths of a per cent: a whole number, 0–10 000.
   * It makes circular trade cost (P-2); at 0 such trade is free.
   */
  readonly feeBasisPoints: number
}
export const NO_FEE: SettlementTerms = { feeBasisPoints: 0 }

/** Rounded up, so that the fee cannot be dodged by cutting payments small. */
export function feeOf(paidCents: number, { feeBasisPoints }: SettlementTerms): number {
  // At most 10¹⁴: exact, and so is every step below.
  const scaled = paidCents * feeBasisPoints
  const rest = scaled % 10_000
  return (scaled - rest) / 10_000 + (rest > 0 ? 1 : 0)
}

/** Whether a token may spend so much more. A token without a cap may spend all there is. */
export function withinCap(
  cap: { readonly spentCents: number; readonly capCents?: number },
  amountCents: number,
): boolean {
  return cap.capCents === undefined || cap.spentCents + amountCents <= cap.capCents
}
