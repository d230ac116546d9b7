/**
 * Who leaves the directory for silence, and the brake that stops a mass eviction (P-13).
 *
 * When many fall silent at once, it is presumably the hub that is cut off. A cut shows before it
 * costs anything: when the first instance has missed its three cadences, all the others have missed
 * at least one. So the brake looks at who is quiet, not only at who has lapsed.
 *
 *   E1  Without the brake, one sweep never evicts more than `brakeShare` of `brakeInstances` or more.
 *   E2  Under the brake, one whose time is up stays as a suspect; it leaves for an unanswered probe,
 *       and only while the hub hears more than half of all: a hub that hears few learns by a failed
 *       probe about itself. Half, since agents in the hub's own process are heard through any cut.
 *   E3  The brake ends when all but `brakeReleaseShare` are heard again, or after `brakeMs`; then
 *       whoever is still silent leaves. So nobody is listed for longer than that on old news.
 *   E4  Nothing here is a timer: a late sweep changes who is told, never who is live (presence.ts).
 */
import { type Accepted, accept } from './decision.ts'
import type { Instant } from './ids.ts'
import { LIMITS } from './limits.ts'

/** One that is listed and has to be heard again by `lapsesAt`: an instance, or an agent that beats. */
export type Pulse<Id extends string> = {
  readonly who: Id
  readonly seenAt: Instant
  readonly cadenceMs: number
  readonly lapsesAt: Instant
}

export type Brake = { readonly on: false } | { readonly on: true; readonly since: Instant }

export const BRAKE_OFF: Brake = { on: false }

export type Roll<Id extends string> = {
  /** Everybody who is listed, suspects included; whoever has left is not among them. */
  readonly pulses: readonly Pulse<Id>[]
  /** When a direct probe was given up; an answered one is a post, and shows in the pulse. */
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
export type EvictionFact<Id extends string> = PulseLost<Id> | BrakeSet | BrakeReleased

export function decideEvictions<Id extends string>(
  roll: Roll<Id>,
  brake: Brake,
  now: Instant,
): Accepted<EvictionFact<Id>> {
  const { pulses } = roll
  const lapsed = pulses.filter((each) => hasLapsed(each, now))
  const quiet = pulses.filter((each) => isQuiet(each, now)).length
  const known = pulses.length
  const lose =
    (cause: PulseLost<Id>['cause']) =>
    ({ who }: Pulse<Id>): PulseLost<Id> => ({ type: 'pulse_lost', who, at: now, cause })

  if (brake.on) {
    const heard = quiet <= known * LIMITS.brakeReleaseShare
    if (heard || now >= brake.since + LIMITS.brakeMs) {
      const cause = heard ? 'heard' : 'time'
      return accept<EvictionFact<Id>>(
        { type: 'brake_released', at: now, cause },
        ...lapsed.map(lose('lapsed')),
      )
    }
    return accept<EvictionFact<Id>>(
      ...provenDead(roll, lapsed, brake.since).map(lose('unanswered')),
    )
  }

  const many = known >= LIMITS.brakeInstances && quiet > known * LIMITS.brakeShare
  if (many && lapsed.length > 0) return accept({ type: 'brake_set', at: now, quiet, known })
  return accept(...lapsed.map(lose('lapsed')))
}

export function applyBrake(brake: Brake, fact: EvictionFact<string>): Brake {
  switch (fact.type) {
    case 'brake_set':
      return { on: true, since: fact.at }
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

function provenDead<Id extends string>(
  { pulses, unanswered }: Roll<Id>,
  lapsed: readonly Pulse<Id>[],
  since: Instant,
): readonly Pulse<Id>[] {
  const heard = pulses.filter((each) => each.seenAt > since).length
  if (heard * 2 <= pulses.length) return []
  return lapsed.filter(({ who, seenAt }) => {
    const gaveUpAt = unanswered.get(who)
    return gaveUpAt !== undefined && gaveUpAt >= since && gaveUpAt > seenAt
  })
}
