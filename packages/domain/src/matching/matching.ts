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
import { HIGHEST_MICRO } from '../trust/running-score.ts'
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
/**
 * Negative when `a` is found before `b`. The order once more, written out: an index asks this
 * twenty times for every sign of life. A test holds it to the table.
 */
export function compareKeys(a: RankKey, b: RankKey): number {
  if (a.scoreMicro !== b.scoreMicro) return a.scoreMicro > b.scoreMicro ? -1 : 1
  if (a.costCents !== b.costCents) return a.costCents < b.costCents ? -1 : 1
  if (a.loadMicro !== b.loadMicro) return a.loadMicro < b.loadMicro ? -1 : 1
  if (a.id === b.id) return 0
  return a.id < b.id ? -1 : 1
}
export const compareByTable: (a: RankKey, b: RankKey) => number = comparing(ORDER)

/**
 * One number that rises with the order, as far as 53 bits tell keys apart: 27 of the score, 16 of
 * the cost and 10 of the load. Where two are the same, only the keys themselves decide.
 */
export function roughPlace({ scoreMicro, costCents, loadMicro: load }: RankKey): number {
  const cost = Math.min(costCents, DEAREST)
  // Among all that count as the dearest a load would order what their costs order otherwise.
  const thousandths = cost === DEAREST ? 0 : Math.min(Math.floor(load / 1_000), 2 ** 10 - 1)
  return ((HIGHEST_MICRO - scoreMicro) * 2 ** 16 + cost) * 2 ** 10 + thousandths
}
const DEAREST = 2 ** 16 - 1

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
  const places = placesOn(lineOf(ranked), { limit, offset: from })
  const hits = places.map((each) => explainPlace(each, now))
  const found = { hits, total: ranked.length }
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
  const { scoreMicro, loadMicro: load, id } = keyOf(candidate, costCents)
  // Written out, since a copy takes longer and this is done for every sign of life.
  return { scoreMicro, costCents, loadMicro: load, id, dearestCents }
}

export function lineOf<Item>(items: readonly Item[]): Line<Item> {
  return {
    length: items.length,
    slice: (from, until) => items.slice(from, until),
    placeOf: (item) => items.indexOf(item),
  }
}

/** A place in a line: who has it, and above whom. Why is said only to whoever asks. */
export type Place = {
  /** From 1, over all pages. */
  readonly place: number
  readonly ranked: Ranked
  readonly above: Ranked | undefined
  /** A newcomer was given this place, or has taken the one above it. */
  readonly turn?: { readonly gave: 'this' | 'above'; readonly share: number }
}

export function placesOn(line: Line<Ranked>, { limit, offset = 0 }: Extent): readonly Place[] {
  const from = Math.max(0, offset)
  // The one above the page is looked at too: the first place says what put it behind that one.
  const start = Math.max(0, from - 1)
  const seen = line.slice(start, from + pageLength(limit))
  return seen.slice(from - start).map((ranked, index) => {
    return { place: from + index + 1, ranked, above: seen[from - start + index - 1] }
  })
}

export function explainPlace(each: Place, now: Instant): Hit {
  const { place, ranked, turn } = each
  const { candidate, costCents } = ranked
  const reasons = reasonsFor(ranked, now)
  const { settledCount } = candidate
  const hit: Hit = {
    place,
    candidate,
    costCents,
    reasons:
      turn?.gave === 'this'
        ? [{ code: 'newcomer_turn', settledCount, share: turn.share }, ...reasons]
        : reasons,
  }
  const behind = behindWhom(each)
  return behind === undefined ? hit : { ...hit, behind }
}

/** Undefined for the first. */
export function behindWhom({ ranked, above, turn }: Place): HitBehind | undefined {
  const behind = above && whyBehind(ORDER, { item: ranked.key, above: above.key })
  if (above === undefined || behind === undefined) return undefined
  const by = turn?.gave === 'above' ? 'newcomer_turn' : behind.by
  return { ...behind, by, above: above.candidate.agent }
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
