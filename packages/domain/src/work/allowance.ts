/**
 * The limit of `pace.ts` where several hubs let a caller in: one account of all of them. A hub asks
 * for the requests that wait at it, and is given some ahead, so that it need not ask for each. What
 * a hub does with them is in `share.ts`.
 *
 *   L1  In no span of a minute, wherever it begins, do all hubs together let a caller in more often
 *       than the limit.
 *   L2  What is given ahead is counted as if it were used at the last moment at which it may be.
 *       The hub says later what it used, and when; what it never says anything about, because it
 *       was killed perhaps, stays counted until that moment has left the minute.
 *   L3  Who asks at one hub alone is given exactly the limit.
 *   L4  What one hub has ahead is at most a 64th of the limit, and an eighth of what was left. So a
 *       caller that is spread over hubs is turned away too early by at most a 64th for each other
 *       hub, and below a limit of 64 never.
 *   L5  The account of one caller is bounded: a count for each second of the last minute and of the
 *       time ahead.
 *
 * The time is that of the hub that asks, and goes back for none of them. Where clocks differ, the
 * minute of L1 is shorter by as much as they do.
 */
import type { Refused } from '../decision.ts'
import type { Instant } from '../ids.ts'
import { LIMITS } from '../limits.ts'
import { type Pace, SECOND_MS, SECONDS, sumOf, tooOften } from './pace.ts'

export type Allowance = {
  /** The latest second in which a hub asked. */
  readonly at: number
  /** Also of seconds to come: what hubs have ahead stands at its end. */
  readonly counts: Pace
}

export const UNTOUCHED: Allowance = { at: 0, counts: [] }

/** So many requests may be let in without asking, from one second to another, both included. */
export type Ahead = { readonly count: number; readonly from: number; readonly until: number }

export type AllowanceAsked = {
  readonly perMinute: number
  /** Requests that wait; with none of them, things are only given back. */
  readonly wanted: number
  /** What it was given ahead, and how much of it was used when. It can be given back once. */
  readonly returned?: { readonly ahead: Ahead; readonly used: Pace }
  /** What it let in without asking, when there was nobody to ask. */
  readonly uncovered: Pace
}

type Told = Pick<AllowanceAsked, 'returned' | 'uncovered'>

export type AllowanceGiven = Told & {
  readonly type: 'allowance_given'
  readonly at: number
  /** For those that wait. */
  readonly granted: number
  readonly ahead?: Ahead
}

/** Nobody else is let in before `until`; it is no use to ask. */
export type Shut = { readonly until: Instant; readonly refused: Refused<'rate_exceeded'> }

/** Where nothing is left, it says until when. */
export type AllowanceDecided = { readonly fact: AllowanceGiven; readonly shut?: Shut }

const AHEAD_SECONDS = LIMITS.aheadMs / SECOND_MS
const SKEW_SECONDS = LIMITS.skewMs / SECOND_MS
// A question for every 64th of the limit costs little; fewer would leave more with other hubs.
const OF_LIMIT = 64
// Towards the end ever less, and the last ones one by one.
const OF_LEFT = 8

export function decideAllowance(
  allowance: Allowance,
  asked: AllowanceAsked,
  now: Instant,
): AllowanceDecided {
  const { perMinute, wanted, returned, uncovered } = asked
  const at = secondOf(allowance, now)
  const counts = countsAt(allowance, asked, at)
  const room = Math.max(0, perMinute - sumOf(counts))
  const granted = Math.min(wanted, room)
  const left = Math.min(Math.floor((room - granted) / OF_LEFT), Math.floor(perMinute / OF_LIMIT))
  const count = wanted === 0 ? 0 : left
  const fact: AllowanceGiven = {
    type: 'allowance_given',
    at,
    granted,
    uncovered,
    ...(returned && { returned }),
    ...(count > 0 && { ahead: { count, from: at, until: at + AHEAD_SECONDS - 1 } }),
  }
  if (wanted === 0 || granted < room) return { fact }
  return { fact, shut: shutBy(applied(counts, fact), perMinute, now) }
}

export function applyAllowance(allowance: Allowance, fact: AllowanceGiven): Allowance {
  const { at } = fact
  return { at, counts: applied(countsAt(allowance, fact, at), fact) }
}

/** When nothing that is counted can matter any more, so that nothing is lost with it. */
export function forgottenAt({ counts }: Allowance): Instant {
  return ((counts.at(-1)?.second ?? 0) + SECONDS) * SECOND_MS
}

/** What others have ahead may come back at any time, so then it is worth asking each second. */
function shutBy(counts: Pace, perMinute: number, now: Instant): Shut {
  const refused = tooOften(counts, perMinute, now)
  const { retryAt = now } = refused.particulars
  const second = Math.floor(now / SECOND_MS)
  const isFinal = (counts.at(-1)?.second ?? 0) <= second
  return { until: isFinal ? retryAt : Math.min(retryAt, (second + 1) * SECOND_MS), refused }
}

/** A clock that is far ahead of the one that asks is wrong, and must not stop all the others. */
function secondOf({ at }: Allowance, now: Instant): number {
  const second = Math.floor(now / SECOND_MS)
  return at > second + SKEW_SECONDS ? second : Math.max(second, at)
}

/** What counts at this second, with what the hub has just told. */
function countsAt(allowance: Allowance, told: Told, at: number): Pace {
  const { returned, uncovered } = told
  const back = returned && { second: returned.ahead.until, count: -returned.ahead.count }
  const changes = [...(back ? [back] : []), ...(returned?.used ?? []), ...uncovered]
  const last = at + AHEAD_SECONDS + SKEW_SECONDS
  return merged(allowance.counts, changes).filter(
    ({ second }) => second > at - SECONDS && second <= last,
  )
}

function applied(counts: Pace, { at, granted, ahead }: AllowanceGiven): Pace {
  const given = [{ second: at, count: granted }]
  return merged(counts, ahead ? [...given, { second: ahead.until, count: ahead.count }] : given)
}

function merged(counts: Pace, changes: Pace): Pace {
  const bySecond = new Map(counts.map(({ second, count }) => [second, count]))
  for (const { second, count } of changes) {
    bySecond.set(second, (bySecond.get(second) ?? 0) + count)
  }
  return [...bySecond]
    .filter(([, count]) => count > 0)
    .sort(([one], [other]) => one - other)
    .map(([second, count]) => ({ second, count }))
}
