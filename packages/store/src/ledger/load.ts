/**
 * From commands to the part of the books that they touch, with its rows locked.
 *
 *   O1  Locked are accounts, in the order of their names, then instances where slots are touched
 *       (reservations/load.ts), and nothing else. That covers holds and payments: each is changed
 *       only under the lock of its funder or payee, and who these are never changes. A chain of
 *       holds has one funder.
 *   O2  What names the accounts (holds, payments to be refunded) is read once to know whom to lock,
 *       and again under the locks. If the second reading names more, the caller begins anew. By a
 *       guess the first reading is left out, where all commands name their parties themselves: a
 *       guess that names too few is found out by the second reading, like anything that grew.
 *   O3  What does not exist yet cannot be locked. Two that create it at once meet in its key, and
 *       the later one begins anew. An account that was missing is looked for once more at the end,
 *       since its first movement may have been seen in between.
 *   O4  Statements that are sent together run in the order of asking, each on what was committed
 *       when it began: so what is asked for after the locks is read under them.
 *   O5  Where transactions run one after the other and all of them from here, there is nobody to
 *       lock out, and nothing grows meanwhile: everything is read once.
 */
import type { HoldId, OwnerId, TaskId, TransferId } from '@chimera/domain/ids'
import {
  type Account,
  type Hold,
  jobKey,
  type Movement,
  openBooks,
} from '@chimera/domain/money/ledger'
import { type BookingCommand, type Desk, openDesk } from '@chimera/domain/work/booking'
import { arrayText } from '../columns.ts'
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
  readonly jobs: JobName[]
}

export type Loaded = {
  readonly desk: Desk
  /** The rows that the rooms were made of. */
  readonly seats: readonly ReservationRow[]
  readonly complete: boolean
}

const HOLDS = `
  WITH RECURSIVE named AS (
    SELECT id FROM unnest($1::text[]) AS each (id)
    UNION
    SELECT last.id FROM unnest($2::text[], $3::text[]) AS job (payer, task),
      LATERAL (SELECT id FROM holds WHERE holds.payer = job.payer AND holds.task = job.task
               ORDER BY attempt DESC LIMIT 1) AS last
  ),
  chain AS (
    SELECT holds.* FROM holds JOIN named USING (id)
    UNION
    SELECT holds.* FROM holds JOIN chain ON holds.id = chain.parent
  )
  SELECT * FROM chain`

// At most one of each. The limit says so, and keeps to the index while the table is young and
// thought to be small.
const MOVEMENTS = `
  SELECT made.* FROM unnest($1::text[]) AS each (id),
    LATERAL (SELECT * FROM movements WHERE transfer = each.id LIMIT 1) AS made
  UNION ALL
  SELECT made.* FROM unnest($2::text[], $3::text[]) AS job (payer, task),
    LATERAL (SELECT * FROM movements WHERE movements.task = job.task
             AND movements.payer = job.payer AND kind = 'payment' LIMIT 1) AS made`

const ACCOUNTS = `
  SELECT owner, balance_cents FROM accounts
  WHERE owner = ANY ($1::text[]) ORDER BY owner FOR UPDATE`

export type LoadOptions = {
  /** Leave out what is read before the locks, if the commands allow it (O2). */
  readonly guess: boolean
  /** Nobody else is at the database (O5). */
  readonly alone?: boolean
}

export async function loadLocked(
  tx: Queries,
  commands: readonly BookingCommand[],
  { guess, alone = false }: LoadOptions,
): Promise<Loaded> {
  if (alone) return loadAlone(tx, commands)
  const wanted = wantedBy(commands)
  const slots = slotsWantedBy(commands)
  const givenBack = givenBackBy(commands)
  for (const hold of holdsIn(await readSeats(tx, givenBack))) wanted.holds.add(hold)
  const refunds = commands.some(({ type }) => type === 'refund_credits')
  const touchesWork = wanted.holds.size > 0 || wanted.jobs.length > 0 || refunds
  const isNamed = guess && commands.every(({ type }) => NAMES_ITS_PARTIES.has(type))
  const first = touchesWork && !isNamed ? await readWork(tx, wanted) : NO_WORK
  const owners = new Set([...wanted.owners, ...ownersIn(first, refunds)])
  const seated = await readSeats(tx, slots, idsOf(first))
  const instances = new Set([...slots.instances, ...seated.map(({ instance }) => instance)])

  const [accounts, , rows] = await Promise.all([
    lockAccounts(tx, owners),
    lockInstances(tx, instances),
    readWork(tx, wanted),
  ])
  const seats = await readSeats(tx, { ...slots, instances }, idsOf(rows))
  const there = new Set(accounts.map((each) => each.owner))
  const missing = [...owners].filter((owner) => !there.has(owner))
  const loaded = new Set(idsOf(rows))
  const given = seats.filter(
    ({ id, instance }) => givenBack.reservations.has(id) || givenBack.instances.has(instance),
  )
  const complete =
    ownersIn(rows, refunds).every((owner) => owners.has(owner)) &&
    seats.every(({ instance }) => instances.has(instance)) &&
    holdsIn(given).every((hold) => loaded.has(hold)) &&
    !(await anyThere(tx, missing))
  const desk = openDesk(openBooks({ accounts, ...rows }), roomsOf(seats))
  return { desk, seats, complete }
}

/** O5. */
async function loadAlone(tx: Queries, commands: readonly BookingCommand[]): Promise<Loaded> {
  const wanted = wantedBy(commands)
  const slots = slotsWantedBy(commands)
  for (const hold of holdsIn(await readSeats(tx, givenBackBy(commands)))) wanted.holds.add(hold)
  const rows = await readWork(tx, wanted)
  const refunds = commands.some(({ type }) => type === 'refund_credits')
  const owners = new Set([...wanted.owners, ...ownersIn(rows, refunds)])
  const [accounts, seated] = await Promise.all([
    lockAccounts(tx, owners),
    readSeats(tx, slots, idsOf(rows)),
  ])
  const instances = new Set([...slots.instances, ...seated.map(({ instance }) => instance)])
  // Rooms are loaded whole (R3 in reservations/load.ts).
  const isWhole = instances.size === slots.instances.size
  const seats = isWhole ? seated : await readSeats(tx, { ...slots, instances }, idsOf(rows))
  const desk = openDesk(openBooks({ accounts, ...rows }), roomsOf(seats))
  return { desk, seats, complete: true }
}

/** Whose holds, if there are any, are mostly between the two that the command names. */
const NAMES_ITS_PARTIES: ReadonlySet<BookingCommand['type']> = new Set([
  'open_account',
  'mint_credits',
  'transfer_credits',
])

/** What a command touches, as far as it says so itself: a word for each. */
export function namesOf(command: BookingCommand): readonly string[] {
  const { owners, holds, transfers, jobs } = wantedBy([command])
  const { instances, reservations, claims } = slotsWantedBy([command])
  return [
    ...[...owners].map((each) => `owner ${each}`),
    ...[...holds].map((each) => `hold ${each}`),
    ...[...transfers].map((each) => `transfer ${each}`),
    ...[...instances].map((each) => `instance ${each}`),
    ...[...reservations].map((each) => `reservation ${each}`),
    ...[...jobs, ...claims].map(({ task }) => `task ${task}`),
  ]
}

type Work = { readonly holds: readonly Hold[]; readonly movements: readonly Movement[] }
const NO_WORK: Work = { holds: [], movements: [] }

const idsOf = ({ holds }: Work) => holds.map(({ id }) => id)
const holdsIn = (seats: readonly ReservationRow[]) => seats.flatMap(({ hold }) => hold ?? [])

async function readWork(queries: Queries, wanted: Wanted): Promise<Work> {
  const [holds, movements] = await Promise.all([
    readHolds(queries, wanted),
    readMovements(queries, [...wanted.transfers], wanted.jobs),
  ])
  const known = new Set(wanted.jobs.map(({ payer, task }) => jobKey(payer, task)))
  const others = holds.filter(({ payer, task }) => !known.has(jobKey(payer, task)))
  const more = await readMovements(queries, [], others)
  return { holds, movements: [...movements, ...more] }
}

async function readHolds(queries: Queries, { holds, jobs }: Wanted): Promise<readonly Hold[]> {
  if (holds.size === 0 && jobs.length === 0) return []
  const rows = await queries.query<HoldRow>(HOLDS, [arrayText([...holds]), ...columnsOf(jobs)])
  return rows.map(holdOfRow)
}

type JobName = { readonly payer: OwnerId; readonly task: TaskId }

async function readMovements(
  queries: Queries,
  transfers: readonly TransferId[],
  jobs: readonly JobName[],
): Promise<readonly Movement[]> {
  if (transfers.length === 0 && jobs.length === 0) return []
  const asked = [arrayText(transfers), ...columnsOf(jobs)]
  const rows = await queries.query<MovementRow>(MOVEMENTS, asked)
  return rows.map(movementOfRow)
}

const columnsOf = (jobs: readonly JobName[]): readonly string[] => [
  arrayText(jobs.map(({ payer }) => payer)),
  arrayText(jobs.map(({ task }) => task)),
]

async function lockAccounts(tx: Queries, owners: ReadonlySet<OwnerId>): Promise<Account[]> {
  if (owners.size === 0) return []
  const rows = await tx.query<{ owner: OwnerId; balance_cents: number }>(ACCOUNTS, [
    arrayText([...owners]),
  ])
  return rows.map(({ owner, balance_cents }) => ({ owner, balanceCents: balance_cents }))
}

async function anyThere(queries: Queries, owners: readonly OwnerId[]): Promise<boolean> {
  if (owners.length === 0) return false
  const sql = 'SELECT FROM accounts WHERE owner = ANY ($1::text[]) LIMIT 1'
  return (await queries.query(sql, [arrayText(owners)])).length > 0
}

/** Whose credits these could move, or whose orders they answer to. Only refunds touch payments. */
function ownersIn({ holds, movements }: Work, refunds: boolean): OwnerId[] {
  const owners = holds.flatMap(({ payer, funder, payee }) => [payer, funder, payee])
  if (!refunds) return owners
  const sides = movements.flatMap((each) =>
    each.kind === 'payment' ? [each.payee, each.funder] : [],
  )
  return [...owners, ...sides]
}

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
