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

import type { AgentId, Instant } from '../ids.ts'
import { LIMITS } from '../limits.ts'
import {
  type Candidate,
  type Fit,
  filterCandidates,
  loadMicro,
  nameOf,
  type Offer,
  type Search,
} from './candidate.ts'
import { type Behind, type Criterion, comparing, whyBehind } from './ranking.ts'

/** All that the order looks at, and so also the cursor. */
export type RankKey = {
  readonly scoreMicro: number
  readonly costCents: number
  readonly loadMicro: number
  /** Agent, then instance. */
  readonly id: string
}
export type Ranked = Fit & { readonly key: RankKey }

type By = 'score' | 'cost' | 'load' | 'id'

// biome-ignore format: a table is read by its columns
const ORDER: readonly Criterion<RankKey, By>[] = [
  { by: 'score', best: 'highest', of: (key) => key.scoreMicro },
  { by: 'cost',  best: 'lowest',  of: (key) => key.costCents },
  { by: 'load',  best: 'lowest',  of: (key) => key.loadMicro },
  { by: 'id',    best: 'lowest',  of: (key) => key.id },
]
const compareKeys = comparing(ORDER)

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

export type HitBehind = Behind<By | 'newcomer_turn'> & { readonly above: AgentId }

export type Hit = {
  /** From 1, over all pages. */
  readonly place: number
  readonly candidate: Candidate
  readonly costCents: number
  readonly reasons: readonly Reason[]
  /** Absent for the first. */
  readonly behind?: HitBehind
}

/** `after` wins over `offset`. */
export type Page = { readonly limit?: number; readonly offset?: number; readonly after?: RankKey }

export type Found = {
  readonly hits: readonly Hit[]
  /** Over all pages. */
  readonly total: number
  /** Asked for with `after`, this gives the next page; absent on the last. */
  readonly next?: RankKey
}

export function rankForDiscovery(
  search: Search,
  candidates: Iterable<Candidate>,
  now: Instant,
  { limit, offset = 0, after }: Page = {},
): Found {
  const ranked = rank(search, candidates, now)
  const from = after === undefined ? Math.max(0, offset) : placesUpTo(ranked, after)
  const until = from + pageLength(limit)
  const found = { hits: explainHits(ranked, { from, until }, now), total: ranked.length }
  const next = until < ranked.length ? ranked[until - 1]?.key : undefined
  return next === undefined ? found : { ...found, next }
}

/** Keys are made once per candidate, so that sorting only compares figures. */
export function rank(search: Search, candidates: Iterable<Candidate>, now: Instant): Ranked[] {
  return filterCandidates(search, candidates, now)
    .map(({ candidate, offers, costCents }) => {
      return { candidate, offers, costCents, key: keyOf(candidate, costCents) }
    })
    .sort((a, b) => compareKeys(a.key, b.key))
}

export function explainHits(
  ranked: readonly Ranked[],
  { from, until }: { readonly from: number; readonly until: number },
  now: Instant,
): Hit[] {
  return ranked.slice(from, until).map((each, index) => {
    const { candidate, costCents } = each
    const hit = { place: from + index + 1, candidate, costCents, reasons: reasonsFor(each, now) }
    const above = ranked[from + index - 1]
    const behind = above && whyBehind(ORDER, { item: each.key, above: above.key })
    if (above === undefined || behind === undefined) return hit
    return { ...hit, behind: { ...behind, above: above.candidate.agent } }
  })
}

export function pageLength(limit: number = LIMITS.hitsPerPage): number {
  return Math.min(Math.max(1, limit), LIMITS.hitsPerPage)
}

/** How many of the order stand at the key or before it, found by halving. */
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

function keyOf(candidate: Candidate, costCents: number): RankKey {
  const { scoreMicro } = candidate
  return { scoreMicro, costCents, loadMicro: loadMicro(candidate), id: nameOf(candidate) }
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
