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
  type Price,
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

/** All that an index must know of a candidate to answer any search for the same skills. */
export type Placing = RankKey & Pick<Price, 'dearestCents'>

/** What is in order already, however it is kept: only what is looked at need be made. */
export type Line<Item> = {
  readonly length: number
  /** From 0; `until` is not included, and may lie beyond the end. */
  readonly slice: (from: number, until: number) => readonly Item[]
  readonly placeOf: (item: Item) => number
}

type By = 'score' | 'cost' | 'load' | 'id'

// biome-ignore format: a table is read by its columns
const ORDER: readonly Criterion<RankKey, By>[] = [
  { by: 'score', best: 'highest', of: (key) => key.scoreMicro },
  { by: 'cost',  best: 'lowest',  of: (key) => key.costCents },
  { by: 'load',  best: 'lowest',  of: (key) => key.loadMicro },
  { by: 'id',    best: 'lowest',  of: (key) => key.id },
]
/** Negative when `a` is found before `b`. */
export const compareKeys: (a: RankKey, b: RankKey) => number = comparing(ORDER)

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

export type Extent = { readonly limit?: number | undefined; readonly offset?: number | undefined }
/** `after` wins over `offset`. */
export type Page = Extent & { readonly after?: RankKey }

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
  const found = showPage(lineOf(ranked), now, { limit, offset: from })
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

/** Where a candidate that asks these prices stands among all others. */
export function placeOf(candidate: Candidate, { costCents, dearestCents }: Price): Placing {
  return { ...keyOf(candidate, costCents), dearestCents }
}

export function lineOf<Item>(items: readonly Item[]): Line<Item> {
  return {
    length: items.length,
    slice: (from, until) => items.slice(from, until),
    placeOf: (item) => items.indexOf(item),
  }
}

/** A page of those who fit, each with what put it there. */
export function showPage(line: Line<Ranked>, now: Instant, { limit, offset = 0 }: Extent): Found {
  const from = Math.max(0, offset)
  // The one above the page is looked at too: the first hit says what put it behind that one.
  const start = Math.max(0, from - 1)
  const seen = line.slice(start, from + pageLength(limit))
  const hits = seen.slice(from - start).map((each, index) => {
    const at = from + index
    return explain(each, { place: at + 1, above: seen[at - start - 1] }, now)
  })
  return { hits, total: line.length }
}

function explain(
  each: Ranked,
  { place, above }: { readonly place: number; readonly above: Ranked | undefined },
  now: Instant,
): Hit {
  const { candidate, costCents } = each
  const hit = { place, candidate, costCents, reasons: reasonsFor(each, now) }
  const behind = above && whyBehind(ORDER, { item: each.key, above: above.key })
  if (above === undefined || behind === undefined) return hit
  return { ...hit, behind: { ...behind, above: above.candidate.agent } }
}

function pageLength(limit: number | undefined): number {
  return Math.min(Math.max(1, limit ?? LIMITS.hitsPerPage), LIMITS.hitsPerPage)
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
