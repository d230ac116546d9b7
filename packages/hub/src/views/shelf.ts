/**
 * Everybody who offers certain skills and can be found by them now, in the order of discovery, so
 * that a search for these skills looks only at what it shows.
 *
 *   S1  The order and the bounds are the domain's: the score comes first in the order, so that a
 *       least score cuts the list off at a place; what the dearest skill costs is the weight, and
 *       newcomers who may have a turn are marked.
 *   S2  How many there are within bounds is counted again only when somebody comes or goes, or when
 *       a score, a price or a mark changes; not with every change of a load.
 *   S3  What is shown of somebody is made when it is first shown, and kept while nothing about it
 *       changes. So whoever is shown again and again is the same object each time.
 */
import type { Agent } from '@chimera/domain/agent/agent'
import { readSkillRef } from '@chimera/domain/agent/skill-version'
import type { Price, Search } from '@chimera/domain/matching/candidate'
import {
  compareKeys,
  type Line,
  type Placing,
  type Ranked,
  roughPlace,
} from '@chimera/domain/matching/matching'
import { type Bounds, createOrdered } from './ordered.ts'

/** Where one agent stands; `spot` is absent while it cannot be found. */
export type Stand = {
  readonly agent: Agent
  readonly shelf: Shelf
  price: Price | undefined
  spot: Spot | undefined
  ranked: Ranked | undefined
}

type Spot = Placing & { readonly mayHaveTurn: boolean; readonly stand: Stand }

export type Shelf = {
  /** As they are asked for, with their versions if any; each once. */
  readonly skills: readonly string[]
  /** The same without versions. */
  readonly names: readonly string[]
  /** Whatever is known of it has changed; without a placing it cannot be found. */
  readonly move: (stand: Stand, placing: Placing | undefined, mayHaveTurn: boolean) => void
  readonly lines: (bounds: CostAndScore, show: Show) => Lines
}

type CostAndScore = Pick<Search, 'minScoreMicro' | 'maxCostCents'>
/** How it looks to whoever asks for the skills of its shelf. */
export type Show = (stand: Stand) => Ranked | undefined

export type Lines = { readonly line: Line<Ranked>; readonly newcomers: Line<Ranked> }

/** Bounds are free to invent; so many are asked for again and again. */
const MOST_COUNTS = 64

export function createShelf(skills: readonly string[]): Shelf {
  const spots = createOrdered<Spot>({
    compare: compareKeys,
    roughly: roughPlace,
    weightOf: ({ dearestCents }) => dearestCents,
    isMarked: ({ mayHaveTurn }) => mayHaveTurn,
  })
  const counts = new Map<string, number>()

  function count(bounds: CostAndScore, limits: Bounds<Spot>): number {
    const { minScoreMicro, maxCostCents } = bounds
    const key = `${minScoreMicro} ${maxCostCents} ${limits.marked}`
    const known = counts.get(key)
    if (known !== undefined) return known
    const counted = spots.count(limits)
    if (counts.size >= MOST_COUNTS) counts.clear()
    counts.set(key, counted)
    return counted
  }

  function lineWithin(bounds: CostAndScore, show: Show, marked: boolean): Line<Ranked> {
    const { minScoreMicro: least, maxCostCents: most } = bounds
    const within = least === undefined ? undefined : ({ scoreMicro }: Spot) => scoreMicro >= least
    const limits = { within, most, marked }
    return {
      get length() {
        return count(bounds, limits)
      },
      slice(from, until) {
        const shown: Ranked[] = []
        for (const { stand } of spots.slice(limits, from, until)) {
          stand.ranked ??= show(stand)
          if (stand.ranked !== undefined) shown.push(stand.ranked)
        }
        return shown
      },
      // Whoever stands before one that is within the bounds is within them, but for its cost.
      placeOf: ({ key }) =>
        spots.count({ ...limits, within: (spot) => compareKeys(spot, key) < 0 }),
    }
  }

  return {
    skills,
    names: [...new Set(skills.flatMap((skill) => readSkillRef(skill)?.name ?? []))],

    move(stand, placing, mayHaveTurn) {
      const { spot } = stand
      stand.ranked = undefined
      if (placing === undefined ? spot === undefined : isAlike(spot, placing, mayHaveTurn)) return
      if (spot !== undefined) spots.remove(spot)
      stand.spot = placing && spotOf(stand, placing, mayHaveTurn)
      if (stand.spot !== undefined) spots.add(stand.spot)
      if (!countsAsBefore(spot, stand.spot)) counts.clear()
    },

    lines: (bounds, show) => ({
      line: lineWithin(bounds, show, false),
      newcomers: lineWithin(bounds, show, true),
    }),
  }
}

function spotOf(stand: Stand, placing: Placing, mayHaveTurn: boolean): Spot {
  const { scoreMicro, costCents, loadMicro, id, dearestCents } = placing
  return { scoreMicro, costCents, loadMicro, id, dearestCents, mayHaveTurn, stand }
}

/** Whether nobody can be told from the other by any bounds. */
function countsAsBefore(before: Spot | undefined, after: Spot | undefined): boolean {
  return (
    before?.scoreMicro === after?.scoreMicro &&
    before?.dearestCents === after?.dearestCents &&
    before?.mayHaveTurn === after?.mayHaveTurn
  )
}

function isAlike(spot: Spot | undefined, placing: Placing, mayHaveTurn: boolean): boolean {
  if (spot === undefined || spot.mayHaveTurn !== mayHaveTurn) return false
  return spot.dearestCents === placing.dearestCents && compareKeys(spot, placing) === 0
}
