/**
 * What an answer cost: tokens as the provider counted them, times its published price. An estimate
 * for whoever watches the bill; the bill itself is the provider's.
 *
 *   P1  Sums are whole billionths of a US dollar: a dollar for a million tokens is a thousand of
 *       them for each token. Halves are rounded up.
 *   P2  A model without a price costs nothing here and says so (`priced: false`).
 */

/** US dollars for a million tokens. */
export type Price = {
  readonly input: number
  readonly output: number
  /** Of input that the provider had read before. Default: as all input. */
  readonly cachedInput?: number
}

/** When these were looked up. Prices change: hand in your own (`price`) where they have. */
export const PRICES_OF = '2026-07-04'
export const PRICES: Readonly<Record<string, Price>> = {
  'gemini-3-flash': { input: 0.5, output: 3, cachedInput: 0.05 },
  'gpt-4o-mini': { input: 0.15, output: 0.6, cachedInput: 0.075 },
}

export type Tokens = {
  readonly input: number
  /** Of these, read before. */
  readonly cachedInput: number
  /** With what the model thought and did not say. */
  readonly output: number
}

export type Use = {
  readonly model: string
  readonly purpose: string
  readonly tokens: Tokens
  /** Billionths of a US dollar. */
  readonly costNanos: number
  readonly priced: boolean
}

const NANOS = 1_000

export function costOf({ input, cachedInput, output }: Tokens, price: Price): number {
  const fresh = Math.max(0, input - cachedInput)
  const dollars =
    fresh * price.input + cachedInput * (price.cachedInput ?? price.input) + output * price.output
  return Math.ceil(Math.round(dollars * NANOS * 1_000) / 1_000)
}

/** `$0.0042`: as many digits as it takes to see something. */
export function showNanos(nanos: number): string {
  const dollars = nanos / 1e9
  return `$${dollars >= 1 || dollars === 0 ? dollars.toFixed(2) : dollars.toPrecision(2)}`
}

export type Total = {
  readonly calls: number
  readonly tokens: Tokens
  readonly costNanos: number
  /** Answers of models without a price, which are not in the sum. */
  readonly unpriced: number
}

export type Tally = {
  readonly add: (use: Use) => void
  /** Of all models, or of one. */
  readonly total: (model?: string) => Total
}

const NOTHING: Total = {
  calls: 0,
  tokens: { input: 0, cachedInput: 0, output: 0 },
  costNanos: 0,
  unpriced: 0,
}

/** The running total of a process. */
export function createTally(): Tally {
  const totals = new Map<string, Total>()
  return {
    add(use) {
      totals.set(use.model, plus(totals.get(use.model) ?? NOTHING, totalOf(use)))
    },
    total: (model) =>
      model === undefined
        ? [...totals.values()].reduce(plus, NOTHING)
        : (totals.get(model) ?? NOTHING),
  }
}

const totalOf = ({ tokens, costNanos, priced }: Use): Total => ({
  calls: 1,
  tokens,
  costNanos,
  unpriced: priced ? 0 : 1,
})

const plus = (one: Total, other: Total): Total => ({
  calls: one.calls + other.calls,
  tokens: {
    input: one.tokens.input + other.tokens.input,
    cachedInput: one.tokens.cachedInput + other.tokens.cachedInput,
    output: one.tokens.output + other.tokens.output,
  },
  costNanos: one.costNanos + other.costNanos,
  unpriced: one.unpriced + other.unpriced,
})
