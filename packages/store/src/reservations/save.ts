/**
 * From facts about slots to the rows that they change, in the caller's transaction.
 *
 * What ends is written before what begins: a planner has one row for a task that has not ended, and
 * the old one makes way for the new.
 */
import type { ReservationId } from '@chimera/domain/ids'
import type { SlotFact } from '@chimera/domain/work/room'
import type { Queries } from '../engine/database.ts'
import type { ReservationRow } from './rows.ts'

const UPDATE = `
  UPDATE reservations SET stage = list.stage, because = list.because
  FROM json_populate_recordset(NULL::reservations, $1::json) AS list
  WHERE reservations.id = list.id`
const INSERT = `
  INSERT INTO reservations SELECT * FROM json_populate_recordset(NULL::reservations, $1::json)`

export async function saveSlots(
  tx: Queries,
  before: readonly ReservationRow[],
  facts: readonly SlotFact[],
): Promise<void> {
  if (facts.length === 0) return
  const known = new Map(before.map((row) => [row.id, row]))
  const rows = new Map<ReservationId, ReservationRow>()
  for (const fact of facts) {
    const row = rowAfter(fact, (id) => rows.get(id) ?? known.get(id))
    rows.set(row.id, row)
  }
  const ordered = [...rows.values()].sort((one, other) => (one.id < other.id ? -1 : 1))
  const changed = ordered.filter(({ id }) => known.has(id))
  const made = ordered.filter(({ id }) => !known.has(id))
  const write = async (sql: string, list: readonly ReservationRow[]) => {
    if (list.length > 0) await tx.query(sql, [JSON.stringify(list)])
  }
  await Promise.all([write(UPDATE, changed), write(INSERT, made)])
}

function rowAfter(
  fact: SlotFact,
  find: (id: ReservationId) => ReservationRow | undefined,
): ReservationRow {
  if (fact.type === 'slots_reserved') {
    const { instance, agent, reservation } = fact
    const { id, planner, task, slots, lapsesAt: lapses_at, hold = null } = reservation
    const terms = { id, instance, agent, planner, task, slots, lapses_at, hold }
    return { ...terms, stage: 'promised', because: null }
  }
  const id = idIn(fact)
  const row = find(id)
  if (row === undefined) throw new Error(`the room does not hold ${id}`)
  switch (fact.type) {
    case 'slots_taken':
      return { ...row, stage: 'taken' }
    case 'slots_freed':
      return { ...row, stage: 'ended', because: 'freed' }
    case 'reservation_ended':
      return { ...row, stage: 'ended', because: fact.because }
  }
}

/** Work is named by the reservation that it came on. */
function idIn(fact: Exclude<SlotFact, { readonly type: 'slots_reserved' }>): ReservationId {
  switch (fact.type) {
    case 'slots_taken':
      return fact.occupation.work as string as ReservationId
    case 'slots_freed':
      return fact.work as string as ReservationId
    case 'reservation_ended':
      return fact.reservation.id
  }
}
