/**
 * Reserving by a signed offer: decided by the ledger, remembered under the offer, so that showing
 * it again finds what it was answered, also when the payer has withdrawn meanwhile (AV-8).
 */
import type { Refused } from '@chimera/domain/decision'
import type {
  CorrelationId,
  Digest,
  HoldId,
  IdempotencyKey,
  Instant,
  ReservationId,
} from '@chimera/domain/ids'
import type { Hold } from '@chimera/domain/money/ledger'
import type { Refusal } from '@chimera/domain/refusals'
import type { Desk, ReserveSlots } from '@chimera/domain/work/booking'
import type { Reservation } from '@chimera/domain/work/capacity'
import { claimOf } from '@chimera/domain/work/room'
import type { BookingDecision } from '../ledger/batch.ts'
import type { Ledger } from '../ledger/ledger.ts'

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

export async function reserveOnce(
  ledger: Pick<Ledger, 'submit'>,
  command: ReserveSlots,
  correlation: CorrelationId,
  { offer, forgetAt }: Mandate,
): Promise<Promised> {
  const key = offer as string as IdempotencyKey
  const scope = { requester: command.planner, responder: command.instance, key }
  const answer = (decision: BookingDecision, desk: Desk) => answerOf(decision, desk, command)
  const remember = { scope, content: offer, answer, forgetAt }
  let made: Made | undefined
  const look = (decision: BookingDecision, desk: Desk): void => {
    made = madeBy(decision, desk, command)
  }
  const submitted = await ledger.submit({ command, correlation, remember, look })
  if (!submitted.decision.ok) return submitted.decision
  // What is remembered under the offer was written by the line above.
  const answered = submitted.answer as Promised
  const isNew = answered.ok && !submitted.repeated && made !== undefined
  return isNew ? { ...answered, ...(made && { made }) } : answered
}

/** Undefined where it found a promise, or credits that were put aside before. */
function madeBy(decision: BookingDecision, desk: Desk, command: ReserveSlots): Made | undefined {
  const { promised } = claimOf(desk.rooms, command) ?? {}
  if (!decision.ok || promised?.id !== command.id) return undefined
  if (command.money === undefined) return { reservation: promised }
  const hold = desk.holds.get(command.money.hold)
  return hold && { reservation: promised, hold }
}

function answerOf(decision: BookingDecision, desk: Desk, command: ReserveSlots): Promised {
  if (!decision.ok) return decision
  const { promised, taken } = claimOf(desk.rooms, command) ?? {}
  const id: string | undefined = promised?.id ?? taken?.work
  if (id === undefined) throw new Error('an accepted offer without its reservation')
  const reservation = id as ReservationId
  const hold = (promised ?? taken)?.hold
  return hold === undefined ? { ok: true, reservation } : { ok: true, reservation, hold }
}
