/**
 * Who is on the network and can be found: agents by id and by skill, with their signs of life. Kept
 * in memory and rebuilt from the store at start, so a search touches no database.
 *
 *   D1  An agent is found by every skill that it offers, and by none that it no longer offers.
 *   D2  A removed agent is not found and not shown.
 *   D3  A sign of life counts from when it was heard; after a restart only new ones count, so
 *       nobody is listed who has not spoken since (CH-3).
 *   D4  An agent that posts presence is judged by its instances, whatever it beats (AV-6). Whoever
 *       was let go for silence stays gone until it is heard again; that a probe reaches it is no
 *       word of its own.
 */
import type { Agent } from '@chimera/domain/agent/agent'
import { readSkillRef } from '@chimera/domain/agent/skill-version'
import type { AgentId, Alias, InstanceId, Instant } from '@chimera/domain/ids'
import type { Candidate } from '@chimera/domain/matching/candidate'
import { declaredAvailability } from '@chimera/domain/presence/declaration'
import type { Pulse } from '@chimera/domain/presence/eviction'
import { agentLiveness, heartbeatPulse, type Signs } from '@chimera/domain/presence/liveness'
import { type Liveness, livenessOf } from '@chimera/domain/presence/presence'
import type { Probe, ProbeFact } from '@chimera/domain/presence/probe'
import type { Standing } from '@chimera/domain/trust/trust'
import { agentCandidate, instanceCandidate, type Shown } from './candidates.ts'
import {
  createPresence,
  type Instance,
  type Presence,
  type Sweep,
  type Unanswered,
} from './presence.ts'
import { createProbes, type Due, type Probes } from './probes.ts'

export type Directory = {
  /** Enters an agent or replaces its entry; `heardAt` is its sign of life, if this is one. */
  readonly enter: (agent: Agent, heardAt?: Instant) => void
  /** Whether there is such an agent. */
  readonly beat: (id: AgentId, now: Instant) => boolean
  readonly find: (id: AgentId) => Agent | undefined
  readonly isOnline: (id: AgentId, now: Instant) => boolean
  /** Its last sign of life of any kind; absent if it has not been heard yet. */
  readonly heardAt: (id: AgentId) => Instant | undefined
  readonly livenessOf: (id: AgentId, now: Instant) => Liveness
  /** Whose name in the status feed this is; tombstones keep theirs. */
  readonly holderOf: (alias: Alias) => AgentId | undefined
  /** How many agents offer each skill. */
  readonly skills: () => ReadonlyMap<string, number>
  /** Everybody who offers the first of these, as candidates for all of them. */
  readonly candidates: (skills: readonly string[], now: Instant) => Iterable<Candidate>
  /** Every instance of an agent that is on the network, or of this one. */
  readonly instances: (now: Instant, agent?: AgentId) => Iterable<InstanceEntry>
  /** Lets go of whoever is silent. */
  readonly sweep: (now: Instant) => Sweep
  /** Where instances that are listed are to be asked now. */
  readonly dueProbes: (now: Instant) => readonly Due[]
  readonly noteProbes: (ended: readonly Probe[], now: Instant) => readonly ProbeFact[]
  readonly size: () => number
}

export type InstanceEntry = {
  readonly agent: Agent
  readonly shown: Shown
  readonly candidate: Candidate
}

/** `gone`: let go for silence, or not heard yet. */
type Entry = { readonly agent: Agent; readonly signs: Signs; readonly gone: boolean }

// A sign of life that lies before all time: an agent that has not been heard yet.
const NEVER = Number.NEGATIVE_INFINITY

export function createDirectory(
  standingOf: (id: AgentId) => Standing,
  presence: Presence = createPresence(),
  probes: Probes = createProbes(() => 0),
): Directory {
  const entries = new Map<AgentId, Entry>()
  const bySkill = new Map<string, Set<AgentId>>()
  const byAlias = new Map<Alias, AgentId>()

  function leave(agent: Agent): void {
    for (const { name } of agent.skills) {
      const ids = bySkill.get(name)
      ids?.delete(agent.id)
      if (ids?.size === 0) bySkill.delete(name)
    }
  }

  function judge(entry: Entry, now: Instant): Liveness {
    const sightings = presence.of(entry.agent.id)
    if (sightings.length === 0 && entry.gone) return 'offline'
    return agentLiveness({ signs: entry.signs, sightings }, now, presence.brake())
  }

  const livenessNow = (id: AgentId, now: Instant): Liveness => {
    const entry = entries.get(id)
    return entry === undefined ? 'offline' : judge(entry, now)
  }

  function show(instance: Instance, agent: Agent, now: Instant): Shown {
    const brake = presence.brake()
    const liveness = livenessOf(instance.seen, now, brake)
    const availability = declaredAvailability(instance, now, brake)
    const shown = { ...instance, liveness, availability }
    const unansweredAt = silentSince(instance, agent)
    return unansweredAt === undefined ? shown : { ...shown, unansweredAt }
  }

  function silentSince(instance: Instance, agent: Agent): Instant | undefined {
    const address = addressOf(instance, agent)
    return address === undefined ? undefined : probes.unansweredAt(address)
  }

  /** Every instance of an agent that is on the network. */
  function* present(): Iterable<{ readonly instance: Instance; readonly agent: Agent }> {
    for (const instance of presence.instances()) {
      const agent = entries.get(instance.seen.last.agent)?.agent
      if (agent !== undefined) yield { instance, agent }
    }
  }

  function* probed(now: Instant): Iterable<string> {
    for (const { instance, agent } of present()) {
      const address = addressOf(instance, agent)
      const listed = livenessOf(instance.seen, now, presence.brake()) !== 'offline'
      if (listed && address !== undefined) yield address
    }
  }

  /** Only the brake asks for it (eviction.ts). */
  function unanswered(): Unanswered {
    const found = new Map<InstanceId, Instant>()
    if (!presence.brake().on) return found
    for (const { instance, agent } of present()) {
      const at = silentSince(instance, agent)
      if (at !== undefined) found.set(instance.seen.last.instance, at)
    }
    return found
  }

  const lastHeard = ({ agent, signs }: Entry): Instant =>
    Math.max(
      signs.registeredAt,
      signs.heartbeatAt ?? NEVER,
      ...presence.of(agent.id).map(({ seenAt }) => seenAt),
    )

  function candidateOf(entry: Entry, skills: readonly string[], now: Instant): Candidate {
    const { agent } = entry
    const instances = [...presence.instancesOf(agent.id)].map((each) => show(each, agent, now))
    const heardAt = lastHeard(entry)
    const online = judge(entry, now) !== 'offline'
    const who = { agent, standing: standingOf(agent.id), now }
    return agentCandidate(who, { skills, heardAt, online, instances })
  }

  return {
    enter(agent, heardAt = NEVER) {
      const before = entries.get(agent.id)
      if (before !== undefined) leave(before.agent)
      for (const alias of agent.aliases) byAlias.set(alias, agent.id)
      if (agent.removedAt !== undefined) {
        entries.delete(agent.id)
        return
      }
      const registeredAt = Math.max(heardAt, before?.signs.registeredAt ?? NEVER)
      const signs = { registeredAt, heartbeatAt: before?.signs.heartbeatAt }
      const gone = heardAt === NEVER && (before?.gone ?? true)
      entries.set(agent.id, { agent, signs, gone })
      for (const { name } of agent.skills) {
        const ids = bySkill.get(name)
        if (ids === undefined) bySkill.set(name, new Set([agent.id]))
        else ids.add(agent.id)
      }
    },

    beat(id, now) {
      const entry = entries.get(id)
      if (entry === undefined) return false
      const signs = { ...entry.signs, heartbeatAt: now }
      entries.set(id, { ...entry, signs, gone: false })
      return true
    },

    find: (id) => entries.get(id)?.agent,
    isOnline: (id, now) => livenessNow(id, now) !== 'offline',
    livenessOf: livenessNow,
    heardAt(id) {
      const entry = entries.get(id)
      const at = entry === undefined ? NEVER : lastHeard(entry)
      return at === NEVER ? undefined : at
    },
    holderOf: (alias) => byAlias.get(alias),
    skills: () => new Map([...bySkill].map(([name, ids]) => [name, ids.size])),

    *candidates(skills, now) {
      const [first] = skills
      const name = first === undefined ? undefined : readSkillRef(first)?.name
      for (const id of (name !== undefined && bySkill.get(name)) || []) {
        const entry = entries.get(id)
        if (entry?.agent.endpoint === undefined) continue
        yield candidateOf(entry, skills, now)
      }
    },

    *instances(now, only) {
      const all = only === undefined ? presence.instances() : presence.instancesOf(only)
      for (const instance of all) {
        const entry = entries.get(instance.seen.last.agent)
        if (entry === undefined) continue
        const { agent } = entry
        const shown = show(instance, agent, now)
        const candidate = instanceCandidate({ agent, standing: standingOf(agent.id), now }, shown)
        yield { agent, shown, candidate }
      }
    },

    sweep(now) {
      const beating: Pulse<AgentId>[] = []
      for (const [id, entry] of entries) {
        if (entry.gone) continue
        const pulse = heartbeatPulse(id, entry.signs)
        if (presence.of(id).length === 0) beating.push(pulse)
        // Its instances speak for it; once they are forgotten, old beats must not count as a cut.
        else if (now >= pulse.lapsesAt) entries.set(id, { ...entry, gone: true })
      }
      const swept = presence.sweep(beating, now, unanswered())
      for (const fact of swept.facts) {
        const entry = fact.type === 'pulse_lost' && entries.get(fact.who as AgentId)
        if (entry) entries.set(entry.agent.id, { ...entry, gone: true })
      }
      return swept
    },

    dueProbes: (now) => probes.due(probed(now), now),
    noteProbes: (ended, now) => probes.note({ ended, brake: presence.brake() }, now),

    size: () => entries.size,
  }
}

/** Where it takes offers, or else where its agent takes jobs. */
function addressOf({ declared }: Instance, agent: Agent): string | undefined {
  return declared?.callback ?? agent.endpoint
}
