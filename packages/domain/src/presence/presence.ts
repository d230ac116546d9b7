/**
 * Presence: what the directory knows of one instance, from the posts that the instance signed.
 * Signatures are checked before: a post that does not verify never gets here. A direct probe
 * (probe.ts) changes nothing here: only a post says that somebody is there.
 *
 *   D1  `signedAt` rises strictly per instance, through falls too: nothing can be replayed.
 *   D2  A post is believed until its expiry or until three cadences after it was heard, whichever
 *       comes first; only the brake (eviction.ts) keeps an instance longer, and as a suspect.
 *   D3  An `offline` post takes effect at once, and nothing that was signed before it undoes it.
 *   D4  An instance id belongs to the agent that posted under it first.
 *   D5  A sighting is forgotten only when nothing older than it could still be accepted.
 */
import { accept, type Decision, refuse } from '../decision.ts'
import type { AgentId, CorrelationId, InstanceId, Instant } from '../ids.ts'
import { LIMITS } from '../limits.ts'
import { BRAKE_OFF, type Brake, type Pulse, type PulseLost } from './eviction.ts'
import { afterFall, afterPost, STEADY, type Steadiness } from './flap.ts'

export type Availability = 'available' | 'busy' | 'draining' | 'offline'

export type Announcement = {
  readonly agent: AgentId
  readonly instance: InstanceId
  readonly availability: Availability
  readonly capabilities: readonly string[]
  readonly slotsTotal: number
  readonly slotsFree: number
  /** Shares of the machine in use. */
  readonly load: { readonly cpu: number; readonly mem: number }
  readonly signedAt: Instant
  readonly expiresAt: Instant
  readonly correlation: CorrelationId
}

export type Sighting = {
  readonly last: Announcement
  /** By the directory's clock; `last.signedAt` is by the instance's. */
  readonly seenAt: Instant
  readonly steadiness: Steadiness
}

export type InstanceSeen = {
  readonly type: 'instance_seen'
  readonly announcement: Announcement
  readonly at: Instant
}
export type InstanceRevoked = {
  readonly type: 'instance_revoked'
  readonly announcement: Announcement
  readonly at: Instant
}
export type PresenceFact = InstanceSeen | InstanceRevoked

/** Strongest first: when several apply, the sender hears the first. */
export type PresenceRefusal =
  | 'slots_invalid'
  | 'expiry_too_far'
  | 'caller_forbidden'
  | 'message_early'
  | 'message_expired'
  | 'message_replayed'
  | 'message_outdated'

export type Liveness = 'online' | 'suspect' | 'offline'

export function cadenceOf(availability: Availability): number {
  return availability === 'draining' ? LIMITS.drainingCadenceMs : LIMITS.presenceCadenceMs
}

export function presenceExpiry(availability: Availability, signedAt: Instant): Instant {
  const wantedMs = cadenceOf(availability) * LIMITS.missedCadences
  return signedAt + Math.min(wantedMs, LIMITS.presenceTtlMs)
}

export function decidePresence(
  seen: Sighting | undefined,
  announcement: Announcement,
  now: Instant,
): Decision<PresenceFact, PresenceRefusal> {
  const { slotsFree, slotsTotal, signedAt, expiresAt } = announcement

  if (!isCount(slotsTotal, LIMITS.slotsPerInstance) || !isCount(slotsFree, slotsTotal)) {
    return refuse('slots_invalid', { figures: { slotsFree, slotsTotal } })
  }
  if (expiresAt - signedAt > LIMITS.presenceTtlMs) {
    return refuse('expiry_too_far', { figures: { mostMs: LIMITS.presenceTtlMs } })
  }
  if (seen !== undefined && seen.last.agent !== announcement.agent)
    return refuse('caller_forbidden')
  if (signedAt > now + LIMITS.skewMs) {
    return refuse('message_early', { retryAt: signedAt - LIMITS.skewMs })
  }
  // No skew is granted here: an honest clock that is behind only shortens its own posts, while a
  // grace would list an instance after the end that it signed itself.
  if (expiresAt <= Math.max(now, signedAt)) return refuse('message_expired')
  if (seen?.last.signedAt === signedAt) return refuse('message_replayed')
  if (seen !== undefined && signedAt < seen.last.signedAt) return refuse('message_outdated')

  // A first-ever `offline` is kept as well: an older post may still be under way (D3).
  const type = announcement.availability === 'offline' ? 'instance_revoked' : 'instance_seen'
  return accept({ type, announcement, at: now })
}

export function applyPresence(seen: Sighting | undefined, fact: PresenceFact): Sighting {
  const before = seen?.steadiness ?? STEADY
  const step = fact.type === 'instance_seen' ? afterPost : afterFall
  return { last: fact.announcement, seenAt: fact.at, steadiness: step(before, fact.at) }
}

/** For the sighting of the instance that the fact names. */
export function applyLost(sighting: Sighting, fact: PulseLost<InstanceId>): Sighting {
  return { ...sighting, steadiness: afterFall(sighting.steadiness, fact.at) }
}

/** When the last post stops being believed (D2). */
export function lapsesAt({ last, seenAt }: Sighting): Instant {
  const silentAt = seenAt + cadenceOf(last.availability) * LIMITS.missedCadences
  return Math.min(silentAt, last.expiresAt)
}

export function livenessOf(sighting: Sighting, now: Instant, brake: Brake = BRAKE_OFF): Liveness {
  if (sighting.steadiness.is === 'down') return 'offline'
  if (now < lapsesAt(sighting)) return 'online'
  return brake.on ? 'suspect' : 'offline'
}

/** What the directory says: the instance's own word, while it lives and its rise counts. */
export function availabilityOf(
  sighting: Sighting,
  now: Instant,
  brake: Brake = BRAKE_OFF,
): Availability {
  if (livenessOf(sighting, now, brake) === 'offline') return 'offline'
  const { availability } = sighting.last
  const rising = sighting.steadiness.is === 'returning' && availability === 'available'
  return rising ? 'offline' : availability
}

/** What the sweep looks at: every instance that has not fallen. */
export function pulsesOf(sightings: Iterable<Sighting>): readonly Pulse<InstanceId>[] {
  const pulses: Pulse<InstanceId>[] = []
  for (const sighting of sightings) {
    if (sighting.steadiness.is === 'down') continue
    const { last, seenAt } = sighting
    pulses.push({
      who: last.instance,
      seenAt,
      cadenceMs: cadenceOf(last.availability),
      lapsesAt: lapsesAt(sighting),
    })
  }
  return pulses
}

/** When a fallen instance may be dropped from memory; one that has not fallen is never dropped. */
export function forgetsAt({ last, steadiness }: Sighting): Instant | undefined {
  if (steadiness.is !== 'down') return undefined
  const replayableUntil = last.signedAt + LIMITS.presenceTtlMs
  return Math.max(steadiness.fellAt + LIMITS.flapMemoryMs, replayableUntil)
}

function isCount(value: number, most: number): boolean {
  return Number.isSafeInteger(value) && value >= 0 && value <= most
}
