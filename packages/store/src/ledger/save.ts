/**
 * From the books before and after to the rows that changed, in the caller's transaction.
 *
 *   W1  New rows are inserted and never overwrite: whoever made the same one first has won, and
 *       the loser's transaction breaks off on its key.
 *   W2  Rows of a kind are written in the order of their keys, and the totals, which everybody adds
 *       to, last.
 */
import type { Account, Books, Hold, Movement, PaymentMade } from '@chimera/domain/money/ledger'
import { arrayText } from '../columns.ts'
import type { Queries } from '../engine/database.ts'
import { rowOfHold, rowOfMovement } from './rows.ts'

// biome-ignore format: a table is read by its columns
const SQL = {
  newAccounts: `
    INSERT INTO accounts SELECT * FROM json_populate_recordset(NULL::accounts, $1::json)`,
  accounts: `
    UPDATE accounts SET balance_cents = list.balance_cents
    FROM unnest($1::text[], $2::bigint[]) AS list (owner, balance_cents)
    WHERE accounts.owner = list.owner`,
  newHolds: `
    INSERT INTO holds SELECT * FROM json_populate_recordset(NULL::holds, $1::json)`,
  holds: `
    UPDATE holds SET stage = list.stage, left_cents = list.left_cents,
      paid_cents = list.paid_cents, price_cents = list.price_cents,
      releases_at = list.releases_at, because = list.because, deadline = list.deadline
    FROM json_populate_recordset(NULL::holds, $1::json) AS list
    WHERE holds.id = list.id`,
  newPayments: `
    INSERT INTO movements (kind, transfer, payer, payee, funder, task, hold,
      at, amount_cents, paid_cents, fee_cents, refunded_cents)
    SELECT 'payment', * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[],
      $6::text[], $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[])`,
  newMovements: `
    INSERT INTO movements SELECT * FROM json_populate_recordset(NULL::movements, $1::json)`,
  movements: `
    UPDATE movements SET refunded_cents = list.refunded_cents
    FROM json_populate_recordset(NULL::movements, $1::json) AS list
    WHERE movements.transfer = list.transfer`,
  totals: `UPDATE totals SET cents = cents + $2 WHERE name = $1`,
} as const

/** Asks for all at once, in this order; whoever comes after is asked for after them. */
export async function saveBooks(tx: Queries, before: Books, after: Books): Promise<void> {
  const accounts = changes<string, Account>(before.accounts, after.accounts)
  const holds = changes<string, Hold>(before.holds, after.holds)
  const movements = changes<string, Movement>(before.movements, after.movements)
  const write = async (sql: string, rows: readonly object[]) => {
    if (rows.length > 0) await tx.query(sql, [JSON.stringify(rows)])
  }
  await Promise.all([
    write(SQL.newAccounts, accounts.made.map(rowOfAccount)),
    saveBalances(tx, accounts.changed),
    write(SQL.newHolds, holds.made.map(rowOfHold)),
    write(SQL.holds, holds.changed.map(rowOfHold)),
    insertPayments(tx, movements.made.filter(isPayment)),
    write(SQL.newMovements, movements.made.filter((each) => !isPayment(each)).map(rowOfMovement)),
    write(SQL.movements, movements.changed.map(rowOfMovement)),
  ])
}

/** Everybody adds to the same two rows, and holds them until the end: so they come last (W2). */
export async function saveTotals(tx: Queries, before: Books, after: Books): Promise<void> {
  await Promise.all([
    addTotal(tx, 'fees', after.feesCents - before.feesCents),
    addTotal(tx, 'minted', after.mintedCents - before.mintedCents),
  ])
}

async function addTotal(tx: Queries, name: 'fees' | 'minted', cents: number): Promise<void> {
  if (cents !== 0) await tx.query(SQL.totals, [name, cents])
}

const rowOfAccount = ({ owner, balanceCents }: Account) => ({ owner, balance_cents: balanceCents })

const isPayment = (movement: Movement): movement is PaymentMade => movement.kind === 'payment'

/** What changes most, and is written most: the two that have statements of their own. */
async function saveBalances(tx: Queries, accounts: readonly Account[]): Promise<void> {
  if (accounts.length === 0) return
  await tx.query(SQL.accounts, [
    arrayText(accounts.map((each) => each.owner)),
    arrayText(accounts.map((each) => each.balanceCents)),
  ])
}

async function insertPayments(tx: Queries, payments: readonly PaymentMade[]): Promise<void> {
  if (payments.length === 0) return
  const column = (read: (payment: PaymentMade) => string | number | undefined) =>
    arrayText(payments.map((each) => read(each) ?? null))
  await tx.query(SQL.newPayments, [
    column((each) => each.transfer),
    column((each) => each.payer),
    column((each) => each.payee),
    column((each) => each.funder),
    column((each) => each.task),
    column((each) => each.hold),
    column((each) => each.at),
    column((each) => each.amountCents),
    column((each) => each.paidCents),
    column((each) => each.feeCents),
    column((each) => each.refundedCents),
  ])
}

/** Values are never changed in place, so an entry that is the same object is the same. */
function changes<Key extends string, Value>(
  before: ReadonlyMap<Key, Value>,
  after: ReadonlyMap<Key, Value>,
): { readonly made: readonly Value[]; readonly changed: readonly Value[] } {
  const made: Value[] = []
  const changed: Value[] = []
  for (const key of [...after.keys()].sort()) {
    const value = after.get(key)
    const old = before.get(key)
    if (value === undefined || value === old) continue
    const list = old === undefined ? made : changed
    list.push(value)
  }
  return { made, changed }
}
