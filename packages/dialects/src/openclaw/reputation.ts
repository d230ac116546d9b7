/**
 * The window score in OpenClaw's figures (OC-7), in updates and in the identity, and back. What
 * others say of themselves is read as a claim: no score of ours ever follows from it (P-2).
 */
import type { AgentId, CorrelationId, Instant, WorkId } from '@chimera/domain/ids'
import type { ScoreUpdate } from '@chimera/domain/score-update'
import { measureWindow, type WindowRecord, windowScore } from '@chimera/domain/window-score'
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
      ...(told.update !== 'periodic' && { collaboration_id: told.work }),
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
  const { metrics, collaboration_id: work } = update
  return {
    type: 'score_observed',
    agent: readUuid<AgentId>(message.agent_id),
    update: UPDATES[update.update_type],
    ...(work !== undefined && { work: readUuid<WorkId>(work) }),
    claimed: {
      scoreMicro: microOf(update.reputation_score),
      ...(metrics && decodeMetrics(metrics)),
    },
    at: instantOf(update.update_timestamp),
    correlation: readUuid<CorrelationId>(message.correlation_id),
  }
}

export function decodeTrust(signals: TrustSignals): TrustClaimed {
  const { reputation_score: score, total_collaborations: done } = signals
  return {
    ...(score !== undefined && { scoreMicro: microOf(score) }),
    ...(done !== undefined && { doneCount: done }),
    ...decodeRates(signals),
  }
}

type Metrics = NonNullable<wire.ReputationUpdate['reputation_update']['metrics']>

function decodeMetrics(metrics: Metrics): TrustClaimed {
  const {
    total_collaborations: total,
    successful_collaborations: done,
    failed_collaborations: failed,
    on_time_completion_rate: onTime,
  } = metrics
  return {
    ...(total !== undefined && { totalCount: total }),
    ...(done !== undefined && { doneCount: done }),
    ...(failed !== undefined && { failedCount: failed }),
    ...(onTime !== undefined && { onTimeMicro: microOf(onTime) }),
    ...decodeRates(metrics),
  }
}

/** What the identity and the update both tell. */
function decodeRates({
  success_rate: success,
  average_response_time_ms: averageMs,
}: Pick<TrustSignals, 'success_rate' | 'average_response_time_ms'>): TrustClaimed {
  return {
    ...(success !== undefined && { successMicro: microOf(success) }),
    ...(averageMs !== undefined && { averageResponseMs: averageMs }),
  }
}

/** Millionths divide into the very number whose decimal form they are. */
const writeShare = (micro: number): number => micro / 1_000_000
const microOf = (share: number): number => Math.round(share * 1_000_000)

export const readReputationUpdate = reader(checker(wire.ReputationUpdate), decodeReputationUpdate)
