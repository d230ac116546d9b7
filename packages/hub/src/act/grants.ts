/**
 * Letting an agent onto the broker for some minutes (AV-12).
 *
 *   G1  The agent asks by its key, or its owner by a token; neither a session nor an operator does.
 *       A session ends in minutes, and must not be followed by a grant that lasts longer.
 *   G2  What a grant allows is the table of topics, for this agent, and for instances of which no
 *       other agent is known to be the owner.
 *   G3  It is given for a key of the connection, and is worth nothing without it. It ends with the
 *       token that it was given for, if that is earlier.
 */
import type { GrantGiven, GrantWanted } from '@chimera/dialects/chimera'
import { subjectsOf } from '@chimera/dialects/topics'
import { type Refused, refuse } from '@chimera/domain/decision'
import type { AgentId, InstanceId } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import type { Refusal } from '@chimera/domain/refusals'
import { type Caller, forbidden, permitAgent } from './caller.ts'
import type { Hub } from './hub.ts'

export async function giveGrant(
  hub: Hub,
  caller: Caller,
  { agent: named, connection, instances, ttlMs = LIMITS.grantMs }: GrantWanted,
): Promise<({ readonly ok: true } & GrantGiven) | Refused<Refusal>> {
  const { granting } = hub
  if (granting === undefined) return refuse('broker_unknown')
  if (caller.session) return forbidden()
  const id = named ?? caller.agent
  if (id === undefined) return wrong('/agent_id', 'the agent that it is for')
  // From the store: it may have left, or come, at another hub a moment ago.
  const agent = await hub.keep.agents.load(id)
  if (agent === undefined || agent.removedAt !== undefined) return refuse('agent_unknown')
  const permitted = permitAgent(caller, agent)
  if (!permitted.ok) return permitted
  if (instances.some((each) => isOfAnother(hub, id, each))) return forbidden()

  const now = hub.now()
  // Whole seconds, as they are written in the grant.
  const until = Math.min(now + ttlMs, caller.token?.expiresAt ?? Number.POSITIVE_INFINITY)
  const expiresAt = Math.floor(until / 1_000) * 1_000
  if (expiresAt <= now) return refuse('token_expired')
  const subjects = subjectsOf({ agent: id, instances })
  const signed = granting.sign({ connection, name: id, ...subjects, now, expiresAt })
  if (signed === undefined) return wrong('/public_key', 'the public key of a NATS user')
  const retryAt = hub.grants.note(id, expiresAt, now)
  if (retryAt !== undefined) return refuse('rate_exceeded', { retryAt })
  const { addresses } = granting
  return { ok: true, ...signed, agent: id, connection, addresses, ...subjects, expiresAt }
}

function isOfAnother(hub: Hub, agent: AgentId, instance: InstanceId): boolean {
  const owner = hub.presence.ownerOf(instance)
  return owner !== undefined && owner !== agent
}

function wrong(path: string, expected: string): Refused<Refusal> {
  return refuse('message_malformed', { issues: [{ path, expected, got: 'something else' }] })
}
