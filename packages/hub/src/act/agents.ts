/** Registering, heartbeats, leaving, and being found. */
import type { AgentsSought, Hit } from '@chimera/dialects/chorus'
import { explainHit } from '@chimera/dialects/chorus'
import type { Agent, Registrant, Registration } from '@chimera/domain/agent/agent'
import { readSkillRef, resolveSkill } from '@chimera/domain/agent/skill-version'
import { type Refused, refuse } from '@chimera/domain/decision'
import type { AgentId, CorrelationId, Instant, TransferId } from '@chimera/domain/ids'
import { explainPlace, type Place } from '@chimera/domain/matching/matching'
import type { Refusal } from '@chimera/domain/refusals'
import type { Places } from '../views/directory.ts'
import { type Caller, permit, permitAgent } from './caller.ts'
import type { Hub } from './hub.ts'

export type Shown = { readonly agent: Agent; readonly scoreMicro: number; readonly online: boolean }

/** Registers, and opens the owner's account, so that whoever hires the agent can pay for it. */
export async function register(
  hub: Hub,
  caller: Caller,
  registration: Registration,
): Promise<({ readonly ok: true } & Shown) | Refused<Refusal>> {
  const permitted = permit(caller, 'agents')
  if (!permitted.ok) return permitted
  const correlation = hub.uuid() as CorrelationId
  const { decision, agent } = await hub.keep.agents.register(
    registration,
    registrantOf(caller),
    correlation,
  )
  if (!decision.ok) return decision
  if (agent === undefined) return refuse('service_unavailable')
  const opening = {
    type: 'open_account',
    owner: agent.owner,
    grantCents: hub.grantCents,
    transfer: hub.uuid() as TransferId,
  } as const
  await hub.keep.money.submit(opening, correlation)
  hub.directory.enter(agent, hub.now())
  hub.share.changed()
  return { ok: true, ...shown(hub, agent) }
}

/** On an open hub nobody's ownership is asked; elsewhere the signature and the token say it all. */
function registrantOf({ open, key, owner }: Caller): Omit<Registrant, 'ownedAgents'> {
  return { open, ...(key && { key }), ...(!open && owner !== undefined && { owner }) }
}

export async function beat(
  hub: Hub,
  caller: Caller,
  id: AgentId,
): Promise<{ readonly ok: true } | Refused<Refusal>> {
  const agent = await findNewest(hub, id)
  if (agent === undefined) return refuse('agent_unknown')
  const permitted = permitAgent(caller, agent)
  if (!permitted.ok) return permitted
  const now = hub.now()
  hub.directory.beat(id, now)
  hub.share.beat(id, now)
  return permitted
}

/** Also one that has registered at another hub a moment ago. */
export async function findNewest(hub: Hub, id: AgentId): Promise<Agent | undefined> {
  const known = hub.directory.find(id)
  if (known !== undefined) return known
  await hub.share.readAnew(id)
  return hub.directory.find(id)
}

export async function show(
  hub: Hub,
  id: AgentId,
): Promise<({ readonly ok: true } & Shown) | Refused<Refusal>> {
  const agent = await findNewest(hub, id)
  return agent === undefined ? refuse('agent_unknown') : { ok: true, ...shown(hub, agent) }
}

export async function remove(
  hub: Hub,
  caller: Caller,
  id: AgentId,
): Promise<{ readonly ok: true } | Refused<Refusal>> {
  const agent = await findNewest(hub, id)
  if (agent === undefined) return refuse('agent_unknown')
  const permitted = permitAgent(caller, agent)
  if (!permitted.ok) return permitted
  const target = { id, correlation: hub.uuid() as CorrelationId }
  const outcome = await hub.keep.agents.remove(target, agent.owner)
  if (!outcome.decision.ok) return outcome.decision
  if (outcome.agent !== undefined) hub.directory.enter(outcome.agent)
  hub.share.changed()
  hub.observed.forget(id)
  await hub.keep.observations.forget(id)
  return { ok: true }
}

/** Who has the places that were asked for; `describe` makes of a place what is told of it. */
export function discover(hub: Hub, asked: AgentsSought, now: Instant): Places {
  const { limit, offset, order, skills, minScoreMicro, maxCostCents } = asked
  const sought = {
    skills,
    ...(minScoreMicro !== undefined && { minScoreMicro }),
    ...(maxCostCents !== undefined && { maxCostCents }),
  }
  const page = { limit, offset, ...(order === 'fair' && { draw: hub.fraction() }) }
  return hub.directory.discover(sought, page, now)
}

/** The first skill is the one that is shown by itself. */
export function describe(
  hub: Hub,
  place: Place,
  { skill, now }: { readonly skill: string | undefined; readonly now: Instant },
): Hit | undefined {
  const { agent: id, scoreMicro, online } = place.ranked.candidate
  const agent = hub.directory.find(id)
  const offer = agent && offered(agent, skill, now)
  if (agent?.endpoint === undefined || offer === undefined) return undefined
  const reachable = { ...agent, endpoint: agent.endpoint }
  const why = explainHit(explainPlace(place, now))
  return { agent: reachable, skill: offer, scoreMicro, online, why }
}

function offered(agent: Agent, skill: string | undefined, now: number) {
  const ref = skill === undefined ? undefined : readSkillRef(skill)
  const found = ref && resolveSkill(agent.skills, ref, now)
  return found?.ok ? found.offer : undefined
}

function shown(hub: Hub, agent: Agent): Shown {
  const { scoreMicro } = hub.scores.standingOf(agent.id).running
  return { agent, scoreMicro, online: hub.directory.isOnline(agent.id, hub.now()) }
}
