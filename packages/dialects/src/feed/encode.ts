/**
 * Domain → status feed. What the feed cannot say is in docs/dialects/feed.md.
 */

import type { Condition, ConditionName, Standing } from '@chimera/domain/agent/condition'
import type { Alias, Instant, MessageId } from '@chimera/domain/ids'
import {
  agesAt,
  type Heard,
  type IngestFact,
  type StatusReport,
} from '@chimera/domain/presence/ingest'
import type { Rhythm } from '@chimera/domain/voice/cadence'
import type { Publishing } from '@chimera/domain/voice/publishing'
import { writeInstant } from '../wire.ts'
import type { FeedView } from './decode.ts'
import { encodeNote } from './notes.ts'
import * as wire from './schema.ts'

const WORDS = {
  idle: 'AVAILABLE',
  working: 'BUSY',
  human_review: 'HUMAN_REVIEW',
  paused: 'PAUSED',
  draining: 'PAUSED',
  maintenance: 'PAUSED',
  error: 'PAUSED',
  stopped: 'PAUSED',
} as const satisfies Record<ConditionName, wire.StatusWord>

/** SF-3: which statuses are repeated every minute. */
export const RHYTHMS = {
  AVAILABLE: 'steady',
  BUSY: 'steady',
  HUMAN_REVIEW: 'silent',
  PAUSED: 'silent',
} as const satisfies Record<wire.StatusWord, Rhythm>

/** the status feed's column. */
export function encodeCondition({ name }: Pick<Condition, 'name'>): wire.StatusWord {
  return WORDS[name]
}

/** What our own API and console show: a feed that cannot be reached reads as paused (X-2, SF-5). */
export function encodeLocalStatus(condition: Condition, publishing: Publishing): wire.StatusWord {
  return publishing.is === 'paused' ? 'PAUSED' : encodeCondition(condition)
}

export type Publication = {
  /** Of version 4 (SF-1). */
  readonly message: MessageId
  readonly alias: Alias
  readonly standing: Standing
  readonly capabilities: readonly string[]
  readonly startedAt: Instant
}

/** `stamp` is the time of sending, which rises from message to message (SF-3). */
export function encodeStatus(publication: Publication, stamp: Instant): wire.Status {
  const { standing, startedAt } = publication
  return {
    schema_version: wire.SCHEMA_VERSION,
    message_id: publication.message,
    agent_id: publication.alias,
    status: encodeCondition(standing.condition),
    capabilities: [...publication.capabilities],
    last_updated: writeInstant(stamp),
    uptime_s: wholeSeconds(stamp - startedAt),
    notes: encodeNote(standing),
  }
}

/** A report as it was heard, to be said again. */
export function encodeReport(report: StatusReport): wire.Status {
  return { schema_version: wire.SCHEMA_VERSION, ...encodeMembers(report) }
}

/** `facts` are those that the status led to: none, when it was known before (SF-7). */
export function encodeAccepted(message: MessageId, facts: readonly IngestFact[]): wire.Accepted {
  return { status: 'accepted', message_id: message, result: resultOf(facts) }
}

function resultOf(facts: readonly IngestFact[]): wire.Accepted['result'] {
  const types = facts.map(({ type }) => type)
  if (types.includes('status_observed')) return 'observed'
  return types.includes('status_outdated') ? 'outdated' : 'duplicate'
}

/** Absent while nothing has been heard under the alias. */
export function encodeFeedState(heard: Heard, now: Instant): wire.FeedState | undefined {
  const { last, holder } = heard
  if (last === undefined) return undefined
  const ends = agesAt(last)
  const stale = ends !== undefined && now >= ends
  return encodeFeedView({ ...last, stale, claimed: holder !== undefined })
}

export function encodeFeedView({ report, heardAt, stale, claimed }: FeedView): wire.FeedState {
  return { ...encodeMembers(report), received_at: writeInstant(heardAt), stale, claimed }
}

function encodeMembers(report: StatusReport): Omit<wire.Status, 'schema_version'> {
  return {
    message_id: report.message,
    agent_id: report.alias,
    status: WORDS[report.condition],
    ...(report.capabilities !== undefined && { capabilities: [...report.capabilities] }),
    last_updated: writeInstant(report.updatedAt),
    ...(report.uptimeMs !== undefined && { uptime_s: wholeSeconds(report.uptimeMs) }),
    ...(report.note !== undefined && { notes: report.note }),
  }
}

/** Whole, and never below zero: a clock may be set back while an agent runs. */
const wholeSeconds = (ms: number): number => Math.max(0, Math.floor(ms / 1_000))
