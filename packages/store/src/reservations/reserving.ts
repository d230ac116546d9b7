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
import type { Refusal } from '@chimera/domain/refusals'
import type { Desk, ReserveSlots } from '@chimera/domain/work/booking'
import { claimOf } from '@chimera/domain/work/room'
import type { BookingDecision } from '../ledger/batch.ts'
import type { Ledger } from '../ledger/ledger.ts'

export type Mandate = { readonly offer: Digest; readonly forgetAt: Instant }

export type Promised =
  | { readonly ok: true; readonly reservation: ReservationId; readonly hold?: HoldId }
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
  const submitted = await ledger.submit({ command, correlation, remember })
  // What is remembered under the offer was written by the line above.
  return submitted.decision.ok ? (submitted.answer as Promised) : submitted.decision
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
