/**
 * Everybody who offers certain skills and can be found by them now, in the order of discovery, so
 * that a search for these skills looks only at what it shows.
 *
 *   S1  The order and the bounds are the domain's: the score comes first in the order, so that a
 *       least score cuts the list off at a place; what the dearest skill costs is the weight.
 *   S2  Newcomers who may have a turn stand in a list of their own as well, by the same order.
 */
import { readSkillRef } from '@chimera/domain/agent/skill-version'
import type { AgentId } from '@chimera/domain/ids'
import type { Search } from '@chimera/domain/matching/candidate'
import {
  compareKeys,
  type Line,
  type Placing,
  type Ranked,
} from '@chimera/domain/matching/matching'
import { type Bounds, createOrdered, type Ordered } from './ordered.ts'

/** Where one agent stands; `placing` is absent while it cannot be found. */
export type Stand = {
  readonly shelf: Shelf
  placing: Placing | undefined
  mayHaveTurn: boolean
}

export type Shelf = {
  /** As they are asked for, with their versions if any; each once. */
  readonly skills: readonly string[]
  /** The same without versions. */
  readonly names: readonly string[]
  readonly move: (stand: Stand, placing: Placing | undefined, mayHaveTurn: boolean) => void
  /** `rank` makes of ids what the domain makes of all candidates that fit. */
  readonly lines: (bounds: CostAndScore, rank: RankAll) => Lines
}

export type Lines = { readonly line: Line<Ranked>; readonly newcomers: Line<Ranked> }
export type CostAndScore = Pick<Search, 'minScoreMicro' | 'maxCostCents'>
export type RankAll = (ids: readonly AgentId[]) => readonly Ranked[]

export function createShelf(skills: readonly string[]): Shelf {
  const everybody = createOrdered<Placing>(compareKeys, weightOf)
  const newcomers = createOrdered<Placing>(compareKeys, weightOf)

  return {
    skills,
    names: [...new Set(skills.flatMap((skill) => readSkillRef(skill)?.name ?? []))],

    move(stand, placing, mayHaveTurn) {
      const { placing: before, mayHaveTurn: hadTurn } = stand
      const isSame = before !== undefined && placing !== undefined && isAlike(before, placing)
      if (isSame && hadTurn === mayHaveTurn) return
      if (before === undefined && placing === undefined) return
      if (before !== undefined) {
        if (!isSame) everybody.remove(before)
        if (hadTurn) newcomers.remove(before)
      }
      if (placing !== undefined) {
        if (!isSame) everybody.add(placing)
        if (mayHaveTurn) newcomers.add(placing)
      }
      stand.placing = placing
      stand.mayHaveTurn = placing !== undefined && mayHaveTurn
    },

    lines: ({ minScoreMicro: least, maxCostCents: most }, rank) => {
      const bounds = {
        ...(least !== undefined && { within: ({ scoreMicro }: Placing) => scoreMicro >= least }),
        most,
      }
      return {
        line: lineThrough(everybody, bounds, rank),
        newcomers: lineThrough(newcomers, bounds, rank),
      }
    },
  }
}

function lineThrough(list: Ordered<Placing>, bounds: Bounds<Placing>, rank: RankAll): Line<Ranked> {
  return {
    get length() {
      return list.count(bounds)
    },
    slice: (from, until) => rank(list.slice(bounds, from, until).map(({ id }) => id as AgentId)),
    // Whoever stands before one that is within the bounds is within them, but for the cost.
    placeOf: ({ key }) =>
      list.count({ ...bounds, within: (placing) => compareKeys(placing, key) < 0 }),
  }
}

const weightOf = ({ dearestCents }: Placing): number => dearestCents

const isAlike = (one: Placing, other: Placing): boolean =>
  compareKeys(one, other) === 0 && one.dearestCents === other.dearestCents
