/**
 * What can be followed of one piece of work: numbered from 1, so that who was cut off goes on after
 * the last one it saw, and hears of a gap where that is not kept (P-7).
 *
 *   F1  Places rise by one. The end is the last, and is always kept.
 *   F2  So many are kept per piece of work; of progress the oldest goes first.
 */
import type { Instant, WorkId } from '@chimera/domain/ids'

export type Moment = { readonly place: number; readonly at: Instant } & (
  | { readonly is: 'answer' | 'result' }
  | { readonly is: 'progress'; readonly share: number; readonly note?: string }
)

export type Following = {
  /** What is kept after the place. */
  readonly past: readonly Moment[]
  /** Something between the place and what is kept is gone. */
  readonly gap: boolean
  readonly leave: () => void
}

export type Progresses = {
  readonly tell: (work: WorkId, moment: Told) => void
  readonly follow: (work: WorkId, after: number, hear: (moment: Moment) => void) => Following
}

type Told =
  | { readonly is: 'answer' | 'result' }
  | { readonly is: 'progress'; readonly share: number; readonly note?: string }

type Kept = {
  last: number
  moments: Moment[]
  /** Made for the first who follows: most work is followed by nobody. */
  hearers: Set<(moment: Moment) => void> | undefined
}

// A percent each, and then some; a follower that was away for longer needs only the last.
const MOST_MOMENTS = 200
// Work whose moments are kept at least: twice what can run. Older ones tell their state alone.
const MOST_WORK = 2_000

export function createProgresses(now: () => Instant): Progresses {
  /** In two ages, so that nothing is taken out one by one; what goes on becomes young again. */
  let young = new Map<WorkId, Kept>()
  let old = new Map<WorkId, Kept>()

  function of(work: WorkId): Kept {
    const known = young.get(work)
    if (known !== undefined) return known
    if (young.size >= MOST_WORK) age()
    const one = old.get(work) ?? { last: 0, moments: [], hearers: undefined }
    young.set(work, one)
    return one
  }

  function age(): void {
    const gone = old
    old = young
    young = new Map()
    for (const [work, one] of gone) if (one.hearers?.size) young.set(work, one)
  }

  return {
    tell(work, told) {
      const one = of(work)
      one.last += 1
      const moment: Moment = { ...told, place: one.last, at: now() }
      one.moments.push(moment)
      if (one.moments.length > MOST_MOMENTS) one.moments.shift()
      if (one.hearers !== undefined) for (const hear of one.hearers) hear(moment)
    },
    follow(work, after, hear) {
      const one = of(work)
      const hearers = one.hearers ?? new Set()
      one.hearers = hearers.add(hear)
      const past = one.moments.filter(({ place }) => place > after)
      const first = past[0]?.place ?? one.last + 1
      return {
        past,
        gap: after > one.last || first > after + 1,
        leave: () => hearers.delete(hear),
      }
    },
  }
}
