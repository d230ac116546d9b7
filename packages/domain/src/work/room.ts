/**
 * Rooms: what is spoken for at each instance, and the facts that change it, which say where and
 * when. What may be promised there is decided by capacity.ts; together with money, by booking.ts.
 */
import type { Decision } from '../decision.ts'
import type { AgentId, HoldId, InstanceId, Instant } from '../ids.ts'
import type { MoneyFact } from '../money/ledger.ts'
import type { Refusal } from '../refusals.ts'
import {
  applyCapacity,
  type Capacity,
  type CapacityFact,
  decideFree,
  decideTake,
  type Occupation,
  type Reservation,
} from './capacity.ts'

/**
 * How many slots an instance has, and whether it drains, comes with each offer: its own last post
 * knows that best.
 */
export type Room = Pick<Capacity, 'instance' | 'reservations' | 'running'> & {
  readonly agent: AgentId
}
export type Rooms = ReadonlyMap<InstanceId, Room>

/** That an instance drains is for its posts to say. */
type Changed = Exclude<CapacityFact, { readonly type: 'drain_begun' }>
export type SlotFact = Changed & {
  readonly at: Instant
  readonly instance: InstanceId
  readonly agent: AgentId
}

/** A promise, or the slots in use that it became. */
export type Seat = { readonly room: Room } & (
  | { readonly promised: Reservation; readonly taken?: never }
  | { readonly taken: Occupation; readonly promised?: never }
)

const SLOT_FACTS: ReadonlySet<string> = new Set<SlotFact['type']>([
  'slots_reserved',
  'slots_taken',
  'slots_freed',
  'reservation_ended',
])

export function isSlotFact(fact: { readonly type: string }): fact is SlotFact {
  return SLOT_FACTS.has(fact.type)
}

export const emptyRoom = (instance: InstanceId, agent: AgentId): Room => ({
  instance,
  agent,
  reservations: [],
  running: [],
})

/** For what takes nothing new, and so is not measured against the slots owned. */
export function asCapacity({ instance, reservations, running }: Room): Capacity {
  return { instance, slots: 0, draining: false, reservations, running }
}

/** A fact is already true, so nothing is checked here. */
export function applySlots(room: Room | undefined, fact: SlotFact): Room {
  const { instance, agent } = fact
  const before = room ?? emptyRoom(instance, agent)
  const { reservations, running } = applyCapacity(asCapacity(before), fact)
  return { instance, agent, reservations, running }
}

export const slotFact = ({ instance, agent }: Room, fact: Changed, at: Instant): SlotFact => ({
  ...fact,
  at,
  instance,
  agent,
})

export const slotFacts = (
  room: Room,
  decision: Decision<CapacityFact, Refusal>,
  at: Instant,
): readonly SlotFact[] =>
  (decision.ok ? decision.facts : []).flatMap((fact) =>
    fact.type === 'drain_begun' ? [] : [slotFact(room, fact, at)],
  )

/** What a fact about a hold does to the slots that go with it. */
export function slotsAfter(rooms: Rooms, fact: MoneyFact, now: Instant): readonly SlotFact[] {
  switch (fact.type) {
    case 'hold_confirmed': {
      const { room, promised } = seatOf(rooms, fact.hold) ?? {}
      if (room === undefined || promised === undefined) return []
      // The reservation names the work: two planners may call their tasks the same.
      const work = promised.id as string as Occupation['work']
      const { planner, task, slots } = promised
      const asked = { work, planner, task, slots, hold: fact.hold }
      // A promise that lapsed before its hold did is gone: the work runs without one.
      return slotFacts(room, decideTake(asCapacity(room), asked, now), now)
    }
    case 'hold_captured':
    case 'hold_released':
    case 'hold_lapsed': {
      const { room, promised, taken } = seatOf(rooms, fact.hold) ?? {}
      if (room === undefined) return []
      if (taken !== undefined) {
        return slotFacts(room, decideFree(asCapacity(room), taken.work), now)
      }
      if (promised === undefined) return []
      const because = fact.type === 'hold_lapsed' ? 'lapsed' : 'released'
      return [slotFact(room, { type: 'reservation_ended', reservation: promised, because }, now)]
    }
    default:
      return []
  }
}

/** What a planner has for a task, wherever that is. */
export function claimOf(
  rooms: Rooms,
  claim: Pick<Reservation, 'planner' | 'task'>,
): Seat | undefined {
  return seatWhere(rooms, ({ planner, task }) => planner === claim.planner && task === claim.task)
}

export function seatWhere(
  rooms: Rooms,
  fits: (each: Reservation | Occupation) => boolean,
): Seat | undefined {
  for (const room of rooms.values()) {
    const promised = room.reservations.find(fits)
    if (promised !== undefined) return { room, promised }
    const taken = room.running.find(fits)
    if (taken !== undefined) return { room, taken }
  }
  return undefined
}

const seatOf = (rooms: Rooms, hold: HoldId) => seatWhere(rooms, (each) => each.hold === hold)
