/** What agents say of themselves in OpenClaw, and what the hub says of them. */
import type { Agent } from '@chimera/domain/agent/agent'
import type { Standing } from '@chimera/domain/agent/condition'
import { type Refused, refuse } from '@chimera/domain/decision'
import type { AgentId } from '@chimera/domain/ids'
import type { Refusal } from '@chimera/domain/refusals'
import type { WindowRecord } from '@chimera/domain/trust/window-score'
import type { Observation } from '../views/observed.ts'
import { standingFrom } from '../views/standing.ts'
import { findNewest } from './agents.ts'
import { type Caller, permitAgent } from './caller.ts'
import type { Hub } from './hub.ts'

/**
 * Changes no condition and no score: it is noted, for where the hub knows nothing itself. Kept
 * before it is noted, so that what is acknowledged survives a restart.
 */
export async function observe(
  hub: Hub,
  caller: Caller,
  said: Observation,
): Promise<{ readonly ok: true } | Refused<Refusal>> {
  const agent = await findNewest(hub, said.agent)
  if (agent === undefined) return refuse('agent_unknown')
  const permitted = permitAgent(caller, agent)
  if (!permitted.ok) return permitted
  const weighed = hub.observed.weigh(said, hub.now())
  if (!weighed.ok) return weighed
  const kept = await Promise.all(weighed.news.map((piece) => hub.keep.observations.put(piece)))
  // Where another hub has heard something newer, that is what was kept.
  if (hub.directory.find(said.agent) !== undefined) kept.forEach(hub.observed.enter)
  for (const each of kept) if (each.kind === 'score') hub.share.noted(each)
  return { ok: true }
}

export type Portrait = {
  readonly agent: Agent
  readonly standing: Standing
  readonly window: WindowRecord
}

/** By the hub's own knowledge; a score that somebody claimed is not in it (P-2). */
export function portray(
  hub: Hub,
  id: AgentId,
): ({ readonly ok: true } & Portrait) | Refused<Refusal> {
  const agent = hub.directory.find(id)
  if (agent === undefined) return refuse('agent_unknown')
  const { window } = hub.scores.standingOf(id)
  // one lifecycle. What was ordered of it counts here as in its profile.
  const standing = hub.records.standingOf(id, seenStanding(hub, agent))
  return { ok: true, agent, standing, window }
}

/** How it stands by what is seen and heard of it, whatever was ordered. */
export function seenStanding(hub: Hub, { id, registeredAt }: Agent): Standing {
  const now = hub.now()
  const known = {
    liveness: hub.directory.livenessOf(id, now),
    instances: [...hub.directory.instances(now, id)].map(({ shown }) => shown),
    said: hub.observed.of(id),
    heardAt: hub.directory.heardAt(id) ?? registeredAt,
  }
  return standingFrom(known, now)
}
