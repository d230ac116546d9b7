/**
 * From the books before and after to the rows that changed, in the caller's transaction.
 *
 *   W1  New rows are inserted and never overwrite: whoever made the same one first has won, and
 *       the loser's transaction breaks off on its key.
 *   W2  Rows are written in the order of their keys, and the totals, which everybody adds to, last.
 */
import type { Books, Hold, Movement } from '@chimera/domain/money/ledger'
import type { Queries } from '../engine/database.ts'
import { rowOfHold, rowOfMovement } from './rows.ts'

// biome-ignore format: a table is read by its columns
const SQL = {
  newAccounts: `
    INSERT INTO accounts SELECT * FROM json_populate_recordset(NULL::accounts, $1::json)`,
  accounts: `
    UPDATE accounts SET balance_cents = list.balance_cents
    FROM json_populate_recordset(NULL::accounts, $1::json) AS list
    WHERE accounts.owner = list.owner`,
  newHolds: `
    INSERT INTO holds SELECT * FROM json_populate_recordset(NULL::holds, $1::json)`,
  holds: `
    UPDATE holds SET stage = list.stage, left_cents = list.left_cents,
      paid_cents = list.paid_cents, price_cents = list.price_cents,
      releases_at = list.releases_at, because = list.because, deadline = list.deadline
    FROM json_populate_recordset(NULL::holds, $1::json) AS list
    WHERE holds.id = list.id`,
  newMovements: `
    INSERT INTO movements SELECT * FROM json_populate_recordset(NULL::movements, $1::json)`,
  movements: `
    UPDATE movements SET refunded_cents = list.refunded_cents
    FROM json_populate_recordset(NULL::movements, $1::json) AS list
    WHERE movements.transfer = list.transfer`,
  totals: `UPDATE totals SET cents = cents + $2 WHERE name = $1`,
} as const

export async function saveBooks(tx: Queries, before: Books, after: Books): Promise<void> {
  const accounts = changes(before.accounts, after.accounts, ({ owner, balanceCents }) => ({
    owner,
    balance_cents: balanceCents,
  }))
  const holds = changes<string, Hold>(before.holds, after.holds, rowOfHold)
  const movements = changes<string, Movement>(before.movements, after.movements, rowOfMovement)
  const write = async (sql: string, rows: readonly object[]) => {
    if (rows.length > 0) await tx.query(sql, [JSON.stringify(rows)])
  }
  await write(SQL.newAccounts, accounts.made)
  await write(SQL.accounts, accounts.changed)
  await write(SQL.newHolds, holds.made)
  await write(SQL.holds, holds.changed)
  await write(SQL.newMovements, movements.made)
  await write(SQL.movements, movements.changed)
  await addTotal(tx, 'fees', after.feesCents - before.feesCents)
  await addTotal(tx, 'minted', after.mintedCents - before.mintedCents)
}

async function addTotal(tx: Queries, name: 'fees' | 'minted', cents: number): Promise<void> {
  if (cents !== 0) await tx.query(SQL.totals, [name, cents])
}

/** Values are never changed in place, so an entry that is the same object is the same. */
function changes<Key extends string, Value>(
  before: ReadonlyMap<Key, Value>,
  after: ReadonlyMap<Key, Value>,
  rowOf: (value: Value) => object,
): { readonly made: readonly object[]; readonly changed: readonly object[] } {
  const made: object[] = []
  const changed: object[] = []
  for (const key of [...after.keys()].sort()) {
    const value = after.get(key)
    const old = before.get(key)
    if (value === undefined || value === old) continue
    const list = old === undefined ? made : changed
    list.push(rowOf(value))
  }
  return { made, changed }
}
