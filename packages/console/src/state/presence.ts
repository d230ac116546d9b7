/** A day of an agent as a band: what its instances said, put together where they overlap. */
import type { encodePresenceHistory } from '@chimera/dialects/chimera'

export type Day = ReturnType<typeof encodePresenceHistory>
type State = Day['spans'][number]['state']

/** Who works is seen before who waits; in the order in which they are named. */
export const STATES = ['busy', 'available', 'draining'] as const satisfies readonly State[]

export type Span = { readonly begins: number; readonly ends: number; readonly state: State }

/** Of instances that are there together, the one that works is shown. Nothing overlaps. */
export function spansOf({ spans }: Pick<Day, 'spans'>): readonly Span[] {
  const all = spans.map(({ state, from, until }) => ({
    state,
    begins: Date.parse(from),
    ends: Date.parse(until),
  }))
  const edges = [...new Set(all.flatMap(({ begins, ends }) => [begins, ends]))].sort(
    (a, b) => a - b,
  )
  const shown: Span[] = []
  let begun = 0
  const byBegin = all.toSorted((a, b) => a.begins - b.begins)
  let open: Span[] = []
  edges.slice(0, -1).forEach((begins, index) => {
    const ends = edges[index + 1] ?? begins
    open = open.filter((each) => each.ends > begins)
    for (let next = byBegin[begun]; next !== undefined && next.begins <= begins; ) {
      open.push(next)
      begun += 1
      next = byBegin[begun]
    }
    const state = STATES.find((word) => open.some((each) => each.state === word))
    if (state === undefined) return
    const last = shown.at(-1)
    if (last?.state === state && last.ends === begins) shown[shown.length - 1] = { ...last, ends }
    else shown.push({ begins, ends, state })
  })
  return shown
}

/** How long in each state. */
export function timeIn(spans: readonly Span[], state: State): number {
  return spans
    .filter((each) => each.state === state)
    .reduce((sum, { begins, ends }) => sum + ends - begins, 0)
}
