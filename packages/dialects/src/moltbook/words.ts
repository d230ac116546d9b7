/**
 * The words of MoltBook, and the tables that turn them into the domain's and back.
 */
import type { InstanceId } from '@chimera/domain/ids'
import type { Availability, PresenceRefusal } from '@chimera/domain/presence/presence'
import type { Refusal } from '@chimera/domain/refusals'

/** Where presence is posted (AV-1). */
export const PRESENCE_TOPIC = 'moltbook.presence.openswarm'
/** Where capabilities are declared (AV-2). */
export const CAPABILITY_TOPIC = 'moltbook.capability.chimera'
/** Where an instance without a `callback_url` takes its offers. */
export const reserveQueue = (instance: InstanceId): string => `moltbook.reserve.${instance}`

export const STATES = ['available', 'busy', 'draining', 'offline'] as const satisfies Availability[]

export const REJECT_REASONS = [
  'no_slot',
  'draining',
  'unknown_planner',
  'bad_signature',
  'no_credit',
  'expired',
  'conflict',
] as const
export type RejectReason = (typeof REJECT_REASONS)[number]

/** What a planner understands by a reject: the plainest refusal that is told by this word. */
export const REASON_MEANS = {
  no_slot: 'slots_exhausted',
  draining: 'draining',
  unknown_planner: 'planner_unknown',
  bad_signature: 'signature_invalid',
  no_credit: 'funds_short',
  expired: 'message_expired',
  conflict: 'task_conflict',
} as const satisfies Record<RejectReason, Refusal>

/** What came of looking at a post: believed, or why not. */
export type Verdict =
  | 'verified'
  | 'agent_unknown'
  | 'key_mismatch'
  | 'signature_invalid'
  | PresenceRefusal

export const VERIFICATION_WORDS = {
  verified: 'verified',
  agent_unknown: 'unknown_agent',
  key_mismatch: 'wrong_key',
  signature_invalid: 'bad_signature',
  slots_invalid: 'bad_slots',
  expiry_too_far: 'expiry_too_far',
  caller_forbidden: 'foreign_instance',
  message_early: 'not_yet_valid',
  message_expired: 'expired',
  message_replayed: 'replayed',
  message_outdated: 'outdated',
} as const satisfies Record<Verdict, string>
export type Verification = (typeof VERIFICATION_WORDS)[Verdict]
export const VERIFICATIONS = Object.values(VERIFICATION_WORDS)

/** The way back. */
export const VERDICTS = {
  verified: 'verified',
  unknown_agent: 'agent_unknown',
  wrong_key: 'key_mismatch',
  bad_signature: 'signature_invalid',
  bad_slots: 'slots_invalid',
  expiry_too_far: 'expiry_too_far',
  foreign_instance: 'caller_forbidden',
  not_yet_valid: 'message_early',
  expired: 'message_expired',
  replayed: 'message_replayed',
  outdated: 'message_outdated',
} as const satisfies Record<Verification, Verdict>

/**
 * Events on one page: even when every post names as many capabilities as it may, once in its row
 * and once in its raw message, the page stays below the number of values that a reader takes.
 */
export const EVENTS_PER_PAGE = 200
