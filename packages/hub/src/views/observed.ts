/**
 * What agents have said of themselves in OpenClaw: identity, status, score. It is shown beside what
 * the hub knows, or where the hub knows nothing; it never takes its place (A4, P-2). Rebuilt at
 * start from what is kept.
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
import type { Kept } from '../ports/observations.ts'

export type Observation = IdentityObserved | ConditionObserved | ScoreObserved

export type Said = {
  readonly condition?: StatedCondition & { readonly heardAt: Instant }
  readonly identity?: IdentityObserved
  readonly score?: ScoreObserved
}

/** One thing that an agent has said, as it is kept. */
export type Piece = Kept<'identity' | 'condition' | 'score'>

export type Observed = {
  /** What of it is news, to be kept and then entered. */
  readonly weigh: (
    observation: Observation,
    now: Instant,
  ) => { readonly ok: true; readonly news: readonly Piece[] } | Refused<'message_early'>
  readonly enter: (piece: Piece) => void
  readonly of: (agent: AgentId) => Said
  readonly forget: (agent: AgentId) => void
}

export function createObserved(): Observed {
  const said = new Map<AgentId, Said>()
  const of = (agent: AgentId): Said => said.get(agent) ?? {}

  return {
    of,
    forget: (agent) => void said.delete(agent),

    weigh(observation, now) {
      const at = timeOf(observation)
      if (at > now + LIMITS.skewMs) return refuse('message_early', { retryAt: at - LIMITS.skewMs })
      const known = of(observation.agent)
      return { ok: true, news: piecesOf(observation, now).filter((each) => isNews(each, known)) }
    },

    enter(piece) {
      const agent = piece.subject as AgentId
      const known = of(agent)
      if (isNews(piece, known)) said.set(agent, { ...known, ...saidIn(piece) })
    },
  }
}

/** An identity says two things: who somebody is, and how it stands. */
function piecesOf(observation: Observation, heardAt: Instant): readonly Piece[] {
  const { agent } = observation
  const common = { subject: agent, about: agent, at: timeOf(observation), heardAt }
  switch (observation.type) {
    case 'identity_observed':
      return [
        { ...common, kind: 'identity', body: observation },
        conditionIn(observation.condition, agent, heardAt),
      ]
    case 'condition_observed':
      return [conditionIn(observation, agent, heardAt)]
    case 'score_observed':
      return [{ ...common, kind: 'score', body: observation }]
  }
}

function conditionIn(
  { stated, details, at }: StatedCondition,
  agent: AgentId,
  heardAt: Instant,
): Piece {
  const body = { stated, details, at }
  return { kind: 'condition', subject: agent, about: agent, at, heardAt, body }
}

function saidIn(piece: Piece): Said {
  switch (piece.kind) {
    case 'identity':
      return { identity: piece.body }
    case 'condition':
      return { condition: { ...piece.body, heardAt: piece.heardAt } }
    case 'score':
      return { score: piece.body }
  }
}

/** O2, for each of the three by itself. */
function isNews({ kind, at }: Piece, known: Said): boolean {
  switch (kind) {
    case 'identity':
      return known.identity === undefined || at >= timeOf(known.identity)
    case 'condition':
      return known.condition === undefined || at >= known.condition.at
    case 'score':
      return known.score === undefined || at >= known.score.at
  }
}

function timeOf(observation: Observation): Instant {
  return observation.type === 'identity_observed'
    ? Math.max(observation.condition.at, observation.publishedAt ?? -Infinity)
    : observation.at
}
