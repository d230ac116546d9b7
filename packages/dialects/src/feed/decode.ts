/**
 * Status feed → domain. What a status says is an observation under an alias: whether it is
 * new, and who may speak under that name, is for domain/ingest to say.
 */
import type { Issue } from '@chimera/domain/decision'
import type { Alias, Instant, MessageId } from '@chimera/domain/ids'
import type { ReportedCondition, StatusReport } from '@chimera/domain/presence/ingest'
import { checker, reader } from '../check.ts'
import { instantOf, readUuid } from '../wire.ts'
import { findNoteIssues } from './notes.ts'
import * as wire from './schema.ts'

/** How a receiver took a status. */
export type StatusTaken = {
  readonly type: 'status_taken'
  readonly message: MessageId
  readonly how: 'observed' | 'duplicate' | 'outdated'
}

/** What a hub shows of an alias. */
export type FeedView = {
  readonly report: StatusReport
  readonly heardAt: Instant
  /** Heartbeats that were due did not come. */
  readonly stale: boolean
  /** The alias belongs to an agent or a credential. */
  readonly claimed: boolean
}

const CONDITIONS = {
  AVAILABLE: 'idle',
  BUSY: 'working',
  HUMAN_REVIEW: 'human_review',
  PAUSED: 'paused',
} as const satisfies Record<wire.StatusWord, ReportedCondition>

export function decodeStatus(message: Omit<wire.Status, 'schema_version'>): StatusReport {
  return {
    type: 'report_status',
    message: readUuid<MessageId>(message.message_id),
    alias: message.agent_id as Alias,
    condition: CONDITIONS[message.status],
    ...(message.capabilities !== undefined && { capabilities: message.capabilities }),
    updatedAt: instantOf(message.last_updated),
    ...(message.uptime_s !== undefined && { uptimeMs: Math.round(message.uptime_s * 1_000) }),
    ...(message.notes !== undefined && { note: message.notes }),
  }
}

export function decodeAccepted(message: wire.Accepted): StatusTaken {
  return {
    type: 'status_taken',
    message: readUuid<MessageId>(message.message_id),
    how: message.result,
  }
}

export function decodeFeedState(state: wire.FeedState): FeedView {
  const { received_at, stale, claimed } = state
  return { report: decodeStatus(state), heardAt: instantOf(received_at), stale, claimed }
}

const noteIssues = ({ notes }: Pick<wire.Status, 'notes'>): readonly Issue[] =>
  notes === undefined ? [] : findNoteIssues(notes)

export const readStatus = reader(checker(wire.Status, noteIssues), decodeStatus)
export const readAccepted = reader(checker(wire.Accepted), decodeAccepted)
export const readFeedState = reader(checker(wire.FeedState, noteIssues), decodeFeedState)

const VERSION_4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

/** SF-1: what a publisher sends is held to more than what a receiver takes. */
export const checkEmitted = checker(wire.Status, (message) => [
  ...noteIssues(message),
  ...(VERSION_4.test(message.message_id)
    ? []
    : [{ path: '/message_id', expected: 'a uuid of version 4', got: 'another uuid' }]),
  ...(Number.isInteger(message.uptime_s ?? 0)
    ? []
    : [{ path: '/uptime_s', expected: 'whole seconds', got: 'a fraction' }]),
])
