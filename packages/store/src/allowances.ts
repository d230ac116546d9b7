/**
 * The account of how often each caller asked, of all hubs of one database (L1 of the domain's
 * `work/allowance.ts`, which decides).
 *
 *   W1  What arrives together is decided together, in one transaction that holds the rows of all
 *       its callers, locked in the order of their names.
 *   W2  An answer that comes was committed before. One that does not come may have been: whoever
 *       asked takes nothing back that it gave.
 *   W3  What waits is bounded. Beyond that, and when the database is away, it is said as a value.
 *   W4  What has lapsed counts for nothing, whether or not it was purged.
 */
import type { Instant } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import {
  type Allowance,
  type AllowanceAsked,
  type AllowanceDecided,
  applyAllowance,
  decideAllowance,
  forgottenAt,
  UNTOUCHED,
} from '@chimera/domain/work/allowance'
import { createBatching } from './batching.ts'
import type { Database, Queries } from './engine/database.ts'
import { hasCode } from './failure.ts'

export type Allowances = {
  /** `caller` is a digest. */
  readonly ask: (
    caller: string,
    asked: AllowanceAsked,
    now: Instant,
  ) => Promise<AllowanceDecided | 'away' | 'full'>
  /** Removes what has lapsed; answers how many. */
  readonly purge: (now: Instant) => Promise<number>
}

type Item = { readonly caller: string; readonly asked: AllowanceAsked; readonly now: Instant }
type Kept = {
  readonly caller: string
  readonly at: number
  readonly counts: readonly (readonly [second: number, count: number])[]
}

const MOST_TOGETHER = 500

export function createAllowances({ database }: { readonly database: Database }): Allowances {
  const batching = createBatching<Item, AllowanceDecided>({
    run: (items) => database.transaction((tx) => decideAll(tx, items)),
    most: MOST_TOGETHER,
    mostWaiting: LIMITS.allowancesWaiting,
  })

  return {
    async ask(caller, asked, now) {
      if (batching.isFull()) return 'full'
      try {
        return await batching.add({ caller, asked, now })
      } catch (error) {
        if (hasCode(error, 'database_busy')) return 'full'
        const isAway = hasCode(error, 'database_unreachable', 'database_closed', 'outcome_unknown')
        if (isAway) return 'away'
        throw error
      }
    },

    async purge(now) {
      const gone = await database.query(
        `DELETE FROM allowances WHERE caller IN (
           SELECT caller FROM allowances WHERE lapses_at <= $1 FOR UPDATE SKIP LOCKED
         ) RETURNING 1`,
        [now],
      )
      return gone.length
    },
  }
}

async function decideAll(
  tx: Queries,
  items: readonly Item[],
): Promise<readonly AllowanceDecided[]> {
  const allowances = await lockAll(tx, [...new Set(items.map(({ caller }) => caller))].sort())
  const decided = items.map(({ caller, asked, now }) => {
    const before = allowances.get(caller) ?? UNTOUCHED
    const each = decideAllowance(before, asked, now)
    allowances.set(caller, applyAllowance(before, each.fact))
    return each
  })
  const rows = [...allowances].map(([caller, allowance]) => ({
    caller,
    at: allowance.at,
    counts: allowance.counts.map(({ second, count }) => [second, count]),
    lapses_at: forgottenAt(allowance),
  }))
  await tx.query(
    `UPDATE allowances SET at = new.at, counts = new.counts, lapses_at = new.lapses_at
     FROM json_populate_recordset(NULL::allowances, $1::json) AS new
     WHERE allowances.caller = new.caller`,
    [JSON.stringify(rows)],
  )
  return decided
}

/** Made where there is none, so that there is something to hold; a purge waits or passes it by. */
async function lockAll(tx: Queries, callers: readonly string[]): Promise<Map<string, Allowance>> {
  const kept = await tx.query<Kept>(
    `INSERT INTO allowances (caller, at, counts, lapses_at)
     SELECT value, 0, '[]', 0 FROM json_array_elements_text($1::json)
     ON CONFLICT (caller) DO UPDATE SET at = allowances.at
     RETURNING caller, at, counts`,
    [JSON.stringify(callers)],
  )
  return new Map(
    kept.map(({ caller, at, counts }) => [
      caller,
      { at, counts: counts.map(([second, count]) => ({ second, count })) },
    ]),
  )
}
