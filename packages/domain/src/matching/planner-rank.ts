/**
 * Selection: which instance a planner offers its work to first, and which next (AV-7, AV-9).
 *
 *   E1  Capability match, free slots and load are weighed by published weights; each hit shows what
 *       each of them brought in.
 *   E2  Whole numbers throughout. What weighs the same goes by score, cost and id, so the order is
 *       total.
 *   E3  Who lacks a required skill or the slots is not weighed at all.
 */

import type { AgentId, InstanceId, Instant } from '../ids.ts'
import { halfEven } from '../trust/half-even.ts'
import {
  type Candidate,
  type Fit,
  FULL_MICRO,
  filterCandidates,
  loadMicro,
  nameOf,
} from './candidate.ts'
import { type Behind, type Criterion, comparing, whyBehind } from './ranking.ts'

export type Need = {
  readonly required: readonly string[]
  /** Skills that are good to have, such as the ones that later steps will need. */
  readonly preferred?: readonly string[]
  readonly slots: number
  readonly maxCostCents?: number
  readonly minScoreMicro?: number
}

/** Parts in a thousand, together 1000. */
export type PlannerWeights = {
  readonly match: number
  readonly room: number
  readonly idle: number
}
export const PLANNER_WEIGHTS: PlannerWeights = {
  /** Half: what an instance cannot do, no amount of idleness makes up for. */
  match: 500,
  /** More than load: an offer to a nearly full instance is easily lost to another, for 3 s. */
  room: 300,
  /** The least: it is the instance's own word, up to a cadence old, and changes by the second. */
  idle: 200,
}

export type Part = {
  readonly of: keyof PlannerWeights
  /** How well it does in this, in millionths. */
  readonly shareMicro: number
  readonly weight: number
  readonly points: number
}

export type PlannerBehind = Behind<By> & {
  readonly above: AgentId
  readonly aboveInstance?: InstanceId
}

export type PlannerHit = {
  readonly place: number
  readonly candidate: Candidate
  readonly costCents: number
  /** The sum of the parts' points: 0 to a thousand million. */
  readonly points: number
  readonly parts: readonly Part[]
  readonly behind?: PlannerBehind
}

type Weighed = Omit<PlannerHit, 'place' | 'behind'>
type By = 'points' | 'score' | 'cost' | 'id'

// biome-ignore format: a table is read by its columns
const ORDER: readonly Criterion<Weighed, By>[] = [
  { by: 'points', best: 'highest', of: (each) => each.points },
  { by: 'score',  best: 'highest', of: (each) => each.candidate.scoreMicro },
  { by: 'cost',   best: 'lowest',  of: (each) => each.costCents },
  { by: 'id',     best: 'lowest',  of: (each) => nameOf(each.candidate) },
]

export function rankForPlanner(
  need: Need,
  candidates: Iterable<Candidate>,
  now: Instant,
  weights: PlannerWeights = PLANNER_WEIGHTS,
): PlannerHit[] {
  const { required, preferred: _, slots, ...bounds } = need
  const search = { ...bounds, skills: required, match: 'all', minSlotsFree: slots } as const
  const weighed = filterCandidates(search, candidates, now)
    .map((fit) => weigh(fit, need, weights))
    .sort(comparing(ORDER))
  return weighed.map((each, index) => place(each, index + 1, weighed[index - 1]))
}

function place(each: Weighed, at: number, above: Weighed | undefined): PlannerHit {
  const hit = { ...each, place: at }
  const behind = above && whyBehind(ORDER, { item: each, above })
  if (above === undefined || behind === undefined) return hit
  const { agent, instance } = above.candidate
  const named = { ...behind, above: agent }
  return { ...hit, behind: instance === undefined ? named : { ...named, aboveInstance: instance } }
}

function weigh({ candidate, costCents }: Fit, need: Need, weights: PlannerWeights): Weighed {
  const part = (of: keyof PlannerWeights, shareMicro: number): Part => {
    const weight = weights[of]
    return { of, shareMicro, weight, points: weight * shareMicro }
  }
  const parts = [
    part('match', matchMicro(candidate, need)),
    part('room', roomMicro(candidate, need)),
    part('idle', FULL_MICRO - loadMicro(candidate)),
  ]
  const points = parts.reduce((sum, each) => sum + each.points, 0)
  return { candidate, costCents, points, parts }
}

/** The share of everything named that it offers. What is required it does, or it were not here. */
function matchMicro({ offers }: Candidate, { required, preferred = [] }: Need): number {
  const offered = new Set(offers.map((each) => each.skill))
  const named = [...new Set([...required, ...preferred])]
  if (named.length === 0) return FULL_MICRO
  const met = named.filter((skill) => offered.has(skill)).length
  return halfEven({ numerator: met * FULL_MICRO, denominator: named.length })
}

/**
 * Free slots against free slots and wanted ones together: half when it just fits, and each further
 * slot brings less, since one more makes a lost race less likely by less and less.
 */
function roomMicro({ slotsFree }: Candidate, { slots }: Need): number {
  const denominator = slotsFree + slots
  return denominator <= 0 ? 0 : halfEven({ numerator: slotsFree * FULL_MICRO, denominator })
}
