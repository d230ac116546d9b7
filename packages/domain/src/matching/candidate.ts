/**
 * Who could do a piece of work, and who may be considered for it (CH-2, AV-7).
 *
 *   M1  Nobody who is offline, or takes nothing new, is ever considered.
 *   M2  A filter is a promise: what it excludes gets in by no other way, not by a newcomer's turn.
 *   M3  Whoever is left out can be told every reason, not just the first (P-6).
 */
import type { AgentId, InstanceId, Instant, OwnerId } from '../ids.ts'

export type Offer = { readonly skill: string; readonly costCents: number }

/** An agent with its instances summed up, or one instance of it. */
export type Candidate = {
  readonly agent: AgentId
  readonly instance?: InstanceId
  readonly owner: OwnerId
  readonly offers: readonly Offer[]
  /** The running score with its parts. */
  readonly scoreMicro: number
  readonly successes: number
  readonly failures: number
  /** Outcomes of any kind in its life: what makes a newcomer one, or no longer. */
  readonly settledCount: number
  readonly slotsFree: number
  readonly slotsTotal: number
  /** Shares of one, as last announced; absent when the agent announces none. */
  readonly load?: { readonly cpu: number; readonly mem: number }
  readonly seenAt: Instant
  readonly online: boolean
  /** Takes new work: not paused, draining, in maintenance or in error. A full one still does. */
  readonly accepting: boolean
}

export type Search = {
  /** None asked for means any. */
  readonly skills: readonly string[]
  readonly match: 'all' | 'any'
  readonly minScoreMicro?: number
  /** For one call: each skill must be within it, or with `any` the ones that count. */
  readonly maxCostCents?: number
  readonly minSlotsFree?: number
}

export type Exclusion =
  | { readonly code: 'offline'; readonly silentMs: number }
  | { readonly code: 'not_accepting' }
  | { readonly code: 'skill_missing'; readonly skills: readonly string[] }
  | { readonly code: 'cost_above'; readonly offers: readonly Offer[]; readonly mostCents: number }
  | { readonly code: 'score_below'; readonly scoreMicro: number; readonly leastMicro: number }
  | { readonly code: 'slots_short'; readonly slotsFree: number; readonly leastFree: number }

/** A candidate that fits, with the offers that made it fit. */
export type Fit = {
  readonly candidate: Candidate
  readonly offers: readonly Offer[]
  /** One call of each skill asked for, or of the cheapest when any will do. */
  readonly costCents: number
}

/** M1: whether it is considered at all, whatever is asked for. */
export function isConsidered({ online, accepting }: Candidate): boolean {
  return online && accepting
}

/** What one call of each of several skills costs. */
export type Price = {
  readonly costCents: number
  /** Of the dearest one: a bound on the cost lets in whom this is within. */
  readonly dearestCents: number
}

/** Undefined when one of the skills is not offered. */
export function priceAll(skills: readonly string[], offers: readonly Offer[]): Price | undefined {
  let costCents = 0
  let dearestCents = 0
  for (const skill of new Set(skills)) {
    const offer = cheapest(offers, skill)
    if (offer === undefined) return undefined
    costCents += offer.costCents
    dearestCents = Math.max(dearestCents, offer.costCents)
  }
  return { costCents, dearestCents }
}

export function filterCandidates(
  search: Search,
  candidates: Iterable<Candidate>,
  now: Instant,
): Fit[] {
  const asked = askedIn(search)
  const fits: Fit[] = []
  for (const candidate of candidates) {
    const match = matchOffers(asked, candidate)
    if (exclusionsOf(asked, { candidate, match, now }).length > 0) continue
    fits.push({ candidate, offers: match.offers, costCents: costOf(asked, match.offers) })
  }
  return fits
}

/** Every reason why this candidate is not among the hits; none when it is. */
export function explainExclusion(
  search: Search,
  candidate: Candidate,
  now: Instant,
): readonly Exclusion[] {
  const asked = askedIn(search)
  return exclusionsOf(asked, { candidate, match: matchOffers(asked, candidate), now })
}

/**
 * In millionths: the tighter of the two resources, since that is the one that will run out. Who
 * announces none counts as fully loaded, so that silence wins no tie.
 */
export function loadMicro({ load }: Candidate): number {
  if (load === undefined) return FULL_MICRO
  const share = Math.max(load.cpu, load.mem)
  // Not a number fails both comparisons and counts as full: it must not unsettle the order.
  if (!(share < 1)) return FULL_MICRO
  return share > 0 ? Math.round(share * FULL_MICRO) : 0
}

export const FULL_MICRO = 1_000_000

/** The one name that tells two candidates apart. */
export function nameOf({ agent, instance }: Candidate): string {
  return instance === undefined ? agent : `${agent}/${instance}`
}

/** A search made ready, once for all candidates. */
type Asked = Search & { readonly anyWillDo: boolean }

function askedIn(search: Search): Asked {
  const skills = [...new Set(search.skills)]
  return { ...search, skills, anyWillDo: skills.length === 0 || search.match === 'any' }
}

type Match = {
  /** What fits; when it is empty nothing does. */
  readonly offers: readonly Offer[]
  readonly missing: readonly string[]
  readonly tooDear: readonly Offer[]
}

function matchOffers(asked: Asked, candidate: Candidate): Match {
  const { skills, maxCostCents = Number.POSITIVE_INFINITY } = asked
  const within: Offer[] = []
  const tooDear: Offer[] = []
  const missing: string[] = []
  const weigh = (offer: Offer) => (offer.costCents <= maxCostCents ? within : tooDear).push(offer)
  if (skills.length === 0) candidate.offers.forEach(weigh)
  for (const skill of skills) {
    const offer = cheapest(candidate.offers, skill)
    if (offer === undefined) missing.push(skill)
    else weigh(offer)
  }
  const fits = asked.anyWillDo || missing.length + tooDear.length === 0
  return { offers: fits ? within : [], missing, tooDear }
}

type Examined = {
  readonly candidate: Candidate
  readonly match: Match
  readonly now: Instant
}

function exclusionsOf(asked: Asked, { candidate, match, now }: Examined): readonly Exclusion[] {
  const { scoreMicro, slotsFree } = candidate
  const { minScoreMicro, maxCostCents, minSlotsFree } = asked
  const found: Exclusion[] = []
  if (!candidate.online) {
    found.push({ code: 'offline', silentMs: Math.max(0, now - candidate.seenAt) })
  }
  if (!candidate.accepting) found.push({ code: 'not_accepting' })
  if (match.offers.length === 0) {
    const { missing, tooDear } = match
    const dear = tooDear.length > 0 && maxCostCents !== undefined
    // When any will do and one is merely too dear, the ones it lacks are not what keeps it out.
    if (!dear || (missing.length > 0 && !asked.anyWillDo)) {
      found.push({ code: 'skill_missing', skills: missing })
    }
    if (dear) found.push({ code: 'cost_above', offers: tooDear, mostCents: maxCostCents })
  }
  if (minScoreMicro !== undefined && scoreMicro < minScoreMicro) {
    found.push({ code: 'score_below', scoreMicro, leastMicro: minScoreMicro })
  }
  if (minSlotsFree !== undefined && slotsFree < minSlotsFree) {
    found.push({ code: 'slots_short', slotsFree, leastFree: minSlotsFree })
  }
  return found
}

/** An agent may run two versions of a skill at two prices; the lower one is the one to compare. */
function cheapest(offers: readonly Offer[], skill: string): Offer | undefined {
  let best: Offer | undefined
  for (const each of offers) {
    if (each.skill === skill && (best === undefined || each.costCents < best.costCents)) best = each
  }
  return best
}

function costOf({ anyWillDo }: Asked, offers: readonly Offer[]): number {
  const costs = offers.map((each) => each.costCents)
  return anyWillDo ? Math.min(...costs) : costs.reduce((sum, each) => sum + each, 0)
}
