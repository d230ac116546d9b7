/**
 * Calling work off from the hub (OC-18), for whoever pays for it and has no agent at hand: an owner
 * with a browser.
 *
 *   C1  Only whoever pays may. What nobody has accepted is withdrawn from here; whatever was, its
 *       agent is asked to stop.
 *   C2  The hub asks in its own name, by a pass for its own key: it has seen that the payer wants
 *       it, and an agent takes its word for that (decision 0081). An open hub vouches for nothing,
 *       and asks as anybody may.
 *   C3  The agent has the last word: it may be done by then. How it ended comes from it, signed, as
 *       any result does.
 */
import type { WorkSought } from '@chimera/dialects/chimera'
import { besideJobs } from '@chimera/dialects/chorus'
import { collaborationsAddress } from '@chimera/dialects/openclaw'
import { type Refused, refuse } from '@chimera/domain/decision'
import type { AgentId, TaskId } from '@chimera/domain/ids'
import type { Refusal } from '@chimera/domain/refusals'
import { isUnderWay } from '@chimera/domain/work/trace'
import type { GuardedRequest } from '@chimera/host/guarded/client'
import { issuePass } from '@chimera/identity/passes'
import { findNewest } from './agents.ts'
import { type Caller, forbidden, permit } from './caller.ts'
import { releaseHold } from './holds.ts'
import type { Hub } from './hub.ts'
import { findWork, type WorkKnown } from './work.ts'

// An agent answers once the work has stopped, which a skill may take some seconds for.
const ANSWER_MS = 20_000
const PASS_MS = 60_000
// A result is in the answer, and is not read here.
const MOST_BYTES = 4 * 1024 * 1024

const PATIENT: NonNullable<GuardedRequest['limits']> = {
  headersMs: ANSWER_MS,
  totalMs: ANSWER_MS,
  bodyBytes: MOST_BYTES,
  redirects: 0,
}

type Outcome = ({ readonly ok: true } & WorkKnown) | Refused<Refusal>

export async function cancelWork(hub: Hub, caller: Caller, sought: WorkSought): Promise<Outcome> {
  const permitted = permit(caller, 'money')
  if (!permitted.ok) return permitted
  const known = await findWork(hub, caller, sought)
  if (!known.ok) return known
  const { hold, agent, task, state } = known
  if (!caller.open && (known.payer === undefined || known.payer !== caller.owner)) {
    return forbidden()
  }
  if (!isUnderWay(state)) return refuse('work_ended')
  if (hold !== undefined && state === 'asked') {
    const withdrawn = await releaseHold(hub, caller, hold.id, 'withdrawn')
    if (withdrawn.ok) return findWork(hub, caller, sought)
    // Its agent was quicker, and has accepted it.
  }
  if (agent === undefined) return refuse('agent_unknown')
  const stopped = await askToStop(hub, agent, task)
  return stopped.ok ? findWork(hub, caller, sought) : stopped
}

async function askToStop(
  hub: Hub,
  id: AgentId,
  task: TaskId,
): Promise<{ readonly ok: true } | Refused<Refusal>> {
  const agent = await findNewest(hub, id)
  if (agent?.endpoint === undefined) return refuse('agent_silent')
  const collaborations = collaborationsAddress(besideJobs(agent.endpoint))
  const outcome = await hub.dial.request({
    url: `${collaborations}/${encodeURIComponent(task)}/cancel`,
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(await proofOf(hub, id)) },
    body: '{}',
    limits: PATIENT,
  })
  if (!outcome.ok) {
    const { code } = outcome.failure
    return refuse(code === 'refused_address' ? 'address_refused' : 'agent_silent')
  }
  if (outcome.status >= 200 && outcome.status < 300) return { ok: true }
  return refuse(outcome.status === CONFLICT ? 'work_ended' : 'agent_silent')
}

const CONFLICT = 409

/** C2. */
async function proofOf({ key, now, uuid }: Hub, at: AgentId) {
  if (key === undefined) return {}
  const issuedAt = now()
  const pass = { key: key.publicKey, at, id: uuid(), issuedAt, expiresAt: issuedAt + PASS_MS }
  return { authorization: `Bearer ${await issuePass(pass, key)}` }
}
