/**
 * How often an agent may be asked: in total per minute, and no requester takes more than half while
 * others wait (OC-20).
 *
 *   Q1  In no sliding minute are more asks admitted than the limit.
 *   Q2  A requester that finds another one in the last minute, admitted or turned away, gets at
 *       most half of the limit (rounded up); alone it gets all.
 *   Q3  The memory is bounded: at most the limit's worth of admitted asks, and one last try per
 *       requester for at most as many requesters.
 */
import { accept, type Decision, refuse } from '../decision.ts'
import type { Instant } from '../ids.ts'

const WINDOW_MS = 60_000

export type Rate = {
  readonly perMinute: number
  readonly admitted: readonly { readonly requester: string; readonly at: Instant }[]
  /** When each requester was last turned away: that is what "waiting" means. */
  readonly waiting: readonly { readonly requester: string; readonly at: Instant }[]
}

export type RateFact = {
  readonly type: 'ask_counted' | 'ask_turned_away'
  readonly requester: string
  readonly at: Instant
}

export function decideRate(
  rate: Rate,
  requester: string,
  now: Instant,
): Decision<RateFact, 'rate_exceeded'> {
  const recent = rate.admitted.filter((each) => each.at > now - WINDOW_MS)
  const own = recent.filter((each) => each.requester === requester)
  const othersCame = [...recent, ...rate.waiting].some(
    (each) => each.requester !== requester && each.at > now - WINDOW_MS,
  )
  const share = othersCame ? Math.ceil(rate.perMinute / 2) : rate.perMinute

  const blocking = own.length >= share ? own[own.length - share] : full(recent, rate.perMinute)
  if (blocking === undefined) return accept({ type: 'ask_counted', requester, at: now })
  return refuse('rate_exceeded', {
    retryAt: blocking.at + WINDOW_MS,
    figures: { perMinute: rate.perMinute, share },
  })
}

/** A turned-away ask is remembered too, so that the others leave it its half. */
export function applyRate(rate: Rate, fact: RateFact): Rate {
  const fresh = (each: { readonly at: Instant }) => each.at > fact.at - WINDOW_MS
  const admitted = rate.admitted.filter(fresh)
  const waiting = rate.waiting.filter((each) => fresh(each) && each.requester !== fact.requester)
  const entry = { requester: fact.requester, at: fact.at }
  return fact.type === 'ask_counted'
    ? { ...rate, admitted: [...admitted, entry], waiting }
    : { ...rate, admitted, waiting: [...waiting, entry].slice(-rate.perMinute) }
}

/** The ask that must leave the window first, if the window is full. */
const full = <Entry>(recent: readonly Entry[], perMinute: number): Entry | undefined =>
  recent.length >= perMinute ? recent[recent.length - perMinute] : undefined
