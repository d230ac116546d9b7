/**
 * How often one caller may ask, whatever it asks for: a limit per minute, kept in whole seconds.
 *
 *   P1  In no span of a minute, wherever it begins, is a caller let in more often than the limit.
 *   P2  Who waits as long as it was told is let in. That is at most a second longer than an exact
 *       record of every request would have it wait, and `retry-after` is in whole seconds anyway.
 *   P3  Being turned away is not counted, so that knocking does not prolong the wait.
 *   P4  The memory of one caller is bounded: one count for each second of the last minute.
 */
import { accept, type Decision, type Refused, refuse } from '../decision.ts'
import type { Instant } from '../ids.ts'

/** Oldest first; a second in which nobody was let in has no entry. */
export type Pace = readonly { readonly second: number; readonly count: number }[]

export type RequestCounted = { readonly type: 'request_counted'; readonly at: Instant }

export const NEVER_ASKED: Pace = []

export const SECOND_MS = 1_000
/** A minute that does not begin on a whole second touches one second more. */
export const SECONDS = 61

/** A limit of 0 is none. */
export function decidePace(
  pace: Pace,
  perMinute: number,
  now: Instant,
): Decision<RequestCounted, 'rate_exceeded'> {
  if (perMinute === 0) return accept()
  const recent = recentAt(pace, now)
  if (sumOf(recent) < perMinute) return accept({ type: 'request_counted', at: now })
  return tooOften(recent, perMinute, now)
}

/** Says when so many have left the minute that there is room for one. */
export function tooOften(recent: Pace, perMinute: number, now: Instant): Refused<'rate_exceeded'> {
  let excess = sumOf(recent) + 1 - perMinute
  let retryAt = now
  for (const { second, count } of recent) {
    if (excess <= 0) break
    excess -= count
    retryAt = (second + SECONDS) * SECOND_MS
  }
  return refuse('rate_exceeded', { retryAt, figures: { perMinute } })
}

export function applyPace(pace: Pace, { at }: RequestCounted): Pace {
  const recent = recentAt(pace, at)
  const second = secondAt(recent, at)
  const last = recent.at(-1)
  if (last?.second !== second) return [...recent, { second, count: 1 }]
  return [...recent.slice(0, -1), { second, count: last.count + 1 }]
}

/** Whether everything that was counted has left the minute, so that nothing is lost with it. */
export function isForgotten(pace: Pace, now: Instant): boolean {
  return recentAt(pace, now).length === 0
}

export const sumOf = (pace: Pace): number => pace.reduce((sum, { count }) => sum + count, 0)

export function recentAt(pace: Pace, now: Instant): Pace {
  const second = secondAt(pace, now)
  return pace.filter((each) => each.second > second - SECONDS)
}

/** A clock that is set back must not open a second that is over. */
const secondAt = (pace: Pace, now: Instant): number =>
  Math.max(Math.floor(now / SECOND_MS), pace.at(-1)?.second ?? 0)
