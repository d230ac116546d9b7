/**
 * A text cut into what a judge marked and what lies between.
 *
 *   M1  The parts, put together, are the text: nothing is lost, nothing is twice.
 *   M2  Marks may overlap; a part knows all of its marks.
 *   M3  A mark outside of the text, or one that turns back, marks nothing; no letter is halved.
 */
export type Span = { readonly start: number; readonly end: number }

export type MarkedPart = {
  readonly text: string
  readonly start: number
  /** Places in the list of spans. */
  readonly marks: readonly number[]
}

export function splitMarks(
  text: string,
  spans: readonly (Span | undefined)[],
): readonly MarkedPart[] {
  const whole = spans.map((span) => span && fit(text, span))
  const edges = whole.flatMap((span) => (span ? [span.start, span.end] : []))
  const cuts = [...new Set([0, ...edges, text.length])].toSorted((one, other) => one - other)
  return cuts.slice(0, -1).map((start, at) => {
    const end = cuts[at + 1] ?? text.length
    const marks = whole.flatMap((span, index) =>
      span && span.start <= start && end <= span.end ? [index] : [],
    )
    return { text: text.slice(start, end), start, marks }
  })
}

/** M3. */
function fit(text: string, { start, end }: Span): Span | undefined {
  const from = isInside(text, start) ? start - 1 : start
  const to = Math.min(isInside(text, end) ? end + 1 : end, text.length)
  return from >= 0 && from < to ? { start: from, end: to } : undefined
}

/** Between the two halves of one letter. */
function isInside(text: string, at: number): boolean {
  return /^[\uD800-\uDBFF][\uDC00-\uDFFF]$/.test(text.slice(at - 1, at + 1)) && at > 0
}
