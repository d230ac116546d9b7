/**
 * How often each caller has asked in the last minute, at all hubs together. What may be let in is
 * asked for in the database, some of it ahead; `domain/work/allowance.ts` says why that is exact.
 *
 *   H1  One question of a caller is under way at a time; who comes meanwhile waits for the answer,
 *       and within a bound.
 *   H2  What is in hand costs nothing, and so does whoever is known to have asked too often.
 *   H3  While the database is away the hub counts by itself, so that what it serves from memory is
 *       still served; it tells what it let in when there is somebody to tell. For that time the
 *       limit holds at each hub, not over all.
 *   H4  What is not used in time is given back.
 */
import { createHash } from 'node:crypto'
import { refuse } from '@chimera/domain/decision'
import type { Instant } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import {
  applyAnswer,
  applyLetIn,
  askFor,
  type Cover,
  decideAlone,
  decideShare,
  isIdle,
  isOverdue,
  NO_SHARE,
  type Share,
} from '@chimera/domain/work/share'
import type { Clock } from '@chimera/host/clock'
import type { Allowances } from '../ports/allowances.ts'
import { createPlaces } from './places.ts'
import type { Paced, Rate, RateOptions } from './rate.ts'

export type SharedRate = Rate & {
  /** Gives back what was not used in time, or all of it. */
  readonly giveBack: (now: Instant, which?: 'overdue' | 'all') => Promise<void>
}

export type SharedRateOptions = RateOptions & {
  /** Tells the names of one kind from those of another. */
  readonly kind: string
  readonly allowances: Pick<Allowances, 'ask'>
  readonly sleep: Clock['sleep']
}

type Waiter = {
  readonly now: Instant
  readonly resolve: (paced: Paced) => void
  readonly reject: (error: unknown) => void
}

// A database that needs longer is as good as away; a caller that waits is still there.
const PATIENCE_MS = 2_000
// So long the hub counts by itself before it asks again: others need not wait in vain meanwhile.
const AWAY_MS = 1_000
// What is given back together: a page of what the store decides together.
const PAGE = 500

export function createSharedRate(options: SharedRateOptions): SharedRate {
  const { perMinute, kind, allowances, sleep, most = LIMITS.pacedCallers } = options
  const asking = new Map<string, Waiter[]>()
  const places = createPlaces<Share>({
    most,
    unknown: NO_SHARE,
    isIdle: (place, share, now) => !asking.has(place) && isIdle(share, now),
  })
  let waiting = 0
  let awayUntil = Number.NEGATIVE_INFINITY

  const digestOf = (place: string): string =>
    createHash('sha256').update(`${kind} ${place}`).digest('base64url')

  function enter(place: string, cover: Cover, now: Instant): Paced {
    places.write(place, applyLetIn(places.read(place), cover, now))
    return { ok: true }
  }

  function alone(place: string, now: Instant): Paced {
    const decision = decideAlone(places.read(place), perMinute, now)
    return decision.ok ? enter(place, decision.cover, now) : decision
  }

  /** The answer, if it can be had without asking. */
  function own(place: string, now: Instant): Paced | undefined {
    const decision = decideShare(places.read(place), now)
    if (!decision.ok) return decision
    if (decision.cover === 'ahead') return enter(place, 'ahead', now)
    return now < awayUntil ? alone(place, now) : undefined
  }

  async function patiently(asked: ReturnType<Allowances['ask']>): ReturnType<Allowances['ask']> {
    const patience = new AbortController()
    const late = sleep(PATIENCE_MS, patience.signal).then(
      () => 'away' as const,
      () => 'away' as const,
    )
    try {
      return await Promise.race([asked, late])
    } finally {
      patience.abort()
    }
  }

  async function askOnce(place: string, waiters: Waiter[]): Promise<void> {
    const now = Math.max(...waiters.map((each) => each.now))
    const wanted = waiters.length
    const question = askFor(places.read(place), { wanted, perMinute }, now)
    places.write(place, question.share)
    const answer = await patiently(allowances.ask(digestOf(place), question.asked, now))
    if (answer === 'full') {
      for (const each of waiters.splice(0)) each.resolve(refuse('service_unavailable'))
      return
    }
    if (answer === 'away') {
      awayUntil = now + AWAY_MS
      for (const each of waiters.splice(0)) each.resolve(alone(place, each.now))
      return
    }
    places.write(place, applyAnswer(places.read(place), answer))
    for (const each of waiters.splice(0, answer.fact.granted)) {
      each.resolve(enter(place, 'granted', each.now))
    }
    for (let next = waiters[0]; next !== undefined; next = waiters[0]) {
      const paced = own(place, next.now)
      if (paced === undefined) return
      waiters.shift()
      next.resolve(paced)
    }
  }

  async function ask(place: string, waiters: Waiter[]): Promise<void> {
    try {
      while (waiters.length > 0) await askOnce(place, waiters)
    } catch (error) {
      for (const each of waiters.splice(0)) each.reject(error)
    } finally {
      asking.delete(place)
    }
  }

  function wait(place: string, now: Instant): Promise<Paced> {
    const waiters = asking.get(place) ?? []
    waiting += 1
    const answered = new Promise<Paced>((resolve, reject) => {
      waiters.push({ now, resolve, reject })
    }).finally(() => {
      waiting -= 1
    })
    if (!asking.has(place)) {
      asking.set(place, waiters)
      void ask(place, waiters)
    }
    return answered
  }

  async function giveBackOne(place: string, now: Instant): Promise<boolean> {
    const { given, ...kept } = places.read(place)
    if (given === undefined) return true
    // What was let in without asking is told with the next question, which hears the answer.
    const { asked } = askFor({ ...NO_SHARE, given }, { wanted: 0, perMinute }, now)
    places.amend(place, kept)
    return (await patiently(allowances.ask(digestOf(place), asked, now))) !== 'away'
  }

  return {
    take(name, now) {
      if (perMinute === 0) return { ok: true }
      const place = places.of(name, now)
      const paced = asking.has(place) ? undefined : own(place, now)
      if (paced !== undefined) return paced
      if (waiting >= LIMITS.allowancesWaiting) return refuse('service_unavailable')
      return wait(place, now)
    },
    look(name, now) {
      if (perMinute === 0) return { ok: true }
      const decision = decideShare(places.read(places.of(name, now)), now)
      return decision.ok ? { ok: true } : decision
    },
    size: places.size,
    async giveBack(now, which = 'overdue') {
      const due = [...places.all()].filter(
        ([, share]) => (which === 'all' && share.given !== undefined) || isOverdue(share, now),
      )
      for (let at = 0; at < due.length; at += PAGE) {
        const page = due.slice(at, at + PAGE)
        const told = await Promise.all(page.map(([place]) => giveBackOne(place, now)))
        // Nobody is there to tell; the rest lapses by itself.
        if (told.includes(false)) return
      }
    },
  }
}
