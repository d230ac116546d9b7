/**
 * The whole list of agents, for whoever wants a picture of the network. Discovery finds the best
 * for one piece of work and passes over the rest; here everybody is shown, silent ones too.
 */
import type { AgentSeen, AgentsListed, PresenceShown } from '@chimera/dialects/chimera'
import type { Agent } from '@chimera/domain/agent/agent'
import { tasksOf } from '@chimera/domain/agent/condition'
import { type Refused, refuse } from '@chimera/domain/decision'
import type { AgentId } from '@chimera/domain/ids'
import type { Refusal } from '@chimera/domain/refusals'
import { measureWindow, windowScore } from '@chimera/domain/trust/window-score'
import { type Caller, permit } from './caller.ts'
import type { Hub } from './hub.ts'
import { seenStanding } from './observations.ts'

export type AgentsFound = {
  readonly ok: true
  readonly agents: readonly AgentSeen[]
  readonly total: number
  /** To go on behind; absent on the last page. */
  readonly next?: AgentId
}

export function listAgents(
  hub: Hub,
  caller: Caller,
  { owner, skill, after, limit }: AgentsListed,
): AgentsFound | Refused<Refusal> {
  const permitted = permit(caller, 'read')
  if (!permitted.ok) return permitted
  const all = [...hub.directory.all()].filter(
    (agent) =>
      (owner === undefined || agent.owner === owner) &&
      (skill === undefined || agent.skills.some(({ name }) => name === skill)),
  )
  const behind = all
    .filter(({ id }) => after === undefined || id > after)
    .sort((a, b) => (a.id < b.id ? -1 : 1))
  const page = behind.slice(0, limit)
  const next = behind.length > limit ? page.at(-1)?.id : undefined
  return {
    ok: true,
    agents: page.map((agent) => see(hub, agent)),
    total: all.length,
    ...(next !== undefined && { next }),
  }
}

/** The last 24 hours of one agent, by its posts that were believed. */
export async function showPresence(
  hub: Hub,
  caller: Caller,
  id: AgentId,
): Promise<({ readonly ok: true } & PresenceShown) | Refused<Refusal>> {
  const permitted = permit(caller, 'read')
  if (!permitted.ok) return permitted
  const agent = hub.directory.find(id)
  if (agent === undefined) return refuse('agent_unknown')
  const until = hub.now()
  const since = until - DAY_MS
  const [upMicro, spans] = await Promise.all([
    hub.uptime.of(agent, until),
    hub.keep.profiles.spans(agent.id, { since, until }),
  ])
  return { ok: true, agent: agent.id, since, until, upMicro, spans }
}

const DAY_MS = 24 * 60 * 60 * 1_000

function see(hub: Hub, agent: Agent): AgentSeen {
  const now = hub.now()
  const { id } = agent
  const { window, running } = hub.scores.standingOf(id)
  const { condition, workload } = hub.records.standingOf(id, seenStanding(hub, agent))
  const heardAt = hub.directory.heardAt(id)
  return {
    agent,
    condition: condition.name,
    liveness: hub.directory.livenessOf(id, now),
    ...(heardAt !== undefined && { heardAt }),
    tasks: tasksOf(workload),
    slotsTotal: workload.slotsTotal,
    slotsFree: workload.slotsFree,
    windowMicro: windowScore(measureWindow(window)),
    runningMicro: running.scoreMicro,
    doneCount: window.doneCount,
    failedCount: window.failedCount,
    instances: [...hub.directory.instances(now, id)].map(({ shown }) => {
      const { last, seenAt } = shown.seen
      const { instance, slotsTotal, slotsFree, load } = last
      const { availability, liveness } = shown
      return { instance, availability, liveness, slotsTotal, slotsFree, load, seenAt }
    }),
  }
}
