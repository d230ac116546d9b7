/**
 * A hub's side of an allowance that several hubs use: what it was given ahead of one caller's
 * limit, what it let in, and until when it need not ask.
 *
 *   S1  What was given ahead is given back whole with the next question, and not used while that is
 *       under way. If the answer is lost it is gone, and nothing is ever told or used twice.
 *   S2  When there is nobody to ask, the hub goes by what it let in itself, and tells it later.
 */
import { type Refused, refuse } from '../decision.ts'
import type { Instant } from '../ids.ts'
import type { Ahead, AllowanceAsked, AllowanceDecided, Shut } from './allowance.ts'
import {
  applyPace,
  decidePace,
  isForgotten,
  NEVER_ASKED,
  type Pace,
  recentAt,
  SECOND_MS,
  sumOf,
} from './pace.ts'

export type Share = {
  /** What this hub let in, however it was allowed to. */
  readonly pace: Pace
  readonly given?: { readonly ahead: Ahead; readonly used: Pace }
  readonly uncovered: Pace
  readonly shut?: Shut
}

export const NO_SHARE: Share = { pace: NEVER_ASKED, uncovered: NEVER_ASKED }

/** Given `ahead` of it, `granted` to it, or `uncovered`: there was nobody to ask. */
export type Cover = 'ahead' | 'granted' | 'uncovered'

export type ShareDecided = { readonly ok: true; readonly cover: 'ahead' | 'ask' } | TooOften
type TooOften = Refused<'rate_exceeded'>

export function decideShare({ given, shut }: Share, now: Instant): ShareDecided {
  if (shut !== undefined && now < shut.until) {
    return refuse(shut.refused.refusal, shut.refused.particulars)
  }
  const isLeft = given !== undefined && sumOf(given.used) < given.ahead.count
  const isInTime = given !== undefined && Math.floor(now / SECOND_MS) <= given.ahead.until
  return { ok: true, cover: isLeft && isInTime ? 'ahead' : 'ask' }
}

/** S2. */
export function decideAlone(
  { pace }: Share,
  perMinute: number,
  now: Instant,
): { readonly ok: true; readonly cover: 'uncovered' } | TooOften {
  const decision = decidePace(pace, perMinute, now)
  return decision.ok ? { ok: true, cover: 'uncovered' } : decision
}

export function applyLetIn(share: Share, cover: Cover, at: Instant): Share {
  const counted = { type: 'request_counted', at } as const
  const pace = applyPace(share.pace, counted)
  if (cover === 'uncovered') {
    return { ...share, pace, uncovered: applyPace(share.uncovered, counted) }
  }
  const { given } = share
  if (cover === 'granted' || given === undefined) return { ...share, pace }
  // A clock that is behind the others must not have it leave the minute before theirs do.
  const late = { ...counted, at: Math.max(at, given.ahead.from * SECOND_MS) }
  return { ...share, pace, given: { ...given, used: applyPace(given.used, late) } }
}

export type Question = {
  readonly asked: AllowanceAsked
  /** The share while the question is under way. */
  readonly share: Share
}

export function askFor(
  { given, ...share }: Share,
  { wanted, perMinute }: Pick<AllowanceAsked, 'wanted' | 'perMinute'>,
  now: Instant,
): Question {
  const uncovered = recentAt(share.uncovered, now)
  const asked = { perMinute, wanted, uncovered, ...(given && { returned: given }) }
  return { asked, share: { ...share, uncovered } }
}

/** Those that were granted are let in one by one after this. */
export function applyAnswer(share: Share, { fact, shut }: AllowanceDecided): Share {
  const { ahead } = fact
  return {
    pace: share.pace,
    uncovered: NEVER_ASKED,
    ...(ahead && { given: { ahead, used: NEVER_ASKED } }),
    ...(shut && { shut }),
  }
}

/** Whether it may no longer be used, and somebody should be told what came of it. */
export function isOverdue({ given }: Share, now: Instant): boolean {
  return given !== undefined && Math.floor(now / SECOND_MS) > given.ahead.until
}

/** Nothing is lost when it is forgotten. */
export function isIdle({ pace, given, uncovered, shut }: Share, now: Instant): boolean {
  if (given !== undefined || (shut !== undefined && now < shut.until)) return false
  return isForgotten(pace, now) && isForgotten(uncovered, now)
}
