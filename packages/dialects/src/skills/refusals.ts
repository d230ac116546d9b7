/**
 * Domain refusals in the words of the skills. Where the document has a code it is used, with its
 * status; the rest get codes of the same make, which error-codes.ts lists for every skill.
 */
import type { Particulars, Refused } from '@chimera/domain/decision'
import type { Instant } from '@chimera/domain/ids'
import type { Refusal } from '@chimera/domain/refusals'
import type { Malformed } from '../check.ts'
import { encodeError, retryAfterSeconds } from '../error.ts'
import { inputCode, SKILLS } from './contracts.ts'
import {
  COMMON_ERRORS,
  errorRow,
  SKILL_ERRORS,
  type SkillCode,
  type SkillId,
} from './error-codes.ts'
import type { SkillError } from './skill-error.ts'

// biome-ignore format: a table is read by its columns
export const SKILL_CODES = {
  message_malformed: 'INVALID_INPUT',          message_oversized: 'INPUT_TOO_LARGE',
  message_replayed: 'CONFLICT',                message_expired: 'UNAUTHENTICATED',
  message_early: 'TOO_EARLY',                  message_outdated: 'CONFLICT',
  expiry_too_far: 'INVALID_INPUT',             version_unsupported: 'VERSION_UNSUPPORTED',
  caller_unknown: 'UNAUTHENTICATED',           signature_invalid: 'UNAUTHENTICATED',
  certificate_invalid: 'UNAUTHENTICATED',
  token_invalid: 'UNAUTHENTICATED',            token_expired: 'UNAUTHENTICATED',
  caller_forbidden: 'FORBIDDEN',               owner_mismatch: 'FORBIDDEN',
  cap_reached: 'FORBIDDEN',                    rate_exceeded: 'RATE_LIMITED',
  service_unavailable: 'UNAVAILABLE',
  agent_unknown: 'AGENT_NOT_FOUND',            agent_offline: 'AGENT_UNAVAILABLE',
  agent_silent: 'AGENT_UNAVAILABLE',
  agents_exhausted: 'LIMIT_REACHED',           alias_taken: 'CONFLICT',
  aliases_exhausted: 'LIMIT_REACHED',
  key_mismatch: 'CONFLICT',                    key_reused: 'CONFLICT',
  recovery_pending: 'TOO_EARLY',               recovery_unknown: 'NOT_FOUND',
  hub_key_unknown: 'NOT_FOUND',                broker_unknown: 'NOT_FOUND',
  skill_unknown: 'SKILL_NOT_FOUND',            skill_version_unsupported: 'VERSION_UNSUPPORTED',
  skills_invalid: 'INVALID_PROFILE',           notice_too_short: 'INVALID_PROFILE',
  transition_illegal: 'INVALID_STATE_TRANSITION', reason_missing: 'INVALID_STATE_TRANSITION',
  state_changed: 'CONCURRENCY_ERROR',
  instance_unknown: 'NOT_FOUND',               planner_unknown: 'UNAUTHENTICATED',
  slots_invalid: 'INVALID_INPUT',              slots_exhausted: 'AGENT_UNAVAILABLE',
  draining: 'AGENT_UNAVAILABLE',               deadline_too_soon: 'DEADLINE_TOO_SOON',
  task_conflict: 'CONFLICT',                   reservation_unknown: 'NOT_FOUND',
  reservation_lapsed: 'EXPIRED',
  not_accepting: 'AGENT_UNAVAILABLE',          input_invalid: 'INVALID_INPUT',
  policy_violated: 'FORBIDDEN',                queue_full: 'AGENT_UNAVAILABLE',
  price_risen: 'PRICE_RISEN',                  budget_insufficient: 'INSUFFICIENT_BALANCE',
  hold_missing: 'INSUFFICIENT_BALANCE',        key_conflict: 'CONFLICT',
  work_unknown: 'NOT_FOUND',                   work_ended: 'CONFLICT',
  work_not_begun: 'TOO_EARLY',
  account_unknown: 'NOT_FOUND',                amount_invalid: 'INVALID_INPUT',
  party_identical: 'INVALID_INPUT',            funds_short: 'INSUFFICIENT_BALANCE',
  hold_unknown: 'NOT_FOUND',                   hold_ended: 'CONFLICT',
  hold_exceeded: 'INSUFFICIENT_BALANCE',       settlement_mismatch: 'CONFLICT',
  refund_excessive: 'CONFLICT',
  // An approval is used by the publication that it was given for, so a used one is a duplicate.
  token_unknown: 'NOT_FOUND',                  letter_unknown: 'NOT_FOUND',
  alert_unknown: 'NOT_FOUND',                  webhook_unknown: 'NOT_FOUND',
  order_unknown: 'NOT_FOUND',                  order_misaddressed: 'FORBIDDEN',
  webhooks_exhausted: 'LIMIT_REACHED',         address_refused: 'INVALID_INPUT',
  output_invalid: 'INVALID_INPUT',
  approval_invalid: 'INVALID_TOKEN',           approval_expired: 'TOKEN_EXPIRED',
  approval_used: 'DUPLICATE_CONTENT',          approval_mismatched: 'INVALID_TOKEN',
  approval_unknown: 'INVALID_TOKEN',           approval_unused: 'INVALID_TOKEN',
  post_unknown: 'NOT_FOUND',
  review_unknown: 'NOT_FOUND', review_closed: 'CONFLICT', review_expired: 'CONFLICT', campaign_unknown: 'NOT_FOUND',
} as const satisfies Record<Refusal, SkillCode>

export type Answer = { readonly status: number; readonly body: SkillError }

export function encodeRefusal(refused: Refused<Refusal>, now: Instant): Answer {
  const code = SKILL_CODES[refused.refusal]
  return { status: STATUS[code], body: encodeError(refused, code, now) }
}

/** Input that failed its check, in the skill's own word for the part that is wrong. */
export function encodeInputRefusal(skill: SkillId, refused: Malformed, now: Instant): Answer {
  const code = inputCode(SKILLS[skill], refused.particulars.issues ?? [])
  return encodeFailure(skill, code, now, refused.particulars)
}

/** A skill that did not succeed, for any of its codes. */
export function encodeFailure<Skill extends SkillId>(
  skill: Skill,
  code: SkillCode<Skill>,
  now: Instant,
  { retryAt, issues, figures }: Particulars = {},
): Answer {
  const { http, retryable, words } = errorRow(skill, code)
  const seconds = retryable ? retryAfterSeconds(retryAt, now) : undefined
  const details = { ...figures, ...(issues && { issues: [...issues] }) }
  return {
    status: http,
    body: {
      code,
      message: words,
      retryable,
      ...(seconds !== undefined && { retry_after_seconds: seconds }),
      ...(Object.keys(details).length > 0 && { details }),
    },
  }
}

type Statuses = Readonly<Record<(typeof SKILL_CODES)[Refusal], number>>
/** The rows that the refusals' codes have, wherever they stand. */
const STATUS: Statuses = httpOf({
  ...COMMON_ERRORS,
  ...SKILL_ERRORS.update_agent_state,
  ...SKILL_ERRORS.publish_content,
  ...SKILL_ERRORS.register_openclaw_profile,
})

function httpOf<Code extends string>(
  rows: Readonly<Record<Code, { readonly http: number }>>,
): Readonly<Record<Code, number>> {
  const statuses: Partial<Record<Code, number>> = {}
  for (const code in rows) statuses[code] = rows[code].http
  return statuses as Record<Code, number>
}
