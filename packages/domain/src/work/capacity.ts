/**
 * Slots: how much an instance can take on, and who has spoken for it.
 *
 *   C1  Slots promised and slots in use together never exceed slots owned.
 *   C2  A promise is made to one planner for one task, and lapses by itself.
 *   C3  A planner that asks again for the same task is given the promise it already holds.
 *   C4  A draining instance takes nothing new, gives unused promises back, and finishes the rest.
 *   C5  A promise is used once, by work of the same planner for the same task (AV-8).
 */
import { accept, type Decision, refuse } from '../decision.ts'
import type { AgentId, HoldId, InstanceId, Instant, ReservationId, TaskId, WorkId } from '../ids.ts'
import { LIMITS } from '../limits.ts'

export type Reservation = {
  readonly id: ReservationId
  readonly planner: AgentId
  readonly task: TaskId
  readonly slots: number
  readonly lapsesAt: Instant
  /** The money that was put aside together with the slots (P-1). */
  readonly hold?: HoldId
}

/** Work that runs. Who asked and for what task is kept, so that a repeated offer is recognised. */
export type Occupation = {
  readonly work: WorkId
  readonly planner: AgentId
  readonly task: TaskId
  readonly slots: number
  /** The money that was put aside for it, where it came on a promise of both. */
  readonly hold?: HoldId
}

export type Capacity = {
  readonly instance: InstanceId
  readonly slots: number
  readonly draining: boolean
  readonly reservations: readonly Reservation[]
  readonly running: readonly Occupation[]
}

/** `deadline` is the task's own: a promise never outlives it. */
export type ReserveAsked = Omit<Reservation, 'lapsesAt'> & { readonly deadline: Instant }

export type CapacityFact =
  | { readonly type: 'slots_reserved'; readonly reservation: Reservation }
  | { readonly type: 'slots_taken'; readonly occupation: Occupation }
  | { readonly type: 'slots_freed'; readonly work: WorkId }
  | {
      readonly type: 'reservation_ended'
      readonly reservation: Reservation
      readonly because: 'released' | 'lapsed' | 'drained'
    }
  | { readonly type: 'drain_begun' }

// Written out, and not spread (decision 0082).
function promiseOf(asked: Omit<Reservation, 'lapsesAt'>, lapsesAt: Instant): Reservation {
  const { id, planner, task, slots, hold } = asked
  const promise = { id, planner, task, slots, lapsesAt }
  return hold === undefined ? promise : { id, planner, task, slots, lapsesAt, hold }
}

/** Strongest first: when several apply, the asker hears the first. */
export type ReserveRefusal =
  | 'task_conflict'
  | 'slots_invalid'
  | 'deadline_too_soon'
  | 'draining'
  | 'slots_exhausted'

export function decideReserve(
  capacity: Capacity,
  { deadline, ...asked }: ReserveAsked,
  now: Instant,
): Decision<CapacityFact, ReserveRefusal> {
  const held = holding(capacity, asked, now)
  if (held !== undefined) return held.slots === asked.slots ? accept() : refuse('task_conflict')

  if (!Number.isSafeInteger(asked.slots) || asked.slots < 1) return refuse('slots_invalid')
  if (deadline <= now) return refuse('deadline_too_soon')
  if (capacity.draining) return refuse('draining')
  if (asked.slots > slotsFree(capacity, now)) return exhausted(capacity, now)

  const lapsesAt = Math.min(now + LIMITS.reservationMs, deadline)
  return accept({ type: 'slots_reserved', reservation: promiseOf(asked, lapsesAt) })
}

/** Work begins: on the promise that its planner holds for this task, or on slots that are free. */
export function decideTake(
  capacity: Capacity,
  asked: Occupation,
  now: Instant,
): Decision<CapacityFact, 'slots_invalid' | 'draining' | 'slots_exhausted'> {
  if (capacity.running.some((each) => each.work === asked.work)) return accept()

  const promised = promisedTo(capacity, asked, now)
  if (promised !== undefined) {
    return accept({ type: 'slots_taken', occupation: { ...asked, slots: promised.slots } })
  }
  if (!Number.isSafeInteger(asked.slots) || asked.slots < 1) return refuse('slots_invalid')
  if (capacity.draining) return refuse('draining')
  if (asked.slots > slotsFree(capacity, now)) return exhausted(capacity, now)
  return accept({ type: 'slots_taken', occupation: asked })
}

export function decideFree(capacity: Capacity, work: WorkId): Decision<CapacityFact, never> {
  const runs = capacity.running.some((each) => each.work === work)
  return runs ? accept({ type: 'slots_freed', work }) : accept()
}

export function decideRelease(
  capacity: Capacity,
  { id, by }: { readonly id: ReservationId; readonly by: AgentId },
): Decision<CapacityFact, 'reservation_unknown' | 'caller_forbidden'> {
  const reservation = capacity.reservations.find((each) => each.id === id)
  if (reservation === undefined) return refuse('reservation_unknown')
  if (reservation.planner !== by) return refuse('caller_forbidden')
  return accept({ type: 'reservation_ended', reservation, because: 'released' })
}

/** What has lapsed by now. Nothing waits for this: a lapsed promise counts for nothing already. */
export function decideLapse(capacity: Capacity, now: Instant): Decision<CapacityFact, never> {
  const lapsed = capacity.reservations.filter((each) => each.lapsesAt <= now)
  return accept(...lapsed.map((reservation) => ended(reservation, 'lapsed')))
}

export function decideDrain(capacity: Capacity): Decision<CapacityFact, never> {
  if (capacity.draining) return accept()
  return accept<CapacityFact>(
    { type: 'drain_begun' },
    ...capacity.reservations.map((reservation) => ended(reservation, 'drained')),
  )
}

/** A fact is already true, so nothing is checked here. */
export function applyCapacity(capacity: Capacity, fact: CapacityFact): Capacity {
  const { reservations, running } = capacity
  switch (fact.type) {
    case 'slots_reserved': {
      // A promise that lapsed makes way for the new one of the same task.
      const at = placeOf(reservations, fact.reservation)
      const all = [...reservations]
      all[at < 0 ? all.length : at] = fact.reservation
      return { ...capacity, reservations: all }
    }
    case 'slots_taken':
      return {
        ...capacity,
        reservations:
          reservations.length === 0
            ? reservations
            : reservations.filter((each) => !sameTask(each, fact.occupation)),
        running: [...running, fact.occupation],
      }
    case 'slots_freed':
      return { ...capacity, running: running.filter((each) => each.work !== fact.work) }
    case 'reservation_ended':
      return {
        ...capacity,
        reservations: reservations.filter((each) => each.id !== fact.reservation.id),
      }
    case 'drain_begun':
      return { ...capacity, draining: true }
  }
}

/** Looked at for every offer and every ask, over as many as an instance has slots: no copies. */
export function slotsFree({ slots, reservations, running }: Capacity, now: Instant): number {
  let free = slots
  for (const each of reservations) if (each.lapsesAt > now) free -= each.slots
  for (const each of running) free -= each.slots
  return free
}

/** What this planner is promised for this task, and has not used. */
export function promisedTo(
  { reservations }: Pick<Capacity, 'reservations'>,
  claim: Claim,
  now: Instant,
): Reservation | undefined {
  const promised = reservations[placeOf(reservations, claim)]
  return promised !== undefined && promised.lapsesAt > now ? promised : undefined
}

/** When the next promise lapses, so that whoever keeps time can wake then. */
export function nextLapseAt(capacity: Capacity): Instant | undefined {
  if (capacity.reservations.length === 0) return undefined
  return Math.min(...capacity.reservations.map((each) => each.lapsesAt))
}

type Claim = Pick<Reservation, 'planner' | 'task'>

/** What this planner already has for this task: an unused promise, or the slots in use. */
function holding(capacity: Capacity, claim: Claim, now: Instant): { slots: number } | undefined {
  const { running } = capacity
  return promisedTo(capacity, claim, now) ?? running[placeOf(running, claim)]
}

/** A planner has one promise, or one piece of work, for a task (C2). */
function placeOf(all: readonly Claim[], { planner, task }: Claim): number {
  for (let at = 0; at < all.length; at += 1) {
    const each = all[at]
    // Tasks differ where planners are often the same.
    if (each?.task === task && each.planner === planner) return at
  }
  return -1
}

function exhausted(capacity: Capacity, now: Instant) {
  const figures = { free: slotsFree(capacity, now), total: capacity.slots }
  const retryAt = nextLapseAt(capacity)
  return refuse('slots_exhausted', retryAt === undefined ? { figures } : { figures, retryAt })
}

const ended = (reservation: Reservation, because: 'lapsed' | 'drained'): CapacityFact => ({
  type: 'reservation_ended',
  reservation,
  because,
})
const sameTask = (one: Claim, other: Claim) =>
  one.task === other.task && one.planner === other.planner
