/**
 * Holds, for those who place them, are paid from them and look at them (CH-15, P-3, P-9).
 *
 *   H1  Only the payer places a hold and withdraws it, by its token or by its agent's key.
 *   H2  Only the agent that a hold names accepts it, captures it and gives it up. What moves its
 *       score, a success and a failure, it signs itself: a short-lived token is not enough.
 *   H3  A hold is seen by its payer, its payee, whoever funds it, and operators.
 *   H4  What time has ended is shown as ended, swept or not.
 */
import type {
  Capture,
  Confirmation,
  HoldsSought,
  HoldWanted,
  RefundWanted,
  ReleaseWord,
  ShownHold,
} from '@chimera/dialects/chimera'
import { type Refused, refuse } from '@chimera/domain/decision'
import type {
  AgentId,
  CorrelationId,
  HoldId,
  Instant,
  OwnerId,
  ReservationId,
} from '@chimera/domain/ids'
import { endsAt, isInForce } from '@chimera/domain/money/hold'
import type { Hold } from '@chimera/domain/money/ledger'
import type { MoneyCommand } from '@chimera/domain/money/money'
import type { Refusal } from '@chimera/domain/refusals'
import type { Spend } from '../ports/money.ts'
import type { KeptReservation } from '../ports/slots.ts'
import { findNewest } from './agents.ts'
import { type Caller, forbidden, isOperator, permit, permitOwner } from './caller.ts'
import type { Hub } from './hub.ts'
import { checkOutput } from './output.ts'

export type HoldFound = {
  readonly ok: true
  readonly hold?: ShownHold
  readonly reservation?: KeptReservation
}
type Outcome = Promise<HoldFound | Refused<Refusal>>

/** The trace that it came under is its fact's, so that both are found together. */
export async function placeHold(
  hub: Hub,
  caller: Caller,
  asked: HoldWanted,
  trace?: CorrelationId,
): Outcome {
  const payer = asked.payer ?? caller.owner
  if (payer === undefined) return wrong('/payer_id', 'a name, since nobody is known to ask')
  const permitted = permitOwner(caller, 'money', payer)
  if (!permitted.ok) return permitted
  const agent = await findNewest(hub, asked.agent)
  if (agent === undefined) return refuse('agent_unknown')
  const hirer = hirerOf(hub, caller, { payer, named: asked.hirer })
  if (!hirer.ok) return hirer

  const { hold = hub.uuid() as HoldId, payer: _, hirer: __, ...terms } = asked
  const earlier = asked.hold === undefined ? undefined : await hub.keep.money.hold(hold)
  if (earlier !== undefined) {
    return isRepeat(earlier, asked, payer) ? showHold(hub, earlier) : refuse('key_conflict')
  }
  const now = hub.now()
  if (asked.lapsesAt <= now) return wrong('/expires_at', 'a time to come')
  if ((asked.deadline ?? now + 1) <= now) return refuse('deadline_too_soon')
  const command = {
    type: 'hold_credits',
    ...terms,
    hold,
    payer,
    payee: agent.owner,
    by: payer,
    ...(hirer.agent !== undefined && { hirer: hirer.agent }),
  } as const
  const correlation = trace ?? (asked.task as string as CorrelationId)
  const spend = spending(caller, asked.amountCents)
  const decision = await hub.keep.money.submit(command, correlation, spend)
  if (!decision.ok) return decision
  hub.asides.noteAsked({ task: asked.task, correlation, at: now })
  const placed = await hub.keep.money.holdOf(payer, asked.task)
  return placed === undefined ? refuse('service_unavailable') : showHold(hub, placed)
}

export async function confirmHold(
  hub: Hub,
  caller: Caller,
  id: HoldId,
  { priceCents, deadline }: Confirmation,
): Outcome {
  const hold = await findAsAgent(hub, caller, id)
  if ('ok' in hold) return hold
  const terms = deadline === undefined ? { priceCents } : { priceCents, deadline }
  return order(hub, hold, { type: 'confirm_hold', hold: id, agent: hold.agent, ...terms })
}

/** The signed success: worth the price only if the output is what the agent promised. */
export async function captureHold(
  hub: Hub,
  caller: Caller,
  id: HoldId,
  { transfer, amountCents, skill, output }: Capture,
): Outcome {
  const hold = await findAsAgent(hub, caller, id, 'signed')
  if ('ok' in hold) return hold
  const { agent } = hold
  const checked = checkOutput(hub, { agent, skill, output })
  if (!checked.ok) return checked
  return order(hub, hold, { type: 'capture_hold', hold: id, transfer, agent, amountCents })
}

/** Of a hold, or of a reservation that costs nothing and so has none. */
export async function releaseHold(
  hub: Hub,
  caller: Caller,
  id: HoldId,
  because: ReleaseWord,
): Outcome {
  const hold = await hub.keep.money.hold(id)
  if (hold === undefined) return releaseSlots(hub, caller, id as string as ReservationId, because)
  if (because === 'withdrawn') {
    const permitted = permitOwner(caller, 'money', hold.payer)
    if (!permitted.ok) return permitted
    return order(hub, hold, { type: 'release_hold', hold: id, because, by: hold.payer })
  }
  const permitted = permitHired(caller, hold.agent, because === 'failed' ? 'signed' : 'known')
  if (!permitted.ok) return permitted
  return order(hub, hold, { type: 'release_hold', hold: id, because, agent: hold.agent })
}

/** By the payee, of what this hold has paid it. */
export async function refundHold(
  hub: Hub,
  caller: Caller,
  id: HoldId,
  { transfer, amountCents }: RefundWanted,
): Outcome {
  const hold = await hub.keep.money.hold(id)
  if (hold === undefined) return refuse('hold_unknown')
  const permitted = permitOwner(caller, 'money', hold.payee)
  if (!permitted.ok) return permitted
  const { payer, payee, task } = hold
  const payments = await hub.keep.money.payments({ owner: payer, task, limit: 10 })
  const payment = payments.find((each) => each.kind === 'payment' && each.hold === id)
  if (payment === undefined) return refuse('work_not_begun')
  const refund = { transfer, of: payment.transfer, amountCents, by: payee }
  return order(hub, hold, { type: 'refund_credits', ...refund }, spending(caller, amountCents))
}

export async function findHold(hub: Hub, caller: Caller, id: HoldId): Outcome {
  const permitted = permit(caller, 'read')
  if (!permitted.ok) return permitted
  const hold = await hub.keep.money.hold(id)
  if (hold === undefined) return refuse('hold_unknown')
  return isOperator(caller) || isParty(caller, hold) ? showHold(hub, hold) : forbidden()
}

export async function listHolds(
  hub: Hub,
  caller: Caller,
  sought: HoldsSought,
): Promise<{ readonly ok: true; readonly holds: readonly ShownHold[] } | Refused<Refusal>> {
  const permitted = permit(caller, 'read')
  if (!permitted.ok) return permitted
  const { owner } = caller
  if (owner === undefined && !isOperator(caller)) return forbidden()
  const filter = isOperator(caller) || owner === undefined ? sought : { ...sought, owner }
  const holds = await hub.keep.money.holds(filter)
  const costs = await hub.keep.money.costs(holds.map(({ id }) => id))
  const now = hub.now()
  return { ok: true, holds: holds.map((hold) => asShown(hold, costs.get(hold.id) ?? 0, now)) }
}

/** A hold as it is now, with the slots that go with it. */
export async function showHold(hub: Hub, hold: Hold): Promise<HoldFound> {
  const [costs, reservations] = await Promise.all([
    hub.keep.money.costs([hold.id]),
    hub.keep.slots.ofHolds([hold.id]),
  ])
  const { id } = hold
  return found(hub, hold, { costCents: costs.get(id), reservation: reservations.get(id) })
}

function found(
  hub: Hub,
  hold: Hold,
  {
    costCents = 0,
    reservation,
  }: {
    readonly costCents: number | undefined
    readonly reservation: KeptReservation | undefined
  },
): HoldFound {
  const shown = asShown(hold, costCents, hub.now())
  return { ok: true, hold: shown, ...(reservation && { reservation: lapsed(reservation, hub) }) }
}

export async function showSlots(hub: Hub, id: ReservationId): Outcome {
  const reservation = await hub.keep.slots.find(id)
  if (reservation === undefined) return refuse('reservation_unknown')
  const hold = reservation.hold && (await hub.keep.money.hold(reservation.hold))
  const shown = hold ? await showHold(hub, hold) : { ok: true as const }
  return { ...shown, reservation: lapsed(reservation, hub) }
}

async function order(hub: Hub, hold: Hold, command: MoneyCommand, spend?: Spend): Outcome {
  const correlation = hold.task as string as CorrelationId
  const decision = await hub.keep.money.submit(command, correlation, spend)
  return decision.ok ? showById(hub, hold.id) : decision
}

/** All of it is asked for together. */
async function showById(hub: Hub, id: HoldId): Outcome {
  const [hold, costs, reservations] = await Promise.all([
    hub.keep.money.hold(id),
    hub.keep.money.costs([id]),
    hub.keep.slots.ofHolds([id]),
  ])
  return hold === undefined
    ? refuse('service_unavailable')
    : found(hub, hold, { costCents: costs.get(id), reservation: reservations.get(id) })
}

async function releaseSlots(
  hub: Hub,
  caller: Caller,
  id: ReservationId,
  because: ReleaseWord,
): Outcome {
  const reservation = await hub.keep.slots.find(id)
  if (reservation === undefined) return refuse('hold_unknown')
  const { agent, planner, hold, stage, task } = reservation
  if (hold !== undefined) return releaseHold(hub, caller, hold, because)
  const by = because === 'withdrawn' ? planner : agent
  const permitted = permitHired(caller, by, 'known')
  if (!permitted.ok) return permitted
  if (stage !== 'ended') {
    const command = { type: 'release_reservation', reservation: id, by } as const
    const decision = await hub.keep.slots.submit(command, task as string as CorrelationId)
    // Ended by somebody else, or by time, in between: it is as it was asked for.
    if (!decision.ok && decision.refusal !== 'reservation_unknown') return decision
  }
  return showSlots(hub, id)
}

/** Which of the payer's agents hires: the one that signed, or one that the owner names. */
function hirerOf(
  hub: Hub,
  caller: Caller,
  { payer, named }: { readonly payer: OwnerId; readonly named: AgentId | undefined },
): { readonly ok: true; readonly agent?: AgentId } | Refused<Refusal> {
  const ownerOf = (id: AgentId) => hub.directory.find(id)?.owner
  if (named === undefined) {
    const { agent } = caller
    return agent !== undefined && ownerOf(agent) === payer ? { ok: true, agent } : { ok: true }
  }
  const speaks = caller.open || caller.token !== undefined || caller.agent === named
  if (!speaks) return forbidden()
  const owner = ownerOf(named)
  if (owner === undefined) return refuse('agent_unknown')
  return owner === payer ? { ok: true, agent: named } : forbidden()
}

async function findAsAgent(
  hub: Hub,
  caller: Caller,
  id: HoldId,
  proof: 'known' | 'signed' = 'known',
): Promise<Hold | Refused<Refusal>> {
  const hold = await hub.keep.money.hold(id)
  if (hold === undefined) return refuse('hold_unknown')
  const permitted = permitHired(caller, hold.agent, proof)
  return permitted.ok ? hold : permitted
}

/** H2: the agent itself, not just its owner. */
function permitHired(caller: Caller, agent: AgentId, proof: 'known' | 'signed') {
  if (caller.open) return permit(caller, 'agents')
  const itself = caller.agent === agent && (proof === 'known' || !caller.session)
  return itself ? permit(caller, 'agents') : forbidden()
}

function isParty({ owner }: Caller, { payer, payee, funder }: Hold): boolean {
  return owner !== undefined && [payer, payee, funder].includes(owner)
}

const isRepeat = (hold: Hold, asked: HoldWanted, payer: OwnerId): boolean =>
  hold.payer === payer &&
  hold.agent === asked.agent &&
  hold.task === asked.task &&
  hold.amountCents === asked.amountCents &&
  hold.parent === asked.parent

export function asShown(hold: Hold, costCents: number, now: Instant): ShownHold {
  const shown = { ...hold, costCents, endsAt: endsAt(hold) }
  const stands = hold.stage === 'placed' || hold.stage === 'confirmed'
  if (!stands || isInForce(hold, now)) return shown
  const over = { ...shown, leftCents: 0 }
  return hold.stage === 'placed'
    ? { ...over, stage: 'lapsed' }
    : { ...over, stage: 'released', because: 'overdue' }
}

function lapsed(reservation: KeptReservation, hub: Hub): KeptReservation {
  const over = reservation.stage === 'promised' && reservation.lapsesAt <= hub.now()
  return over ? { ...reservation, stage: 'ended', because: 'lapsed' } : reservation
}

const spending = ({ token }: Caller, amountCents: number): Spend | undefined =>
  token && { token: token.digest, amountCents }

function wrong(path: string, expected: string): Refused<'message_malformed'> {
  return refuse('message_malformed', { issues: [{ path, expected, got: 'something else' }] })
}
