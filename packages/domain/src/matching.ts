/**
 * Discovery: who offers what is asked for, in an order that explains itself (CH-2, P-6).
 *
 *   D1  Strictly by running score, then the lower cost, then the lower load, then the id. So the
 *       order is total: it does not depend on how the candidates came in, and nothing is left to
 *       chance.
 *   D2  Every hit says where it stands, with which figures, and what put it behind the one above.
 *   D3  A cursor is a place in the order, not a count: what appears or leaves between two pages
 *       neither repeats nor hides the others.
 */
import {
  type Candidate,
  type Fit,
  filterCandidates,
  loadMicro,
  type Offer,
  type Search,
} from './candidate.ts'
import type { AgentId, Instant } from './ids.ts'
import { LIMITS } from './limits.ts'

/** All that the order looks at, and so also the cursor. */
export type RankKey = {
  readonly scoreMicro: number
  readonly costCents: number
  readonly loadMicro: number
  /** Agent, then instance. */
  readonly id: string
}
export type Ranked = Fit & { readonly key: RankKey }

export type Reason =
  | { readonly code: 'offers'; readonly offers: readonly Offer[] }
  | {
      readonly code: 'score'
      readonly scoreMicro: number
      readonly successes: number
      readonly failures: number
    }
  | { readonly code: 'cost'; readonly costCents: number }
  | { readonly code: 'load'; readonly loadMicro: number; readonly announced: boolean }
  | { readonly code: 'heartbeat'; readonly ageMs: number }
  | { readonly code: 'room'; readonly slotsFree: number; readonly slotsTotal: number }
  | { readonly code: 'newcomer_turn'; readonly settledCount: number; readonly share: number }

/** What put a hit behind the one above it, with both figures. */
export type Behind = {
  readonly above: AgentId
  readonly by: 'score' | 'cost' | 'load' | 'id' | 'newcomer_turn'
  readonly own: number | string
  readonly aboves: number | string
}

export type Hit = {
  /** From 1, over all pages. */
  readonly place: number
  readonly candidate: Candidate
  readonly costCents: number
  readonly reasons: readonly Reason[]
  /** Absent for the first. */
  readonly behind?: Behind
}

export type Page = { readonly limit?: number; readonly offset?: number; readonly after?: RankKey }

export type Found = {
  readonly hits: readonly Hit[]
  /** Over all pages. */
  readonly total: number
  /** Where the next page begins; absent on the last. */
  readonly next?: RankKey
}

/** `after` wins over `offset`. */
export function rankForDiscovery(
  search: Search,
  candidates: Iterable<Candidate>,
  now: Instant,
  { limit, offset = 0, after }: Page = {},
): Found {
  const ranked = rank(search, candidates, now)
  const from = after === undefined ? Math.max(0, offset) : placesUpTo(ranked, after)
  const until = from + pageLength(limit)
  const hits = explainHits(ranked, { from, until }, now)
  const last = until < ranked.length ? ranked[until - 1]?.key : undefined
  const found = { hits, total: ranked.length }
  return last === undefined ? found : { ...found, next: last }
}

/** Keys are made once per candidate, so that sorting compares plain figures. */
export function rank(search: Search, candidates: Iterable<Candidate>, now: Instant): Ranked[] {
  return filterCandidates(search, candidates, now)
    .map((fit) => ({ ...fit, key: keyOf(fit) }))
    .sort((a, b) => compareKeys(a.key, b.key))
}

/** Negative when `a` stands before `b`. */
export function compareKeys(a: RankKey, b: RankKey): number {
  if (a.scoreMicro !== b.scoreMicro) return b.scoreMicro - a.scoreMicro
  if (a.costCents !== b.costCents) return a.costCents - b.costCents
  if (a.loadMicro !== b.loadMicro) return a.loadMicro - b.loadMicro
  if (a.id === b.id) return 0
  return a.id < b.id ? -1 : 1
}

export function explainHits(
  ranked: readonly Ranked[],
  { from, until }: { readonly from: number; readonly until: number },
  now: Instant,
): Hit[] {
  return ranked.slice(from, until).map((each, index) => {
    const { candidate, costCents } = each
    const above = ranked[from + index - 1]
    const hit = { place: from + index + 1, candidate, costCents, reasons: reasonsFor(each, now) }
    return above === undefined ? hit : { ...hit, behind: behindOf(each, above) }
  })
}

export function pageLength(limit: number = LIMITS.hitsPerPage): number {
  return Math.min(Math.max(1, limit), LIMITS.hitsPerPage)
}

/** How many of the order stand at or before the key: a binary search. */
function placesUpTo(ranked: readonly Ranked[], key: RankKey): number {
  let low = 0
  let high = ranked.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const at = ranked[middle]
    if (at !== undefined && compareKeys(at.key, key) <= 0) low = middle + 1
    else high = middle
  }
  return low
}

function keyOf({ candidate, costCents }: Fit): RankKey {
  const { agent, instance, scoreMicro } = candidate
  // A slash sorts below every character of a uuid, so an agent's instances stay together.
  const id = instance === undefined ? agent : `${agent}/${instance}`
  return { scoreMicro, costCents, loadMicro: loadMicro(candidate), id }
}

function reasonsFor({ candidate, offers, key }: Ranked, now: Instant): readonly Reason[] {
  const { scoreMicro, successes, failures, slotsFree, slotsTotal, seenAt } = candidate
  return [
    { code: 'offers', offers },
    { code: 'score', scoreMicro, successes, failures },
    { code: 'cost', costCents: key.costCents },
    { code: 'load', loadMicro: key.loadMicro, announced: candidate.load !== undefined },
    { code: 'heartbeat', ageMs: Math.max(0, now - seenAt) },
    { code: 'room', slotsFree, slotsTotal },
  ]
}

function behindOf({ key: own }: Ranked, { key: its, candidate }: Ranked): Behind {
  const above = candidate.agent
  if (own.scoreMicro !== its.scoreMicro) {
    return { above, by: 'score', own: own.scoreMicro, aboves: its.scoreMicro }
  }
  if (own.costCents !== its.costCents) {
    return { above, by: 'cost', own: own.costCents, aboves: its.costCents }
  }
  if (own.loadMicro !== its.loadMicro) {
    return { above, by: 'load', own: own.loadMicro, aboves: its.loadMicro }
  }
  return { above, by: 'id', own: own.id, aboves: its.id }
}
