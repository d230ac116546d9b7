/**
 * Looking at reservations without touching them, as `ledger/reading.ts` looks at the books.
 */
import type { HoldId, Instant, ReservationId } from '@chimera/domain/ids'
import type { Queries } from '../engine/database.ts'
import { type KeptReservation, type ReservationRow, reservationOfRow } from './rows.ts'

export async function readReservation(
  queries: Queries,
  id: ReservationId,
): Promise<KeptReservation | undefined> {
  const [row] = await queries.query<ReservationRow>('SELECT * FROM reservations WHERE id = $1', [
    id,
  ])
  return row && reservationOfRow(row)
}

/** The one that has not ended, or the last that was: its promise lapses last. */
export async function readReservationsOf(
  queries: Queries,
  holds: readonly HoldId[],
): Promise<ReadonlyMap<HoldId, KeptReservation>> {
  if (holds.length === 0) return new Map()
  const rows = await queries.query<ReservationRow>(
    `SELECT DISTINCT ON (hold) * FROM reservations
     WHERE hold IN (SELECT json_array_elements_text($1::json))
     ORDER BY hold, stage = 'ended', lapses_at DESC`,
    [JSON.stringify(holds)],
  )
  return new Map(
    rows.flatMap((row) => (row.hold === null ? [] : [[row.hold, reservationOfRow(row)] as const])),
  )
}

/** Promises whose time has come, so many at most. */
export async function readDue(
  queries: Queries,
  now: Instant,
  most: number,
): Promise<readonly KeptReservation[]> {
  const rows = await queries.query<ReservationRow>(
    `SELECT * FROM reservations WHERE stage = 'promised' AND lapses_at <= $1
     ORDER BY lapses_at LIMIT $2`,
    [now, most],
  )
  return rows.map(reservationOfRow)
}
