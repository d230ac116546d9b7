/**
 * The ladder that every ask climbs, whichever door it came through. When several things are wrong
 * the asker hears the first, so that the same ask gets the same answer everywhere:
 *
 *   schema → version → capability → input → policy → rate → capacity or deferral → deadline →
 *   budget
 *
 *   D1  The order is fixed; no rung looks at a later one.
 *   D2  The outcome is one of accepted, deferred or refused, always (OC-11).
 *   D3  Priced work is accepted only when a hold covers the price, but on an open hub (CH-15).
 *   D4  What waits on a person takes no slot and meets no full house (OC-19).
 */

import { readSkillRef, resolveSkill, type VersionOffer } from '../agent/skill-version.ts'
import { accept, type Decision, type Issue, type Refused, refuse } from '../decision.ts'
import type { Instant } from '../ids.ts'
import { decideDefer, expectedStart, type Queued, type WaitingRoom } from './queue.ts'
import { decideRate, type Rate } from './rate.ts'
import type { Ask } from './work.ts'

export type OfferedSkill = VersionOffer & {
  readonly priceCents: number
  readonly durationMs: number
  readonly needsApproval: boolean
}

/** What the edge found out about the message before the rules look at it. */
export type Examined = {
  readonly schemaIssues: readonly Issue[]
  /** The protocol versions that are spoken, when the message's own is not among them. */
  readonly spokenVersions?: readonly string[]
  readonly inputIssues: readonly Issue[]
  /** Why the agent's own policy says no; a code, not a sentence. */
  readonly policyBreach?: string
}

/** What the agent knows when it is asked. */
export type Desk = {
  readonly accepting: boolean
  readonly skills: readonly OfferedSkill[]
  readonly rate: Rate
  readonly room: WaitingRoom
  readonly slotsTotal: number
  readonly slotsFree: number
  /** The promise that the asker holds for this task counts as room. */
  readonly reserved: boolean
  /** What the hub has confirmed as held for this work; undefined when nothing is. */
  readonly heldCents?: number
  /** On an open hub priced work runs without a hold, unguaranteed (CH-15). */
  readonly open: boolean
}

export type Admitted = {
  readonly type: 'work_admitted'
  readonly answer: 'accepted' | 'awaiting' | 'deferred'
  readonly skill: OfferedSkill
  readonly priceCents: number
  /** When a deferred ask is expected to be looked at again. */
  readonly deferredUntil?: Instant
  readonly estimatedEnd: Instant
}

/** Strongest first: this is the order of the ladder. */
export const LADDER = [
  'message_malformed',
  'version_unsupported',
  'skill_unknown',
  'skill_version_unsupported',
  'not_accepting',
  'input_invalid',
  'policy_violated',
  'rate_exceeded',
  'queue_full',
  'deadline_too_soon',
  'price_risen',
  'budget_insufficient',
  'hold_missing',
] as const
export type AdmissionRefusal = (typeof LADDER)[number]

/**
 * How long a closed door is worth waiting for: one heartbeat, after which its state is known anew.
 */
const CLOSED_RETRY_MS = 60_000

export function decideAdmission(
  desk: Desk,
  ask: Ask,
  examined: Examined,
  now: Instant,
): Decision<Admitted, AdmissionRefusal> {
  if (examined.schemaIssues.length > 0) {
    return refuse('message_malformed', { issues: examined.schemaIssues })
  }
  if (examined.spokenVersions !== undefined) {
    return refuse('version_unsupported', {
      figures: { spoken: examined.spokenVersions.join(', ') },
    })
  }
  const found = findSkill(desk, ask, now)
  if (!found.ok) return found
  if (!desk.accepting) return refuse('not_accepting', { retryAt: now + CLOSED_RETRY_MS })
  if (examined.inputIssues.length > 0)
    return refuse('input_invalid', { issues: examined.inputIssues })
  if (examined.policyBreach !== undefined) {
    return refuse('policy_violated', { figures: { breach: examined.policyBreach } })
  }
  const rate = decideRate(desk.rate, ask.requester, now)
  if (!rate.ok) return rate

  const [skill] = found.facts
  if (skill === undefined) return refuse('skill_unknown')
  const placed = decidePlace(desk, ask, skill, now)
  if (!placed.ok) return placed
  return decidePrice(desk, ask, skill) ?? placed
}

function findSkill(
  desk: Desk,
  ask: Ask,
  now: Instant,
): Decision<OfferedSkill, 'skill_unknown' | 'skill_version_unsupported'> {
  const asked = readSkillRef(ask.skill)
  if (asked === undefined) return refuse('skill_unknown')
  const resolved = resolveSkill(desk.skills, asked, now)
  if (resolved.ok) return accept(resolved.offer)
  return refuse(resolved.refusal, { figures: { offered: resolved.versions.join(', ') } })
}

/** Capacity or deferral, then the deadline: whether and when the work could run. */
function decidePlace(
  desk: Desk,
  ask: Ask,
  skill: OfferedSkill,
  now: Instant,
): Decision<Admitted, 'queue_full' | 'deadline_too_soon'> {
  const { priceCents, durationMs } = skill
  const type = 'work_admitted'
  const endsAt = now + durationMs

  if (skill.needsApproval || desk.reserved || desk.slotsFree > 0) {
    if (ask.deadline !== undefined && endsAt > ask.deadline) return tooSoon(endsAt)
    const answer = skill.needsApproval ? 'awaiting' : 'accepted'
    return accept({ type, skill, priceCents, answer, estimatedEnd: endsAt })
  }

  const entry = queuedOf(ask, durationMs, now)
  const deferred = decideDefer(desk.room, entry, now)
  if (!deferred.ok) {
    if (deferred.refusal === 'deadline_too_soon') {
      return tooSoon(expectedStart(desk.room, entry, now) + durationMs)
    }
    const figures = { ...deferred.particulars.figures, current: tasks(desk), most: desk.slotsTotal }
    return refuse('queue_full', { ...deferred.particulars, figures })
  }
  const until = deferred.facts[0]?.until ?? now
  const estimatedEnd = until + durationMs
  return accept({ type, skill, priceCents, answer: 'deferred', deferredUntil: until, estimatedEnd })
}

function decidePrice(
  desk: Desk,
  ask: Ask,
  { priceCents }: OfferedSkill,
): Refused<'price_risen' | 'budget_insufficient' | 'hold_missing'> | undefined {
  if (priceCents === 0) return undefined
  const figures = { priceCents }
  if (ask.quotedCents !== undefined && ask.quotedCents < priceCents) {
    return refuse('price_risen', { figures: { ...figures, quotedCents: ask.quotedCents } })
  }
  if (ask.budgetCents !== undefined && ask.budgetCents < priceCents) {
    return refuse('budget_insufficient', { figures: { ...figures, budgetCents: ask.budgetCents } })
  }
  const covered = desk.heldCents !== undefined && desk.heldCents >= priceCents
  if (covered || (desk.open && desk.heldCents === undefined)) return undefined
  return refuse('hold_missing', { figures: { ...figures, heldCents: desk.heldCents ?? 0 } })
}

/** Whether an ask got as far as the rate rung and so uses up a part of the minute. */
export function countsForRate(decision: Decision<Admitted, AdmissionRefusal>): boolean {
  return decision.ok || LADDER.indexOf(decision.refusal) > LADDER.indexOf('rate_exceeded')
}

export function queuedOf(ask: Ask, durationMs: number, now: Instant): Queued {
  const entry = { work: ask.work, priority: ask.priority, queuedAt: now, durationMs }
  return ask.deadline === undefined ? entry : { ...entry, deadline: ask.deadline }
}

const tasks = (desk: Desk): number => desk.slotsTotal - desk.slotsFree
const tooSoon = (earliest: Instant) =>
  refuse('deadline_too_soon', Number.isFinite(earliest) ? { figures: { earliest } } : {})
