/**
 * Tokens of owners and operators, kept by their digests, with what each may do and spend.
 *
 *   T1  The text of a token is never here, nor in a fact.
 *   T2  A revoked token stays revoked; revoking again changes nothing.
 *
 * What a token spends is counted with the money that moves (spending.ts).
 */
import type { CorrelationId, Digest, Instant, OwnerId } from '@chimera/domain/ids'
import type { Database } from '../engine/database.ts'
import { appendFacts } from '../facts/append.ts'

export type TokenKind = 'owner' | 'operator'

export type TokenTerms = {
  readonly digest: Digest
  /** Names the token in facts and to people. */
  readonly id: string
  readonly kind: TokenKind
  /** Absent on operators' tokens. */
  readonly owner?: OwnerId
  readonly scopes: readonly string[]
  readonly expiresAt?: Instant
  readonly capCents?: number
}

export type Token = TokenTerms & {
  readonly issuedAt: Instant
  readonly spentCents: number
  readonly revokedAt?: Instant
}

export type TokenFact =
  | ({ readonly type: 'token_issued'; readonly at: Instant } & Omit<TokenTerms, 'digest'>)
  | { readonly type: 'token_revoked'; readonly at: Instant; readonly id: string }

export type Tokens = {
  readonly issue: (terms: TokenTerms, correlation: CorrelationId) => Promise<void>
  /** By the digest of what was presented. Whether it still counts is for the caller to judge. */
  readonly find: (digest: Digest) => Promise<Token | undefined>
  readonly listOf: (owner: OwnerId) => Promise<readonly Token[]>
  /** Whether there is such a token. */
  readonly revoke: (id: string, correlation: CorrelationId) => Promise<boolean>
  /** Whether some operator's token still counts. */
  readonly hasOperator: () => Promise<boolean>
}

type TokenRow = {
  readonly digest: Digest
  readonly id: string
  readonly kind: TokenKind
  readonly owner: OwnerId | null
  readonly scopes: readonly string[]
  readonly issued_at: Instant
  readonly expires_at: Instant | null
  readonly revoked_at: Instant | null
  readonly cap_cents: number | null
  readonly spent_cents: number
}

// More tokens than this of one owner are not shown on one page of anything.
const MOST_LISTED = 1_000

export function createTokens({
  database,
  clock,
}: {
  readonly database: Database
  readonly clock: { readonly now: () => Instant }
}): Tokens {
  return {
    issue: (terms, correlation) =>
      database.transaction(async (tx) => {
        const { digest, id, kind, owner, scopes, expiresAt, capCents } = terms
        const now = clock.now()
        if (owner !== undefined) {
          await tx.query(
            'INSERT INTO owners (id, known_since) VALUES ($1, $2) ON CONFLICT DO NOTHING',
            [owner, now],
          )
        }
        await tx.query(
          `INSERT INTO tokens
             (digest, id, kind, owner, scopes, issued_at, expires_at, cap_cents, spent_cents)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 0)`,
          [
            digest,
            id,
            kind,
            owner ?? null,
            JSON.stringify(scopes),
            now,
            expiresAt ?? null,
            capCents ?? null,
          ],
        )
        const { digest: _, ...shown } = terms
        const fact: TokenFact = { type: 'token_issued', at: now, ...shown }
        await appendFacts(tx, [{ fact, recordedAt: now, correlation }])
      }),

    async find(digest) {
      const rows = await database.query<TokenRow>('SELECT * FROM tokens WHERE digest = $1', [
        digest,
      ])
      return rows.map(tokenOfRow)[0]
    },

    async listOf(owner) {
      const rows = await database.query<TokenRow>(
        'SELECT * FROM tokens WHERE owner = $1 ORDER BY issued_at, id LIMIT $2',
        [owner, MOST_LISTED],
      )
      return rows.map(tokenOfRow)
    },

    revoke: (id, correlation) =>
      database.transaction(async (tx) => {
        const now = clock.now()
        const [row] = await tx.query<{ revoked_at: Instant | null }>(
          'SELECT revoked_at FROM tokens WHERE id = $1 FOR UPDATE',
          [id],
        )
        if (row === undefined) return false
        if (row.revoked_at !== null) return true
        await tx.query('UPDATE tokens SET revoked_at = $2 WHERE id = $1', [id, now])
        const fact: TokenFact = { type: 'token_revoked', at: now, id }
        await appendFacts(tx, [{ fact, recordedAt: now, correlation }])
        return true
      }),

    async hasOperator() {
      const rows = await database.query(
        `SELECT FROM tokens WHERE kind = 'operator' AND revoked_at IS NULL
         AND coalesce(expires_at > $1, true) LIMIT 1`,
        [clock.now()],
      )
      return rows.length > 0
    },
  }
}

function tokenOfRow(row: TokenRow): Token {
  return {
    digest: row.digest,
    id: row.id,
    kind: row.kind,
    scopes: row.scopes,
    issuedAt: row.issued_at,
    spentCents: row.spent_cents,
    ...(row.owner === null ? {} : { owner: row.owner }),
    ...(row.expires_at === null ? {} : { expiresAt: row.expires_at }),
    ...(row.revoked_at === null ? {} : { revokedAt: row.revoked_at }),
    ...(row.cap_cents === null ? {} : { capCents: row.cap_cents }),
  }
}
