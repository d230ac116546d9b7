/** Reservations as rows, and the rooms that they make up. */
import type {
  AgentId,
  HoldId,
  InstanceId,
  Instant,
  ReservationId,
  TaskId,
  WorkId,
} from '@chimera/domain/ids'
import type { Occupation, Reservation } from '@chimera/domain/work/capacity'
import type { Room } from '@chimera/domain/work/room'

export type ReservationStage = 'promised' | 'taken' | 'ended'
export type ReservationEnd = 'released' | 'lapsed' | 'drained' | 'freed'

export type ReservationRow = {
  readonly id: ReservationId
  readonly instance: InstanceId
  readonly agent: AgentId
  readonly planner: AgentId
  readonly task: TaskId
  readonly slots: number
  readonly lapses_at: Instant
  readonly hold: HoldId | null
  readonly stage: ReservationStage
  readonly because: ReservationEnd | null
}

/** A reservation with where it is, and what has become of it. */
export type KeptReservation = Reservation & {
  readonly instance: InstanceId
  readonly agent: AgentId
  readonly stage: ReservationStage
  readonly because?: ReservationEnd
}

export function reservationOfRow(row: ReservationRow): KeptReservation {
  return {
    ...promiseOf(row),
    instance: row.instance,
    agent: row.agent,
    stage: row.stage,
    ...(row.because === null ? {} : { because: row.because }),
  }
}

/** From all rows of some instances that have not ended. */
export function roomsOf(rows: readonly ReservationRow[]): readonly Room[] {
  const byInstance = new Map<InstanceId, ReservationRow[]>()
  for (const row of rows) {
    const others = byInstance.get(row.instance)
    if (others === undefined) byInstance.set(row.instance, [row])
    else others.push(row)
  }
  return [...byInstance].flatMap(([instance, [first, ...more]]) => {
    if (first === undefined) return []
    const all = [first, ...more]
    return {
      instance,
      agent: first.agent,
      reservations: all.filter(({ stage }) => stage === 'promised').map(promiseOf),
      running: all.filter(({ stage }) => stage === 'taken').map(occupationOf),
    }
  })
}

function promiseOf({ id, planner, task, slots, lapses_at, hold }: ReservationRow): Reservation {
  const lapsesAt = lapses_at
  const promise = { id, planner, task, slots, lapsesAt }
  return hold === null ? promise : { id, planner, task, slots, lapsesAt, hold }
}

/** The reservation names the work that came on it. */
function occupationOf({ id, planner, task, slots, hold }: ReservationRow): Occupation {
  const work = id as string as WorkId
  return hold === null ? { work, planner, task, slots } : { work, planner, task, slots, hold }
}
