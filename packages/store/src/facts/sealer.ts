/**
 * Gives facts their place in the chain, after they were committed.
 *
 *   S1  One sealer at a time, in any process: whoever has the lock. The others wait for it a
 *       little, so that what they were called for is sealed when they answer, by whomever.
 *   S2  Sealed are facts that are visible, in the order of their numbers. What a transaction saw
 *       of another was committed, and numbered, before it: so causes come before effects.
 *   S3  A fact that is committed late, with a lower number than sealed ones, is sealed by a later
 *       run. None is left out: the floor rises only to the oldest transaction still running, and
 *       to the first that has a fact left.
 *   S4  Facts are never touched again: seals are rows of their own.
 */
import {
  type DigestOf,
  GENESIS,
  type Head,
  type Recorded,
  type Sealed,
  sealFacts,
} from '@chimera/domain/audit'
import type { CorrelationId, Digest, Instant } from '@chimera/domain/ids'
import { arrayText } from '../columns.ts'
import { ADVISORY, type Database, type Queries } from '../engine/database.ts'
import { Failure } from '../failure.ts'

export type SealerOptions = {
  readonly database: Database
  readonly digestOf: DigestOf
  /**
   * Facts in one transaction; 5000 by default, some 200 ms. To find the first of those that are
   * not sealed all of them are looked at, so that few large steps cost less than many small ones.
   */
  readonly most?: number
}

export type Sealer = {
  /**
   * Seals what is there, until nothing is left. Answers how many; 0 also when another was at it.
   * What was sealed is handed on when it is kept, so that who follows need not read it again.
   */
  readonly seal: (take?: SealedTaken) => Promise<number>
}

export type SealedTaken = (sealed: readonly Sealed<unknown>[]) => void | Promise<void>

type Unsealed = {
  readonly id: number
  readonly fact: unknown
  readonly recorded_at: Instant
  readonly correlation: CorrelationId
}

// Read before the facts are: what runs then may be visible by the next statement, which is no harm.
const HORIZON = `
  SELECT floor_tx, pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS horizon FROM sealer`

const UNSEALED = `
  SELECT id, fact, recorded_at, correlation FROM facts
  WHERE tx >= $1 AND NOT EXISTS (SELECT FROM seals WHERE fact_id = facts.id)
  ORDER BY id LIMIT $2`

const INSERT = `
  INSERT INTO seals (seq, prev, hash, fact_id)
  SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[])`

const RAISE = 'UPDATE sealer SET floor_tx = $1'
/** To the first that is left, where not all could be sealed at once. */
const RAISE_SOME = `
  UPDATE sealer SET floor_tx = least($1, (
    SELECT tx FROM facts
    WHERE tx >= $2 AND NOT EXISTS (SELECT FROM seals WHERE fact_id = facts.id)
    ORDER BY tx, id LIMIT 1))`

// So many transactions without facts may lie above the floor; they cost nothing to look over.
const FLOOR_STEP = 10_000
// Some 5 ms of hashing, after which others have their turn.
const SLICE = 250
// One that holds the lock for longer has lost its way to the database, and keeps nobody.
const WAIT = "SET LOCAL lock_timeout = '2s'"
const NOT_AVAILABLE = '55P03'

export function createSealer({ database, digestOf, most = 5_000 }: SealerOptions): Sealer {
  const sealSome = () =>
    database.transaction(async (tx): Promise<readonly Sealed<unknown>[]> => {
      await takeLock(tx)
      const { floor, horizon } = await readHorizon(tx)
      const facts = await tx.query<Unsealed>(UNSEALED, [floor, most])
      const sealed = facts.length > 0 ? await writeSeals(tx, facts, digestOf) : []
      // A floor that is raised by nothing but itself would be written for ever.
      const worthwhile = facts.length > 0 || Math.abs(horizon - floor) > FLOOR_STEP
      if (facts.length === most) await tx.query(RAISE_SOME, [horizon, floor])
      else if (worthwhile) await tx.query(RAISE, [horizon])
      return sealed
    })

  const sealUnlessLocked = () =>
    sealSome().catch((error: unknown) => {
      if (error instanceof Failure && error.sqlState === NOT_AVAILABLE) return []
      throw error
    })

  return {
    async seal(take = () => undefined) {
      for (let sum = 0; ; ) {
        const sealed = await sealUnlessLocked()
        sum += sealed.length
        if (sealed.length > 0) await take(sealed)
        if (sealed.length < most) return sum
      }
    },
  }
}

async function takeLock(tx: Queries): Promise<void> {
  const [row] = await tx.query<{ taken: boolean }>(
    'SELECT pg_try_advisory_xact_lock($1) AS taken',
    [ADVISORY.seal],
  )
  if (row?.taken === true) return
  await tx.query(WAIT)
  await tx.query('SELECT pg_advisory_xact_lock($1)', [ADVISORY.seal])
}

/**
 * Transaction numbers belong to a server. In a copy that was moved to another one, by whatever
 * means, the floor may lie above every number there is: then all facts are looked at once more.
 */
async function readHorizon(tx: Queries): Promise<{ floor: number; horizon: number }> {
  const [row] = await tx.query<{ floor_tx: number; horizon: number }>(HORIZON)
  if (row === undefined) throw new Error('the sealer has no row')
  const { floor_tx, horizon } = row
  return { floor: floor_tx > horizon ? 0 : floor_tx, horizon }
}

async function writeSeals(
  tx: Queries,
  facts: readonly Unsealed[],
  digestOf: DigestOf,
): Promise<readonly Sealed<unknown>[]> {
  const sealed: Sealed<unknown>[] = []
  let head = await readHead(tx)
  for (let at = 0; at < facts.length; at += SLICE) {
    const slice = facts.slice(at, at + SLICE)
    const step = sealFacts(head, slice.map(recordedOf), digestOf)
    head = step.head
    sealed.push(...step.sealed)
    await tx.query(INSERT, [
      arrayText(step.sealed.map(({ seq }) => seq)),
      arrayText(step.sealed.map(({ prev }) => prev)),
      arrayText(step.sealed.map(({ hash }) => hash)),
      arrayText(slice.map(({ id }) => id)),
    ])
  }
  return sealed
}

const recordedOf = ({ fact, recorded_at, correlation }: Unsealed): Recorded<unknown> => ({
  fact,
  recordedAt: recorded_at,
  correlation,
})

/** How far the chain goes. */
export async function readHead(queries: Queries): Promise<Head> {
  const [row] = await queries.query<{ seq: number; hash: Digest }>(
    'SELECT seq, hash FROM seals ORDER BY seq DESC LIMIT 1',
  )
  return row ?? GENESIS
}
