/**
 * Domain refusals in MoltBook's words. A reserve offer is answered by an ack whose `reason` is one
 * of seven (AV-8); every other call by the one error of all doors, with a code of the same make.
 *
 *   M1  A reason sends the planner the right way: `no_slot` and `draining` to the next instance,
 *       `no_credit` to its account, `unknown_planner` and `bad_signature` to its registration and
 *       key, `expired` to signing anew, `conflict` to other terms.
 */
import type { Refused } from '@chimera/domain/decision'
import type { Instant } from '@chimera/domain/ids'
import type { Refusal } from '@chimera/domain/refusals'
import { type ErrorBody, encodeError } from '../error.ts'
import { type Answer, statusOf } from '../http-status.ts'
import type { RejectReason } from './words.ts'

type Words = { readonly reason: RejectReason; readonly code: string }

// biome-ignore format: a table is read by its columns
export const MOLTBOOK_WORDS = {
  // An offer that does not fit its schema has no terms that could be met.
  message_malformed:         { reason: 'conflict',        code: 'invalid_message' },
  message_oversized:         { reason: 'conflict',        code: 'invalid_message' },
  message_replayed:          { reason: 'expired',         code: 'replayed' },
  message_expired:           { reason: 'expired',         code: 'expired' },
  message_early:             { reason: 'expired',         code: 'not_yet_valid' },
  message_outdated:          { reason: 'expired',         code: 'outdated' },
  expiry_too_far:            { reason: 'expired',         code: 'expiry_too_far' },
  version_unsupported:       { reason: 'conflict',        code: 'invalid_message' },

  caller_unknown:            { reason: 'unknown_planner', code: 'unauthenticated' },
  signature_invalid:         { reason: 'bad_signature',   code: 'bad_signature' },
  certificate_invalid:       { reason: 'bad_signature',   code: 'unauthenticated' },
  token_invalid:             { reason: 'bad_signature',   code: 'unauthenticated' },
  token_expired:             { reason: 'bad_signature',   code: 'unauthenticated' },
  caller_forbidden:          { reason: 'unknown_planner', code: 'forbidden' },
  owner_mismatch:            { reason: 'unknown_planner', code: 'forbidden' },
  cap_reached:               { reason: 'no_credit',       code: 'forbidden' },
  // Nothing can be promised right now; another instance may.
  rate_exceeded:             { reason: 'no_slot',         code: 'rate_limited' },
  service_unavailable:       { reason: 'no_slot',         code: 'unavailable' },

  agent_unknown:             { reason: 'unknown_planner', code: 'unknown_agent' },
  agent_offline:             { reason: 'draining',        code: 'offline' },
  agent_silent:              { reason: 'draining',        code: 'offline' },
  agents_exhausted:          { reason: 'conflict',        code: 'limit_reached' },
  alias_taken:               { reason: 'conflict',        code: 'conflict' },
  aliases_exhausted:         { reason: 'conflict',        code: 'limit_reached' },
  key_mismatch:              { reason: 'bad_signature',   code: 'wrong_key' },
  key_reused:                { reason: 'bad_signature',   code: 'wrong_key' },
  recovery_pending:          { reason: 'bad_signature',   code: 'conflict' },
  recovery_unknown:          { reason: 'conflict',        code: 'unknown' },
  hub_key_unknown:           { reason: 'conflict',        code: 'unknown' },
  broker_unknown:            { reason: 'conflict',        code: 'unknown' },
  skill_unknown:             { reason: 'conflict',        code: 'unknown' },
  skill_version_unsupported: { reason: 'conflict',        code: 'unknown' },
  skills_invalid:            { reason: 'conflict',        code: 'invalid_message' },
  notice_too_short:          { reason: 'conflict',        code: 'invalid_message' },

  transition_illegal:        { reason: 'conflict',        code: 'conflict' },
  reason_missing:            { reason: 'conflict',        code: 'invalid_message' },
  state_changed:             { reason: 'conflict',        code: 'conflict' },

  instance_unknown:          { reason: 'conflict',        code: 'unknown_instance' },
  planner_unknown:           { reason: 'unknown_planner', code: 'unknown_planner' },
  slots_invalid:             { reason: 'conflict',        code: 'invalid_message' },
  slots_exhausted:           { reason: 'no_slot',         code: 'no_slot' },
  draining:                  { reason: 'draining',        code: 'draining' },
  deadline_too_soon:         { reason: 'expired',         code: 'expired' },
  task_conflict:             { reason: 'conflict',        code: 'conflict' },
  reservation_unknown:       { reason: 'conflict',        code: 'unknown_reservation' },
  reservation_lapsed:        { reason: 'expired',         code: 'expired' },

  not_accepting:             { reason: 'draining',        code: 'draining' },
  input_invalid:             { reason: 'conflict',        code: 'invalid_message' },
  policy_violated:           { reason: 'conflict',        code: 'forbidden' },
  queue_full:                { reason: 'no_slot',         code: 'no_slot' },
  price_risen:               { reason: 'no_credit',       code: 'no_credit' },
  budget_insufficient:       { reason: 'no_credit',       code: 'no_credit' },
  hold_missing:              { reason: 'no_credit',       code: 'no_credit' },
  key_conflict:              { reason: 'conflict',        code: 'conflict' },
  work_unknown:              { reason: 'conflict',        code: 'unknown' },
  work_ended:                { reason: 'conflict',        code: 'conflict' },
  work_not_begun:            { reason: 'conflict',        code: 'conflict' },

  account_unknown:           { reason: 'no_credit',       code: 'no_credit' },
  amount_invalid:            { reason: 'no_credit',       code: 'no_credit' },
  party_identical:           { reason: 'conflict',        code: 'conflict' },
  funds_short:               { reason: 'no_credit',       code: 'no_credit' },
  hold_unknown:              { reason: 'no_credit',       code: 'no_credit' },
  hold_ended:                { reason: 'no_credit',       code: 'no_credit' },
  hold_exceeded:             { reason: 'no_credit',       code: 'no_credit' },
  settlement_mismatch:       { reason: 'conflict',        code: 'conflict' },
  refund_excessive:          { reason: 'conflict',        code: 'conflict' },

  token_unknown:             { reason: 'conflict',        code: 'unknown' },
  letter_unknown:            { reason: 'conflict',        code: 'unknown' },
  alert_unknown:             { reason: 'conflict',        code: 'unknown' },
  webhook_unknown:           { reason: 'conflict',        code: 'unknown' },
  order_unknown:             { reason: 'conflict',        code: 'unknown' },
  order_misaddressed:        { reason: 'conflict',        code: 'forbidden' },
  webhooks_exhausted:        { reason: 'conflict',        code: 'limit_reached' },
  address_refused:           { reason: 'conflict',        code: 'invalid_message' },
  output_invalid:            { reason: 'conflict',        code: 'invalid_message' },
  approval_invalid:          { reason: 'bad_signature',   code: 'unauthenticated' },
  approval_expired:          { reason: 'expired',         code: 'expired' },
  approval_used:             { reason: 'conflict',        code: 'conflict' },
  approval_mismatched:       { reason: 'conflict',        code: 'conflict' },
  approval_unknown:          { reason: 'conflict',        code: 'unknown' },
  approval_unused:           { reason: 'conflict',        code: 'conflict' },
  post_unknown:              { reason: 'conflict',        code: 'unknown' },
  review_unknown:            { reason: 'conflict',        code: 'unknown' },
  review_closed:             { reason: 'conflict',        code: 'conflict' },
  review_expired:            { reason: 'expired',         code: 'conflict' },
  campaign_unknown:          { reason: 'conflict',        code: 'unknown' },
} as const satisfies Record<Refusal, Words>

export function rejectReason(refusal: Refusal): RejectReason {
  return MOLTBOOK_WORDS[refusal].reason
}

export function encodeRefusal(refused: Refused<Refusal>, now: Instant): Answer<ErrorBody> {
  const { refusal } = refused
  return {
    status: statusOf(refusal),
    body: encodeError(refused, MOLTBOOK_WORDS[refusal].code, now),
  }
}
