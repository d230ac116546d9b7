/**
 * Trust with its reasons (P-2, P-6): both scores of an agent, what they are made of, and each of
 * their latest changes; and what a ring of fresh agents would pay for a better one.
 */
import type { AgentId } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import type { SettlementTerms } from '@chimera/domain/money/amount'
import type { ChangePage, ScoreChange } from '@chimera/domain/trust/change'
import type { TrustRules } from '@chimera/domain/trust/pair-limit'
import type { RingCost } from '@chimera/domain/trust/ring-cost'
import { POINT_MICRO, shownHundredths } from '@chimera/domain/trust/running-score'
import type { Move, MoveReason, Standing } from '@chimera/domain/trust/trust'
import { measureWindow, windowScore } from '@chimera/domain/trust/window-score'
import { type Static, Type } from 'typebox'
import { asItIs, checker, reader } from '../check.ts'
import type { Messages } from '../messages.ts'
import { queryChecker } from '../query.ts'
import { Credits, DateTime, OwnerName, TraceId, Uuid, writeCents, writeInstant } from '../wire.ts'

const DAY_SECONDS = 86_400
const DEFAULT_LIMIT = 20

const REASONS = [
  'done',
  'done_late',
  'failed_agent',
  'failed_deadline',
  'failed_overdue',
  'hirer_unregistered',
  'highest_reached',
  'lowest_reached',
  'oldest_left',
  'cancelled',
  'same_owner',
  'unpaid',
  'pair_limit',
] as const satisfies readonly MoveReason[]

const Count = Type.Integer({ minimum: 0 })
const Seq = Type.Integer({ minimum: 1 })
const Share = Type.Number({ minimum: 0, maximum: 1 })
const Points = Type.Number({ minimum: 0, maximum: 100 })

const moveOn = (scale: typeof Share) =>
  Type.Object({
    counted: Type.Boolean(),
    before: scale,
    after: scale,
    reasons: Type.Array(Type.Enum(REASONS), {
      minItems: 1,
      description: 'How the work ended and what came of it; if it did not count, why not',
    }),
  })

export const TrustQuery = Type.Object(
  {
    before: Type.Optional({ ...Seq, description: 'Changes older than this one; see next_before' }),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIMITS.scoreChanges })),
  },
  { title: 'Trust query', additionalProperties: false },
)

export const Trust = Type.Object(
  {
    agent_id: Uuid,
    window: Type.Object(
      {
        score: Share,
        outcomes: { ...Count, description: 'In the window: the last 100 at most' },
        completed: { ...Count, description: 'In its whole life, as are the failed ones' },
        failed: Count,
        success_rate: Type.Optional(Share),
        on_time_completion_rate: Type.Optional(Share),
        average_response_time_ms: Type.Optional(Count),
      },
      { description: 'The score that OpenClaw and the profile show' },
    ),
    running: Type.Object(
      { score: Points, successes: Count, failures: Count },
      { description: 'The score that Chorus shows and discovery ranks by; what counted for it' },
    ),
    through_seq: { ...Count, description: 'The last fact of the trail that is counted in' },
    changes: Type.Array(
      Type.Object({
        seq: { ...Seq, description: 'The fact of the trail that completed the work' },
        at: DateTime,
        work_id: TraceId,
        hirer_owner_id: OwnerName,
        hirer_agent_id: Type.Optional(Uuid),
        ended: Type.Enum(['done', 'failed', 'cancelled']),
        window: moveOn(Share),
        running: moveOn(Points),
      }),
      { description: 'The latest first; the scores in full, as they are kept' },
    ),
    next_before: Type.Optional({ ...Seq, description: 'Ask with this for older ones' }),
  },
  { title: 'Trust' },
)

export const RingCostTable = Type.Object(
  {
    gain: { ...Points, description: 'What each agent of the ring gains, in points' },
    price: { ...Credits, description: 'Of each settlement: the smallest that counts' },
    fee_percent: Type.Number({ minimum: 0, maximum: 100 }),
    grant: { ...Credits, description: 'What a new account is given' },
    pair_successes: Count,
    pair_window_days: Type.Number({ minimum: 0 }),
    rings: Type.Array(
      Type.Object({
        owners: Type.Integer({ minimum: 2 }),
        settlements: { ...Count, description: 'By the cheapest plan that is known' },
        least_settlements: { ...Count, description: 'What no plan can go below' },
        fees: { ...Credits, description: 'What the ring loses for good' },
        capital: { ...Credits, description: 'What it must have; all but the fees is left' },
        granted: { ...Credits, description: 'What the hub gives its accounts' },
        days: Type.Number({ minimum: 0, description: 'From the first settlement to the last' }),
      }),
    ),
    note: Type.String(),
  },
  {
    title: 'What a ring of fresh agents pays',
    description: 'For lifting each of its agents, with the settings that this hub runs with',
  },
)

export type TrustAsked = { readonly before?: number; readonly limit: number }

export const readTrustQuery = reader(
  queryChecker(TrustQuery),
  ({ before, limit = DEFAULT_LIMIT }): TrustAsked => ({
    limit,
    ...(before !== undefined && { before }),
  }),
)

export type TrustTold = ChangePage & {
  readonly agent: { readonly id: AgentId }
  readonly standing: Standing
  readonly throughSeq: number
}

export function encodeTrust(told: TrustTold): Static<typeof Trust> {
  const { agent, standing, throughSeq, changes, nextBefore } = told
  const { window, running } = standing
  const metrics = measureWindow(window)
  return {
    agent_id: agent.id,
    window: {
      score: share(windowScore(metrics)),
      outcomes: window.recent.length,
      completed: window.doneCount,
      failed: window.failedCount,
      ...(metrics && {
        success_rate: share(metrics.successMicro),
        on_time_completion_rate: share(metrics.onTimeMicro),
        average_response_time_ms: metrics.averageResponseMs,
      }),
    },
    running: {
      score: writeCents(shownHundredths(running.scoreMicro)),
      successes: running.successes,
      failures: running.failures,
    },
    through_seq: throughSeq,
    changes: changes.map(encodeChange),
    ...(nextBefore !== undefined && { next_before: nextBefore }),
  }
}

function encodeChange(change: ScoreChange) {
  const { seq, at, work, hirerOwner, hirerAgent, ending, window, running } = change
  return {
    seq,
    at: writeInstant(at),
    work_id: work,
    hirer_owner_id: hirerOwner,
    ...(hirerAgent !== undefined && { hirer_agent_id: hirerAgent }),
    ended: ending.how,
    window: encodeMove(window, share),
    running: encodeMove(running, points),
  }
}

const encodeMove = (move: Move, scale: (micro: number) => number) => ({
  counted: move.counted,
  before: scale(move.beforeMicro),
  after: scale(move.afterMicro),
  reasons: [...move.reasons],
})

/** Millionths divide into the very number whose decimal form they are. */
const share = (micro: number): number => micro / 1_000_000
const points = (micro: number): number => micro / POINT_MICRO

export type RingsPriced = SettlementTerms &
  TrustRules & {
    readonly gainMicro: number
    readonly priceCents: number
    readonly grantCents: number
    readonly rings: readonly (Omit<RingCost, 'plan'> & {
      readonly owners: number
      readonly grantedCents: number
    })[]
  }

const FREE =
  'This hub keeps no fee, so the same hundredth goes round: a ring costs nothing but accounts, ' +
  'which are free to open.'
const COSTS =
  'Each settlement costs the ring its fee, a hundredth at least. Scores are not immune to rings; ' +
  'this is what one pays.'

export function encodeRingCost(priced: RingsPriced): Static<typeof RingCostTable> {
  const { feeBasisPoints, grantCents, pairSuccesses, pairWindowMs } = priced
  return {
    gain: points(priced.gainMicro),
    price: writeCents(priced.priceCents),
    fee_percent: feeBasisPoints / 100,
    grant: writeCents(grantCents),
    pair_successes: pairSuccesses,
    pair_window_days: pairWindowMs / (DAY_SECONDS * 1_000),
    rings: priced.rings.map((ring) => ({
      owners: ring.owners,
      settlements: ring.settlements,
      least_settlements: ring.floorSettlements,
      fees: writeCents(ring.feesCents),
      capital: writeCents(ring.capitalCents),
      granted: writeCents(ring.grantedCents),
      days: ring.tookMs / (DAY_SECONDS * 1_000),
    })),
    note: feeBasisPoints === 0 ? FREE : COSTS,
  }
}

export const TRUST_MESSAGES = {
  'trust-query': { schema: TrustQuery, read: readTrustQuery },
  trust: { schema: Trust, read: asItIs(checker(Trust)) },
  'ring-cost': { schema: RingCostTable, read: asItIs(checker(RingCostTable)) },
} satisfies Messages
