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
import type { Candidate, Search } from '@chimera/domain/matching/candidate'
import { type FairPage, showFairPage } from '@chimera/domain/matching/fair'
import { type Extent, type Found, rank, showPage } from '@chimera/domain/matching/matching'
import { declaredAvailability } from '@chimera/domain/presence/declaration'
import type { Pulse } from '@chimera/domain/presence/eviction'
import { agentLiveness, heartbeatPulse, type Signs } from '@chimera/domain/presence/liveness'
import { type Liveness, lapsesAt, livenessOf } from '@chimera/domain/presence/presence'
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
import { createShelves } from './shelves.ts'

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
  /** Who offers all of the skills, by score, cost and load; with a draw, newcomers have turns. */
  readonly discover: (sought: Sought, page: Extent | FairPage, now: Instant) => Found
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

/** All of the skills. */
export type Sought = Pick<Search, 'skills' | 'minScoreMicro' | 'maxCostCents'>

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
  records: Pick<Records, 'isClosed' | 'follow'> = createRecords(),
): Directory {
  const entries = new Map<AgentId, Entry>()
  const byAlias = new Map<Alias, AgentId>()
  /** Instances that were asked in vain, as the shelves have them. */
  let silent = new Set<InstanceId>()
  const shelves = createShelves({
    look: ({ id }, now) => {
      const entry = entries.get(id)
      return entry && lookAt(entry, now)
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

  const lastHeard = ({ agent, signs }: Entry): Instant =>
    Math.max(
      signs.registeredAt,
      signs.heartbeatAt ?? NEVER,
      ...presence.of(agent.id).map(({ seenAt }) => seenAt),
    )

  function candidateFor(entry: Entry, skills: readonly string[], now: Instant): Candidate {
    const { agent } = entry
    const instances = presence.instancesOf(agent.id).map((each) => show(each, agent, now))
    const heardAt = lastHeard(entry)
    const online = judge(entry, now) !== 'offline'
    const who = { agent, standing: standingOf(agent.id), now }
    const candidate = agentCandidate(who, { skills, heardAt, online, instances })
    return records.isClosed(agent.id) ? { ...candidate, accepting: false } : candidate
  }

  /** Time changes nothing before the first moment at which something lapses. */
  function steadyUntil({ agent, signs, gone }: Entry, now: Instant): Instant {
    const sightings = presence.of(agent.id)
    const pulse = heartbeatPulse(agent.id, signs)
    const lapses = sightings.length > 0 ? sightings.map(lapsesAt) : gone ? [] : [pulse.lapsesAt]
    return Math.min(...lapses.filter((at) => at > now))
  }

  function lookAt(entry: Entry, now: Instant) {
    for (const instance of presence.instancesOf(entry.agent.id)) noteSilence(instance, entry.agent)
    return { candidate: candidateFor(entry, [], now), steadyUntil: steadyUntil(entry, now) }
  }

  function noteSilence(instance: Instance, agent: Agent): void {
    const { instance: id } = instance.seen.last
    if (silentSince(instance, agent) === undefined) silent.delete(id)
    else silent.add(id)
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
      const signs = { ...entry.signs, heartbeatAt: now }
      entries.set(id, { ...entry, signs, gone: false })
      shelves.reconsider(id)
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
    skills: shelves.counts,

    discover({ skills, ...bounds }, page, now) {
      shelves.settle(now)
      const shelf = shelves.shelfFor(skills)
      if (shelf === undefined) return { hits: [], total: 0 }
      const search = { skills, match: 'all', ...bounds } as const
      const { line, newcomers } = shelf.lines(bounds, (ids) => {
        const seen = ids.flatMap((id) => entries.get(id) ?? [])
        const candidates = seen.map((entry) => candidateFor(entry, skills, now))
        return rank(search, candidates, now)
      })
      return 'draw' in page ? showFairPage(line, newcomers, now, page) : showPage(line, now, page)
    },

    candidateOf(id, skills, now) {
      const entry = entries.get(id)
      return entry && candidateFor(entry, skills, now)
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
        if (presence.of(id).length === 0) beating.push(pulse)
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

/** Where it takes offers, or else where its agent takes jobs. */
function addressOf({ declared }: Instance, agent: Agent): string | undefined {
  return declared?.callback ?? agent.endpoint
}
