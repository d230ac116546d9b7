/**
 * Domain → MoltBook, for the messages that are signed: each is returned without its signature,
 * which the holder of the key adds. What MoltBook cannot say is in docs/dialects/moltbook.md.
 */

import { accepts, type Standing, tasksOf } from '@chimera/domain/agent/condition'
import type { Refused } from '@chimera/domain/decision'
import type { AgentId, CorrelationId, InstanceId, Instant } from '@chimera/domain/ids'
import {
  type Announcement,
  type Availability,
  presenceExpiry,
} from '@chimera/domain/presence/presence'
import type { Refusal } from '@chimera/domain/refusals'
import type { Rhythm } from '@chimera/domain/voice/cadence'
import type { Reservation } from '@chimera/domain/work/capacity'
import { retryAfterSeconds } from '../error.ts'
import { writeCents, writeInstant } from '../wire.ts'
import type { CapabilitiesDeclared, ReservationReleased, ReserveOffered } from './decode.ts'
import { rejectReason } from './refusals.ts'
import type * as wire from './schema.ts'

export type Unsigned<Message extends { readonly signature: string }> = Omit<Message, 'signature'>

/** How often each state is repeated; `offline` is said once. */
export const RHYTHMS = {
  available: 'steady',
  busy: 'steady',
  draining: 'slow',
  offline: 'silent',
} as const satisfies Record<Availability, Rhythm>

/** the presence column. Who takes nothing new drains while it has work, and then is gone. */
export function encodeStanding({ condition, workload }: Standing): Availability {
  if (condition.name === 'idle') return 'available'
  if (accepts(condition)) return workload.slotsFree > 0 ? 'available' : 'busy'
  if (condition.name === 'stopped') return 'offline'
  return tasksOf(workload) > 0 ? 'draining' : 'offline'
}

export type Announcing = {
  readonly agent: AgentId
  readonly instance: InstanceId
  readonly standing: Standing
  readonly capabilities: readonly string[]
  /** As the machine reports it; what lies outside 0–1 is brought back to the nearest bound. */
  readonly load: { readonly cpu: number; readonly mem: number }
  readonly correlation: CorrelationId
}

/** What an instance has to say of itself. Slots that it will not give away are not free. */
export function announce({ standing, load, ...who }: Announcing, signedAt: Instant): Announcement {
  const availability = encodeStanding(standing)
  const { slotsTotal, slotsFree } = standing.workload
  return {
    ...who,
    availability,
    slotsTotal,
    slotsFree: accepts(standing.condition) ? slotsFree : 0,
    load: { cpu: toShare(load.cpu), mem: toShare(load.mem) },
    signedAt,
    expiresAt: presenceExpiry(availability, signedAt),
  }
}

export function encodePresence(announcement: Announcement): Unsigned<wire.Presence> {
  const { load } = announcement
  return {
    agent_id: announcement.agent,
    instance_id: announcement.instance,
    state: announcement.availability,
    capabilities: [...announcement.capabilities],
    capacity: { slots_total: announcement.slotsTotal, slots_free: announcement.slotsFree },
    load: { cpu: load.cpu, mem: load.mem },
    expires_at: writeInstant(announcement.expiresAt),
    trace_id: announcement.correlation,
    signed_at: writeInstant(announcement.signedAt),
  }
}

export function encodeCapability(
  declared: Omit<CapabilitiesDeclared, 'signature'>,
): Unsigned<wire.Capability> {
  return {
    agent_id: declared.agent,
    instance_id: declared.instance,
    state: declared.availability,
    capabilities: [...declared.capabilities],
    ...(declared.callback !== undefined && { callback_url: declared.callback }),
    public_key: declared.claimedKey,
    trace_id: declared.correlation,
    signed_at: writeInstant(declared.signedAt),
    expires_at: writeInstant(declared.expiresAt),
  }
}

export function encodeReserveOffer(
  offer: Omit<ReserveOffered, 'signature'>,
): Unsigned<wire.ReserveOffer> {
  return {
    planner_id: offer.planner,
    task_id: offer.task,
    instance_id: offer.instance,
    requested_slots: offer.slots,
    deadline: writeInstant(offer.deadline),
    max_cost: writeCents(offer.maxCostCents),
    trace_id: offer.correlation,
    signed_at: writeInstant(offer.signedAt),
    expires_at: writeInstant(offer.expiresAt),
  }
}

export type ReserveOutcome =
  | { readonly ok: true; readonly reservation: Pick<Reservation, 'id' | 'lapsesAt'> }
  | Refused<Refusal>

/** A declined offer is an answered one: an ack with `accepted: false` and the reason. */
export function encodeReserveAck(
  { instance, task, correlation }: Pick<ReserveOffered, 'instance' | 'task' | 'correlation'>,
  outcome: ReserveOutcome,
  now: Instant,
): Unsigned<wire.ReserveAck> {
  const [instance_id, task_id, trace_id] = [instance, task, correlation]
  const signed_at = writeInstant(now)
  if (outcome.ok) {
    const { id: reservation_id, lapsesAt } = outcome.reservation
    const expires_at = writeInstant(lapsesAt)
    return { instance_id, task_id, accepted: true, reservation_id, expires_at, trace_id, signed_at }
  }
  const seconds = retryAfterSeconds(outcome.particulars.retryAt, now)
  return {
    instance_id,
    task_id,
    accepted: false,
    reason: rejectReason(outcome.refusal),
    ...(seconds !== undefined && { retry_after_seconds: seconds }),
    trace_id,
    signed_at,
  }
}

export function encodeRelease(
  released: Omit<ReservationReleased, 'signature'>,
): Unsigned<wire.Release> {
  return {
    reservation_id: released.reservation,
    instance_id: released.instance,
    planner_id: released.planner,
    task_id: released.task,
    released_by: released.by,
    trace_id: released.correlation,
    signed_at: writeInstant(released.signedAt),
  }
}

/** Not a number counts as a full load: it must not make an instance attractive. */
function toShare(load: number): number {
  if (!(load < 1)) return 1
  return load > 0 ? load : 0
}
