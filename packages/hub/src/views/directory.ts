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
 *   D5  A search is answered as if everybody were judged and ranked at its moment, and looks only
 *       at those it shows (shelves.ts).
 */
import type { Agent } from '@chimera/domain/agent/agent'
import type { AgentId, Alias, InstanceId, Instant } from '@chimera/domain/ids'
import type { Candidate } from '@chimera/domain/matching/candidate'
import { type FairPage, fairPlaces } from '@chimera/domain/matching/fair'
import { type Extent, type Place, placesOn } from '@chimera/domain/matching/matching'
import { declaredAvailability } from '@chimera/domain/presence/declaration'
import type { Pulse } from '@chimera/domain/presence/eviction'
import { agentLiveness, heartbeatPulse, type Signs } from '@chimera/domain/presence/liveness'
import {
  type Liveness,
  lapsesAt,
  livenessOf,
  type Sighting,
} from '@chimera/domain/presence/presence'
import type { Probe, ProbeFact } from '@chimera/domain/presence/probe'
import type { Standing } from '@chimera/domain/trust/trust'
import { agentCandidate, instanceCandidate, offersOf, type Shown } from './candidates.ts'
import {
  createPresence,
  type Instance,
  type Presence,
  type Sweep,
  type Unanswered,
} from './presence.ts'
import { createProbes, type Due, type Probes } from './probes.ts'
import { createRecords, type Records } from './records.ts'
import { createShelves, type Look, type Sought } from './shelves.ts'

export type Directory = {
  /** Enters an agent or replaces its entry; `heardAt` is its sign of life, if this is one. */
  readonly enter: (agent: Agent, heardAt?: Instant) => void
  /** Whether there is such an agent. */
  readonly beat: (id: AgentId, now: Instant) => boolean
  readonly find: (id: AgentId) => Agent | undefined
  /** Everybody on the network, heard or not. */
  readonly all: () => Iterable<Agent>
  readonly isOnline: (id: AgentId, now: Instant) => boolean
  /** Its last sign of life of any kind; absent if it has not been heard yet. */
  readonly heardAt: (id: AgentId) => Instant | undefined
  readonly livenessOf: (id: AgentId, now: Instant) => Liveness
  /** Whose name in the status feed this is; tombstones keep theirs. */
  readonly holderOf: (alias: Alias) => AgentId | undefined
  /** How many agents offer each skill. */
  readonly skills: () => ReadonlyMap<string, number>
  /** Who offers all of the skills, by score, cost and load; with a draw, newcomers have turns. */
  readonly discover: (sought: Sought, page: Extent | FairPage, now: Instant) => Places
  /** An agent as whoever ranks it for these skills sees it. */
  readonly candidateOf: (
    id: AgentId,
    skills: readonly string[],
    now: Instant,
  ) => Candidate | undefined
  /** Its score has changed. */
  readonly reconsider: (id: AgentId) => void
  /** Every instance of an agent that is on the network, or of this one. */
  readonly instances: (now: Instant, agent?: AgentId) => Iterable<InstanceEntry>
  /** Lets go of whoever is silent. */
  readonly sweep: (now: Instant) => Sweep
  /** Where instances that are listed are to be asked now. */
  readonly dueProbes: (now: Instant) => readonly Due[]
  readonly noteProbes: (ended: readonly Probe[], now: Instant) => readonly ProbeFact[]
  readonly size: () => number
}

export type Places = { readonly places: readonly Place[]; readonly total: number }

export type InstanceEntry = {
  readonly agent: Agent
  readonly shown: Shown
  readonly candidate: Candidate
}

/** `gone`: let go for silence, or not heard yet. */
type Entry = { readonly agent: Agent; readonly signs: Signs; readonly gone: boolean }

// A sign of life that lies before all time: an agent that has not been heard yet.
const NEVER = Number.NEGATIVE_INFINITY
const NOBODY = '' as AgentId

export function createDirectory(
  standingOf: (id: AgentId) => Standing,
  presence: Presence = createPresence(),
  probes: Probes = createProbes(() => 0),
  records: Pick<Records, 'isClosed' | 'follow'> = createRecords(),
): Directory {
  const entries = new Map<AgentId, Entry>()
  const byAlias = new Map<Alias, AgentId>()
  /** Instances that were asked in vain, as the shelves have them. */
  let silent = new Set<InstanceId>()
  const shelves = createShelves({
    look(agent, skills, now) {
      const entry = entries.get(agent.id)
      if (entry !== undefined) noteSilence(agent)
      return entry && lookAt(entry, skills, now)
    },
    offersOf: (agent, skills, now) => offersOf({ agent, now }, skills),
  })
  presence.follow(shelves.reconsider)
  records.follow(shelves.reconsider)

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

  function letGo(entry: Entry): void {
    entries.set(entry.agent.id, { ...entry, gone: true })
    shelves.reconsider(entry.agent.id)
  }

  function lookAt({ agent, signs, gone }: Entry, skills: readonly string[], now: Instant): Look {
    const { id } = agent
    const instances = presence.instancesOf(id)
    const isGone = instances.length === 0 && gone
    const sightings = instances.map(({ seen }) => seen)
    const online =
      !isGone && agentLiveness({ signs, sightings }, now, presence.brake()) !== 'offline'
    const heardAt = lastHeard(signs, sightings)
    const shown = instances.map((each) => show(each, agent, now))
    const who = { agent, standing: standingOf(id), now }
    const candidate = agentCandidate(who, { skills, heardAt, online, instances: shown })
    return {
      candidate: records.isClosed(id) ? { ...candidate, accepting: false } : candidate,
      steadyUntil: isGone ? Number.POSITIVE_INFINITY : nextLapse({ signs, sightings }, now),
    }
  }

  function noteSilence(agent: Agent): void {
    for (const instance of presence.instancesOf(agent.id)) {
      const { instance: id } = instance.seen.last
      if (silentSince(instance, agent) !== undefined) silent.add(id)
      else if (silent.size > 0) silent.delete(id)
    }
  }

  /** After a probe or a wave of them: whom it changes. */
  function reconsiderSilent(): void {
    const before = silent
    silent = new Set()
    const changed = new Set<AgentId>()
    for (const { instance, agent } of present()) {
      const { instance: id } = instance.seen.last
      const isSilent = silentSince(instance, agent) !== undefined
      if (isSilent) silent.add(id)
      if (isSilent !== before.has(id)) changed.add(agent.id)
    }
    changed.forEach(shelves.reconsider)
  }

  return {
    enter(agent, heardAt = NEVER) {
      const before = entries.get(agent.id)
      for (const alias of agent.aliases) byAlias.set(alias, agent.id)
      if (agent.removedAt !== undefined) {
        entries.delete(agent.id)
        shelves.leave(agent.id)
        return
      }
      const registeredAt = Math.max(heardAt, before?.signs.registeredAt ?? NEVER)
      const signs = { registeredAt, heartbeatAt: before?.signs.heartbeatAt }
      const gone = heardAt === NEVER && (before?.gone ?? true)
      entries.set(agent.id, { agent, signs, gone })
      shelves.enter(agent)
    },

    beat(id, now) {
      const entry = entries.get(id)
      if (entry === undefined) return false
      const { agent, signs, gone } = entry
      const { registeredAt } = signs
      entries.set(id, { agent, signs: { registeredAt, heartbeatAt: now }, gone: false })
      // Nearly every beat says that somebody is still there, who was known to be.
      const isNews = gone || now >= heartbeatPulse(id, signs).lapsesAt
      if (isNews || presence.brake().on) shelves.reconsider(id)
      else shelves.hear(id)
      return true
    },

    find: (id) => entries.get(id)?.agent,
    *all() {
      for (const { agent } of entries.values()) yield agent
    },
    isOnline: (id, now) => livenessNow(id, now) !== 'offline',
    livenessOf: livenessNow,
    heardAt(id) {
      const entry = entries.get(id)
      const at = entry === undefined ? NEVER : lastHeard(entry.signs, presence.of(id))
      return at === NEVER ? undefined : at
    },
    holderOf: (alias) => byAlias.get(alias),
    skills: shelves.counts,

    discover(sought, page, now) {
      shelves.settle(now)
      const found = shelves.find(sought)
      if (found === undefined) return { places: [], total: 0 }
      const { line, newcomers } = found
      const places = 'draw' in page ? fairPlaces(line, newcomers, page) : placesOn(line, page)
      return { places, total: line.length }
    },

    candidateOf(id, skills, now) {
      const entry = entries.get(id)
      return entry && lookAt(entry, skills, now).candidate
    },
    reconsider: shelves.reconsider,

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
      const braked = presence.brake().on
      const beating: Pulse<AgentId>[] = []
      for (const [id, entry] of entries) {
        if (entry.gone) continue
        const pulse = heartbeatPulse(id, entry.signs)
        if (!presence.isSeen(id)) beating.push(pulse)
        // Its instances speak for it; once they are forgotten, old beats must not count as a cut.
        else if (now >= pulse.lapsesAt) letGo(entry)
      }
      const swept = presence.sweep(beating, now, unanswered())
      for (const fact of swept.facts) {
        const entry = fact.type === 'pulse_lost' && entries.get(fact.who as AgentId)
        if (entry) letGo(entry)
      }
      if (presence.brake().on !== braked) shelves.reconsiderAll()
      // Between searches that are far apart, so that the next one finds little to make up for.
      shelves.settle(now)
      return swept
    },

    dueProbes(now) {
      const due = probes.due(probed(now), now)
      reconsiderSilent()
      return due
    },
    noteProbes(ended, now) {
      const facts = probes.note({ ended, brake: presence.brake() }, now)
      reconsiderSilent()
      return facts
    },

    size: () => entries.size,
  }
}

function lastHeard({ registeredAt, heartbeatAt }: Signs, sightings: readonly Sighting[]): Instant {
  let last = Math.max(registeredAt, heartbeatAt ?? NEVER)
  for (const { seenAt } of sightings) last = Math.max(last, seenAt)
  return last
}

/** Before the first moment at which something lapses, time changes nothing. */
function nextLapse(
  { signs, sightings }: { readonly signs: Signs; readonly sightings: readonly Sighting[] },
  now: Instant,
): Instant {
  let next = Number.POSITIVE_INFINITY
  const consider = (at: Instant) => {
    if (at > now && at < next) next = at
  }
  if (sightings.length === 0) consider(heartbeatPulse(NOBODY, signs).lapsesAt)
  for (const sighting of sightings) consider(lapsesAt(sighting))
  return next
}

/** Where it takes offers, or else where its agent takes jobs. */
function addressOf({ declared }: Instance, agent: Agent): string | undefined {
  return declared?.callback ?? agent.endpoint
}
