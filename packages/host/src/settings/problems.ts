/**
 * What is wrong with the settings, in plain words: which one, where it was said, what was expected
 * and what came. A secret's value is never among them, and no other text shows a secret either.
 */
import { redactText } from '../redact.ts'

export type Problem = {
  readonly setting: string
  /** Where it was said, such as `the variable CHIMERA_LISTEN`; absent when nobody said it. */
  readonly from?: string
  readonly expected: string
  readonly got: string
}

const MOST_CHARS = 80

export function describeProblem({ setting, from, expected, got }: Problem): string {
  return `${setting}${from ? `, from ${from}` : ''}: expected ${expected}; came ${got}.`
}

/** What came, for a problem. Paths and hosts may be shown: they are the operator's own words. */
export function describeValue(raw: unknown, secret: boolean): string {
  if (secret) return 'something else, which is not shown'
  const written = redactText(JSON.stringify(raw) ?? typeof raw, { showInside: true })
  return written.length > MOST_CHARS ? `${written.slice(0, MOST_CHARS)}…` : written
}
