/**
 * From commands to the part of the books that they touch, with its rows locked.
 *
 *   O1  Locked are accounts, in the order of their names, then instances where slots are touched
 *       (reservations/load.ts), and nothing else. That covers holds and payments: each is changed
 *       only under the lock of its funder or payee, and who these are never changes. A chain of
 *       holds has one funder.
 *   O2  What names the accounts (holds, payments) is read once to know whom to lock, and again
 *       under the locks. If the second reading names more, the caller begins anew.
 *   O3  What does not exist yet cannot be locked. Two that create it at once meet in its key, and
 *       the later one begins anew. An account that was missing is looked for once more at the end,
 *       since its first movement may have been seen in between.
 */
import type { HoldId, OwnerId, TaskId, TransferId } from '@chimera/domain/ids'
import { type Account, type Hold, type Movement, openBooks } from '@chimera/domain/money/ledger'
import { type BookingCommand, type Desk, openDesk } from '@chimera/domain/work/booking'
import type { Queries } from '../engine/database.ts'
import { givenBackBy, lockInstances, readSeats, slotsWantedBy } from '../reservations/load.ts'
import { type ReservationRow, roomsOf } from '../reservations/rows.ts'
import { type HoldRow, holdOfRow, type MovementRow, movementOfRow } from './rows.ts'

/** The names of what is to be loaded, each once. */
type Wanted = {
  readonly owners: Set<OwnerId>
  readonly holds: Set<HoldId>
  readonly transfers: Set<TransferId>
  /** By payer and task: the last hold and the payment. */
  readonly jobs: { readonly payer: OwnerId; readonly task: TaskId }[]
}

export type Loaded = {
  readonly desk: Desk
  /** The rows that the rooms were made of. */
  readonly seats: readonly ReservationRow[]
  readonly complete: boolean
}

const HOLDS = `
  WITH RECURSIVE asked AS (SELECT $1::json AS list),
  named AS (
    SELECT id FROM asked, json_array_elements_text(list -> 'holds') AS each (id)
    UNION
    SELECT last.id FROM asked, json_to_recordset(list -> 'jobs') AS job (payer text, task text),
      LATERAL (SELECT id FROM holds WHERE holds.payer = job.payer AND holds.task = job.task
               ORDER BY attempt DESC LIMIT 1) AS last
  ),
  chain AS (
    SELECT holds.* FROM holds JOIN named USING (id)
    UNION
    SELECT holds.* FROM holds JOIN chain ON holds.id = chain.parent
  )
  SELECT * FROM chain`

const MOVEMENTS = `
  WITH asked AS (SELECT $1::json AS list)
  SELECT movements.* FROM asked, json_array_elements_text(list -> 'transfers') AS each (id)
    JOIN movements ON transfer = each.id
  UNION
  SELECT movements.* FROM asked, json_to_recordset(list -> 'jobs') AS job (payer text, task text)
    JOIN movements ON movements.payer = job.payer AND movements.task = job.task
      AND movements.kind = 'payment'`

const ACCOUNTS = `
  SELECT owner, balance_cents FROM accounts
  WHERE owner IN (SELECT json_array_elements_text($1::json))
  ORDER BY owner FOR UPDATE`

export async function loadLocked(
  tx: Queries,
  commands: readonly BookingCommand[],
): Promise<Loaded> {
  const wanted = wantedBy(commands)
  const slots = slotsWantedBy(commands)
  const givenBack = givenBackBy(commands)
  for (const hold of holdsIn(await readSeats(tx, givenBack))) wanted.holds.add(hold)
  const touchesWork = wanted.holds.size > 0 || wanted.jobs.length > 0 || hasRefund(commands)
  const first = touchesWork ? await readWork(tx, wanted) : NO_WORK
  const owners = new Set([...wanted.owners, ...ownersIn(first)])
  const seated = await readSeats(tx, slots, idsOf(first))
  const instances = new Set([...slots.instances, ...seated.map(({ instance }) => instance)])
  const accounts = await lockAccounts(tx, owners)
  await lockInstances(tx, instances)

  // Without work there is still what movements were made: read once, under the locks.
  const rows = await readWork(tx, wanted)
  const seats = await readSeats(tx, { ...slots, instances }, idsOf(rows))
  const there = new Set(accounts.map((each) => each.owner))
  const missing = [...owners].filter((owner) => !there.has(owner))
  const loaded = new Set(idsOf(rows))
  const given = seats.filter(
    ({ id, instance }) => givenBack.reservations.has(id) || givenBack.instances.has(instance),
  )
  const complete =
    (!touchesWork || ownersIn(rows).every((owner) => owners.has(owner))) &&
    seats.every(({ instance }) => instances.has(instance)) &&
    holdsIn(given).every((hold) => loaded.has(hold)) &&
    !(await anyThere(tx, missing))
  const desk = openDesk(openBooks({ accounts, ...rows }), roomsOf(seats))
  return { desk, seats, complete }
}

type Work = { readonly holds: readonly Hold[]; readonly movements: readonly Movement[] }
const NO_WORK: Work = { holds: [], movements: [] }

const idsOf = ({ holds }: Work) => holds.map(({ id }) => id)
const holdsIn = (seats: readonly ReservationRow[]) => seats.flatMap(({ hold }) => hold ?? [])

async function readWork(queries: Queries, wanted: Wanted): Promise<Work> {
  const jobs = [...wanted.jobs]
  let holds: readonly Hold[] = []
  if (wanted.holds.size > 0 || jobs.length > 0) {
    const asked = { holds: [...wanted.holds], jobs }
    const rows = await queries.query<HoldRow>(HOLDS, [JSON.stringify(asked)])
    holds = rows.map(holdOfRow)
    for (const { payer, task } of holds) jobs.push({ payer, task })
  }
  if (wanted.transfers.size === 0 && jobs.length === 0) return { holds, movements: [] }
  const asked = { transfers: [...wanted.transfers], jobs }
  const rows = await queries.query<MovementRow>(MOVEMENTS, [JSON.stringify(asked)])
  return { holds, movements: rows.map(movementOfRow) }
}

async function lockAccounts(tx: Queries, owners: ReadonlySet<OwnerId>): Promise<Account[]> {
  if (owners.size === 0) return []
  const rows = await tx.query<{ owner: OwnerId; balance_cents: number }>(ACCOUNTS, [
    JSON.stringify([...owners]),
  ])
  return rows.map(({ owner, balance_cents }) => ({ owner, balanceCents: balance_cents }))
}

async function anyThere(queries: Queries, owners: readonly OwnerId[]): Promise<boolean> {
  if (owners.length === 0) return false
  const sql = `
    SELECT FROM accounts WHERE owner IN (SELECT json_array_elements_text($1::json)) LIMIT 1`
  return (await queries.query(sql, [JSON.stringify(owners)])).length > 0
}

/** Whose credits these could move, or whose orders they answer to. */
function ownersIn({ holds, movements }: Work): OwnerId[] {
  return [
    ...holds.flatMap(({ payer, funder, payee }) => [payer, funder, payee]),
    ...movements.flatMap((each) => (each.kind === 'payment' ? [each.payee, each.funder] : [])),
  ]
}

const hasRefund = (commands: readonly BookingCommand[]) =>
  commands.some(({ type }) => type === 'refund_credits')

function wantedBy(commands: readonly BookingCommand[]): Wanted {
  const wanted: Wanted = { owners: new Set(), holds: new Set(), transfers: new Set(), jobs: [] }
  for (const command of commands) want(wanted, command)
  return wanted
}

function want({ owners, holds, transfers, jobs }: Wanted, command: BookingCommand): void {
  switch (command.type) {
    case 'open_account':
    case 'mint_credits':
      owners.add(command.owner)
      transfers.add(command.transfer)
      break
    case 'transfer_credits': {
      const { payer, payee, task, transfer } = command
      owners.add(payer).add(payee)
      transfers.add(transfer)
      if (task !== undefined) jobs.push({ payer, task })
      break
    }
    case 'refund_credits':
      owners.add(command.by)
      transfers.add(command.transfer).add(command.of)
      break
    case 'hold_credits': {
      const { payer, payee, task, hold, parent } = command
      owners.add(payer).add(payee)
      holds.add(hold)
      if (parent !== undefined) holds.add(parent)
      jobs.push({ payer, task })
      break
    }
    case 'capture_hold':
      holds.add(command.hold)
      transfers.add(command.transfer)
      break
    case 'confirm_hold':
    case 'release_hold':
    case 'lapse_hold':
      holds.add(command.hold)
      break
    case 'reserve_slots': {
      const { task, money } = command
      if (money === undefined) break
      owners.add(money.payer).add(money.payee)
      holds.add(money.hold)
      jobs.push({ payer: money.payer, task })
      break
    }
    case 'release_reservation':
    case 'drain_instance':
    case 'lapse_reservations':
      break
  }
}
