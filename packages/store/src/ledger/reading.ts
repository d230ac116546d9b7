/**
 * Looking at the books without touching them. What is read may have changed by the time it is
 * answered; whoever decides by it submits a command instead.
 */
import type { AgentId, HoldId, Instant, OwnerId, TaskId, TransferId } from '@chimera/domain/ids'
import {
  type Account,
  type Hold,
  holdSide,
  type Movement,
  ownerSide,
  type Side,
} from '@chimera/domain/money/ledger'
import type { Queries } from '../engine/database.ts'
import { type HoldRow, holdOfRow, type MovementRow, movementOfRow } from './rows.ts'

export async function readAccount(queries: Queries, owner: OwnerId): Promise<Account | undefined> {
  const [row] = await queries.query<{ balance_cents: number }>(
    'SELECT balance_cents FROM accounts WHERE owner = $1',
    [owner],
  )
  return row && { owner, balanceCents: row.balance_cents }
}

export async function readHold(queries: Queries, id: HoldId): Promise<Hold | undefined> {
  const [row] = await queries.query<HoldRow>('SELECT * FROM holds WHERE id = $1', [id])
  return row && holdOfRow(row)
}

/** The hold in force for a task, or the last one that was. */
export async function readHoldOf(
  queries: Queries,
  payer: OwnerId,
  task: TaskId,
): Promise<Hold | undefined> {
  const [row] = await queries.query<HoldRow>(
    'SELECT * FROM holds WHERE payer = $1 AND task = $2 ORDER BY attempt DESC LIMIT 1',
    [payer, task],
  )
  return row && holdOfRow(row)
}

export type HoldFilter = {
  /** Holds that this owner pays, funds or is to be paid from. */
  readonly owner?: OwnerId
  readonly task?: TaskId
  readonly agent?: AgentId
  readonly limit: number
}

/** Those that stand first, the last to lapse first. */
export async function readHolds(
  queries: Queries,
  { owner, task, agent, limit }: HoldFilter,
): Promise<readonly Hold[]> {
  const rows = await queries.query<HoldRow>(
    `SELECT * FROM holds
     WHERE ($1::text IS NULL OR payer = $1 OR payee = $1 OR funder = $1)
       AND ($2::text IS NULL OR task = $2) AND ($3::text IS NULL OR agent = $3)
     ORDER BY stage NOT IN ('placed', 'confirmed'), lapses_at DESC, id LIMIT $4`,
    [owner ?? null, task ?? null, agent ?? null, Math.min(limit, MOST)],
  )
  return rows.map(holdOfRow)
}

/** What each of these has cost its payer so far, with all that was hired out of it (P-9). */
export async function readCosts(
  queries: Queries,
  holds: readonly HoldId[],
): Promise<ReadonlyMap<HoldId, number>> {
  if (holds.length === 0) return new Map()
  const rows = await queries.query<{ top: HoldId; cents: number }>(
    `WITH RECURSIVE chain AS (
       SELECT id AS top, id, paid_cents FROM holds
       WHERE id IN (SELECT json_array_elements_text($1::json))
       UNION ALL
       SELECT chain.top, holds.id, holds.paid_cents
       FROM holds JOIN chain ON holds.parent = chain.id
     )
     SELECT top, sum(paid_cents)::bigint AS cents FROM chain GROUP BY top`,
    [JSON.stringify(holds)],
  )
  return new Map(rows.map(({ top, cents }) => [top, cents]))
}

export async function readMovement(
  queries: Queries,
  transfer: TransferId,
): Promise<Movement | undefined> {
  const [row] = await queries.query<MovementRow>('SELECT * FROM movements WHERE transfer = $1', [
    transfer,
  ])
  return row && movementOfRow(row)
}

export type MovementFilter = {
  /** Payments that this owner made or got. */
  readonly owner?: OwnerId
  readonly task?: TaskId
  readonly before?: Instant
  readonly limit: number
}

// Pages of the audit; more is what an export is for.
const MOST = 1_000

/** Payments, the latest first. */
export async function readPayments(
  queries: Queries,
  { owner, task, before, limit }: MovementFilter,
): Promise<readonly Movement[]> {
  const rows = await queries.query<MovementRow>(
    `SELECT * FROM movements
     WHERE kind = 'payment' AND ($1::text IS NULL OR payer = $1 OR payee = $1)
       AND ($2::text IS NULL OR task = $2) AND ($3::bigint IS NULL OR at < $3)
     ORDER BY at DESC, transfer LIMIT $4`,
    [owner ?? null, task ?? null, before ?? null, Math.min(limit, MOST)],
  )
  return rows.map(movementOfRow)
}

export type Economy = {
  readonly accounts: number
  readonly payments: number
  readonly volumeCents: number
  readonly mintedCents: number
  readonly feesCents: number
}

export async function readEconomy(queries: Queries): Promise<Economy> {
  const [row] = await queries.query<Economy>(
    `SELECT (SELECT count(*) FROM accounts) AS accounts, count(*) AS payments,
       coalesce(sum(amount_cents), 0)::bigint AS "volumeCents",
       (SELECT cents FROM totals WHERE name = 'minted') AS "mintedCents",
       (SELECT cents FROM totals WHERE name = 'fees') AS "feesCents"
     FROM movements WHERE kind = 'payment'`,
    [],
  )
  if (row === undefined) throw new Error('no totals')
  return row
}

/** Every side with credits on it, to be held against the facts (P-10). Sums to zero (L3). */
export async function readBalances(queries: Queries): Promise<ReadonlyMap<Side, number>> {
  const rows = await queries.query<{ kind: string; name: string; cents: number }>(
    `SELECT 'owner' AS kind, owner AS name, balance_cents AS cents FROM accounts
     UNION ALL SELECT 'hold', id, left_cents FROM holds
     UNION ALL SELECT 'total', name, cents FROM totals`,
    [],
  )
  return new Map(
    rows.map(({ kind, name, cents }) => [sideOf(kind, name), signed(name, kind, cents)]),
  )
}

function sideOf(kind: string, name: string): Side {
  if (kind === 'owner') return ownerSide(name as OwnerId)
  if (kind === 'hold') return holdSide(name as HoldId)
  return name === 'fees' ? 'fees' : 'mint'
}

/** The mint has given what was minted. Not `-0`, which strict comparison tells from 0. */
const signed = (name: string, kind: string, cents: number) =>
  kind === 'total' && name === 'minted' ? 0 - cents : cents
