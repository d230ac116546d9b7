/**
 * The window score in OpenClaw's figures (OC-7), in updates and in the identity, and back. What
 * others say of themselves is read as a claim: no score of ours ever follows from it (P-2).
 */
import type { AgentId, CorrelationId, Instant, WorkId } from '@chimera/domain/ids'
import type { ScoreUpdate } from '@chimera/domain/trust/score-update'
import { measureWindow, type WindowRecord, windowScore } from '@chimera/domain/trust/window-score'
import { checker, reader } from '../check.ts'
import { instantOf, readUuid, writeInstant } from '../wire.ts'
import { correlationOf } from './names.ts'
import * as wire from './schema.ts'
import { PROTOCOL_VERSION } from './version.ts'

/** Figures that an agent gives of itself. */
export type TrustClaimed = {
  readonly scoreMicro?: number
  readonly doneCount?: number
  readonly failedCount?: number
  readonly totalCount?: number
  readonly successMicro?: number
  readonly onTimeMicro?: number
  readonly averageResponseMs?: number
}

export type ScoreObserved = {
  readonly type: 'score_observed'
  readonly agent: AgentId
  readonly update: ScoreUpdate
  /** The work that moved the score; absent for a periodic update. */
  readonly work?: WorkId
  readonly claimed: TrustClaimed
  readonly at: Instant
  readonly correlation: CorrelationId
}

export type ScoreTold = {
  readonly agent: AgentId
  readonly window: WindowRecord
  readonly correlation: CorrelationId
} & (
  | { readonly update: 'periodic' }
  | { readonly update: Exclude<ScoreUpdate, 'periodic'>; readonly work: WorkId }
)

const TYPES = {
  done: 'collaboration_completed',
  failed: 'collaboration_failed',
  periodic: 'periodic_update',
} as const satisfies Record<ScoreUpdate, string>

const UPDATES = {
  collaboration_completed: 'done',
  collaboration_failed: 'failed',
  periodic_update: 'periodic',
} as const satisfies Record<string, ScoreUpdate>

export function encodeReputationUpdate(told: ScoreTold, now: Instant): wire.ReputationUpdate {
  const { doneCount, failedCount } = told.window
  const metrics = measureWindow(told.window)
  return {
    protocol_version: PROTOCOL_VERSION,
    agent_id: told.agent,
    reputation_update: {
      update_type: TYPES[told.update],
      reputation_score: writeShare(windowScore(metrics)),
      update_timestamp: writeInstant(now),
      metrics: {
        total_collaborations: doneCount + failedCount,
        successful_collaborations: doneCount,
        failed_collaborations: failedCount,
        ...(metrics && {
          success_rate: writeShare(metrics.successMicro),
          average_response_time_ms: metrics.averageResponseMs,
          on_time_completion_rate: writeShare(metrics.onTimeMicro),
        }),
      },
      ...(told.update !== 'periodic' && {
        collaboration_id: correlationOf(told.work as string as CorrelationId),
      }),
    },
    correlation_id: correlationOf(told.correlation),
    timestamp: writeInstant(now),
  }
}

type TrustSignals = NonNullable<wire.Identity['trust_signals']>

/** The identity counts successes only, by its own description. */
export function encodeTrust(window: WindowRecord): TrustSignals {
  const metrics = measureWindow(window)
  return {
    reputation_score: writeShare(windowScore(metrics)),
    total_collaborations: window.doneCount,
    ...(metrics && {
      success_rate: writeShare(metrics.successMicro),
      average_response_time_ms: metrics.averageResponseMs,
    }),
  }
}

export function decodeReputationUpdate(message: wire.ReputationUpdate): ScoreObserved {
  const { reputation_update: update } = message
  const { metrics = {}, collaboration_id: work } = update
  const claimed = decodeFigures({ ...metrics, reputation_score: update.reputation_score })
  if (metrics.successful_collaborations !== undefined) {
    claimed.doneCount = metrics.successful_collaborations
  }
  if (metrics.total_collaborations !== undefined) claimed.totalCount = metrics.total_collaborations
  return {
    type: 'score_observed',
    agent: readUuid<AgentId>(message.agent_id),
    update: UPDATES[update.update_type],
    ...(work !== undefined && { work: readUuid<WorkId>(work) }),
    claimed,
    at: instantOf(update.update_timestamp),
    correlation: readUuid<CorrelationId>(message.correlation_id),
  }
}

export function decodeTrust(signals: TrustSignals): TrustClaimed {
  const claimed = decodeFigures(signals)
  if (signals.total_collaborations !== undefined) claimed.doneCount = signals.total_collaborations
  return claimed
}

type Metrics = NonNullable<wire.ReputationUpdate['reputation_update']['metrics']>
type Figures = TrustSignals & Pick<Metrics, 'failed_collaborations' | 'on_time_completion_rate'>
type Draft<Whole> = { -readonly [Field in keyof Whole]: Whole[Field] }

/** All but the counts of successes and of everything, which the two messages name differently. */
function decodeFigures(figures: Figures): Draft<TrustClaimed> {
  const { reputation_score, failed_collaborations, success_rate } = figures
  const { on_time_completion_rate, average_response_time_ms } = figures
  const claimed: Draft<TrustClaimed> = {}
  if (reputation_score !== undefined) claimed.scoreMicro = microOf(reputation_score)
  if (failed_collaborations !== undefined) claimed.failedCount = failed_collaborations
  if (success_rate !== undefined) claimed.successMicro = microOf(success_rate)
  if (on_time_completion_rate !== undefined) claimed.onTimeMicro = microOf(on_time_completion_rate)
  if (average_response_time_ms !== undefined) claimed.averageResponseMs = average_response_time_ms
  return claimed
}

/** Millionths divide into the very number whose decimal form they are. */
const writeShare = (micro: number): number => micro / 1_000_000
const microOf = (share: number): number => Math.round(share * 1_000_000)

export const readReputationUpdate = reader(checker(wire.ReputationUpdate), decodeReputationUpdate)
