/**
 * The spending caps of tokens, counted in the transaction that spends.
 *
 *   C1  A token spends at most its cap, in however many processes at once.
 *   C2  What was refused, or had been done before, is not counted.
 */
import type { Digest, Instant } from '@chimera/domain/ids'
import type { Queries } from '../engine/database.ts'

/** What a command takes from the cap of the token that orders it. */
export type Spend = { readonly token: Digest; readonly amountCents: number }

export type Purse = {
  readonly spentCents: number
  readonly capCents?: number
  readonly ended: boolean
}

/** In the order of their digests, after the accounts: everybody locks in this order. */
export async function lockPurses(
  tx: Queries,
  tokens: readonly Digest[],
  now: Instant,
): Promise<ReadonlyMap<Digest, Purse>> {
  if (tokens.length === 0) return new Map()
  const rows = await tx.query<{
    digest: Digest
    spent_cents: number
    cap_cents: number | null
    expires_at: Instant | null
    revoked_at: Instant | null
  }>(
    `SELECT digest, spent_cents, cap_cents, expires_at, revoked_at FROM tokens
     WHERE digest IN (SELECT json_array_elements_text($1::json)) ORDER BY digest FOR UPDATE`,
    [JSON.stringify(tokens)],
  )
  return new Map(
    rows.map(({ digest, spent_cents, cap_cents, expires_at, revoked_at }) => [
      digest,
      {
        spentCents: spent_cents,
        ...(cap_cents === null ? {} : { capCents: cap_cents }),
        ended: revoked_at !== null || (expires_at !== null && expires_at <= now),
      },
    ]),
  )
}

export async function saveSpent(tx: Queries, spent: ReadonlyMap<Digest, number>): Promise<void> {
  const rows = [...spent].filter(([, cents]) => cents > 0)
  if (rows.length === 0) return
  await tx.query(
    `UPDATE tokens SET spent_cents = spent_cents + list.cents
     FROM json_to_recordset($1::json) AS list (digest text, cents bigint)
     WHERE tokens.digest = list.digest`,
    [JSON.stringify(rows.map(([digest, cents]) => ({ digest, cents })))],
  )
}
