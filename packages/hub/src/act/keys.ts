/**
 * The keys of agents: handed over by both keys, replaced for an owner that lost one, and shown to
 * everybody, so that what was signed long ago still verifies (AV-12, P-15).
 *
 *   Y1  What proves a rotation is the message itself, so anybody may carry it.
 *   Y2  A recovery needs the owner's own token, not one that was given for it for some minutes, and
 *       the new key's proof of itself. On an open hub nobody can be told from the owner.
 *   Y3  The directory follows at once: what the old key signs from then on is not believed. Its
 *       sessions end, since they are looked up each time (http/caller.ts).
 */
import type { RecoveryAsked } from '@chimera/dialects/chimera'
import type { KeyRotated } from '@chimera/dialects/moltbook'
import type { Agent } from '@chimera/domain/agent/agent'
import type { Key, KeyHistory, KeyPeriod } from '@chimera/domain/agent/keys'
import { type Refused, refuse } from '@chimera/domain/decision'
import type { AgentId, CorrelationId } from '@chimera/domain/ids'
import type { Refusal } from '@chimera/domain/refusals'
import { createKeyring } from '@chimera/identity/keyring'
import { verifyRecovery } from '@chimera/identity/recovery'
import { verifyRotation } from '@chimera/identity/rotation'
import type { AgentOutcome, Target } from '../ports/agents.ts'
import { type Caller, forbidden, permitAgent, permitOwner } from './caller.ts'
import type { Hub } from './hub.ts'
import type { Received } from './presence.ts'

export type KeysShown = { readonly ok: true; readonly keys: KeyHistory } | Refused<Refusal>

/** Of agents that have left, too: their receipts are still about. */
export async function showKeys(hub: Hub, id: AgentId): Promise<KeysShown> {
  const agent = await hub.keep.agents.load(id)
  return agent === undefined ? refuse('agent_unknown') : { ok: true, keys: agent.keys }
}

export async function showHubKeys(
  hub: Hub,
): Promise<
  { readonly ok: true; readonly present: Key; readonly keys: KeyHistory } | Refused<Refusal>
> {
  if (hub.key === undefined) return refuse('hub_key_unknown')
  return { ok: true, present: hub.key, keys: await hub.keep.hubKeys.history() }
}

export async function rotateKey(
  hub: Hub,
  id: AgentId,
  { meaning, message }: Omit<Received<KeyRotated>, 'raw'>,
): Promise<KeysShown> {
  if (meaning.agent !== id) return otherAgent()
  const agent = await loadPresent(hub, id)
  if (agent === undefined) return refuse('agent_unknown')
  const by = introducer(agent.keys, meaning)
  if (by === undefined) return refuse('key_mismatch')
  const present = { agent: id, publicKey: by.publicKey }
  const verdict = verifyRotation(message, present, createKeyring(), hub.now())
  if (!verdict.ok) return verdict
  const { key, signedBy } = verdict
  return follow(hub, await hub.keep.agents.rotate(targetOf(hub, id), { key, signedBy }))
}

export async function beginRecovery(
  hub: Hub,
  caller: Caller,
  { id, asked }: { readonly id: AgentId; readonly asked: Omit<Received<RecoveryAsked>, 'raw'> },
): Promise<KeysShown> {
  const { meaning, message } = asked
  if (meaning.agent !== id) return otherAgent()
  const agent = await loadPresent(hub, id)
  if (agent === undefined) return refuse('agent_unknown')
  const permitted = permitRecovery(caller, agent)
  if (!permitted.ok) return permitted
  if (caller.session) return forbidden()
  const verdict = verifyRecovery(message, meaning, createKeyring(), hub.now())
  if (!verdict.ok) return verdict
  const wanted = { key: verdict.key, by: agent.owner, delayMs: hub.recoveryDelayMs }
  return follow(hub, await hub.keep.agents.recover(targetOf(hub, id), wanted))
}

export async function finishRecovery(hub: Hub, caller: Caller, id: AgentId): Promise<KeysShown> {
  const agent = await loadPresent(hub, id)
  if (agent === undefined) return refuse('agent_unknown')
  const permitted = permitRecovery(caller, agent)
  if (!permitted.ok) return permitted
  return follow(hub, await hub.keep.agents.finishRecovery(targetOf(hub, id)))
}

/** By the present key: who still has it has not lost it. */
export async function callOffRecovery(hub: Hub, caller: Caller, id: AgentId): Promise<KeysShown> {
  const agent = await loadPresent(hub, id)
  if (agent === undefined) return refuse('agent_unknown')
  const permitted = permitAgent(caller, agent)
  if (!permitted.ok) return permitted
  if (caller.key === undefined) return caller.open ? refuse('caller_unknown') : forbidden()
  const target = targetOf(hub, id)
  return follow(hub, await hub.keep.agents.callOffRecovery(target, caller.key.id))
}

/** Those whose time has come; answers whose keys have changed. */
export async function finishDueRecoveries(hub: Hub): Promise<readonly AgentId[]> {
  const finished: AgentId[] = []
  for (const id of await hub.keep.agents.dueRecoveries()) {
    const done = follow(hub, await hub.keep.agents.finishRecovery(targetOf(hub, id)))
    // Another hub, or the owner, may have been faster.
    if (done.ok) finished.push(id)
  }
  return finished
}

/** From the store, since another hub may have changed the key a moment ago. */
async function loadPresent(hub: Hub, id: AgentId): Promise<Agent | undefined> {
  const agent = await hub.keep.agents.load(id)
  return agent?.removedAt === undefined ? agent : undefined
}

/** A rotation that comes again, because its answer was lost, names the key before the present. */
function introducer(
  { periods }: KeyHistory,
  { oldKey, newKey }: KeyRotated,
): KeyPeriod | undefined {
  const [present, before] = [periods.at(-1), periods.at(-2)]
  return present?.publicKey === newKey && before?.id === oldKey ? before : present
}

function permitRecovery(caller: Caller, agent: Agent) {
  const byToken = !caller.open && caller.token !== undefined
  return byToken ? permitOwner(caller, 'agents', agent.owner) : forbidden()
}

function follow(hub: Hub, { decision, agent }: AgentOutcome): KeysShown {
  if (!decision.ok) return decision
  if (agent === undefined) return refuse('service_unavailable')
  hub.directory.enter(agent)
  hub.share.changed()
  return { ok: true, keys: agent.keys }
}

const targetOf = (hub: Hub, id: AgentId): Target => ({
  id,
  correlation: hub.uuid() as CorrelationId,
})

function otherAgent(): Refused<Refusal> {
  const issue = { path: '/agent_id', expected: 'the agent of the path', got: 'another one' }
  return refuse('message_malformed', { issues: [issue] })
}
