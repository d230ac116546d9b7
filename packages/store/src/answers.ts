/**
 * Remembered answers (P-4): what was answered under a key is kept in the transaction of what it
 * answered, so that a repeat finds both or neither, in every process and after every restart.
 *
 *   Q1  One answer per scope. Of two that answer it at once, one commits; the other begins anew
 *       and finds it.
 *   Q2  What may be forgotten is forgotten at its time, not when somebody purges.
 */
import type { Digest, Instant } from '@chimera/domain/ids'
import {
  decideRepeat,
  type Remembered,
  type Repeat,
  type Scope,
  scopeKey,
} from '@chimera/domain/work/idempotency'
import type { Database, Queries } from './engine/database.ts'
import { type RetryHands, retrying } from './engine/retry.ts'
import { Failure } from './failure.ts'
import { storableText } from './storable.ts'

export type AnswerEntry = Remembered<unknown> & {
  /** As `scopeKey` writes it. */
  readonly scope: string
}

export type AnswersOptions = {
  readonly database: Database
  readonly clock: { readonly now: () => Instant; readonly sleep: RetryHands['sleep'] }
  readonly chance: { readonly fraction: () => number }
}

export type Once = {
  readonly scope: Scope
  readonly content: Digest
  /** What is done once, in the transaction that remembers its answer. */
  readonly work: (tx: Queries) => Promise<Pick<Remembered<unknown>, 'answer' | 'forgetAt'>>
}

export type Answers = {
  readonly find: (scope: Scope, content: Digest) => Promise<Repeat<unknown>>
  /** `new` when the work was done now. */
  readonly once: (ask: Once) => Promise<Repeat<unknown> & { readonly answer?: unknown }>
  /** Starts the clock of forgetting, when the result is there. */
  readonly forgetAt: (scope: Scope, at: Instant) => Promise<void>
  /** Removes what is forgotten, so many at most; answers how many. */
  readonly purge: (most?: number) => Promise<number>
}

// A purge runs beside the callers; this many rows take some ms.
const MOST_PURGED = 1_000

export function createAnswers({ database, clock, chance }: AnswersOptions): Answers {
  const hands: RetryHands = { sleep: clock.sleep, fraction: chance.fraction }
  return {
    async find(scope, content) {
      const key = scopeKey(scope)
      const known = await readAnswers(database, [key])
      return decideRepeat(known.get(key), content, clock.now())
    },

    once({ scope, content, work }) {
      const key = scopeKey(scope)
      return retrying(
        () =>
          database.transaction(async (tx) => {
            const known = await readAnswers(tx, [key])
            const repeat = decideRepeat(known.get(key), content, clock.now())
            if (repeat.kind !== 'new') return repeat
            const made = await work(tx)
            await writeAnswers(tx, [{ scope: key, content, ...made }], clock.now())
            return { kind: 'new', answer: made.answer }
          }),
        hands,
      )
    },

    async forgetAt(scope, at) {
      await database.query('UPDATE answers SET forget_at = $2 WHERE scope = $1', [
        scopeKey(scope),
        at,
      ])
    },

    async purge(most = MOST_PURGED) {
      const gone = await database.query(
        `DELETE FROM answers WHERE scope IN (
           SELECT scope FROM answers WHERE forget_at <= $1 ORDER BY forget_at LIMIT $2
           FOR UPDATE SKIP LOCKED
         ) RETURNING 1`,
        [clock.now(), Math.min(most, MOST_PURGED)],
      )
      return gone.length
    },
  }
}

export async function readAnswers(
  queries: Queries,
  scopes: readonly string[],
): Promise<ReadonlyMap<string, Remembered<unknown>>> {
  if (scopes.length === 0) return new Map()
  const rows = await queries.query<{
    scope: string
    content: Digest
    answer: unknown
    forget_at: Instant | null
  }>(
    `SELECT scope, content, answer, forget_at FROM answers
     WHERE scope IN (SELECT json_array_elements_text($1::json))`,
    [JSON.stringify(scopes)],
  )
  return new Map(
    rows.map(({ scope, content, answer, forget_at }) => [
      scope,
      { content, answer, ...(forget_at === null ? {} : { forgetAt: forget_at }) },
    ]),
  )
}

/** Only over what is forgotten. Whoever finds more there was beaten to it, and begins anew (Q1). */
export async function writeAnswers(
  tx: Queries,
  entries: readonly AnswerEntry[],
  now: Instant,
): Promise<void> {
  if (entries.length === 0) return
  const rows = entries
    .map(({ scope, content, answer, forgetAt }) => ({
      scope,
      content,
      answer,
      forget_at: forgetAt ?? null,
    }))
    .sort((one, other) => (one.scope < other.scope ? -1 : 1))
  const text = storableText(rows)
  if (text === undefined) throw new Failure('fact_unstorable', 'an answer that cannot be kept')
  const written = await tx.query(
    `INSERT INTO answers SELECT * FROM json_populate_recordset(NULL::answers, $1::json)
     ON CONFLICT (scope) DO UPDATE
       SET content = excluded.content, answer = excluded.answer, forget_at = excluded.forget_at
       WHERE answers.forget_at <= $2
     RETURNING 1`,
    [text, now],
  )
  if (written.length === rows.length) return
  throw new Failure('statement_failed', 'answered meanwhile', { sqlState: '40001' })
}
