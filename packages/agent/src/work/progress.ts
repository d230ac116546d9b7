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
  readonly forget: (work: WorkId) => void
}

type Told =
  | { readonly is: 'answer' | 'result' }
  | { readonly is: 'progress'; readonly share: number; readonly note?: string }

type Kept = { last: number; moments: Moment[]; readonly hearers: Set<(moment: Moment) => void> }

// A percent each, and then some; a follower that was away for longer needs only the last.
const MOST_MOMENTS = 200
// Work whose moments are kept at once: twice what can run. Older ones tell their state alone.
const MOST_WORK = 2_000

export function createProgresses(now: () => Instant): Progresses {
  const kept = new Map<WorkId, Kept>()

  function of(work: WorkId): Kept {
    const known = kept.get(work)
    if (known !== undefined) return known
    const fresh: Kept = { last: 0, moments: [], hearers: new Set() }
    kept.set(work, fresh)
    if (kept.size > MOST_WORK) {
      for (const [id, { hearers }] of kept) {
        if (hearers.size > 0 || id === work) continue
        kept.delete(id)
        break
      }
    }
    return fresh
  }

  return {
    tell(work, told) {
      const one = of(work)
      one.last += 1
      const moment: Moment = { ...told, place: one.last, at: now() }
      one.moments.push(moment)
      if (one.moments.length > MOST_MOMENTS) one.moments.shift()
      for (const hear of one.hearers) hear(moment)
    },
    follow(work, after, hear) {
      const one = of(work)
      one.hearers.add(hear)
      const past = one.moments.filter(({ place }) => place > after)
      const first = past[0]?.place ?? one.last + 1
      return {
        past,
        gap: after > one.last || first > after + 1,
        leave: () => one.hearers.delete(hear),
      }
    },
    forget: (work) => kept.delete(work),
  }
}
