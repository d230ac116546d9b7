/**
 * Domain refusals in Chorus's words (CH-11). The document has five codes; the rest of what can go
 * wrong gets codes of the same make. A job that is refused is answered in the shape of a result.
 */
import type { Refused } from '@chimera/domain/decision'
import type { AgentId, Instant, TaskId } from '@chimera/domain/ids'
import { REFUSALS, type Refusal } from '@chimera/domain/refusals'
import { type ErrorBody, encodeError } from '../error.ts'
import { type Answer, statusOf } from '../http-status.ts'
import { writeInstant } from '../wire.ts'
import type { JobResult } from './schema.ts'

// biome-ignore format: a table is read by its columns
export const CHORUS_CODES = {
  message_malformed: 'INVALID_REQUEST',   message_oversized: 'INVALID_REQUEST',
  message_replayed: 'REPLAYED',           message_expired: 'UNAUTHENTICATED',
  message_early: 'UNAUTHENTICATED',       message_outdated: 'CONFLICT',
  expiry_too_far: 'INVALID_REQUEST',      version_unsupported: 'INVALID_REQUEST',
  caller_unknown: 'UNAUTHENTICATED',      signature_invalid: 'UNAUTHENTICATED',
  certificate_invalid: 'UNAUTHENTICATED',
  token_invalid: 'UNAUTHENTICATED',       token_expired: 'UNAUTHENTICATED',
  caller_forbidden: 'FORBIDDEN',          owner_mismatch: 'FORBIDDEN',
  cap_reached: 'FORBIDDEN',               rate_exceeded: 'RATE_LIMITED',
  service_unavailable: 'UNAVAILABLE',
  agent_unknown: 'AGENT_UNKNOWN',         agent_offline: 'AGENT_OFFLINE',
  agent_silent: 'AGENT_OFFLINE',
  agents_exhausted: 'LIMIT_REACHED',      alias_taken: 'CONFLICT',
  aliases_exhausted: 'LIMIT_REACHED',
  key_mismatch: 'CONFLICT',               key_reused: 'CONFLICT',
  recovery_pending: 'CONFLICT',           recovery_unknown: 'UNKNOWN',
  hub_key_unknown: 'UNKNOWN',             broker_unknown: 'UNKNOWN',
  skill_unknown: 'SKILL_MISMATCH',        skill_version_unsupported: 'SKILL_MISMATCH',
  skills_invalid: 'INVALID_REQUEST',      notice_too_short: 'INVALID_REQUEST',
  transition_illegal: 'CONFLICT',         reason_missing: 'INVALID_REQUEST',
  state_changed: 'CONFLICT',
  instance_unknown: 'UNKNOWN',            planner_unknown: 'UNAUTHENTICATED',
  slots_invalid: 'INVALID_REQUEST',       slots_exhausted: 'AGENT_BUSY',
  draining: 'AGENT_OFFLINE',              deadline_too_soon: 'DEADLINE_TOO_SOON',
  task_conflict: 'CONFLICT',              reservation_unknown: 'UNKNOWN',
  reservation_lapsed: 'EXPIRED',
  not_accepting: 'AGENT_OFFLINE',         input_invalid: 'INVALID_INPUT',
  policy_violated: 'FORBIDDEN',           queue_full: 'AGENT_BUSY',
  price_risen: 'BUDGET_INSUFFICIENT',     budget_insufficient: 'BUDGET_INSUFFICIENT',
  hold_missing: 'BUDGET_INSUFFICIENT',    key_conflict: 'CONFLICT',
  work_unknown: 'UNKNOWN',                work_ended: 'CONFLICT',
  work_not_begun: 'CONFLICT',
  account_unknown: 'ACCOUNT_UNKNOWN',     amount_invalid: 'INVALID_REQUEST',
  party_identical: 'INVALID_REQUEST',     funds_short: 'TRANSFER_FAILED',
  hold_unknown: 'UNKNOWN',                hold_ended: 'CONFLICT',
  hold_exceeded: 'TRANSFER_FAILED',       settlement_mismatch: 'CONFLICT',
  refund_excessive: 'CONFLICT',
  token_unknown: 'UNKNOWN',               letter_unknown: 'UNKNOWN',
  alert_unknown: 'UNKNOWN',               webhook_unknown: 'UNKNOWN',
  order_unknown: 'UNKNOWN',               order_misaddressed: 'FORBIDDEN',
  webhooks_exhausted: 'LIMIT_REACHED',    address_refused: 'INVALID_REQUEST',
  output_invalid: 'INVALID_REQUEST',
  approval_invalid: 'UNAUTHENTICATED',    approval_expired: 'EXPIRED',
  approval_used: 'CONFLICT',              approval_mismatched: 'CONFLICT',
  approval_unknown: 'UNKNOWN',            approval_unused: 'CONFLICT',
  post_unknown: 'UNKNOWN',
  review_unknown: 'UNKNOWN', review_closed: 'CONFLICT', review_expired: 'CONFLICT', campaign_unknown: 'UNKNOWN',
} as const satisfies Record<Refusal, string>

/**
 * The document's own statuses (CH-11), and 422 for what fails a check, as Chorus programs expect.
 */
const STATUSES: Partial<Record<Refusal, number>> = {
  message_malformed: 422,
  amount_invalid: 422,
  skill_unknown: 422,
  skill_version_unsupported: 422,
  price_risen: 402,
  policy_violated: 403,
}

export function encodeRefusal(refused: Refused<Refusal>, now: Instant): Answer<ErrorBody> {
  return { status: status(refused.refusal), body: encodeError(refused, code(refused.refusal), now) }
}

/** CH-11: a refused job in the shape of its result. It costs nothing, reputation included. */
export function encodeJobRefusal(
  refused: Refused<Refusal>,
  job: { readonly task: TaskId; readonly agent: AgentId },
  now: Instant,
): Answer<JobResult> {
  return {
    status: status(refused.refusal),
    body: {
      job_id: job.task,
      agent_id: job.agent,
      status: 'FAILURE',
      output_data: null,
      execution_cost: 0,
      execution_time_ms: 0,
      error_code: code(refused.refusal),
      error_message: REFUSALS[refused.refusal].sentence,
      timestamp_utc: writeInstant(now),
    },
  }
}

const code = (refusal: Refusal): string => CHORUS_CODES[refusal]
const status = (refusal: Refusal): number => STATUSES[refusal] ?? statusOf(refusal)
