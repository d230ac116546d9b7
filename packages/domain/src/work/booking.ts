/**
 * One promise of slot and money (P-1): reservations at instances, the holds that pay for them, and
 * all that moves credits, decided in one order over one state.
 *
 *   B1  A reservation takes slots and credits, or neither.
 *   B2  Confirming a hold turns its promise into slots in use; whatever ends the hold frees them.
 *   B3  A promise that is given back or drained gives its credits back, unless its work has begun.
 *       One that lapses leaves the hold to its own time, which is the same where the two were made
 *       together.
 *   B4  A planner has one promise for a task, at one instance. The same offer finds it.
 *   B5  Credits that the payer has put aside for the task on the same terms serve its offer too.
 */
import { accept, type Decision, refuse } from '../decision.ts'
import type { AgentId, HoldId, InstanceId, Instant, OwnerId, ReservationId } from '../ids.ts'
import { NO_FEE, type SettlementTerms } from '../money/amount.ts'
import { decideHold, decideRelease, type HoldAsked, sweepHolds } from '../money/hold.ts'
import {
  type Books,
  type Draft,
  draftOf,
  holdOf,
  type MoneyFact,
  openBooks,
  record,
} from '../money/ledger.ts'
import { decideMoney, type MoneyCommand } from '../money/money.ts'
import type { Refusal } from '../refusals.ts'
import {
  decideDrain as decideCapacityDrain,
  decideLapse as decideCapacityLapse,
  decideReserve,
  type Reservation,
} from './capacity.ts'
import {
  applySlots,
  asCapacity,
  claimOf,
  emptyRoom,
  isSlotFact,
  type Room,
  type Rooms,
  type Seat,
  type SlotFact,
  seatWhere,
  slotFact,
  slotFacts,
  slotsAfter,
} from './room.ts'

/** The part of the books and rooms that some commands touch; rooms are loaded whole. */
export type Desk = Books & { readonly rooms: Rooms }

export type BookingFact = MoneyFact | SlotFact

export type ReserveSlots = {
  readonly type: 'reserve_slots'
  readonly instance: InstanceId
  /** Whose instance it is. */
  readonly agent: AgentId
  /** As its last verified post says. */
  readonly slotsOwned: number
  readonly draining: boolean
  /** The task's own; the promise and the work's acceptance do not go beyond it. */
  readonly deadline: Instant
  /** Absent for work that costs nothing. */
  readonly money?: {
    readonly hold: HoldId
    readonly payer: OwnerId
    readonly payee: OwnerId
    readonly amountCents: number
  }
} & Pick<Reservation, 'id' | 'planner' | 'task' | 'slots'>

export type SlotCommand =
  | ReserveSlots
  /** By the planner that it was made to, or by the instance's agent. */
  | {
      readonly type: 'release_reservation'
      readonly reservation: ReservationId
      readonly by: AgentId
    }
  | { readonly type: 'drain_instance'; readonly instance: InstanceId }
  /** Nothing but a reason to look: what has lapsed ends before any command is decided. */
  | { readonly type: 'lapse_reservations'; readonly instance: InstanceId }

export type BookingCommand = MoneyCommand | SlotCommand

export type Booked = {
  /** One for each command, in their order. */
  readonly decisions: readonly Decision<BookingFact, Refusal>[]
  /** All facts in the order in which they became true, those of the clock first. */
  readonly facts: readonly BookingFact[]
  readonly desk: Desk
}

export function openDesk(books: Books = openBooks(), rooms: Iterable<Room> = []): Desk {
  return { ...books, rooms: new Map([...rooms].map((room) => [room.instance, room])) }
}

export type BookingRules = {
  readonly terms?: SettlementTerms
  /** Heard before a command changes anything, by its place: a cap that it would go beyond. */
  readonly veto?: (at: number) => Refusal | undefined
}

/** Commands that arrived together, decided one after another; what time has ended goes first. */
export function bookTogether(
  desk: Desk,
  commands: Iterable<BookingCommand>,
  now: Instant,
  { terms = NO_FEE, veto = () => undefined }: BookingRules = {},
): Booked {
  const draft = deskDraft(desk)
  const facts: BookingFact[] = [...sweep(draft, now)]
  const decisions: Decision<BookingFact, Refusal>[] = []
  for (const command of commands) {
    const decided = decideBooking(draft, command, now, terms)
    // What is so already needs nobody's leave.
    const changes = decided.ok && decided.facts.length > 0
    const vetoed = changes ? veto(decisions.length) : undefined
    const decision = vetoed === undefined ? decided : refuse(vetoed)
    decisions.push(decision)
    for (const fact of decision.ok ? decision.facts : []) {
      enter(draft, fact)
      facts.push(fact)
    }
  }
  return { decisions, facts, desk: draft }
}

export function decideBooking(
  desk: Desk,
  command: BookingCommand,
  now: Instant,
  terms: SettlementTerms = NO_FEE,
): Decision<BookingFact, Refusal> {
  switch (command.type) {
    case 'reserve_slots':
      return decideReservation(desk, command, now)
    case 'release_reservation':
      return decideGiveBack(desk, command, now)
    case 'drain_instance':
      return decideDrain(desk, command.instance, now)
    case 'lapse_reservations':
      return accept()
    default: {
      const decision = decideMoney(desk, command, now, terms)
      if (!decision.ok) return decision
      const slots = decision.facts.flatMap((fact) => slotsAfter(desk.rooms, fact, now))
      return accept<BookingFact>(...decision.facts, ...slots)
    }
  }
}

/** A fact is already true, so nothing is checked here. */
export function applyBooking(desk: Desk, facts: Iterable<BookingFact>): Desk {
  const draft = deskDraft(desk)
  for (const fact of facts) enter(draft, fact)
  return draft
}

function decideReservation(
  desk: Desk,
  asked: ReserveSlots,
  now: Instant,
): Decision<BookingFact, Refusal> {
  const { id, instance, agent, planner, task, slots, deadline, money } = asked
  const room = desk.rooms.get(instance) ?? emptyRoom(instance, agent)
  if (room.agent !== agent) return refuse('caller_forbidden')
  const claim = claimOf(desk.rooms, asked)
  if (claim !== undefined && claim.room.instance !== instance) return refuse('task_conflict')

  const measure = { slots: asked.slotsOwned, draining: asked.draining }
  const decision = decideReserve(
    { ...room, ...measure },
    { id, planner, task, slots, deadline },
    now,
  )
  if (!decision.ok) return decision
  const [promise] = decision.facts
  if (promise?.type !== 'slots_reserved') return decideRepeat(desk, asked, claim, now)
  const { reservation } = promise
  if (money === undefined) return accept(slotFact(room, promise, now))

  const held = decideHold(desk, holdAsked(asked, money, reservation.lapsesAt), now)
  if (!held.ok) return held
  const [credits] = held.facts
  const standing = holdOf(desk, money.payer, task)?.id
  const hold = credits?.type === 'credits_held' ? credits.hold.id : standing
  const both = { ...reservation, hold: hold ?? money.hold }
  const slotsReserved = slotFact(room, { type: 'slots_reserved', reservation: both }, now)
  return accept<BookingFact>(...held.facts, slotsReserved)
}

/** B4: what was promised stands if the money is meant as it was. */
function decideRepeat(
  desk: Desk,
  asked: ReserveSlots,
  claim: Seat | undefined,
  now: Instant,
): Decision<BookingFact, Refusal> {
  const { money } = asked
  const hold = (claim?.promised ?? claim?.taken)?.hold
  if (money === undefined || hold === undefined) {
    return money === undefined && hold === undefined ? accept() : refuse('task_conflict')
  }
  const held = decideHold(desk, holdAsked(asked, money, asked.deadline), now)
  if (!held.ok) return held
  return held.facts.length === 0 ? accept() : refuse('task_conflict')
}

function holdAsked(
  { agent, planner, task, deadline }: ReserveSlots,
  { hold, payer, payee, amountCents }: NonNullable<ReserveSlots['money']>,
  lapsesAt: Instant,
): HoldAsked {
  // The planner's signature is the mandate, so it is the payer that asks (CH-15).
  const parties = { payer, payee, agent, hirer: planner, by: payer }
  return { hold, ...parties, task, amountCents, lapsesAt, deadline }
}

function decideGiveBack(
  desk: Desk,
  { reservation: id, by }: { readonly reservation: ReservationId; readonly by: AgentId },
  now: Instant,
): Decision<BookingFact, Refusal> {
  const seat = seatWhere(desk.rooms, (each) => 'id' in each && each.id === id)
  if (seat?.promised === undefined) return refuse('reservation_unknown')
  const { room, promised } = seat
  if (by !== promised.planner && by !== room.agent) return refuse('caller_forbidden')
  return accept<BookingFact>(...endPromise(desk, room, { promised, because: 'released', by }, now))
}

function decideDrain(
  desk: Desk,
  instance: InstanceId,
  now: Instant,
): Decision<BookingFact, Refusal> {
  const room = desk.rooms.get(instance)
  if (room === undefined) return accept()
  const by = room.agent
  return accept<BookingFact>(
    ...slotFacts(room, decideCapacityDrain(asCapacity(room)), now).flatMap((fact) => {
      if (fact.type !== 'reservation_ended') return []
      return endPromise(desk, room, { promised: fact.reservation, because: 'drained', by }, now)
    }),
  )
}

type Ending = {
  readonly promised: Reservation
  readonly because: 'released' | 'drained'
  readonly by: AgentId
}

/** B3. Whoever ends it, the planner withdraws its credits and the agent refuses them. */
function endPromise(
  desk: Desk,
  room: Room,
  { promised, because, by }: Ending,
  now: Instant,
): readonly BookingFact[] {
  const ended = { type: 'reservation_ended', reservation: promised, because } as const
  const hold = promised.hold === undefined ? undefined : desk.holds.get(promised.hold)
  if (hold?.stage !== 'placed') return [slotFact(room, ended, now)]
  const released =
    by === room.agent
      ? decideRelease(desk, { hold: hold.id, because: 'refused', agent: hold.agent }, now)
      : decideRelease(desk, { hold: hold.id, because: 'withdrawn', by: hold.payer }, now)
  return [...(released.ok ? released.facts : []), slotFact(room, ended, now)]
}

function sweep(draft: DeskDraft, now: Instant): readonly BookingFact[] {
  const money = sweepHolds(draft, now)
  const facts: BookingFact[] = [...money]
  const add = (fact: SlotFact) => {
    enter(draft, fact)
    facts.push(fact)
  }
  for (const fact of money) for (const each of slotsAfter(draft.rooms, fact, now)) add(each)
  for (const room of draft.rooms.values()) {
    for (const each of slotFacts(room, decideCapacityLapse(asCapacity(room), now), now)) add(each)
  }
  return facts
}

type DeskDraft = Draft & { readonly rooms: Map<InstanceId, Room> }

function deskDraft(desk: Desk): DeskDraft {
  return { ...draftOf(desk), rooms: new Map(desk.rooms) }
}

function enter(draft: DeskDraft, fact: BookingFact): void {
  if (!isSlotFact(fact)) {
    record(draft, fact)
    return
  }
  draft.rooms.set(fact.instance, applySlots(draft.rooms.get(fact.instance), fact))
}
