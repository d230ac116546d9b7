/**
 * The latest of what others have said: declarations, statuses, claims. One row per kind and
 * subject, so that the views which show them survive a restart (A3).
 *
 *   K1  Nothing older takes the place of something newer, by the sender's time and then by when it
 *       was heard, in however many processes at once (A4).
 *   K2  What is acknowledged is kept, or something newer is; the caller is told which.
 *   K3  A subject stays with whom it was first about, until that one is forgotten.
 *   K4  What waits is bounded; beyond, the caller is told to come later.
 */
import type { Instant } from '@chimera/domain/ids'
import { createBatching } from './batching.ts'
import type { Database } from './engine/database.ts'
import { type RetryHands, retrying } from './engine/retry.ts'
import { Failure } from './failure.ts'
import { isStorable, storableText } from './storable.ts'

export type Observation = {
  readonly kind: string
  readonly subject: string
  /** Whom it counts for: what is bounded and forgotten together. */
  readonly about: string
  /** By the sender's clock. */
  readonly at: Instant
  readonly heardAt: Instant
  readonly body: unknown
}

export type Observations = {
  /** Answers with what is kept under its kind and subject afterwards. */
  readonly put: <Put extends Observation>(observation: Put) => Promise<Put>
  /** All of one kind, page by page, the longest unheard first. */
  readonly loadAll: <Loaded extends Observation>(kind: string) => AsyncGenerator<readonly Loaded[]>
  /** Those of them that are kept. */
  readonly load: <Loaded extends Observation>(
    names: readonly { readonly kind: string; readonly subject: string }[],
  ) => Promise<readonly Loaded[]>
  readonly forget: (about: string) => Promise<void>
  /** Keeps so many of a kind about each, those heard last; answers how many went. */
  readonly prune: (kind: string, most: number) => Promise<number>
}

export type ObservationsOptions = {
  readonly database: Database
  readonly clock: { readonly sleep: RetryHands['sleep'] }
  readonly chance: { readonly fraction: () => number }
}

// At 256 KiB, the largest message, sixteen megabytes in one statement.
const MOST_TOGETHER = 64
// A few seconds of a hub with ten thousand agents that all speak at once.
const MOST_WAITING = 10_000
// An identity is up to 256 KiB, so a page stays well under what a process has to spare.
const PAGE = 200

// In one order, so that two processes wait for each other and never in a circle.
const UPSERT = `
  INSERT INTO observations (kind, subject, about, at, heard_at, body)
  SELECT kind, subject, about, at, heard_at, body
  FROM json_to_recordset($1::json)
    AS list (kind text, subject text, about text, at bigint, heard_at bigint, body json)
  ORDER BY kind, subject
  ON CONFLICT (kind, subject) DO UPDATE
  SET about = excluded.about, at = excluded.at, heard_at = excluded.heard_at, body = excluded.body
  WHERE observations.about = excluded.about
    AND (observations.at, observations.heard_at) <= (excluded.at, excluded.heard_at)
  RETURNING kind, subject`

const SELECT = `
  SELECT observations.* FROM observations
  JOIN json_to_recordset($1::json) AS list (kind text, subject text) USING (kind, subject)`

const PRUNE = `
  DELETE FROM observations WHERE kind = $1 AND subject IN (
    SELECT subject FROM (
      SELECT subject,
        row_number() OVER (PARTITION BY about ORDER BY heard_at DESC, subject) AS place
      FROM observations WHERE kind = $1) AS ranked
    WHERE place > $2)
  RETURNING subject`

export function createObservations(options: ObservationsOptions): Observations {
  const { database, clock, chance } = options
  const hands: RetryHands = { sleep: clock.sleep, fraction: chance.fraction }

  async function write(batch: readonly Observation[]): Promise<readonly Observation[]> {
    // One statement touches a row once: of several under one name the latest is sent.
    const latest = new Map<string, Observation>()
    for (const each of batch) {
      const known = latest.get(nameOf(each))
      if (known === undefined || replaces(each, known)) latest.set(nameOf(each), each)
    }
    const text = storableText([...latest.values()].map(rowOf))
    if (text === undefined) throw unstorable()
    const taken = await retrying(() => database.query<NameRow>(UPSERT, [text]), hands)
    const names = new Set(taken.map(nameOf))
    const beaten = [...latest.values()].filter((each) => !names.has(nameOf(each)))
    for (const each of await read(beaten)) latest.set(nameOf(each), each)
    return batch.map((each) => latest.get(nameOf(each)) ?? each)
  }

  async function read(names: readonly NameRow[]): Promise<readonly Observation[]> {
    if (names.length === 0) return []
    const list = names.map(({ kind, subject }) => ({ kind, subject }))
    const rows = await database.query<Row>(SELECT, [JSON.stringify(list)])
    return rows.map(observationOf)
  }

  const batching = createBatching<Observation, Observation>({
    run: write,
    most: MOST_TOGETHER,
    mostWaiting: MOST_WAITING,
  })

  return {
    async put<Put extends Observation>(observation: Put) {
      // Looked at alone, so that it does not take others with it.
      if (!isStorable(observation)) throw unstorable()
      if (batching.isFull()) throw new Failure('database_busy', 'observations wait')
      // What is kept under a kind has the form of what is put under it.
      return (await batching.add(observation)) as Put
    },

    async *loadAll<Loaded extends Observation>(kind: string) {
      let after: readonly [Instant, string] = [Number.MIN_SAFE_INTEGER, '']
      for (;;) {
        const rows = await database.query<Row>(
          `SELECT * FROM observations WHERE kind = $1 AND (heard_at, subject) > ($2::bigint, $3)
           ORDER BY heard_at, subject LIMIT $4`,
          [kind, ...after, PAGE],
        )
        const last = rows.at(-1)
        if (last === undefined) return
        yield rows.map((row) => observationOf(row) as Loaded)
        after = [last.heard_at, last.subject]
      }
    },

    async load<Loaded extends Observation>(names: readonly NameRow[]) {
      return (await read(names)).map((each) => each as Loaded)
    },

    async forget(about) {
      await database.query('DELETE FROM observations WHERE about = $1', [about])
    },

    async prune(kind, most) {
      return (await database.query(PRUNE, [kind, most])).length
    },
  }
}

const unstorable = () => new Failure('fact_unstorable', 'an observation that cannot be kept')

const replaces = (one: Observation, other: Observation): boolean =>
  one.about === other.about &&
  (one.at > other.at || (one.at === other.at && one.heardAt >= other.heardAt))

type NameRow = { readonly kind: string; readonly subject: string }

const nameOf = ({ kind, subject }: NameRow): string => JSON.stringify([kind, subject])

type Row = {
  readonly kind: string
  readonly subject: string
  readonly about: string
  readonly at: Instant
  readonly heard_at: Instant
  readonly body: unknown
}

function rowOf({ heardAt, ...observation }: Observation): Row {
  return { ...observation, heard_at: heardAt }
}

function observationOf({ heard_at, ...row }: Row): Observation {
  return { ...row, heardAt: heard_at }
}
