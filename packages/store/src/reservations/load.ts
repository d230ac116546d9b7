/**
 * From commands to the rooms that they touch, locked.
 *
 *   R1  Locked are instances, each by its name, after the accounts and in one order. Whoever
 *       promises, takes or frees a slot of an instance holds its lock.
 *   R2  Where a task, a hold or a reservation is seated is read before the locks and again under
 *       them. If that has changed, the caller begins anew.
 *   R3  A room is loaded whole: every promise and every piece of work that has not ended.
 */
import type { AgentId, HoldId, InstanceId, ReservationId, TaskId } from '@chimera/domain/ids'
import type { BookingCommand } from '@chimera/domain/work/booking'
import { ADVISORY, type Queries } from '../engine/database.ts'
import type { ReservationRow } from './rows.ts'

export type SlotsWanted = {
  readonly instances: ReadonlySet<InstanceId>
  readonly reservations: ReadonlySet<ReservationId>
  /** By planner and task: wherever that is seated. */
  readonly claims: readonly { readonly planner: AgentId; readonly task: TaskId }[]
}

/** One index for each way to be named. */
const SEATS = `
  WITH asked AS (SELECT $1::json AS list)
  SELECT seat.* FROM asked, json_array_elements_text(list -> 'instances') AS each (id)
    JOIN reservations seat ON seat.instance = each.id AND seat.stage <> 'ended'
  UNION
  SELECT seat.* FROM asked, json_array_elements_text(list -> 'reservations') AS each (id)
    JOIN reservations seat ON seat.id = each.id AND seat.stage <> 'ended'
  UNION
  SELECT seat.* FROM asked, json_array_elements_text(list -> 'holds') AS each (id)
    JOIN reservations seat ON seat.hold = each.id AND seat.stage <> 'ended'
  UNION
  SELECT seat.* FROM asked, json_to_recordset(list -> 'claims') AS claim (planner text, task text)
    JOIN reservations seat ON seat.planner = claim.planner AND seat.task = claim.task
      AND seat.stage <> 'ended'`

/** Two names of one hash share a lock, which costs a wait and nothing else. */
const LOCK = `
  SELECT pg_advisory_xact_lock(${ADVISORY.instance}, place) FROM (
    SELECT DISTINCT hashtext(id) AS place FROM json_array_elements_text($1::json) AS each (id)
    ORDER BY place) AS places`

/** What was reserved there, of a drain or a release: its credits are given back with it. */
export function givenBackBy(commands: readonly BookingCommand[]): SlotsWanted {
  const instances = new Set<InstanceId>()
  const reservations = new Set<ReservationId>()
  for (const command of commands) {
    if (command.type === 'drain_instance') instances.add(command.instance)
    if (command.type === 'release_reservation') reservations.add(command.reservation)
  }
  return { instances, reservations, claims: [] }
}

export function slotsWantedBy(commands: readonly BookingCommand[]): SlotsWanted {
  const { instances, reservations } = givenBackBy(commands)
  const claims: { planner: AgentId; task: TaskId }[] = []
  const all = new Set(instances)
  for (const command of commands) {
    if (command.type === 'lapse_reservations') all.add(command.instance)
    if (command.type !== 'reserve_slots') continue
    all.add(command.instance)
    claims.push({ planner: command.planner, task: command.task })
  }
  return { instances: all, reservations, claims }
}

/** Asks nothing when nothing is named. */
export async function readSeats(
  queries: Queries,
  { instances, reservations, claims }: SlotsWanted,
  holds: readonly HoldId[] = [],
): Promise<readonly ReservationRow[]> {
  if (instances.size + reservations.size + claims.length + holds.length === 0) return []
  const asked = { instances: [...instances], reservations: [...reservations], claims, holds }
  return queries.query<ReservationRow>(SEATS, [JSON.stringify(asked)])
}

export async function lockInstances(
  tx: Queries,
  instances: ReadonlySet<InstanceId>,
): Promise<void> {
  if (instances.size > 0) await tx.query(LOCK, [JSON.stringify([...instances])])
}
