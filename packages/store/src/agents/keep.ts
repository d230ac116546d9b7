/**
 * The work of one agent, in the hands of one of its instances. This is the port `Keep` of agents.
 *
 *   K1  One piece of work under one scope: of two that are entered at once, one is kept and the
 *       other finds it.
 *   K2  What has a time to be forgotten is forgotten then, whether or not it was purged.
 *   K3  A save of what is not in these hands changes nothing, and says so.
 */
import type { TaskId, WorkId } from '@chimera/domain/ids'
import { isUnfinished, type KeptWork } from '@chimera/domain/work/kept'
import { keptOfRow } from './rows.ts'
import { createSharing, type Hand, type SharingOptions } from './sharing.ts'
import type { Writing } from './writing.ts'

export type KeepOptions = Omit<SharingOptions, 'hands'> & { readonly writing: Writing }

// What a person can look through, and far more than an instance has at once.
const MOST_LISTED = 10_000

const KNOWN =
  'SELECT kept FROM agent_work WHERE agent = $1 AND (forget_at > $2 OR forget_at IS NULL)'
const OLDEST_FIRST = `ORDER BY asked_at, work LIMIT ${MOST_LISTED}`
const SQL = {
  find: `${KNOWN} AND scope = $3`,
  byWork: `${KNOWN} AND work = $3`,
  byTask: `
    ${KNOWN} AND task = $3 AND requester = coalesce($4, requester)
    ORDER BY asked_at DESC, work DESC LIMIT 1`,
  unfinished: `SELECT kept FROM agent_work WHERE agent = $1 AND stage <> 'over' ${OLDEST_FIRST}`,
  lost: `SELECT kept FROM agent_work WHERE agent = $1 AND lost ${OLDEST_FIRST}`,
} as const

export function createKeep({ writing, ...options }: KeepOptions) {
  const { database, agent, holder, now } = options
  const hands = new Map<WorkId, Hand>()

  async function read(
    sql: string,
    ...params: readonly (string | number | null)[]
  ): Promise<readonly KeptWork[]> {
    const rows = await database.query<{ kept: string }>(sql, [agent, ...params])
    return rows.map(keptOfRow)
  }

  return {
    durable: true,

    async find(scope: string) {
      const [kept] = await read(SQL.find, now(), scope)
      return kept
    },
    async byWork(id: WorkId) {
      const [kept] = await read(SQL.byWork, now(), id)
      return kept
    },
    async byTask(task: TaskId, requester?: string) {
      const [kept] = await read(SQL.byTask, now(), task, requester ?? null)
      return kept
    },

    async enter(kept: KeptWork) {
      const write = { agent, holder, kept, turn: 1, now: now() }
      const instead = await writing({ how: 'enter', write })
      if (instead !== undefined) return instead === 'lost' ? undefined : instead
      if (isUnfinished(kept)) hands.set(kept.work.ask.work, { turn: 1, saves: 0, saving: 0 })
      return undefined
    },

    async save(kept: KeptWork): Promise<'saved' | 'lost'> {
      const { work } = kept.work.ask
      const hand = hands.get(work)
      if (hand === undefined) return 'lost'
      hand.saves += 1
      hand.saving += 1
      try {
        const write = { agent, holder, kept, turn: hand.turn, now: now() }
        const isLost = (await writing({ how: 'save', write })) === 'lost'
        const isOut = isLost || !isUnfinished(kept)
        if (isOut && hands.get(work) === hand) hands.delete(work)
        return isLost ? 'lost' : 'saved'
      } finally {
        hand.saving -= 1
      }
    },

    unfinished: () => read(SQL.unfinished),
    lost: () => read(SQL.lost),
    shared: createSharing({ ...options, hands }),
  }
}
