/**
 * How often one owner can vouch for another with effect (CH-12).
 *
 *   Q1  The pair is ordered: who hired comes first. Trade in the other direction has its own limit.
 *   Q2  It is of owners, not of agents: more agents of one owner do not buy more room.
 *   Q3  Only successes that counted use it up, and each for the length of the window.
 */
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

/** Never longer than the limit: what is older than the window is dropped when one is added. */
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
