/** What was paid in each span, those in which nothing was included: a plot has no holes. */
type Paid = {
  readonly by: 'hour' | 'day'
  readonly since: string
  readonly spans: readonly { readonly begins_at: string; readonly amount: number }[]
}

const MS = { hour: 3_600_000, day: 86_400_000 } as const

export function fillSpans(
  { by, since, spans }: Paid,
  count: number,
): readonly { readonly at: number; readonly amount: number }[] {
  const paid = new Map(spans.map(({ begins_at, amount }) => [Date.parse(begins_at), amount]))
  const first = Date.parse(since)
  return Array.from({ length: count }, (_, index) => {
    const at = first + index * MS[by]
    return { at, amount: paid.get(at) ?? 0 }
  })
}
