/**
 * Tokens of owners and operators, kept by their digests, with what each may do and spend.
 *
 *   T1  The text of a token is never here, nor in a fact.
 *   T2  A revoked token stays revoked; revoking again changes nothing.
 *   T3  What was made with a token of its own kind is revoked with it, and so on, each with a fact.
 *       Making and revoking do not overlap, so that none is made meanwhile that stays.
 *   T4  The family ends where a token is handed to somebody else: an owner's does not end with the
 *       operator's that made it. Nor does one that is itself used to revoke what it was made with;
 *       it then stands alone, which is how a token is replaced.
 *
 * What a token spends is counted with the money that moves (spending.ts).
 */
import type { CorrelationId, Digest, Instant, OwnerId } from '@chimera/domain/ids'
import { ADVISORY, type Database, type Queries } from '../engine/database.ts'
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
  /** The token that this one was made with. */
  readonly parent?: string
}

export type Token = TokenTerms & {
  readonly issuedAt: Instant
  readonly spentCents: number
  readonly revokedAt?: Instant
}

export type TokenFact =
  | ({ readonly type: 'token_issued'; readonly at: Instant } & Omit<TokenTerms, 'digest'>)
  | {
      readonly type: 'token_revoked'
      readonly at: Instant
      readonly id: string
      /** The one that was asked for, where this one was made with it. */
      readonly along?: string
    }

/** `by`: the token that orders it, if it is one. */
export type RevokeAsked = { readonly id: string; readonly by?: string }

export type Tokens = {
  /** Whether it was: not, if the token that it is made with has been revoked. */
  readonly issue: (terms: TokenTerms, correlation: CorrelationId) => Promise<boolean>
  /** By the digest of what was presented. Whether it still counts is for the caller to judge. */
  readonly find: (digest: Digest) => Promise<Token | undefined>
  readonly listOf: (owner: OwnerId) => Promise<readonly Token[]>
  /** With its family, the branch of `by` left out. Answers whether there is such a token. */
  readonly revoke: (asked: RevokeAsked, correlation: CorrelationId) => Promise<boolean>
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
  readonly parent: string | null
}

// More tokens than this of one owner are not shown on one page of anything.
const MOST_LISTED = 1_000

// Those that still count, locked in the order in which money locks them (spending.ts).
const FAMILY = `
  SELECT id FROM tokens WHERE revoked_at IS NULL AND id IN (
    WITH RECURSIVE family AS (
      SELECT id, kind FROM tokens WHERE id = $1
      UNION
      SELECT tokens.id, tokens.kind FROM tokens JOIN family
        ON tokens.parent = family.id AND tokens.kind = family.kind
      WHERE tokens.id IS DISTINCT FROM $2::text)
    SELECT id FROM family)
  ORDER BY digest FOR UPDATE`
const REVOKE = `
  UPDATE tokens SET revoked_at = $2 WHERE id IN (SELECT json_array_elements_text($1::json))`
const STAND_ALONE = `
  UPDATE tokens SET parent = NULL
  WHERE id = $1 AND parent IN (SELECT json_array_elements_text($2::json))`

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
        const { digest, id, kind, owner, scopes, expiresAt, capCents, parent } = terms
        const now = clock.now()
        if (parent !== undefined) {
          await tx.query('SELECT pg_advisory_xact_lock_shared($1)', [ADVISORY.tokens])
          if (!(await counts(tx, parent))) return false
        }
        if (owner !== undefined) {
          await tx.query(
            'INSERT INTO owners (id, known_since) VALUES ($1, $2) ON CONFLICT DO NOTHING',
            [owner, now],
          )
        }
        await tx.query(
          `INSERT INTO tokens
             (digest, id, kind, owner, scopes, issued_at, expires_at, cap_cents, parent,
              spent_cents)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 0)`,
          [
            digest,
            id,
            kind,
            owner ?? null,
            JSON.stringify(scopes),
            now,
            expiresAt ?? null,
            capCents ?? null,
            parent ?? null,
          ],
        )
        const { digest: _, ...shown } = terms
        const fact: TokenFact = { type: 'token_issued', at: now, ...shown }
        await appendFacts(tx, [{ fact, recordedAt: now, correlation }])
        return true
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

    revoke: ({ id, by }, correlation) =>
      database.transaction(async (tx) => {
        await tx.query('SELECT pg_advisory_xact_lock($1)', [ADVISORY.tokens])
        const now = clock.now()
        const found = await tx.query<{ id: string }>('SELECT id FROM tokens WHERE id = $1', [id])
        if (found.length === 0) return false
        const spared = by === undefined || by === id ? null : by
        const family = await tx.query<{ id: string }>(FAMILY, [id, spared])
        const ids = JSON.stringify(family.map((each) => each.id))
        await tx.query(REVOKE, [ids, now])
        // It would be found again under the one that is gone.
        if (spared !== null) await tx.query(STAND_ALONE, [spared, ids])
        const facts = family.map((each): TokenFact => {
          const revoked = { type: 'token_revoked', at: now, id: each.id } as const
          return each.id === id ? revoked : { ...revoked, along: id }
        })
        await appendFacts(
          tx,
          facts.map((fact) => ({ fact, recordedAt: now, correlation })),
        )
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

async function counts(tx: Queries, id: string): Promise<boolean> {
  const rows = await tx.query('SELECT FROM tokens WHERE id = $1 AND revoked_at IS NULL', [id])
  return rows.length > 0
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
    ...(row.parent === null ? {} : { parent: row.parent }),
  }
}
