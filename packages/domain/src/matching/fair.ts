/**
 * The fair order: now and then the first place goes to a newcomer, so that a good one can earn a
 * score at all (P-14). For the SDK's hiring and for `order=fair`; discovery itself stays strict.
 *
 *   N1  A turn is taken with the promised probability, and by each newcomer with equal chance.
 *   N2  Only who fits the search, and has room, gets a turn; all the others keep their order.
 *   N3  Without a newcomer nothing changes.
 *   N4  Chance is handed in: the same draw gives the same order.
 */

import type { Instant } from '../ids.ts'
import type { Candidate, Search } from './candidate.ts'
import { explainHits, type Found, type Hit, type Page, pageLength, rank } from './matching.ts'

export type FairTerms = {
  /** How often a newcomer comes first, 0–1. Higher tries out more and relies less on scores. */
  readonly share: number
  /** Who has fewer settled outcomes than this is a newcomer. */
  readonly newcomerBelow: number
}
/**
 * One hire in ten is what a hirer may lose to an untried agent and hardly notice. Ten outcomes are
 * about what it takes to stand out: ten successes lift a score from 50 to 60.
 */
export const FAIR_TERMS: FairTerms = { share: 0.1, newcomerBelow: 10 }

export type FairOrder<Item> = {
  readonly order: readonly Item[]
  /** Who was given the first place though the ranking had it elsewhere. */
  readonly turn?: Item
}

/** `draw` is a number from 0 up to but not including 1. */
export function fairOrder<Item extends { readonly candidate: Candidate }>(
  ranked: readonly Item[],
  draw: number,
  { share, newcomerBelow }: FairTerms = FAIR_TERMS,
): FairOrder<Item> {
  if (draw >= share) return { order: ranked }
  const newcomers = ranked.filter(
    ({ candidate }) => candidate.settledCount < newcomerBelow && candidate.slotsFree > 0,
  )
  // Below the share the draw is spread evenly again, so one draw says both whether and who.
  const turn = newcomers[Math.floor((draw / share) * newcomers.length)]
  if (turn === undefined || turn === ranked[0]) return { order: ranked }
  return { order: [turn, ...ranked.filter((each) => each !== turn)], turn }
}

/** Pages of one order need one draw. There is no cursor: a turn is no place in the ranking. */
export function rankFairly(
  search: Search,
  candidates: Iterable<Candidate>,
  now: Instant,
  { draw, terms = FAIR_TERMS, limit, offset = 0 }: FairPage,
): Found {
  const { order, turn } = fairOrder(rank(search, candidates, now), draw, terms)
  const from = Math.max(0, offset)
  const hits = explainHits(order, { from, until: from + pageLength(limit) }, now)
  return {
    hits: turn === undefined ? hits : hits.map((hit) => explainTurn(hit, terms)),
    total: order.length,
  }
}

export type FairPage = Omit<Page, 'after'> & {
  readonly draw: number
  readonly terms?: FairTerms
}

/** The first place was given and the second lost by the turn; the rest stand as they are ranked. */
function explainTurn(hit: Hit, { share }: FairTerms): Hit {
  const { place, candidate, reasons, behind } = hit
  if (place === 1) {
    const { settledCount } = candidate
    return { ...hit, reasons: [{ code: 'newcomer_turn', settledCount, share }, ...reasons] }
  }
  return place === 2 && behind !== undefined
    ? { ...hit, behind: { ...behind, by: 'newcomer_turn' } }
    : hit
}
