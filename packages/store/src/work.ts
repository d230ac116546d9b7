/**
 * What a piece of work has left behind, by the key that its requester gave it (P-3): results,
 * holds, payments and slots, each the latest first.
 *
 * Names are free to choose, and two payers may use the same one; so whoever asks as somebody is
 * shown nothing but its own, and a stranger who uses a name often hides nothing.
 */
import type { AgentId, OwnerId, TaskId } from '@chimera/domain/ids'
import type { Hold, Movement } from '@chimera/domain/money/ledger'
import type { Queries } from './engine/database.ts'
import { type HoldRow, holdOfRow, type MovementRow, movementOfRow } from './ledger/rows.ts'
import { type KeptReservation, type ReservationRow, reservationOfRow } from './reservations/rows.ts'
import { type KeptResult, type ResultRow, resultOfRow } from './results.ts'

export type WorkSought = {
  readonly task: TaskId
  /** Who asks, on either side; everybody's if nobody is named. */
  readonly party?: OwnerId
}

export type WorkTraces = {
  readonly holds: readonly Hold[]
  readonly results: readonly KeptResult[]
  readonly payments: readonly Movement[]
  readonly reservations: readonly KeptReservation[]
}

// Of one party and one key; there is seldom more than one of each.
const MOST = 50

const SQL = {
  holds: `
    SELECT * FROM holds WHERE task = $1 AND ($2::text IS NULL OR payer = $2 OR payee = $2)
    ORDER BY lapses_at DESC, id LIMIT ${MOST}`,
  results: `
    SELECT * FROM results WHERE (task = $1 OR work = $1)
      AND ($2::text IS NULL OR owner = $2 OR requester = $2)
    ORDER BY recorded_at DESC, agent, work LIMIT ${MOST}`,
  payments: `
    SELECT * FROM movements WHERE kind = 'payment' AND task = $1
      AND ($2::text IS NULL OR payer = $2 OR payee = $2)
    ORDER BY at DESC, transfer LIMIT ${MOST}`,
  reservations: `
    SELECT reservations.* FROM reservations
      LEFT JOIN agents AS asker ON asker.id = planner
      LEFT JOIN agents AS asked ON asked.id = reservations.agent
    WHERE task = $1 AND ($2::text IS NULL OR asker.owner = $2 OR asked.owner = $2)
    ORDER BY stage = 'ended', lapses_at DESC LIMIT ${MOST}`,
} as const

export async function readWork(queries: Queries, { task, party }: WorkSought): Promise<WorkTraces> {
  const asked = [task, party ?? null]
  const [holds, results, payments, reservations] = await Promise.all([
    queries.query<HoldRow>(SQL.holds, asked),
    queries.query<ResultRow>(SQL.results, asked),
    queries.query<MovementRow>(SQL.payments, asked),
    queries.query<ReservationRow>(SQL.reservations, asked),
  ])
  return {
    holds: holds.map(holdOfRow),
    results: results.map(resultOfRow),
    payments: payments.map(movementOfRow),
    reservations: reservations.map(reservationOfRow),
  }
}

/** Whatever was held for an agent under these names, what stands first. */
export async function readHoldsFor(
  queries: Queries,
  agent: AgentId,
  tasks: readonly TaskId[],
): Promise<readonly Hold[]> {
  const rows = await queries.query<HoldRow>(
    `SELECT * FROM holds
     WHERE agent = $1 AND task IN (SELECT json_array_elements_text($2::json))
     ORDER BY stage NOT IN ('placed', 'confirmed'), stage = 'placed', lapses_at DESC
     LIMIT ${MOST}`,
    [agent, JSON.stringify(tasks)],
  )
  return rows.map(holdOfRow)
}
