/**
 * The nonces of signed requests, shared by all hubs of one database.
 *
 *   U1  One atomic step: of any number of requests with one nonce, at whichever hubs, one is told
 *       that it is fresh.
 *   U2  A nonce that has lapsed is fresh again, whether or not it was purged.
 *   U3  What arrives together is written together; what waits is bounded, and beyond that nothing
 *       passes.
 */
import type { Instant } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import { createBatching } from './batching.ts'
import type { Database } from './engine/database.ts'
import { Failure } from './failure.ts'
import { isStorable, storableText } from './storable.ts'

/** A nonce belongs to the key that signed it. */
export type Nonce = { readonly key: string; readonly nonce: string }

export type Nonces = {
  /** `full` when too many wait: the request is not to be let in. */
  readonly remember: (nonce: Nonce, now: Instant) => Promise<'fresh' | 'seen' | 'full'>
  /** Removes what has lapsed; answers how many. */
  readonly purge: (now: Instant) => Promise<number>
}

type Asked = Nonce & { readonly now: Instant }

const MOST_TOGETHER = 500
// Some seconds of the writing of a busy hub; whoever waits longer has given up.
const MOST_WAITING = 5_000
// A page of a purge, which runs beside the callers and takes some ms.
const MOST_PURGED = 5_000

export function createNonces({ database }: { readonly database: Database }): Nonces {
  async function write(asked: readonly Asked[]): Promise<readonly ('fresh' | 'seen')[]> {
    // A statement cannot touch a row twice, and two hubs must lock theirs in one order.
    const first = new Map<string, Asked>()
    for (const each of asked) if (!first.has(nameOf(each))) first.set(nameOf(each), each)
    const rows = [...first]
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([, { key, nonce, now }]) => ({ key, nonce, lapses_at: now + LIMITS.nonceMs }))
    const taken = await database.query<Nonce>(
      `INSERT INTO nonces SELECT * FROM json_populate_recordset(NULL::nonces, $1::json)
       ON CONFLICT (key, nonce) DO UPDATE SET lapses_at = excluded.lapses_at
         WHERE nonces.lapses_at <= excluded.lapses_at - $2
       RETURNING key, nonce`,
      [storableText(rows) ?? '[]', LIMITS.nonceMs],
    )
    const fresh = new Set(taken.map(nameOf))
    return asked.map((each) => (fresh.delete(nameOf(each)) ? 'fresh' : 'seen'))
  }

  const batching = createBatching<Asked, 'fresh' | 'seen'>({
    run: write,
    most: MOST_TOGETHER,
    mostWaiting: MOST_WAITING,
  })

  return {
    async remember({ key, nonce }, now) {
      // Looked at alone, so that it does not take others with it.
      if (!isStorable([key, nonce])) throw new Failure('fact_unstorable', 'a nonce')
      return batching.isFull() ? 'full' : batching.add({ key, nonce, now })
    },

    async purge(now) {
      let gone = 0
      for (;;) {
        const page = await database.query(
          `DELETE FROM nonces WHERE (key, nonce) IN (
             SELECT key, nonce FROM nonces WHERE lapses_at <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED
           ) RETURNING 1`,
          [now, MOST_PURGED],
        )
        gone += page.length
        if (page.length < MOST_PURGED) return gone
      }
    },
  }
}

const nameOf = ({ key, nonce }: Nonce): string => JSON.stringify([key, nonce])
