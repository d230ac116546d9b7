/**
 * Every instance that speaks for itself, from its verified posts and declarations (AV-6). Kept in
 * memory; what posts said in the last two minutes and what was declared last is read back at start,
 * so that nothing from before a restart can be played again, and no address is lost.
 *
 *   P1  A post or declaration is decided and taken in one step: of two that arrive together one is
 *       the later one.
 *   P2  One brake holds for instances and for agents that only beat: a hub that is cut off loses
 *       both at once (P-13).
 *   P3  An agent has at most so many instances; a new one takes the place of one that is long gone,
 *       or is told to come later.
 */
import { type Decision, refuse } from '@chimera/domain/decision'
import type { AgentId, InstanceId, Instant } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import {
  type Declaration,
  type DeclarationRefusal,
  decideDeclaration,
  type InstanceDeclared,
} from '@chimera/domain/presence/declaration'
import {
  applyBrake,
  BRAKE_OFF,
  type Brake,
  decideEvictions,
  type EvictionFact,
  nextSweepAt,
  type Pulse,
} from '@chimera/domain/presence/eviction'
import {
  type Announcement,
  applyLost,
  applyPresence,
  decidePresence,
  forgetsAt,
  lapsesAt,
  type PresenceFact,
  type PresenceRefusal,
  pulsesOf,
  type Sighting,
} from '@chimera/domain/presence/presence'

export type Instance = { readonly seen: Sighting; readonly declared: Declaration | undefined }

/** When a probe was sent that had no answer, by instance. */
export type Unanswered = ReadonlyMap<AgentId | InstanceId, Instant>

export type Sweep = {
  readonly facts: readonly EvictionFact<AgentId | InstanceId>[]
  /** When to look again; absent while nobody is listed. */
  readonly nextAt: Instant | undefined
}

export type Presence = {
  readonly announce: (
    announcement: Announcement,
    now: Instant,
  ) => Decision<PresenceFact, PresenceRefusal | 'rate_exceeded'>
  readonly declare: (
    declaration: Declaration,
    now: Instant,
  ) => Decision<InstanceDeclared, DeclarationRefusal | 'rate_exceeded'>
  /** The same, without taking it. */
  readonly canDeclare: Presence['declare']
  /** A post that was believed before the restart. */
  readonly restore: (post: { announcement: Announcement; at: Instant }, now: Instant) => void
  /** A declaration that was kept, before the restart or by another hub; an older one is nothing. */
  readonly restoreDeclaration: (declaration: Declaration) => void
  readonly of: (agent: AgentId) => readonly Sighting[]
  /** Whether the agent has any instance that was seen. */
  readonly isSeen: (agent: AgentId) => boolean
  readonly instances: () => Iterable<Instance>
  readonly instancesOf: (agent: AgentId) => readonly Instance[]
  /** Whose instance it is, of those that have spoken. */
  readonly ownerOf: (instance: InstanceId) => AgentId | undefined
  readonly brake: () => Brake
  /** Lets go of whoever is silent, among its own and among those that only beat. */
  readonly sweep: (
    beating: readonly Pulse<AgentId>[],
    now: Instant,
    unanswered?: Unanswered,
  ) => Sweep
  /** From now on, whoever's instances change is told to this one. */
  readonly follow: (changed: (agent: AgentId) => void) => void
}

type Entry = {
  readonly agent: AgentId
  readonly seen: Sighting | undefined
  readonly declared: Declaration | undefined
}

const LONG_AGO = Number.NEGATIVE_INFINITY

export function createPresence(): Presence {
  const entries = new Map<InstanceId, Entry>()
  const byAgent = new Map<AgentId, Set<InstanceId>>()
  let brake: Brake = BRAKE_OFF
  let changed: (agent: AgentId) => void = () => undefined

  function drop(id: InstanceId, { agent }: Entry): void {
    entries.delete(id)
    const ids = byAgent.get(agent)
    ids?.delete(id)
    if (ids?.size === 0) byAgent.delete(agent)
    changed(agent)
  }

  function put(id: InstanceId, entry: Entry): void {
    entries.set(id, entry)
    const ids = byAgent.get(entry.agent)
    if (ids === undefined) byAgent.set(entry.agent, new Set([id]))
    else ids.add(id)
    changed(entry.agent)
  }

  /** Whether this agent may have this instance (P3). */
  function hasPlace(agent: AgentId, id: InstanceId, now: Instant): boolean {
    const ids = byAgent.get(agent)
    if (ids === undefined || ids.has(id) || ids.size < LIMITS.instancesPerAgent) return true
    for (const other of ids) {
      const entry = entries.get(other)
      if (entry === undefined || !isForgettable(entry, now)) continue
      drop(other, entry)
      return true
    }
    return false
  }

  const crowded = (now: Instant) =>
    refuse('rate_exceeded', {
      retryAt: now + LIMITS.flapMemoryMs,
      figures: { most: LIMITS.instancesPerAgent },
    })

  function announce(announcement: Announcement, now: Instant): ReturnType<Presence['announce']> {
    const { agent, instance } = announcement
    const entry = entries.get(instance)
    const decision = decidePresence(entry?.seen, announcement, now)
    if (!decision.ok) return decision
    if (entry !== undefined && entry.agent !== agent) return refuse('caller_forbidden')
    if (!hasPlace(agent, instance, now)) return crowded(now)
    const seen = decision.facts.reduce<Sighting | undefined>(applyPresence, entry?.seen)
    put(instance, { agent, seen, declared: entry?.declared })
    return decision
  }

  function instancesOf(agent: AgentId): readonly Instance[] {
    const found: Instance[] = []
    for (const id of byAgent.get(agent) ?? []) found.push(...instanceIn(entries.get(id)))
    return found
  }

  function canDeclare(declaration: Declaration, now: Instant): ReturnType<Presence['declare']> {
    const { agent, instance } = declaration
    const entry = entries.get(instance)
    const known = { declared: entry?.declared, seen: entry?.seen }
    const decision = decideDeclaration(known, declaration, now)
    return !decision.ok || hasPlace(agent, instance, now) ? decision : crowded(now)
  }

  return {
    announce,
    canDeclare,

    declare(declaration, now) {
      const { agent, instance } = declaration
      const decision = canDeclare(declaration, now)
      if (!decision.ok) return decision
      put(instance, { agent, seen: entries.get(instance)?.seen, declared: declaration })
      return decision
    },

    restore({ announcement, at }, now) {
      if (!announce(announcement, at).ok) return
      const entry = entries.get(announcement.instance)
      if (entry?.seen === undefined || now < lapsesAt(entry.seen)) return
      // Its silence was ours as well, so its return is no flap.
      const seen: Sighting = { ...entry.seen, steadiness: { is: 'down', fellAt: LONG_AGO } }
      put(announcement.instance, { ...entry, seen })
    },

    restoreDeclaration(declaration) {
      const { agent, instance, signedAt } = declaration
      const entry = entries.get(instance)
      if (entry !== undefined && entry.agent !== agent) return
      if (entry?.declared !== undefined && signedAt <= entry.declared.signedAt) return
      const full = (byAgent.get(agent)?.size ?? 0) >= LIMITS.instancesPerAgent
      if (entry === undefined && full) return
      put(instance, { agent, seen: entry?.seen, declared: declaration })
    },

    of: (agent) => instancesOf(agent).map(({ seen }) => seen),
    isSeen(agent) {
      for (const id of byAgent.get(agent) ?? []) {
        if (entries.get(id)?.seen !== undefined) return true
      }
      return false
    },
    instancesOf,

    *instances() {
      for (const entry of entries.values()) yield* instanceIn(entry)
    },

    ownerOf: (instance) => entries.get(instance)?.agent,
    brake: () => brake,

    sweep(beating, now, unanswered = new Map()) {
      const sightings: Sighting[] = []
      for (const { seen } of entries.values()) if (seen !== undefined) sightings.push(seen)
      const pulses = [...pulsesOf(sightings), ...beating]
      const { facts } = decideEvictions<AgentId | InstanceId>({ pulses, unanswered }, brake, now)
      const gone = new Set<AgentId | InstanceId>()
      for (const fact of facts) {
        brake = applyBrake(brake, fact)
        if (fact.type !== 'pulse_lost') continue
        gone.add(fact.who)
        const id = fact.who as InstanceId
        const entry = entries.get(id)
        if (entry?.seen === undefined) continue
        put(id, { ...entry, seen: applyLost(entry.seen, { ...fact, who: id }) })
      }
      for (const [id, entry] of entries) forget(id, entry, now)
      const left = pulses.filter(({ who }) => !gone.has(who))
      return { facts, nextAt: nextSweepAt(left, brake, now) }
    },

    follow(listener) {
      changed = listener
    },
  }

  /** An address that was declared outlives the silence; the instance may come back to it. */
  function forget(id: InstanceId, entry: Entry, now: Instant): void {
    if (!isForgettable(entry, now)) return
    if (entry.declared === undefined) drop(id, entry)
    else if (entry.seen !== undefined) put(id, { ...entry, seen: undefined })
  }
}

/** One that only declared itself is not there yet. */
function instanceIn(entry: Entry | undefined): readonly Instance[] {
  return entry?.seen === undefined ? [] : [{ seen: entry.seen, declared: entry.declared }]
}

/** Nothing that was said by it, or for it, could still be played again. */
function isForgettable({ seen, declared }: Entry, now: Instant): boolean {
  if (declared !== undefined && now < declared.expiresAt) return false
  if (seen === undefined) return true
  const at = forgetsAt(seen)
  return at !== undefined && now >= at
}
