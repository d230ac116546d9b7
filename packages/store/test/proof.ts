/**
 * The proof after a kill: what was acknowledged is there, nothing is half there, and the books
 * balance.
 */
import assert from 'node:assert/strict'
import type { HoldId, TransferId } from '@chimera/domain/ids'
import { foldFacts, type Hold, type MoneyFact, type Movement } from '@chimera/domain/money/ledger'
import type { Database } from '../src/engine/database.ts'
import { type HoldRow, holdOfRow, type MovementRow, movementOfRow } from '../src/ledger/rows.ts'
import { proveBooks } from './books.ts'

type Rows = {
  readonly holds: ReadonlyMap<HoldId, Hold>
  readonly movements: ReadonlyMap<TransferId, Movement>
}

async function readRows(database: Database): Promise<Rows> {
  const holds = (await database.query<HoldRow>('SELECT * FROM holds', [])).map(holdOfRow)
  const rows = await database.query<MovementRow>('SELECT * FROM movements', [])
  return {
    holds: new Map(holds.map((each) => [each.id, each])),
    movements: new Map(rows.map(movementOfRow).map((each) => [each.transfer, each])),
  }
}

/** A line is `<what>:<id> <answer>`; only whole lines that say that something happened count. */
function checkAcknowledged(line: string, { holds, movements }: Rows): void {
  const [, what, id = '', answer] = /^(\w+):(\S+) (\w+)$/.exec(line) ?? []
  const hold = holds.get(id as HoldId)
  const done = {
    pay: answer === 'credits_transferred' && movements.has(id as TransferId),
    hold: answer === 'credits_held' && hold !== undefined,
    confirm: answer === 'hold_confirmed' && hold?.priceCents !== undefined,
    capture: answer === 'hold_captured' && hold?.stage === 'captured',
    giveup: answer === 'hold_released' && hold?.stage === 'released',
  }
  const refused = answer === 'funds_short'
  assert.ok(refused || Object.entries(done).some(([name, is]) => name === what && is), line)
}

const sorted = <Row>(rows: ReadonlyMap<string, Row>) =>
  [...rows].sort(([one], [other]) => (one < other ? -1 : 1))

/** By the process that comes after the one that was killed. */
export async function proveAcknowledged(
  database: Database,
  acknowledged: readonly string[],
): Promise<void> {
  await untilAlone(database)
  const trail = await proveBooks(database)
  const rows = await readRows(database)
  for (const line of acknowledged) checkAcknowledged(line, rows)
  // Every row is what its facts make of it, and no fact is without its rows.
  const folded = foldFacts(trail.map(({ fact }) => fact as MoneyFact))
  assert.deepEqual(sorted(rows.holds), sorted(folded.holds))
  assert.deepEqual(sorted(rows.movements), sorted(folded.movements))
  const answers = await database.query<{ answer: string }>('SELECT answer FROM answers', [])
  const known = new Set(answers.map(({ answer }) => answer))
  for (const line of acknowledged) assert.ok(known.has(line.split(' ')[0] ?? ''), line)
}

/** The server may still be at the last transaction of the one that was killed. */
async function untilAlone(database: Database): Promise<void> {
  for (let others = 1; others > 0; ) {
    const [row] = await database.query<{ count: number }>(
      `SELECT count(*) AS count FROM pg_stat_activity
       WHERE datname = current_database() AND backend_type = 'client backend'
         AND pid <> pg_backend_pid()`,
      [],
    )
    others = row?.count ?? 0
  }
}
