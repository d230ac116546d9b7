/**
 * Writes of all agents of a process, together: what is entered and what is saved in the same moment
 * share their commits.
 *
 *   B1  A write is answered when it is committed. One whose answer was lost on the way is made
 *       again, and changes nothing that it had changed before.
 *   B2  What waits is bounded: beyond that it is said at once.
 */
import type { WorkId } from '@chimera/domain/ids'
import type { KeptWork } from '@chimera/domain/work/kept'
import { createBatching, type Outcome, PUT_OFF } from '../batching.ts'
import type { Database } from '../engine/database.ts'
import { type RetryHands, retrying } from '../engine/retry.ts'
import { Failure } from '../failure.ts'
import { ENTER, keptOfRow, paramsOf, SAVE, type Written } from './rows.ts'

type Item = { readonly how: 'enter' | 'save'; readonly write: Written }

/** Undefined: it is written. Else what stands in its place, or that it is in other hands. */
type Answer = { readonly instead: KeptWork | 'lost' | undefined }

export type Writing = (item: Item) => Promise<Answer['instead']>

const MOST_TOGETHER = 256
// Some seconds of work for the database; whoever comes then is better told.
const MOST_WAITING = 10_000

export function createWriting(database: Database, hands: RetryHands): Writing {
  const again = { also: ({ code }: Failure) => code === 'outcome_unknown' }
  const batching = createBatching<Item, Answer>({
    run: (items) => retrying(() => writeAll(database, items), hands, again),
    most: MOST_TOGETHER,
    mostWaiting: MOST_WAITING,
  })
  return async (item) => {
    if (batching.isFull()) throw new Failure('database_busy', `${MOST_WAITING} writes wait`)
    return (await batching.add(item)).instead
  }
}

async function writeAll(
  database: Database,
  items: readonly Item[],
): Promise<readonly Outcome<Answer>[]> {
  const first = new Map<string, Item>()
  for (const item of items) {
    const key = `${item.how} ${item.write.agent} ${item.write.kept.scope}`
    if (!first.has(key)) first.set(key, item)
  }
  // A statement changes a row once.
  const now = new Set(first.values())
  const [entered, saved] = await Promise.all([
    enterAll(database, writesOf(now, 'enter')),
    saveAll(database, writesOf(now, 'save')),
  ])
  return items.map((item) => {
    if (!now.has(item)) return PUT_OFF
    const { work } = item.write.kept.work.ask
    if (item.how === 'save') return { instead: saved.has(work) ? undefined : 'lost' }
    return { instead: entered.get(work) }
  })
}

const writesOf = (items: ReadonlySet<Item>, how: Item['how']): readonly Written[] =>
  [...items].filter((each) => each.how === how).map(({ write }) => write)

async function saveAll(
  database: Database,
  writes: readonly Written[],
): Promise<ReadonlySet<WorkId>> {
  if (writes.length === 0) return new Set()
  const rows = await database.query<{ work: WorkId }>(SAVE, paramsOf(writes))
  return new Set(rows.map(({ work }) => work))
}

/** What stands in the place of each that could not be entered. */
async function enterAll(
  database: Database,
  writes: readonly Written[],
): Promise<ReadonlyMap<WorkId, KeptWork>> {
  if (writes.length === 0) return new Map()
  const rows = await database.query<{ work: WorkId }>(ENTER, paramsOf(writes))
  const entered = new Set(rows.map(({ work }) => work))
  const instead = new Map<WorkId, KeptWork>()
  for (const { agent, kept } of writes) {
    const { work } = kept.work.ask
    if (entered.has(work)) continue
    const [row] = await database.query<{ kept: string }>(
      'SELECT kept FROM agent_work WHERE agent = $1 AND scope = $2',
      [agent, kept.scope],
    )
    // It may have been forgotten meanwhile; then the same is tried once more.
    if (row === undefined) throw new Failure('statement_failed', 'gone', { sqlState: '40001' })
    const there = keptOfRow(row)
    // B1: its own, of an attempt whose answer was lost.
    if (there.work.ask.work !== work) instead.set(work, there)
  }
  return instead
}
