/**
 * Who is on the network and can be found: agents by id and by skill, with their signs of life. Kept
 * in memory and rebuilt from the store at start, so a search touches no database.
 *
 *   D1  An agent is found by every skill that it offers, and by none that it no longer offers.
 *   D2  A removed agent is not found and not shown.
 *   D3  A sign of life counts from when it was heard; after a restart only new ones count, so nobody
 *       is listed who has not spoken since (CH-3).
 */
import type { Agent } from '@chimera/domain/agent/agent'
import { readSkillRef, resolveSkill } from '@chimera/domain/agent/skill-version'
import type { AgentId, Instant } from '@chimera/domain/ids'
import type { Candidate } from '@chimera/domain/matching/candidate'
import { heartbeatLiveness, type Signs } from '@chimera/domain/presence/liveness'
import type { Standing } from '@chimera/domain/trust/trust'

export type Directory = {
  /** Enters an agent or replaces its entry; `heardAt` is its sign of life, if this is one. */
  readonly enter: (agent: Agent, heardAt?: Instant) => void
  /** Whether there is such an agent. */
  readonly beat: (id: AgentId, now: Instant) => boolean
  readonly find: (id: AgentId) => Agent | undefined
  readonly isOnline: (id: AgentId, now: Instant) => boolean
  /** How many agents offer each skill. */
  readonly skills: () => ReadonlyMap<string, number>
  /** Everybody who offers the first of these, as candidates for all of them. */
  readonly candidates: (skills: readonly string[], now: Instant) => Iterable<Candidate>
  readonly size: () => number
}

type Entry = { readonly agent: Agent; readonly signs: Signs }

// A sign of life that lies before all time: an agent that has not been heard yet.
const NEVER = Number.NEGATIVE_INFINITY
// What an agent that announces no slots counts as having: it is asked and may say no.
const UNANNOUNCED_SLOTS = 1

export function createDirectory(standingOf: (id: AgentId) => Standing): Directory {
  const entries = new Map<AgentId, Entry>()
  const bySkill = new Map<string, Set<AgentId>>()

  function leave(agent: Agent): void {
    for (const { name } of agent.skills) {
      const ids = bySkill.get(name)
      ids?.delete(agent.id)
      if (ids?.size === 0) bySkill.delete(name)
    }
  }

  return {
    enter(agent, heardAt = NEVER) {
      const before = entries.get(agent.id)
      if (before !== undefined) leave(before.agent)
      if (agent.removedAt !== undefined) {
        entries.delete(agent.id)
        return
      }
      const registeredAt = Math.max(heardAt, before?.signs.registeredAt ?? NEVER)
      const signs = { registeredAt, heartbeatAt: before?.signs.heartbeatAt }
      entries.set(agent.id, { agent, signs })
      for (const { name } of agent.skills) {
        const ids = bySkill.get(name)
        if (ids === undefined) bySkill.set(name, new Set([agent.id]))
        else ids.add(agent.id)
      }
    },

    beat(id, now) {
      const entry = entries.get(id)
      if (entry === undefined) return false
      entries.set(id, { ...entry, signs: { ...entry.signs, heartbeatAt: now } })
      return true
    },

    find: (id) => entries.get(id)?.agent,

    isOnline(id, now) {
      const entry = entries.get(id)
      return entry !== undefined && heartbeatLiveness(entry.signs, now) === 'online'
    },

    skills: () => new Map([...bySkill].map(([name, ids]) => [name, ids.size])),

    *candidates(skills, now) {
      const [first] = skills
      const name = first === undefined ? undefined : readSkillRef(first)?.name
      for (const id of (name !== undefined && bySkill.get(name)) || []) {
        const entry = entries.get(id)
        if (entry?.agent.endpoint === undefined) continue
        yield candidateOf(entry, { skills, standing: standingOf(id), now })
      }
    },

    size: () => entries.size,
  }
}

function candidateOf(
  { agent, signs }: Entry,
  asked: { readonly skills: readonly string[]; readonly standing: Standing; readonly now: Instant },
): Candidate {
  const { standing, now } = asked
  const { running, window } = standing
  return {
    agent: agent.id,
    owner: agent.owner,
    offers: asked.skills.flatMap((skill) => {
      const ref = readSkillRef(skill)
      const found = ref && resolveSkill(agent.skills, ref, now)
      return found?.ok ? [{ skill, costCents: found.offer.priceCents }] : []
    }),
    scoreMicro: running.scoreMicro,
    successes: running.successes,
    failures: running.failures,
    settledCount: window.doneCount + window.failedCount,
    slotsFree: UNANNOUNCED_SLOTS,
    slotsTotal: UNANNOUNCED_SLOTS,
    seenAt: Math.max(signs.registeredAt, signs.heartbeatAt ?? NEVER),
    online: heartbeatLiveness(signs, now) === 'online',
    accepting: true,
  }
}
