/**
 * How often one owner can vouch for another with effect (CH-12).
 *
 *   Q1  The pair is ordered: who hired comes first. Trade in the other direction has its own limit.
 *   Q2  It is of owners, not of agents: more agents of one owner do not buy more room.
 *   Q3  Only successes that counted use it up, and each for the length of the window.
 *   Q4  The rules are in the trail, and hold for what is settled behind them there: every hub and
 *       every auditor counts by the same ones, and new ones do not touch what was counted before.
 */
import { type Accepted, accept } from '../decision.ts'
import type { Instant, OwnerId } from '../ids.ts'
import { LIMITS } from '../limits.ts'

export type TrustRules = {
  /** Successes that count per ordered pair of owners in the window. More lift rings faster. */
  readonly pairSuccesses: number
  /** How long a counted success takes up room. Longer makes rings wait, and honest pairs too. */
  readonly pairWindowMs: number
}
export const TRUST_RULES: TrustRules = {
  pairSuccesses: LIMITS.pairSuccesses,
  pairWindowMs: LIMITS.pairWindowMs,
}

export type TrustRulesSet = {
  readonly type: 'trust_rules_set'
  readonly rules: TrustRules
  readonly at: Instant
}

/** Nothing is said where they are so already. */
export function decideRules(
  current: TrustRules,
  rules: TrustRules,
  now: Instant,
): Accepted<TrustRulesSet> {
  const isSo =
    current.pairSuccesses === rules.pairSuccesses && current.pairWindowMs === rules.pairWindowMs
  return isSo ? accept() : accept({ type: 'trust_rules_set', rules, at: now })
}

/** No longer than the highest limit so far: older ones than the window are dropped on adding. */
export type PairHistory = { readonly countedAt: readonly Instant[] }
export const NO_PAIR_HISTORY: PairHistory = { countedAt: [] }

export function hasRoom(history: PairHistory, now: Instant, rules: TrustRules): boolean {
  return withinWindow(history, now, rules).length < rules.pairSuccesses
}

export function addCounted(history: PairHistory, at: Instant, rules: TrustRules): PairHistory {
  return { countedAt: [...withinWindow(history, at, rules), at] }
}

/** The name under which a pair's history is kept: JSON, since an owner may hold any character. */
export function pairKey(pair: { readonly hirerOwner: OwnerId; readonly owner: OwnerId }): string {
  return JSON.stringify([pair.hirerOwner, pair.owner])
}

/** A success is out of the window at the instant when it is as old as the window is long. */
function withinWindow(history: PairHistory, now: Instant, { pairWindowMs }: TrustRules) {
  return history.countedAt.filter((at) => at > now - pairWindowMs)
}
