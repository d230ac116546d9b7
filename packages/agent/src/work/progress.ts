/**
 * What can be followed of one piece of work: numbered from 1, so that who was cut off goes on after
 * the last one it saw, and hears of a gap where that is not kept (P-7).
 *
 *   F1  Places rise by one. The end is the last, and is always kept.
 *   F2  So many are kept per piece of work; of progress the oldest goes first.
 *   F3  Of work that ended a while ago only the end is kept: whoever follows it then hears of the
 *       gap, and of the end.
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

/** Of work that says nothing on its way, which nobody follows: most is so. */
type Plain = readonly ('answer' | 'result')[]
const ANSWERED: Plain = ['answer']
const ENDED: Plain = ['answer', 'result']

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
// Of those, ended ones whose way there is kept too: a follower that was cut off is soon back.
const MOST_ENDED = 100

export function createProgresses(now: () => Instant): Progresses {
  /** In two ages, so that nothing is taken out one by one; what goes on becomes young again. */
  let young = new Map<WorkId, Kept | Plain>()
  let old = new Map<WorkId, Kept | Plain>()
  const ended: Kept[] = []

  function put(work: WorkId, one: Kept | Plain): void {
    if (young.size >= MOST_WORK && !young.has(work)) age()
    young.set(work, one)
  }

  function of(work: WorkId): Kept {
    const known = young.get(work) ?? old.get(work)
    const one = known !== undefined && 'last' in known ? known : keptOf(known ?? [], now())
    put(work, one)
    return one
  }

  function age(): void {
    const gone = old
    old = young
    young = new Map()
    for (const [work, one] of gone) if ('last' in one && one.hearers?.size) young.set(work, one)
  }

  /** F3. */
  function end(one: Kept): void {
    ended.push(one)
    const before = ended.length > MOST_ENDED ? ended.shift() : undefined
    if (before !== undefined) before.moments = before.moments.slice(-1)
  }

  /** Whether there is no more to remember of it than that. */
  function isPlain(work: WorkId, is: Told['is']): boolean {
    const known = young.get(work) ?? old.get(work)
    const plain = known === undefined && is === 'answer' ? ANSWERED : undefined
    const after = known === ANSWERED && is === 'result' ? ENDED : plain
    if (after !== undefined) put(work, after)
    return after !== undefined
  }

  return {
    tell(work, told) {
      if (isPlain(work, told.is)) return
      const one = of(work)
      one.last += 1
      const moment = momentOf(told, one.last, now())
      one.moments.push(moment)
      if (one.moments.length > MOST_MOMENTS) one.moments.shift()
      if (told.is === 'result') end(one)
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

// Written out, and not spread (decision 0082).
function momentOf(told: Told, place: number, at: Instant): Moment {
  if (told.is !== 'progress') return { is: told.is, place, at }
  const { is, share, note } = told
  return note === undefined ? { is, share, place, at } : { is, share, note, place, at }
}

const keptOf = (plain: Plain, at: Instant): Kept => ({
  last: plain.length,
  moments: plain.map((is, before) => ({ is, place: before + 1, at })),
  hearers: undefined,
})
