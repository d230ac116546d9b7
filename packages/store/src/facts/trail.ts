/**
 * Reading the trail: sealed facts only, in the order of the chain. Whoever remembers the last
 * number it saw misses nothing and sees nothing twice.
 */
import type { Sealed } from '@chimera/domain/audit'
import type { CorrelationId, Digest, Instant } from '@chimera/domain/ids'
import type { Queries } from '../engine/database.ts'

type SealedRow = {
  readonly seq: number
  readonly prev: Digest
  readonly hash: Digest
  readonly fact: unknown
  readonly recorded_at: Instant
  readonly correlation: CorrelationId
}

// One answer: enough to share the round trip, small enough to be held in memory many times over.
const MOST = 1_000

export async function sealedAfter(
  queries: Queries,
  seq: number,
  limit = MOST,
): Promise<readonly Sealed<unknown>[]> {
  const rows = await queries.query<SealedRow>(
    `SELECT seq, prev, hash, fact, recorded_at, correlation
     FROM seals JOIN facts ON facts.id = fact_id
     WHERE seq > $1 ORDER BY seq LIMIT $2`,
    [seq, Math.min(limit, MOST)],
  )
  return rows.map(({ recorded_at, ...row }) => ({ ...row, recordedAt: recorded_at }))
}

/** The whole chain, page by page; for exports and proofs. */
export async function* walkTrail(
  queries: Queries,
  after = 0,
): AsyncGenerator<readonly Sealed<unknown>[]> {
  for (let seq = after; ; ) {
    const page = await sealedAfter(queries, seq)
    if (page.length === 0) return
    yield page
    seq = page.at(-1)?.seq ?? seq
  }
}
