/**
 * An agent's profile: what it offers, how it stands and how it is rated, with the record that the
 * agent or its owner updates under a version (SK-11, SK-12).
 *
 *   I1  An update is decided on how the agent stands now, as everybody sees it.
 *   I2  Scores, uptime and signs of life are the hub's own figures; nobody sets them.
 *   I3  A profile that is registered (SK-15) is signed by the agent's key. It says what nobody else
 *       knows (type, wallet, pricing, platforms) and the name; what the agent offers, and where, is
 *       said by its registration, and by the profile only where there is none.
 */
import type { ProfileShown } from '@chimera/dialects/chimera'
import { type ProfileObserved, skillsFor } from '@chimera/dialects/skills'
import type { Agent, Profile } from '@chimera/domain/agent/agent'
import { tasksOf } from '@chimera/domain/agent/condition'
import { presentKey } from '@chimera/domain/agent/keys'
import {
  type AgentRecord,
  firstRecord,
  presentRecord,
  type RecordUpdate,
} from '@chimera/domain/agent/record'
import { type Refused, refuse } from '@chimera/domain/decision'
import type { AgentId, CorrelationId, OwnerId } from '@chimera/domain/ids'
import type { Refusal } from '@chimera/domain/refusals'
import { measureWindow, windowScore } from '@chimera/domain/trust/window-score'
import { findNewest, register } from './agents.ts'
import { type Caller, permitAgent } from './caller.ts'
import type { Hub } from './hub.ts'
import { seenStanding } from './observations.ts'

type Shown = { readonly ok: true; readonly profile: ProfileShown } | Refused<Refusal>

export async function showProfile(hub: Hub, id: AgentId): Promise<Shown> {
  const agent = await findNewest(hub, id)
  if (agent === undefined) return refuse('agent_unknown')
  // From the store: another hub may have changed it.
  const kept = await hub.keep.profiles.load(id)
  if (kept !== undefined) hub.records.note(kept)
  const seen = seenStanding(hub, agent)
  const record = presentRecord(kept ?? firstRecord(id, seen), seen)
  return { ok: true, profile: await view(hub, agent, record) }
}

export async function updateProfile(
  hub: Hub,
  caller: Caller,
  { id, update }: { readonly id: AgentId; readonly update: RecordUpdate },
): Promise<Shown> {
  const agent = await findNewest(hub, id)
  if (agent === undefined) return refuse('agent_unknown')
  const permitted = permitAgent(caller, agent)
  if (!permitted.ok) return permitted
  const target = { id, correlation: hub.uuid() as CorrelationId }
  const seen = seenStanding(hub, agent)
  const { decision, record } = await hub.keep.profiles.update(target, update, seen)
  if (!decision.ok) return decision
  if (record === undefined) return refuse('service_unavailable')
  if (decision.facts.length > 0) {
    hub.records.note(record)
    hub.share.changed()
  }
  return { ok: true, profile: await view(hub, agent, presentRecord(record, seen)) }
}

/** An upsert: the same agent again is the same entry with what it says now. */
export async function registerProfile(
  hub: Hub,
  caller: Caller,
  { meaning, message }: { readonly meaning: ProfileObserved; readonly message: object },
): Promise<Shown> {
  const { agent: id, name, capabilities } = meaning
  const known = (await findNewest(hub, id)) ?? (await hub.keep.agents.load(id))
  const key = (known && presentKey(known.keys)?.publicKey) ?? caller.key?.publicKey
  if (key === undefined) return refuse('caller_unknown')
  const signed = await hub.verify(message, key)
  if (!signed.ok) return signed
  const now = hub.now()
  const registered = await register(hub, caller, {
    type: 'register_agent',
    id,
    // Where nobody presents a token, whoever is nobody's yet is its own.
    owner: known?.owner ?? caller.owner ?? (id as string as OwnerId),
    profile: known ? { ...profileOf(known), name } : { name, skills: skillsFor(capabilities) },
  })
  if (!registered.ok) return registered
  const about = { subject: id, about: id, at: now, heardAt: now }
  await hub.keep.observations.put({ ...about, kind: 'profile', body: meaning })
  return showProfile(hub, id)
}

const profileOf = ({ name, skills, endpoint, version }: Agent): Profile => ({
  name,
  skills,
  ...(endpoint !== undefined && { endpoint }),
  ...(version !== undefined && { version }),
})

async function view(hub: Hub, agent: Agent, record: AgentRecord): Promise<ProfileShown> {
  const now = hub.now()
  const [said] = await hub.keep.observations.load([{ kind: 'profile', subject: agent.id }])
  const { kind, wallet, pricing, platforms }: Partial<ProfileObserved> = said?.body ?? {}
  // Tasks that are seen are there, whether or not anybody has written them down.
  const pendingTasks = Math.max(record.pendingTasks, tasksOf(record.standing.workload))
  return {
    agent,
    record: { ...record, pendingTasks },
    scoreMicro: windowScore(measureWindow(hub.scores.standingOf(agent.id).window)),
    uptimeMicro: await hub.uptime.of(agent, now),
    seenAt: hub.directory.heardAt(agent.id) ?? agent.registeredAt,
    ...(kind && { kind }),
    ...(wallet !== undefined && { wallet }),
    ...(pricing && { pricing }),
    ...(platforms && { platforms }),
  }
}
