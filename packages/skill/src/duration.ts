/**
 * Spans of time as an author writes them: `'5s'`, `'1.5m'`, `'24h'`, or a number of milliseconds.
 */
const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

export type Duration = number | `${number}${keyof typeof UNIT_MS}`

/** Whole milliseconds; undefined when it is no span of time. */
export function readDuration(span: number | string): number | undefined {
  if (typeof span === 'number') return wholeMs(span)
  const [, digits, unit] = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h|d)$/.exec(span) ?? []
  if (digits === undefined || !isUnit(unit)) return undefined
  return wholeMs(Math.round(Number(digits) * UNIT_MS[unit]))
}

const wholeMs = (ms: number): number | undefined =>
  Number.isSafeInteger(ms) && ms >= 0 ? ms : undefined

const isUnit = (text: string | undefined): text is keyof typeof UNIT_MS =>
  text !== undefined && Object.hasOwn(UNIT_MS, text)
