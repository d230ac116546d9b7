/**
 * Domain refusals in the status feed's words: a non-2xx answer with the one error of every door.
 *
 *   F1  A publisher goes by the status alone (SF-5): what may pass by itself has a status that it
 *       tries again on, and nothing else has.
 *   F2  400 means that the message breaks the schema, and only that: one such answer switches a
 *       rollout off (SF-13).
 */
import type { Refused } from '@chimera/domain/decision'
import type { Instant } from '@chimera/domain/ids'
import type { Refusal } from '@chimera/domain/refusals'
import { type ErrorBody, encodeError } from '../error.ts'
import { type Answer, statusOf } from '../http-status.ts'

// biome-ignore format: a table is read by its columns
export const FEED_CODES = {
  message_malformed: 'schema_violation',   message_oversized: 'too_large',
  message_replayed: 'conflict',            message_expired: 'expired',
  message_early: 'clock_ahead',            message_outdated: 'outdated',
  expiry_too_far: 'schema_violation',      version_unsupported: 'schema_violation',
  caller_unknown: 'unauthenticated',       signature_invalid: 'unauthenticated',
  certificate_invalid: 'unauthenticated',
  token_invalid: 'unauthenticated',        token_expired: 'unauthenticated',
  caller_forbidden: 'forbidden',           owner_mismatch: 'forbidden',
  cap_reached: 'forbidden',                rate_exceeded: 'rate_limited',
  service_unavailable: 'unavailable',
  agent_unknown: 'unknown_agent',          agent_offline: 'unavailable',
  agent_silent: 'unavailable',
  agents_exhausted: 'limit_reached',       alias_taken: 'agent_id_taken',
  aliases_exhausted: 'limit_reached',
  key_mismatch: 'conflict',                key_reused: 'conflict',
  recovery_pending: 'unavailable',         recovery_unknown: 'unknown',
  hub_key_unknown: 'unknown',              broker_unknown: 'unknown',
  skill_unknown: 'unknown',                skill_version_unsupported: 'conflict',
  skills_invalid: 'conflict',              notice_too_short: 'conflict',
  transition_illegal: 'conflict',          reason_missing: 'conflict',
  state_changed: 'conflict',
  instance_unknown: 'unknown',             planner_unknown: 'unauthenticated',
  slots_invalid: 'conflict',               slots_exhausted: 'unavailable',
  draining: 'unavailable',                 deadline_too_soon: 'conflict',
  task_conflict: 'conflict',               reservation_unknown: 'unknown',
  reservation_lapsed: 'expired',
  not_accepting: 'unavailable',            input_invalid: 'conflict',
  policy_violated: 'forbidden',            queue_full: 'unavailable',
  price_risen: 'conflict',                 budget_insufficient: 'payment_required',
  hold_missing: 'payment_required',        key_conflict: 'conflict',
  work_unknown: 'unknown',                 work_ended: 'conflict',
  work_not_begun: 'unavailable',
  account_unknown: 'unknown',              amount_invalid: 'conflict',
  party_identical: 'conflict',             funds_short: 'payment_required',
  hold_unknown: 'unknown',                 hold_ended: 'conflict',
  hold_exceeded: 'payment_required',       settlement_mismatch: 'conflict',
  refund_excessive: 'conflict',
  token_unknown: 'unknown',                letter_unknown: 'unknown',
  alert_unknown: 'unknown',                webhook_unknown: 'unknown',
  order_unknown: 'unknown',                order_misaddressed: 'forbidden',
  webhooks_exhausted: 'limit_reached',     address_refused: 'conflict',
  output_invalid: 'conflict',
  approval_invalid: 'unauthenticated',     approval_expired: 'expired',
  approval_used: 'conflict',               approval_mismatched: 'conflict',
  approval_unknown: 'unknown',             approval_unused: 'conflict',
  post_unknown: 'unknown',
  review_unknown: 'unknown', review_closed: 'conflict', review_expired: 'conflict', campaign_unknown: 'unknown',
} as const satisfies Record<Refusal, string>

type FeedCode = (typeof FEED_CODES)[Refusal]

/** Where the code alone decides; elsewhere the status is the one of every door. */
const STATUSES: Partial<Record<FeedCode, number>> = {
  schema_violation: 400,
  conflict: 409,
  unavailable: 503,
}

export function encodeRefusal(refused: Refused<Refusal>, now: Instant): Answer<ErrorBody> {
  const code = FEED_CODES[refused.refusal]
  return {
    status: STATUSES[code] ?? statusOf(refused.refusal),
    body: encodeError(refused, code, now),
  }
}
