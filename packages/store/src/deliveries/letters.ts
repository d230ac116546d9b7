/**
 * Dead letters: messages that could not be delivered and were given up, with the last reason.
 *
 *   L1  A letter that is being redelivered is none until that fails.
 *   L2  They are kept for a time and in a number, the latest of each owner.
 */
import type { Trouble } from '@chimera/domain/delivery'
import type { CorrelationId, Instant, OwnerId } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import type { Database, Param } from '../engine/database.ts'
import { troubleOf } from './outbox.ts'

export type Letter = {
  readonly id: string
  readonly to: string
  readonly about: { readonly kind: string; readonly id: string }
  readonly owner?: OwnerId
  readonly correlation: CorrelationId
  readonly enqueuedAt: Instant
  readonly attempts: number
  readonly diedAt: Instant
  readonly trouble: Trouble
  /** What the address answered, if it did. */
  readonly status?: number
}

export type LetterQuery = {
  readonly owner?: OwnerId
  /** The kind of thing that they are about. */
  readonly about?: string
  /** Behind this one, the latest first. */
  readonly after?: { readonly diedAt: Instant; readonly id: string }
  readonly limit: number
}

export type Letters = {
  readonly find: (query: LetterQuery) => Promise<readonly Letter[]>
  readonly read: (id: string) => Promise<(Letter & { readonly body: string }) | undefined>
  /** Whether it was there. */
  readonly remove: (id: string) => Promise<boolean>
  /** Lets go of what is too old or too much; answers how many. */
  readonly purge: () => Promise<number>
}

type LetterRow = {
  readonly id: string
  readonly target: string
  readonly about_kind: string
  readonly about_id: string
  readonly owner: OwnerId | null
  readonly correlation: CorrelationId
  readonly enqueued_at: Instant
  readonly attempts: number
  readonly died_at: Instant
  readonly trouble: string
  readonly status: number | null
}

const COLUMNS = `id, target, about_kind, about_id, owner, correlation, enqueued_at, attempts,
  died_at, trouble, status`

const PURGE = `
  DELETE FROM deliveries WHERE id IN (
    SELECT id FROM (
      SELECT id, died_at,
        row_number() OVER (PARTITION BY owner ORDER BY died_at DESC, id DESC) AS place
      FROM deliveries WHERE died_at IS NOT NULL) AS letters
    WHERE place > $1 OR died_at < $2)
  AND died_at IS NOT NULL RETURNING id`

export function createLetters({
  database,
  clock,
}: {
  readonly database: Database
  readonly clock: { readonly now: () => Instant }
}): Letters {
  return {
    async find({ owner, about, after, limit }) {
      const params: Param[] = [limit]
      const put = (value: Param) => `$${params.push(value)}`
      const wanted = ['died_at IS NOT NULL']
      if (owner !== undefined) wanted.push(`owner = ${put(owner)}`)
      if (about !== undefined) wanted.push(`about_kind = ${put(about)}`)
      if (after !== undefined) {
        wanted.push(`(died_at, id) < (${put(after.diedAt)}, ${put(after.id)})`)
      }
      const rows = await database.query<LetterRow>(
        `SELECT ${COLUMNS} FROM deliveries WHERE ${wanted.join(' AND ')}
         ORDER BY died_at DESC, id DESC LIMIT $1`,
        params,
      )
      return rows.map(letterOfRow)
    },

    async read(id) {
      const [row] = await database.query<LetterRow & { readonly body: string }>(
        `SELECT ${COLUMNS}, body FROM deliveries WHERE id = $1 AND died_at IS NOT NULL`,
        [id],
      )
      return row && { ...letterOfRow(row), body: row.body }
    },

    async remove(id) {
      const gone = await database.query(
        'DELETE FROM deliveries WHERE id = $1 AND died_at IS NOT NULL RETURNING id',
        [id],
      )
      return gone.length > 0
    },

    async purge() {
      const before = clock.now() - LIMITS.letterMs
      return (await database.query(PURGE, [LIMITS.lettersPerOwner, before])).length
    },
  }
}

function letterOfRow(row: LetterRow): Letter {
  return {
    id: row.id,
    to: row.target,
    about: { kind: row.about_kind, id: row.about_id },
    correlation: row.correlation,
    enqueuedAt: row.enqueued_at,
    attempts: row.attempts,
    diedAt: row.died_at,
    trouble: troubleOf(row.trouble),
    ...(row.owner !== null && { owner: row.owner }),
    ...(row.status !== null && { status: row.status }),
  }
}
