/**
 * MoltBook → domain, for the messages that are signed. A message that passed its schema always
 * decodes; whether its signature holds, its time is now and its sender may is for others to say.
 * Signatures are verified over the message as it was received, never over what comes out here.
 */
import type { Issue } from '@chimera/domain/decision'
import type {
  AgentId,
  CorrelationId,
  InstanceId,
  Instant,
  KeyId,
  PublicKey,
  ReservationId,
  TaskId,
} from '@chimera/domain/ids'
import type { Announcement, Availability } from '@chimera/domain/presence/presence'
import type { Refusal } from '@chimera/domain/refusals'
import { checker, reader } from '../check.ts'
import { centsOf, instantOf, readUuid } from '../wire.ts'
import * as wire from './schema.ts'
import { REASON_MEANS } from './words.ts'

export type PresencePosted = {
  readonly type: 'announce_presence'
  readonly announcement: Announcement
  readonly signature: string
}

export type CapabilitiesDeclared = {
  readonly type: 'declare_capabilities'
  readonly agent: AgentId
  readonly instance: InstanceId
  readonly availability: Availability
  readonly capabilities: readonly string[]
  /** Where the instance takes offers; absent: at its queue. */
  readonly callback?: string
  /** As the message claims. It counts only if it is the key bound to the agent (AV-2). */
  readonly claimedKey: PublicKey
  readonly correlation: CorrelationId
  readonly signedAt: Instant
  readonly expiresAt: Instant
  readonly signature: string
}

/** What an instance needs to promise slots, and the hub to hold the money for them. */
export type ReserveOffered = {
  readonly type: 'reserve_slots'
  readonly planner: AgentId
  readonly task: TaskId
  readonly instance: InstanceId
  readonly slots: number
  readonly deadline: Instant
  readonly maxCostCents: number
  readonly correlation: CorrelationId
  readonly signedAt: Instant
  readonly expiresAt: Instant
  readonly signature: string
}

export type ReserveAnswered = {
  readonly type: 'reserve_answered'
  readonly instance: InstanceId
  readonly task: TaskId
  readonly correlation: CorrelationId
  readonly signedAt?: Instant
  readonly signature: string
} & (
  | { readonly accepted: true; readonly reservation: ReservationId; readonly lapsesAt: Instant }
  | { readonly accepted: false; readonly refusal: Refusal; readonly retryAfterMs?: number }
)

export type ReservationReleased = {
  readonly type: 'release_reservation'
  readonly reservation: ReservationId
  readonly instance: InstanceId
  readonly planner: AgentId
  readonly task: TaskId
  /** The planner no longer needs it, or the instance drains (OC-15). */
  readonly by: 'planner' | 'instance'
  readonly correlation: CorrelationId
  readonly signedAt: Instant
  readonly signature: string
}

export type KeyRotated = {
  readonly type: 'rotate_key'
  readonly agent: AgentId
  readonly oldKey: KeyId
  readonly newKey: PublicKey
  readonly signedAt: Instant
  readonly newSignature: string
  readonly signature: string
}

export function decodePresence(message: wire.Presence): PresencePosted {
  const { capacity, load } = message
  return {
    type: 'announce_presence',
    announcement: {
      agent: readUuid<AgentId>(message.agent_id),
      instance: readUuid<InstanceId>(message.instance_id),
      availability: message.state,
      capabilities: message.capabilities,
      slotsTotal: capacity.slots_total,
      slotsFree: capacity.slots_free,
      load: { cpu: load.cpu, mem: load.mem },
      signedAt: instantOf(message.signed_at),
      expiresAt: instantOf(message.expires_at),
      correlation: message.trace_id as CorrelationId,
    },
    signature: message.signature,
  }
}

export function decodeCapability(message: wire.Capability): CapabilitiesDeclared {
  return {
    type: 'declare_capabilities',
    agent: readUuid<AgentId>(message.agent_id),
    instance: readUuid<InstanceId>(message.instance_id),
    availability: message.state,
    capabilities: message.capabilities,
    ...(message.callback_url !== undefined && { callback: message.callback_url }),
    claimedKey: message.public_key as PublicKey,
    correlation: message.trace_id as CorrelationId,
    signedAt: instantOf(message.signed_at),
    expiresAt: instantOf(message.expires_at),
    signature: message.signature,
  }
}

export function decodeReserveOffer(message: wire.ReserveOffer): ReserveOffered {
  return {
    type: 'reserve_slots',
    planner: readUuid<AgentId>(message.planner_id),
    task: readUuid<TaskId>(message.task_id),
    instance: readUuid<InstanceId>(message.instance_id),
    slots: message.requested_slots,
    deadline: instantOf(message.deadline),
    maxCostCents: centsOf(message.max_cost ?? 0),
    correlation: message.trace_id as CorrelationId,
    signedAt: instantOf(message.signed_at),
    expiresAt: instantOf(message.expires_at),
    signature: message.signature,
  }
}

/** An accept as short as the document's has no trace: there the task's id serves. */
export function decodeReserveAck(message: wire.ReserveAck): ReserveAnswered {
  const task = readUuid<TaskId>(message.task_id)
  const told = {
    type: 'reserve_answered',
    instance: readUuid<InstanceId>(message.instance_id),
    task,
    correlation: (message.trace_id ?? task) as CorrelationId,
    ...(message.signed_at !== undefined && { signedAt: instantOf(message.signed_at) }),
    signature: message.signature,
  } as const
  if (message.accepted) {
    return {
      ...told,
      accepted: true,
      reservation: readUuid<ReservationId>(message.reservation_id ?? ''),
      lapsesAt: instantOf(message.expires_at ?? ''),
    }
  }
  const seconds = message.retry_after_seconds
  return {
    ...told,
    accepted: false,
    refusal: REASON_MEANS[message.reason ?? 'conflict'],
    ...(seconds !== undefined && { retryAfterMs: seconds * 1_000 }),
  }
}

export function decodeRelease(message: wire.Release): ReservationReleased {
  return {
    type: 'release_reservation',
    reservation: readUuid<ReservationId>(message.reservation_id),
    instance: readUuid<InstanceId>(message.instance_id),
    planner: readUuid<AgentId>(message.planner_id),
    task: readUuid<TaskId>(message.task_id),
    by: message.released_by,
    correlation: message.trace_id as CorrelationId,
    signedAt: instantOf(message.signed_at),
    signature: message.signature,
  }
}

export function decodeKeyRotation(message: wire.KeyRotation): KeyRotated {
  return {
    type: 'rotate_key',
    agent: readUuid<AgentId>(message.agent_id),
    oldKey: message.old_key as KeyId,
    newKey: message.new_public_key as PublicKey,
    signedAt: instantOf(message.signed_at),
    newSignature: message.new_signature,
    signature: message.signature,
  }
}

export const readPresence = reader(
  checker(wire.Presence, ({ capacity }) => slotIssues(capacity)),
  decodePresence,
)
export const readCapability = reader(checker(wire.Capability), decodeCapability)
export const readReserveOffer = reader(checker(wire.ReserveOffer), decodeReserveOffer)
export const readReserveAck = reader(checker(wire.ReserveAck), decodeReserveAck)
export const readRelease = reader(checker(wire.Release), decodeRelease)
export const readKeyRotation = reader(checker(wire.KeyRotation), decodeKeyRotation)

function slotIssues({ slots_free, slots_total }: wire.Presence['capacity']): readonly Issue[] {
  if (slots_free <= slots_total) return []
  return [
    {
      path: '/capacity/slots_free',
      expected: `at most slots_total, which is ${slots_total}`,
      got: `${slots_free}`,
    },
  ]
}
