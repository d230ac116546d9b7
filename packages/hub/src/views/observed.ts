/**
 * What agents have said of themselves in OpenClaw: identity, status, score. It is shown beside what
 * the hub knows, or where the hub knows nothing; it never takes its place (A4, P-2).
 *
 *   O1  Only of agents that are registered, so it is bounded as they are.
 *   O2  The latest by the agent's own time is kept; an older one that comes late changes nothing.
 *   O3  A time ahead of ours by more than the skew is refused: it would silence all that follow.
 */
import type {
  ConditionObserved,
  IdentityObserved,
  ScoreObserved,
  StatedCondition,
} from '@chimera/dialects/openclaw'
import { type Refused, refuse } from '@chimera/domain/decision'
import type { AgentId, Instant } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'

export type Observation = IdentityObserved | ConditionObserved | ScoreObserved

export type Said = {
  readonly condition?: StatedCondition & { readonly heardAt: Instant }
  readonly identity?: IdentityObserved
  readonly score?: ScoreObserved
}

export type Observed = {
  readonly take: (
    observation: Observation,
    now: Instant,
  ) => { readonly ok: true } | Refused<'message_early'>
  readonly of: (agent: AgentId) => Said
  readonly forget: (agent: AgentId) => void
}

export function createObserved(): Observed {
  const said = new Map<AgentId, Said>()
  const of = (agent: AgentId): Said => said.get(agent) ?? {}

  return {
    of,
    forget: (agent) => void said.delete(agent),
    take(observation, now) {
      const at = timeOf(observation)
      if (at > now + LIMITS.skewMs) return refuse('message_early', { retryAt: at - LIMITS.skewMs })
      const { agent } = observation
      said.set(agent, merge(of(agent), observation, now))
      return { ok: true }
    },
  }
}

function merge(known: Said, observation: Observation, now: Instant): Said {
  switch (observation.type) {
    case 'identity_observed': {
      const newer = timeOf(observation) >= (known.identity ? timeOf(known.identity) : -Infinity)
      const next = newer ? { ...known, identity: observation } : known
      return withCondition(next, observation.condition, now)
    }
    case 'condition_observed':
      return withCondition(known, observation, now)
    case 'score_observed':
      return observation.at >= (known.score?.at ?? -Infinity)
        ? { ...known, score: observation }
        : known
  }
}

function withCondition(known: Said, { stated, details, at }: StatedCondition, now: Instant): Said {
  if (known.condition !== undefined && at < known.condition.at) return known
  return { ...known, condition: { stated, details, at, heardAt: now } }
}

function timeOf(observation: Observation): Instant {
  return observation.type === 'identity_observed'
    ? Math.max(observation.condition.at, observation.publishedAt ?? -Infinity)
    : observation.at
}
