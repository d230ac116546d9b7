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
import {
  type Extent,
  explainPlace,
  type Found,
  type Line,
  lineOf,
  type Place,
  placesOn,
  type Ranked,
  rank,
} from './matching.ts'

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

/** Whether a turn may be given to it. */
export function mayHaveTurn(
  { settledCount, slotsFree }: Candidate,
  { newcomerBelow }: FairTerms = FAIR_TERMS,
): boolean {
  return settledCount < newcomerBelow && slotsFree > 0
}

/** `draw` is a number from 0 up to but not including 1. */
export function fairOrder<Item extends { readonly candidate: Candidate }>(
  ranked: readonly Item[],
  draw: number,
  terms: FairTerms = FAIR_TERMS,
): FairOrder<Item> {
  const newcomers = ranked.filter(({ candidate }) => mayHaveTurn(candidate, terms))
  const { line, turn } = fairLine(lineOf(ranked), lineOf(newcomers), draw, terms)
  const order = line.slice(0, line.length)
  return turn === undefined ? { order } : { order, turn }
}

type FairLine<Item> = { readonly line: Line<Item>; readonly turn?: Item }

/** `newcomers` are those of the line who may have a turn, in the same order. */
function fairLine<Item>(
  line: Line<Item>,
  newcomers: Line<Item>,
  draw: number,
  { share }: FairTerms,
): FairLine<Item> {
  if (draw >= share) return { line }
  // Below the share the draw is spread evenly again, so one draw says both whether and who.
  const drawn = Math.floor((draw / share) * newcomers.length)
  const [turn] = newcomers.slice(drawn, drawn + 1)
  const place = turn === undefined ? 0 : line.placeOf(turn)
  return turn === undefined || place === 0 ? { line } : { line: putFirst(line, turn, place), turn }
}

/** The same line, with the one from that place in front of all others. */
function putFirst<Item>(line: Line<Item>, first: Item, place: number): Line<Item> {
  return {
    length: line.length,
    slice(from, until) {
      // Who stood before it has moved down by one; the others are where they were.
      const moved = line.slice(Math.max(0, from - 1), Math.min(until - 1, place))
      const stayed = line.slice(Math.max(from, place + 1), Math.max(until, place + 1))
      return from <= 0 && until > 0 ? [first, ...moved, ...stayed] : [...moved, ...stayed]
    },
    placeOf(item) {
      const at = line.placeOf(item)
      if (at === place) return 0
      return at < place ? at + 1 : at
    },
  }
}

/** Pages of one order need one draw. There is no cursor: a turn is no place in the ranking. */
export function rankFairly(
  search: Search,
  candidates: Iterable<Candidate>,
  now: Instant,
  { terms = FAIR_TERMS, ...page }: FairPage,
): Found {
  const ranked = rank(search, candidates, now)
  const newcomers = ranked.filter(({ candidate }) => mayHaveTurn(candidate, terms))
  const places = fairPlaces(lineOf(ranked), lineOf(newcomers), { terms, ...page })
  return { hits: places.map((each) => explainPlace(each, now)), total: ranked.length }
}

/** `newcomers` are those of the line who may have a turn under these terms, in the same order. */
export function fairPlaces(
  line: Line<Ranked>,
  newcomers: Line<Ranked>,
  { draw, terms = FAIR_TERMS, ...extent }: FairPage,
): readonly Place[] {
  const fair = fairLine(line, newcomers, draw, terms)
  const places = placesOn(fair.line, extent)
  return fair.turn === undefined ? places : places.map((each) => withTurn(each, terms))
}

export type FairPage = Extent & {
  readonly draw: number
  readonly terms?: FairTerms
}

/** The first place was given and the second lost by the turn; the rest stand as they are ranked. */
function withTurn(each: Place, { share }: FairTerms): Place {
  if (each.place > 2) return each
  return { ...each, turn: { gave: each.place === 1 ? 'this' : 'above', share } }
}
