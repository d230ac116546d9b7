/** What a hirer reports about a job (CH-14). A success may count; a failure is never one's word. */
import { type Refused, refuse } from '@chimera/domain/decision'
import type { AgentId, CorrelationId, TaskId } from '@chimera/domain/ids'
import type { Refusal } from '@chimera/domain/refusals'
import { decideReport } from '@chimera/domain/trust/trail'
import { type Caller, forbidden, permit } from './caller.ts'
import type { Hub } from './hub.ts'

type Scored = { readonly ok: true; readonly scoreMicro: number }

export function scoreOf(hub: Hub, agent: AgentId): Scored | Refused<Refusal> {
  if (hub.directory.find(agent) === undefined) return refuse('agent_unknown')
  return { ok: true, scoreMicro: hub.scores.standingOf(agent).running.scoreMicro }
}

/** Only who paid for the job is heard; on an open hub nobody can be told from it. */
export async function reportSuccess(
  hub: Hub,
  caller: Caller,
  { agent, task }: { readonly agent: AgentId; readonly task: TaskId },
): Promise<Scored | Refused<Refusal>> {
  const permitted = permit(caller, 'reports')
  if (!permitted.ok) return permitted
  const by = caller.open ? 'anybody' : caller.owner
  if (by === undefined) return forbidden()
  // The job may have been settled a moment ago.
  await hub.settle()
  const now = hub.now()
  const decision = decideReport(hub.scores.memory, { agent, task, by }, now)
  if (!decision.ok) return decision
  for (const fact of decision.facts) {
    await hub.keep.trail.append(fact, task as string as CorrelationId, now)
  }
  await hub.settle()
  return scoreOf(hub, agent)
}

/** CH-12: a failure counts by the agent's own word, its deadline or its silence, not by this. */
export function reportFailure(
  hub: Hub,
  caller: Caller,
  { agent }: { readonly agent: AgentId },
): Scored | Refused<Refusal> {
  const permitted = permit(caller, 'reports')
  return permitted.ok ? scoreOf(hub, agent) : permitted
}
