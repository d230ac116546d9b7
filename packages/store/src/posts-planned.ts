/**
 * What a publishing agent plans and has published: one record for each content on each platform,
 * changed only by whoever knows its present version, so that one of several instances has it in
 * hand and none overwrites what another wrote.
 *
 * What a record says is the publisher's affair; here it is a text with a version and a time.
 */
import type { Instant } from '@chimera/domain/ids'
import type { Database } from './engine/database.ts'
import { isStorable } from './storable.ts'

export type PlannedRecord<Kept> = {
  readonly key: string
  readonly version: number
  /** When somebody must look at it; absent: it is over. */
  readonly wakeAt?: Instant
  readonly kept: Kept
}

export type PlannedKeep<Kept> = {
  /** Whose plan it is; part of what a use of an approval is called. */
  readonly planner: string
  readonly find: (key: string) => Promise<PlannedRecord<Kept> | undefined>
  /** The one that is there: this one, unless there was one. */
  readonly add: (record: Omit<PlannedRecord<Kept>, 'version'>) => Promise<PlannedRecord<Kept>>
  /** Over the version that is named; undefined where that is no longer the present one. */
  readonly change: (record: PlannedRecord<Kept>) => Promise<PlannedRecord<Kept> | undefined>
  /** Whose time has come, the longest due first. */
  readonly due: (now: Instant, limit: number) => Promise<readonly PlannedRecord<Kept>[]>
}

type Row = {
  readonly key: string
  readonly version: number
  readonly wake_at: Instant | null
  readonly kept: string
}

const COLUMNS = 'key, version, wake_at, kept'

export function createPlanned<Kept>({
  database,
  planner,
}: {
  readonly database: Database
  readonly planner: string
}): PlannedKeep<Kept> {
  const recordOf = ({ key, version, wake_at, kept }: Row): PlannedRecord<Kept> => ({
    key,
    version,
    ...(wake_at !== null && { wakeAt: wake_at }),
    kept: JSON.parse(kept) as Kept,
  })

  async function find(key: string): Promise<PlannedRecord<Kept> | undefined> {
    if (!isStorable(key)) return undefined
    const rows = await database.query<Row>(
      `SELECT ${COLUMNS} FROM publications WHERE planner = $1 AND key = $2`,
      [planner, key],
    )
    return rows.map(recordOf)[0]
  }

  return {
    planner,
    find,

    async add({ key, wakeAt, kept }) {
      const rows = await database.query<Row>(
        `INSERT INTO publications (planner, key, version, wake_at, kept) VALUES ($1, $2, 1, $3, $4)
         ON CONFLICT DO NOTHING RETURNING ${COLUMNS}`,
        [planner, key, wakeAt ?? null, JSON.stringify(kept)],
      )
      const made = rows.map(recordOf)[0] ?? (await find(key))
      // Nothing is ever deleted here.
      if (made === undefined) throw new Error('a record that is there was not found')
      return made
    },

    async change({ key, version, wakeAt, kept }) {
      const rows = await database.query<Row>(
        `UPDATE publications SET version = version + 1, wake_at = $4, kept = $5
         WHERE planner = $1 AND key = $2 AND version = $3 RETURNING ${COLUMNS}`,
        [planner, key, version, wakeAt ?? null, JSON.stringify(kept)],
      )
      return rows.map(recordOf)[0]
    },

    async due(now, limit) {
      const rows = await database.query<Row>(
        `SELECT ${COLUMNS} FROM publications WHERE planner = $1 AND wake_at <= $2
         ORDER BY wake_at, key LIMIT $3`,
        [planner, now, limit],
      )
      return rows.map(recordOf)
    },
  }
}
