/**
 * What a rule answers: the facts that are now true, or the one reason why not.
 *
 * A decision never throws and never awaits. An accepted decision without facts means that what was
 * asked for is already so.
 */
import type { Instant } from './ids.ts'
import type { Refusal } from './refusals.ts'

/** One field that is wrong: where, what was expected, and what kind of thing came. */
export type Issue = {
  readonly path: string
  readonly expected: string
  readonly got: string
}

/** What goes with a refusal so that the caller can act on it. Never a secret, never a payload. */
export type Particulars = {
  /** When it is worth asking again; only for refusals whose `retry` is `later`. */
  readonly retryAt?: Instant
  readonly issues?: readonly Issue[]
  /** Counts and limits that explain the refusal, such as `{ current: 5, most: 5 }`. */
  readonly figures?: Readonly<Record<string, number | string>>
}

export type Accepted<Fact> = { readonly ok: true; readonly facts: readonly Fact[] }
export type Refused<Code extends Refusal> = {
  readonly ok: false
  readonly refusal: Code
  readonly particulars: Particulars
}
export type Decision<Fact, Code extends Refusal> = Accepted<Fact> | Refused<Code>

export function accept<Fact>(...facts: readonly Fact[]): Accepted<Fact> {
  return { ok: true, facts }
}

export function refuse<Code extends Refusal>(
  refusal: Code,
  particulars: Particulars = {},
): Refused<Code> {
  return { ok: false, refusal, particulars }
}
