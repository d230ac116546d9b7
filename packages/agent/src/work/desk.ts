/**
 * The desk of one instance: its slots, who waits for one, and how often it was asked. It holds the
 * domain's states and decides nothing of its own; every change is made in one step, so that no two
 * asks see the same free slot (AV-8).
 *
 *   D1  Slots promised and slots in use together never exceed those owned, under any concurrency.
 *   D2  What waits keeps its place until it is taken out by name.
 */
import type { Workload } from '@chimera/domain/agent/condition'
import type { Decision } from '@chimera/domain/decision'
import type { AgentId, InstanceId, Instant, TaskId, WorkId } from '@chimera/domain/ids'
import type { Desk as AdmissionDesk } from '@chimera/domain/work/admission'
import {
  applyCapacity,
  type Capacity,
  type CapacityFact,
  decideDrain,
  decideFree,
  decideLapse,
  decideRelease,
  decideReserve,
  decideTake,
  nextLapseAt,
  promisedTo,
  type Reservation,
  type ReserveAsked,
  slotsFree,
} from '@chimera/domain/work/capacity'
import { inOrder, type Queued, type WaitingRoom } from '@chimera/domain/work/queue'
import { applyRate, type Rate, type RateFact } from '@chimera/domain/work/rate'

export type Claim = { readonly requester: string; readonly task: TaskId }

export type DeskOptions = {
  readonly instance: InstanceId
  readonly slots: number
  /** Asks a minute in all; absent: as many as come. */
  readonly perMinute?: number
}

export type Desk = {
  /** What the ladder asks of the desk. */
  readonly look: (
    claim: Claim,
    now: Instant,
  ) => Pick<AdmissionDesk, 'rate' | 'room' | 'slotsTotal' | 'slotsFree' | 'reserved'>
  readonly count: (fact: RateFact) => void
  /** Whether the work has its slots now. */
  readonly take: (
    claim: Claim & { readonly work: WorkId; readonly until: Instant },
    now: Instant,
  ) => boolean
  readonly free: (work: WorkId) => void
  readonly queue: (entry: Queued) => void
  readonly unqueue: (work: WorkId) => void
  readonly waits: (work: WorkId) => boolean
  /** Who is next, if there is a slot for it. */
  readonly next: (now: Instant) => Queued | undefined
  readonly room: (now: Instant) => WaitingRoom
  /** Slots that are free, and that nobody here waits for. */
  readonly idle: (now: Instant) => number
  /** Waiting on a person: a task without a slot (OC-19). */
  readonly awaiting: (work: WorkId, does: boolean) => void
  readonly workload: (now: Instant) => Workload
  readonly reserve: (
    asked: ReserveAsked,
    now: Instant,
  ) => Decision<
    CapacityFact,
    'task_conflict' | 'slots_invalid' | 'deadline_too_soon' | 'draining' | 'slots_exhausted'
  >
  /** Puts what the hub has confirmed in the place of what was promised for the moment. */
  readonly settle: (reservation: Reservation) => void
  readonly release: (reservation: Pick<Reservation, 'id' | 'planner'>) => void
  readonly promised: (claim: Claim, now: Instant) => Reservation | undefined
  readonly lapse: (now: Instant) => void
  readonly nextLapseAt: () => Instant | undefined
  /** The unused promises that ended with it. */
  readonly drain: () => readonly Reservation[]
  readonly reopen: () => void
}

// Work that takes longer than was expected is expected to end about now.
const OVERDUE_MS = 1_000

export function createDesk({ instance, slots, perMinute }: DeskOptions): Desk {
  let capacity: Capacity = { instance, slots, draining: false, reservations: [], running: [] }
  // Without a limit nothing is counted, or the memory of a busy minute would be the limit.
  let rate: Rate = { perMinute: perMinute ?? Number.MAX_SAFE_INTEGER, admitted: [], waiting: [] }
  const queue = new Map<WorkId, Queued>()
  const awaiting = new Set<WorkId>()
  const ends = new Map<WorkId, Instant>()

  function apply(decision: Decision<CapacityFact, never>): void {
    if (decision.ok) for (const fact of decision.facts) capacity = applyCapacity(capacity, fact)
  }

  /** When each slot is expected to be free again; those that are free are so now. */
  function lanes(now: Instant): readonly Instant[] {
    const taken = [
      ...capacity.running.map(({ slots: count, work }) => ({
        slots: count,
        at: Math.max(ends.get(work) ?? 0, now + OVERDUE_MS),
      })),
      ...capacity.reservations.map((each) => ({ slots: each.slots, at: each.lapsesAt })),
    ].filter(({ at }) => at > now)
    const busy = taken.flatMap((each) => Array.from({ length: each.slots }, () => each.at))
    return [...busy, ...Array.from({ length: Math.max(0, slots - busy.length) }, () => now)]
  }
  const room = (now: Instant): WaitingRoom => ({
    queue: [...queue.values()],
    slotsFreeAt: lanes(now),
  })
  const idle = (now: Instant): number => Math.max(0, slotsFree(capacity, now) - queue.size)
  const promised = ({ requester, task }: Claim, now: Instant) =>
    promisedTo(capacity, { planner: requester as AgentId, task }, now)

  return {
    look: (claim, now) => {
      // Whoever waits goes before whoever comes.
      const free = idle(now)
      return {
        rate,
        // The waiting room is looked at only by who finds no slot.
        room: free > 0 ? { queue: [], slotsFreeAt: [] } : room(now),
        slotsTotal: slots,
        slotsFree: free,
        reserved: promised(claim, now) !== undefined,
      }
    },
    count: (fact) => {
      if (perMinute !== undefined) rate = applyRate(rate, fact)
    },
    take: ({ requester, task, work, until }, now) => {
      const planner = requester as AgentId
      // What comes here was accepted: draining, it is finished all the same (C4 of the domain).
      const open = capacity.draining ? { ...capacity, draining: false } : capacity
      const decision = decideTake(open, { work, planner, task, slots: 1 }, now)
      if (!decision.ok) return false
      for (const fact of decision.facts) capacity = applyCapacity(capacity, fact)
      ends.set(work, until)
      return true
    },
    free: (work) => {
      apply(decideFree(capacity, work))
      ends.delete(work)
    },
    queue: (entry) => {
      queue.set(entry.work, entry)
    },
    unqueue: (work) => {
      queue.delete(work)
    },
    waits: (work) => queue.has(work),
    next: (now) =>
      slotsFree(capacity, now) > 0 ? inOrder([...queue.values()], now)[0] : undefined,
    room,
    idle,
    awaiting: (work, does) => {
      if (does) awaiting.add(work)
      else awaiting.delete(work)
    },
    workload: (now) => ({
      running: capacity.running.length,
      awaiting: awaiting.size,
      slotsTotal: slots,
      slotsFree: Math.max(0, slotsFree(capacity, now)),
    }),
    reserve: (asked, now) => {
      const decision = decideReserve(capacity, asked, now)
      if (decision.ok) {
        for (const fact of decision.facts) capacity = applyCapacity(capacity, fact)
      }
      return decision
    },
    settle: (reservation) => {
      capacity = applyCapacity(capacity, { type: 'slots_reserved', reservation })
    },
    release: ({ id, planner }) => {
      const decision = decideRelease(capacity, { id, by: planner })
      if (decision.ok) {
        for (const fact of decision.facts) capacity = applyCapacity(capacity, fact)
      }
    },
    promised,
    lapse: (now) => apply(decideLapse(capacity, now)),
    nextLapseAt: () => nextLapseAt(capacity),
    drain: () => {
      const unused = capacity.reservations
      apply(decideDrain(capacity))
      return unused
    },
    reopen: () => {
      capacity = { ...capacity, draining: false }
    },
  }
}
