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

type Kept = {
  readonly work: WorkId
  last: number
  moments: Moment[]
  /** Made for the first who follows: most work is followed by nobody. */
  hearers: Set<(moment: Moment) => void> | undefined
}

// A percent each, and then some; a follower that was away for longer needs only the last.
const MOST_MOMENTS = 200
// Work whose moments are kept at once: twice what can run. Older ones tell their state alone.
const MOST_WORK = 2_000

export function createProgresses(now: () => Instant): Progresses {
  const kept = new Map<WorkId, Kept>()

  /** In the order of their coming; from here on, those that may be forgotten. */
  let oldest: Kept[] = []
  let passed = 0

  function of(work: WorkId): Kept {
    const known = kept.get(work)
    if (known !== undefined) return known
    const fresh: Kept = { work, last: 0, moments: [], hearers: undefined }
    kept.set(work, fresh)
    oldest.push(fresh)
    if (kept.size > MOST_WORK) forgetOldest()
    return fresh
  }

  /** One that is followed comes to the end of the line. */
  function forgetOldest(): void {
    for (let tries = oldest.length - passed - 1; tries > 0; tries -= 1) {
      const one = oldest[passed]
      passed += 1
      if (passed === MOST_WORK) {
        oldest = oldest.slice(passed)
        passed = 0
      }
      if (one === undefined || kept.get(one.work) !== one) continue
      if (one.hearers === undefined || one.hearers.size === 0) {
        kept.delete(one.work)
        return
      }
      oldest.push(one)
    }
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
    forget: (work) => kept.delete(work),
  }
}
