/**
 * Domain refusals in OpenClaw's words. A request that was understood and whose sender is known is
 * answered with a response, and the document has five codes for its rejection; other doors, and
 * messages that never became a request, get the one error (OC-22).
 *
 *   J1  Five codes are few: `details.reason` always holds the finer word, and reads back (decode).
 *   J2  `retryable` is always said, `retry_after_seconds` where a time is known.
 */
import type { Refused } from '@chimera/domain/decision'
import type { CorrelationId, Instant } from '@chimera/domain/ids'
import { isRetryable, REFUSALS, type Refusal } from '@chimera/domain/refusals'
import { encodeError, retryAfterSeconds } from '../error.ts'
import { type Answer, statusOf } from '../http-status.ts'
import { readUuid, writeCents, writeInstant } from '../wire.ts'
import { correlationOf } from './names.ts'
import type { ProtocolError, RejectionCode, RejectionReason } from './schema.ts'
import { PROTOCOL_VERSION } from './version.ts'

const NO_RESPONSE = undefined

/** Without a response: what is wrong with the message, its version or the proof of its sender. */
// biome-ignore format: a table is read by its columns
export const REJECTION_CODES = {
  message_malformed: NO_RESPONSE,               message_oversized: NO_RESPONSE,
  message_replayed: NO_RESPONSE,                message_expired: NO_RESPONSE,
  message_early: NO_RESPONSE,                   message_outdated: NO_RESPONSE,
  expiry_too_far: NO_RESPONSE,                  version_unsupported: NO_RESPONSE,
  caller_unknown: NO_RESPONSE,                  signature_invalid: NO_RESPONSE,
  certificate_invalid: NO_RESPONSE,
  token_invalid: NO_RESPONSE,                   token_expired: NO_RESPONSE,
  caller_forbidden: 'policy_violation',         owner_mismatch: 'policy_violation',
  cap_reached: 'policy_violation',              rate_exceeded: 'resource_exhausted',
  service_unavailable: 'capability_not_available',
  agent_unknown: 'capability_not_available',    agent_offline: 'capability_not_available',
  agent_silent: 'capability_not_available',
  agents_exhausted: 'resource_exhausted',       alias_taken: 'policy_violation',
  aliases_exhausted: 'resource_exhausted',
  key_mismatch: 'policy_violation',             key_reused: 'policy_violation',
  recovery_pending: 'policy_violation',         recovery_unknown: 'policy_violation',
  hub_key_unknown: 'policy_violation',          broker_unknown: 'policy_violation',
  skill_unknown: 'capability_not_available',    skill_version_unsupported: 'capability_not_available',
  skills_invalid: 'invalid_input',              notice_too_short: 'invalid_input',
  transition_illegal: 'policy_violation',       reason_missing: 'invalid_input',
  state_changed: 'policy_violation',
  instance_unknown: 'capability_not_available', planner_unknown: NO_RESPONSE,
  slots_invalid: 'invalid_input',               slots_exhausted: 'resource_exhausted',
  draining: 'capability_not_available',         deadline_too_soon: 'deadline_too_soon',
  task_conflict: 'policy_violation',            reservation_unknown: 'resource_exhausted',
  reservation_lapsed: 'resource_exhausted',
  not_accepting: 'capability_not_available',    input_invalid: 'invalid_input',
  policy_violated: 'policy_violation',          queue_full: 'resource_exhausted',
  price_risen: 'policy_violation',              budget_insufficient: 'policy_violation',
  hold_missing: 'policy_violation',             key_conflict: 'policy_violation',
  work_unknown: 'policy_violation',             work_ended: 'policy_violation',
  work_not_begun: 'policy_violation',
  account_unknown: 'policy_violation',          amount_invalid: 'invalid_input',
  party_identical: 'policy_violation',          funds_short: 'policy_violation',
  hold_unknown: 'policy_violation',             hold_ended: 'policy_violation',
  hold_exceeded: 'policy_violation',            settlement_mismatch: 'policy_violation',
  refund_excessive: 'policy_violation',
  token_unknown: 'policy_violation',            letter_unknown: 'policy_violation',
  alert_unknown: 'policy_violation',            webhook_unknown: 'policy_violation',
  order_unknown: 'policy_violation',            order_misaddressed: 'policy_violation',
  webhooks_exhausted: 'resource_exhausted',     address_refused: 'invalid_input',
  output_invalid: 'invalid_input',
  approval_invalid: 'policy_violation',         approval_expired: 'policy_violation',
  approval_used: 'policy_violation',            approval_mismatched: 'policy_violation',
  approval_unknown: 'policy_violation',         approval_unused: 'policy_violation',
  post_unknown: 'policy_violation',
  review_unknown: 'policy_violation', review_closed: 'policy_violation',
  review_expired: 'policy_violation', campaign_unknown: 'policy_violation',
} as const satisfies Record<Refusal, RejectionCode | undefined>

// biome-ignore format: a table is read by its columns
export const ERROR_CODES = {
  message_malformed: 'validation_error',    message_oversized: 'message_too_large',
  message_replayed: 'replayed',             message_expired: 'expired',
  message_early: 'not_yet_valid',           message_outdated: 'conflict',
  expiry_too_far: 'validation_error',       version_unsupported: 'version_unsupported',
  caller_unknown: 'unauthenticated',        signature_invalid: 'unauthenticated',
  certificate_invalid: 'unauthenticated',
  token_invalid: 'unauthenticated',         token_expired: 'unauthenticated',
  caller_forbidden: 'forbidden',            owner_mismatch: 'forbidden',
  cap_reached: 'forbidden',                 rate_exceeded: 'resource_exhausted',
  service_unavailable: 'unavailable',
  agent_unknown: 'not_found',               agent_offline: 'unavailable',
  agent_silent: 'unavailable',
  agents_exhausted: 'resource_exhausted',   alias_taken: 'conflict',
  aliases_exhausted: 'resource_exhausted',
  key_mismatch: 'conflict',                 key_reused: 'conflict',
  recovery_pending: 'not_yet_valid',        recovery_unknown: 'not_found',
  hub_key_unknown: 'not_found',             broker_unknown: 'not_found',
  skill_unknown: 'capability_not_available', skill_version_unsupported: 'capability_not_available',
  skills_invalid: 'validation_error',       notice_too_short: 'validation_error',
  transition_illegal: 'conflict',           reason_missing: 'validation_error',
  state_changed: 'conflict',
  instance_unknown: 'not_found',            planner_unknown: 'unauthenticated',
  slots_invalid: 'validation_error',        slots_exhausted: 'resource_exhausted',
  draining: 'capability_not_available',     deadline_too_soon: 'deadline_too_soon',
  task_conflict: 'conflict',                reservation_unknown: 'not_found',
  reservation_lapsed: 'expired',
  not_accepting: 'capability_not_available', input_invalid: 'invalid_input',
  policy_violated: 'policy_violation',      queue_full: 'resource_exhausted',
  price_risen: 'policy_violation',          budget_insufficient: 'policy_violation',
  hold_missing: 'policy_violation',         key_conflict: 'conflict',
  work_unknown: 'not_found',                work_ended: 'conflict',
  work_not_begun: 'conflict',
  account_unknown: 'not_found',             amount_invalid: 'validation_error',
  party_identical: 'validation_error',      funds_short: 'policy_violation',
  hold_unknown: 'not_found',                hold_ended: 'conflict',
  hold_exceeded: 'policy_violation',        settlement_mismatch: 'conflict',
  refund_excessive: 'conflict',
  token_unknown: 'not_found',               letter_unknown: 'not_found',
  alert_unknown: 'not_found',               webhook_unknown: 'not_found',
  order_unknown: 'not_found',               order_misaddressed: 'forbidden',
  webhooks_exhausted: 'resource_exhausted', address_refused: 'validation_error',
  output_invalid: 'validation_error',
  approval_invalid: 'unauthenticated',      approval_expired: 'expired',
  approval_used: 'conflict',                approval_mismatched: 'conflict',
  approval_unknown: 'not_found',            approval_unused: 'conflict',
  post_unknown: 'not_found',
  review_unknown: 'not_found',              review_closed: 'conflict',
  review_expired: 'conflict',                campaign_unknown: 'not_found',
} as const satisfies Record<Refusal, string>

/** Undefined: this refusal is told as an error, without a response. */
export function rejectionCode(refusal: Refusal): RejectionCode | undefined {
  return REJECTION_CODES[refusal]
}

export function encodeRefusal(
  refused: Refused<Refusal>,
  now: Instant,
  correlation?: CorrelationId,
): Answer<ProtocolError> {
  const error = encodeError(refused, ERROR_CODES[refused.refusal], now)
  return {
    status: statusOf(refused.refusal),
    body: {
      protocol_version: PROTOCOL_VERSION,
      ...error,
      details: detailsOf(refused),
      ...(correlation !== undefined && { correlation_id: correlationOf(correlation) }),
    },
  }
}

export function encodeRejection(
  refused: Refused<Refusal>,
  code: RejectionCode,
  now: Instant,
): RejectionReason {
  const { refusal, particulars } = refused
  const seconds = retryAfterSeconds(particulars.retryAt, now)
  return {
    code,
    message: REFUSALS[refusal].sentence,
    retryable: isRetryable(refusal),
    ...(seconds !== undefined && { retry_after_seconds: seconds }),
    details: detailsOf(refused),
  }
}

/** A refusal as its sender told it. `sentence` and `details` are theirs, to be shown as such. */
export type RefusalStated = {
  readonly refusal: Refusal
  readonly sentence: string
  readonly retryable: boolean
  /** From when the answer came: their clock may not be ours. */
  readonly retryAfterMs?: number
  readonly details?: Readonly<Record<string, unknown>>
}

export function decodeRejection(rejection: RejectionReason): RefusalStated {
  const { code, message, details, retry_after_seconds: seconds } = rejection
  const reason = details?.reason
  const finer = isRefusal(reason) && REJECTION_CODES[reason] === code
  const refusal = finer ? reason : coarseRefusal(rejection)
  return {
    refusal,
    sentence: message,
    retryable: rejection.retryable ?? isRetryable(refusal),
    ...(seconds !== undefined && { retryAfterMs: seconds * 1_000 }),
    ...(details && { details }),
  }
}

/** An error that came instead of an answer; its code is kept, since it may be one of their own. */
export type ErrorObserved = Omit<RefusalStated, 'refusal'> & {
  readonly type: 'error_observed'
  readonly code: string
  readonly refusal?: Refusal
  readonly correlation?: CorrelationId
}

export function decodeProtocolError(error: ProtocolError): ErrorObserved {
  const { details, retry_after_seconds: seconds, correlation_id: correlation } = error
  const reason = details && 'reason' in details ? details.reason : undefined
  const known = isRefusal(reason) && ERROR_CODES[reason] === error.code
  return {
    type: 'error_observed',
    code: error.code,
    ...(known && { refusal: reason }),
    sentence: error.message,
    retryable: error.retryable,
    ...(seconds !== undefined && { retryAfterMs: seconds * 1_000 }),
    ...(details && { details }),
    ...(correlation !== undefined && { correlation: readUuid<CorrelationId>(correlation) }),
  }
}

/** What a code means when its sender gives no finer word that we know. */
function coarseRefusal({ code, retryable }: RejectionReason): Refusal {
  switch (code) {
    case 'capability_not_available':
      return retryable ? 'not_accepting' : 'skill_unknown'
    case 'invalid_input':
      return 'input_invalid'
    case 'resource_exhausted':
      return 'queue_full'
    case 'policy_violation':
      return 'policy_violated'
    case 'deadline_too_soon':
      return 'deadline_too_soon'
  }
}

const isRefusal = (word: unknown): word is Refusal =>
  typeof word === 'string' && Object.hasOwn(REFUSALS, word)

function detailsOf({ refusal, particulars }: Refused<Refusal>): Record<string, unknown> {
  const { figures = {}, issues } = particulars
  const details: Record<string, unknown> = { reason: refusal }
  for (const [name, value] of Object.entries(figures)) {
    const full = refusal === 'queue_full' ? TASKS[name] : undefined
    Object.assign(details, full ? { [full]: value } : encodeFigure(name, value))
  }
  if (refusal === 'slots_exhausted' && 'total' in figures) {
    // As the document's example has it: what is taken, of how much.
    const total = Number(figures.total)
    Object.assign(details, { current_tasks: total - Number(figures.free), max_tasks: total })
  }
  if (issues !== undefined) details.issues = [...issues]
  return details
}

const TASKS: Partial<Record<string, string>> = { current: 'current_tasks', most: 'max_tasks' }

/** Figures under the names that OpenClaw has for them; the rest in its spelling. */
function encodeFigure(name: string, value: number | string): object {
  if (typeof value === 'number') {
    if (name.endsWith('Cents')) return { [spell(name.slice(0, -5))]: writeCents(value) }
    if (name === 'earliest') return { earliest_completion: writeInstant(value) }
    if (name === 'perMinute') return { rate_limit_per_minute: value }
    return { [spell(name)]: value }
  }
  if (name === 'spoken') return { supported_versions: value.split(', ') }
  if (name === 'offered') return { offered_versions: value.split(', ').filter(Boolean) }
  return { [spell(name)]: value }
}

const spell = (name: string): string => name.replace(/[A-Z]/g, (each) => `_${each.toLowerCase()}`)
