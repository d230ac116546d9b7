/**
 * The trail and the balances as they belong together: what an export is written from.
 *
 *   W1  Head, facts and balances are of one moment, however much is written meanwhile.
 *   W2  The balances are those at the head. What is in the books but not yet in the chain is taken
 *       off again, so that chain and balances agree whenever they are looked at.
 */
import { type Head, reconcile, type Sealed } from '@chimera/domain/audit'
import type { Side } from '@chimera/domain/money/ledger'
import type { Database, Queries } from '../engine/database.ts'
import { readBalances } from '../ledger/reading.ts'
import { readHead } from './sealer.ts'
import { walkTrail } from './trail.ts'

export type TrailView = {
  readonly head: Head
  readonly balances: ReadonlyMap<Side, number>
  /** The whole chain, page by page; may be walked more than once. */
  readonly walk: () => AsyncGenerator<readonly Sealed<unknown>[]>
}

export function viewTrail<T>(database: Database, use: (view: TrailView) => Promise<T>): Promise<T> {
  return database.transaction(
    async (tx) => {
      const head = await readHead(tx)
      const balances = takeOff(await readBalances(tx), await readUnsealed(tx))
      return use({ head, balances, walk: () => walkTrail(tx) })
    },
    { frozen: true },
  )
}

function takeOff(
  balances: ReadonlyMap<Side, number>,
  unsealed: readonly unknown[],
): ReadonlyMap<Side, number> {
  const facts = unsealed.map((fact) => ({ seq: 0, fact }))
  const moved = reconcile(facts, new Map()).balances
  return new Map([...balances].map(([side, cents]) => [side, cents - (moved.get(side) ?? 0)]))
}

async function readUnsealed(queries: Queries): Promise<readonly unknown[]> {
  const rows = await queries.query<{ fact: unknown }>(
    `SELECT fact FROM facts
     WHERE NOT EXISTS (SELECT FROM seals WHERE fact_id = facts.id) ORDER BY id`,
  )
  return rows.map(({ fact }) => fact)
}
