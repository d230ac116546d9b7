/** The books as sums, each in one statement and so of one moment (P-10). */
import type { Instant } from '@chimera/domain/ids'
import type { Queries } from '../engine/database.ts'

export type BookSums = {
  readonly mintedCents: number
  readonly accountCents: number
  readonly holdCents: number
  readonly feeCents: number
  readonly accounts: number
  readonly standingHolds: number
  readonly payments: number
  readonly volumeCents: number
}

export async function readBookSums(queries: Queries): Promise<BookSums> {
  const [row] = await queries.query<BookSums>(
    `SELECT (SELECT cents FROM totals WHERE name = 'minted') AS "mintedCents",
       (SELECT cents FROM totals WHERE name = 'fees') AS "feeCents",
       (SELECT coalesce(sum(balance_cents), 0)::bigint FROM accounts) AS "accountCents",
       (SELECT count(*) FROM accounts) AS accounts,
       (SELECT coalesce(sum(left_cents), 0)::bigint FROM holds) AS "holdCents",
       (SELECT count(*) FROM holds WHERE stage IN ('placed', 'confirmed')) AS "standingHolds",
       count(*) AS payments, coalesce(sum(amount_cents), 0)::bigint AS "volumeCents"
     FROM movements WHERE kind = 'payment'`,
    [],
  )
  if (row === undefined) throw new Error('no totals')
  return row
}

export type PaidSpan = {
  readonly beginsAt: Instant
  readonly amountCents: number
  readonly payments: number
}

/** What was paid in each span that has a payment, the oldest first. */
export async function readVolume(
  queries: Queries,
  { since, spanMs }: { readonly since: Instant; readonly spanMs: number },
): Promise<readonly PaidSpan[]> {
  return queries.query<PaidSpan>(
    `SELECT at / $2::bigint * $2::bigint AS "beginsAt", count(*) AS payments,
       sum(amount_cents)::bigint AS "amountCents"
     FROM movements WHERE kind = 'payment' AND at >= $1
     GROUP BY 1 ORDER BY 1`,
    [since, spanMs],
  )
}
