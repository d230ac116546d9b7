/**
 * Division of whole numbers, rounded half to even: in the long run ties lift nobody (CH-10).
 * Exact as long as twice the denominator and the numerator are safe integers.
 */
export type Quotient = { readonly numerator: number; readonly denominator: number }

/** For a numerator of zero or more and a denominator above zero. */
export function halfEven({ numerator, denominator }: Quotient): number {
  const rest = numerator % denominator
  const whole = (numerator - rest) / denominator
  const twice = rest * 2
  if (twice === denominator) return whole + (whole % 2)
  return twice > denominator ? whole + 1 : whole
}
