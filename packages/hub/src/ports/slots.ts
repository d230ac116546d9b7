/** Slots that are promised, decided in the same batches as the money for them (P-1). */
import type { Decision, Refused } from '@chimera/domain/decision'
import type {
  AgentId,
  CorrelationId,
  Digest,
  HoldId,
  InstanceId,
  Instant,
  ReservationId,
} from '@chimera/domain/ids'
import type { Hold } from '@chimera/domain/money/ledger'
import type { Refusal } from '@chimera/domain/refusals'
import type { BookingFact, ReserveSlots, SlotCommand } from '@chimera/domain/work/booking'
import type { Reservation } from '@chimera/domain/work/capacity'

/** A reservation with where it is, and what has become of it. */
export type KeptReservation = Reservation & {
  readonly instance: InstanceId
  readonly agent: AgentId
  readonly stage: 'promised' | 'taken' | 'ended'
  readonly because?: 'released' | 'lapsed' | 'drained' | 'freed'
}

/** The digest of the signed offer, which gets one answer for as long as it could be believed. */
export type Mandate = { readonly offer: Digest; readonly forgetAt: Instant }

/** As they were made, before anybody has paid from the hold or used the promise. */
export type Made = { readonly reservation: Reservation; readonly hold?: Hold }

export type Promised =
  | {
      readonly ok: true
      readonly reservation: ReservationId
      readonly hold?: HoldId
      /** Where this call made them; what an earlier one made may have changed since. */
      readonly made?: Made
    }
  | Refused<Refusal>

export type Slots = {
  /** Slots and credits, or neither; committed before it answers. */
  readonly reserve: (
    command: ReserveSlots,
    correlation: CorrelationId,
    mandate: Mandate,
  ) => Promise<Promised>
  readonly submit: (
    command: Exclude<SlotCommand, ReserveSlots>,
    correlation: CorrelationId,
  ) => Promise<Decision<BookingFact, Refusal>>
  readonly find: (id: ReservationId) => Promise<KeptReservation | undefined>
  /** The one that has not ended, or the last that was, of each hold that has any. */
  readonly ofHolds: (holds: readonly HoldId[]) => Promise<ReadonlyMap<HoldId, KeptReservation>>
}
