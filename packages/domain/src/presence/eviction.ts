/**
 * Who leaves the directory for silence, and the brake that stops a mass eviction (P-13).
 *
 * When many fall silent at once, it is presumably the hub that is cut off. A cut shows before it
 * costs anything: when the first instance has missed three cadences, all the others have missed one
 * at least. So the brake looks at who is quiet, not only at who has lapsed.
 *
 *   E1  Without the brake, one sweep never evicts more than `brakeShare` of all, if there are
 *       `brakeInstances` or more.
 *   E2  Under the brake, one whose time is up stays as a suspect. It leaves if it does not answer a
 *       probe that was sent while the hub heard more than half of all: a hub that hears few learns
 *       by a failed probe about itself. Half, since agents in its own process outlast any cut.
 *   E3  The brake ends when all but `brakeReleaseShare` are heard again and the others have had the
 *       time to post, or after `brakeMs`; then whoever is still silent leaves. So nobody is listed
 *       for longer than that on old news.
 *   E4  Nothing here is a timer: a late sweep changes who is told, never who is live (presence.ts).
 */
import { type Accepted, accept } from '../decision.ts'
import type { Instant } from '../ids.ts'
import { LIMITS } from '../limits.ts'

/** One that is listed and must be heard by `lapsesAt`: an instance, or an agent that beats. */
export type Pulse<Id extends string> = {
  readonly who: Id
  readonly seenAt: Instant
  readonly cadenceMs: number
  readonly lapsesAt: Instant
}

type BrakeOn = {
  readonly on: true
  readonly since: Instant
  /** Since when more than half are heard under this brake; from then on a probe proves much. */
  readonly hearingSince: Instant | undefined
}
export type Brake = { readonly on: false } | BrakeOn

export const BRAKE_OFF: Brake = { on: false }

export type Roll<Id extends string> = {
  /** Everybody who is listed, suspects included; whoever has left is not among them. */
  readonly pulses: readonly Pulse<Id>[]
  /** When a probe was sent that had no answer (probe.ts); only a post shows in the pulse. */
  readonly unanswered: ReadonlyMap<Id, Instant>
}

export type PulseLost<Id extends string> = {
  readonly type: 'pulse_lost'
  readonly who: Id
  readonly at: Instant
  readonly cause: 'lapsed' | 'unanswered'
}
export type BrakeSet = {
  readonly type: 'brake_set'
  readonly at: Instant
  readonly quiet: number
  readonly known: number
}
export type BrakeReleased = {
  readonly type: 'brake_released'
  readonly at: Instant
  readonly cause: 'heard' | 'time'
}
/** Whether more than half are heard has changed under the brake. */
export type HearingChanged = {
  readonly type: 'hearing_changed'
  readonly at: Instant
  readonly hearing: boolean
}
export type EvictionFact<Id extends string> =
  | PulseLost<Id>
  | BrakeSet
  | BrakeReleased
  | HearingChanged

export function decideEvictions<Id extends string>(
  roll: Roll<Id>,
  brake: Brake,
  now: Instant,
): Accepted<EvictionFact<Id>> {
  if (brake.on) return decideUnderBrake(roll, brake, now)
  const lapsed = roll.pulses.filter((each) => hasLapsed(each, now))
  const quiet = countQuiet(roll.pulses, now)
  const known = roll.pulses.length
  const many = known >= LIMITS.brakeInstances && quiet > known * LIMITS.brakeShare
  if (many && lapsed.length > 0) return accept({ type: 'brake_set', at: now, quiet, known })
  return accept(...lapsed.map((each) => lose(each, 'lapsed', now)))
}

function decideUnderBrake<Id extends string>(
  { pulses, unanswered }: Roll<Id>,
  brake: BrakeOn,
  now: Instant,
): Accepted<EvictionFact<Id>> {
  const lapsed = pulses.filter((each) => hasLapsed(each, now))
  const heard = isHeardAgain(pulses, brake, now)
  if (heard || now >= brake.since + LIMITS.brakeMs) {
    return accept<EvictionFact<Id>>(
      { type: 'brake_released', at: now, cause: heard ? 'heard' : 'time' },
      ...lapsed.map((each) => lose(each, 'lapsed', now)),
    )
  }

  const { hearingSince } = brake
  const hearing = isHearing(pulses, brake, now)
  if (hearing !== (hearingSince !== undefined)) {
    return accept({ type: 'hearing_changed', at: now, hearing })
  }
  if (hearingSince === undefined) return accept()
  const dead = lapsed.filter(({ who, seenAt }) => {
    const probedAt = unanswered.get(who)
    return probedAt !== undefined && probedAt >= hearingSince && probedAt > seenAt
  })
  return accept(...dead.map((each) => lose(each, 'unanswered', now)))
}

export function applyBrake(brake: Brake, fact: EvictionFact<string>): Brake {
  switch (fact.type) {
    case 'brake_set':
      return { on: true, since: fact.at, hearingSince: undefined }
    case 'hearing_changed':
      return brake.on ? { ...brake, hearingSince: fact.hearing ? fact.at : undefined } : brake
    case 'brake_released':
      return BRAKE_OFF
    case 'pulse_lost':
      return brake
  }
}

/** Who is kept only by the brake: to be probed, and to be marked wherever the directory shows. */
export function suspectsOf<Id extends string>(
  pulses: readonly Pulse<Id>[],
  brake: Brake,
  now: Instant,
): readonly Id[] {
  return brake.on ? pulses.filter((each) => hasLapsed(each, now)).map((each) => each.who) : []
}

/** When to look again; never, as long as nobody is listed. */
export function nextSweepAt(
  pulses: readonly Pulse<string>[],
  brake: Brake,
  now: Instant,
): Instant | undefined {
  // Under the brake what is awaited is posts and verdicts: a cadence is how long a post may take.
  if (brake.on) return Math.min(now + LIMITS.presenceCadenceMs, brake.since + LIMITS.brakeMs)
  if (pulses.length === 0) return undefined
  const first = pulses.reduce((least, each) => Math.min(least, each.lapsesAt), Infinity)
  return Math.max(first, now + LIMITS.sweepMs)
}

function hasLapsed(pulse: Pulse<string>, now: Instant): boolean {
  return now >= pulse.lapsesAt
}

function isQuiet(pulse: Pulse<string>, now: Instant): boolean {
  const silentMs = now - pulse.seenAt
  return silentMs > pulse.cadenceMs * LIMITS.quietCadences || hasLapsed(pulse, now)
}

function countQuiet(pulses: readonly Pulse<string>[], now: Instant): number {
  return pulses.filter((each) => isQuiet(each, now)).length
}

/** By posts since the brake was set: who has a slow cadence is not yet quiet when a cut begins. */
function isHearing(pulses: readonly Pulse<string>[], brake: BrakeOn, now: Instant): boolean {
  const heard = pulses.filter((each) => each.seenAt > brake.since && !isQuiet(each, now))
  return heard.length * 2 > pulses.length
}

function isHeardAgain(pulses: readonly Pulse<string>[], brake: BrakeOn, now: Instant): boolean {
  const quiet = countQuiet(pulses, now)
  if (quiet === 0) return true
  if (brake.hearingSince === undefined) return false
  const patienceMs = LIMITS.presenceCadenceMs * LIMITS.quietCadences
  const few = quiet <= pulses.length * LIMITS.brakeReleaseShare
  return few && now >= brake.hearingSince + patienceMs
}

function lose<Id extends string>(
  { who }: Pulse<Id>,
  cause: PulseLost<Id>['cause'],
  now: Instant,
): PulseLost<Id> {
  return { type: 'pulse_lost', who, at: now, cause }
}
