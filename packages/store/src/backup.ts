/**
 * Backup and restore: everything that is kept, as lines of JSON that either engine reads. So a
 * backup is also the way from the embedded database to a server.
 *
 *   B1  A backup is one view of all tables, taken while others go on writing.
 *   B2  It is restored whole or not at all, into an empty database, under the schema that it was
 *       made with; newer steps of the schema follow.
 *   B3  Its last line holds the count and the hash of the lines before: what is cut off or altered
 *       is found out before anything is kept.
 *   B4  What belongs to one server only (transaction numbers), or lasts for minutes (nonces,
 *       allowances, which instances live), is left out.
 */
import { createHash } from 'node:crypto'
import type { Instant } from '@chimera/domain/ids'
import type { Database, Queries } from './engine/database.ts'
import { Failure } from './failure.ts'
import { inspectSchema, migrateIn } from './migrate.ts'
import { MIGRATIONS } from './migrations/ordered.ts'

const FORMAT = 'chimera-backup-1'
// A row is at most some hundred kilobytes; this many are held at once.
const PAGE = 500

type Table = { readonly name: string; readonly since: number; readonly order: string }

/** Every row finds before it what it refers to. `since` is the migration that made the table. */
// biome-ignore format: a table is read by its columns
const TABLES: readonly Table[] = [
  { name: 'facts',           since: 1, order: 'id' },
  { name: 'seals',           since: 1, order: 'seq' },
  { name: 'accounts',        since: 1, order: 'owner' },
  { name: 'holds',           since: 1, order: 'attempt, id' },
  { name: 'movements',       since: 1, order: 'transfer' },
  { name: 'totals',          since: 1, order: 'name' },
  { name: 'answers',         since: 1, order: 'scope' },
  { name: 'owners',          since: 2, order: 'id' },
  { name: 'agents',          since: 2, order: 'id' },
  { name: 'agent_keys',      since: 2, order: 'key' },
  { name: 'aliases',         since: 2, order: 'alias' },
  { name: 'tokens',          since: 2, order: 'digest' },
  { name: 'agent_records',   since: 6, order: 'agent' },
  { name: 'hub_keys',        since: 6, order: 'since' },
  { name: 'told_agents',     since: 7, order: 'agent' },
  { name: 'reservations',    since: 4, order: 'id' },
  { name: 'results',         since: 5, order: 'agent, work' },
  { name: 'observations',    since: 8, order: 'kind, subject' },
  { name: 'deliveries',      since: 10, order: 'id' },
  { name: 'alerts',          since: 10, order: 'id' },
  { name: 'webhooks',        since: 10, order: 'id' },
  { name: 'control_orders',  since: 13, order: 'sequence' },
  { name: 'control_seen',    since: 13, order: 'id, agent' },
  { name: 'agent_work',      since: 15, order: 'agent, scope' },
  { name: 'wallet_accounts', since: 16, order: 'chain, address' },
  { name: 'wallet_debits',   since: 16, order: 'key, attempt' },
  { name: 'wallet_purses',   since: 16, order: 'wallet, currency' },
  { name: 'wallet_purse_debits', since: 16, order: 'key' },
  { name: 'approvals',       since: 17, order: 'id' },
  { name: 'posts',           since: 18, order: 'id' },
  { name: 'publications',    since: 18, order: 'planner, key' },
  { name: 'campaigns',       since: 20, order: 'id' },
  { name: 'reviews',         since: 20, order: 'id' },
  { name: 'presence_events', since: 3, order: 'received_at, event_id' },
]

/** Lines without their ends. Whoever writes them to a file adds those. */
export async function backup(
  database: Database,
  take: (line: string) => Promise<void> | void,
): Promise<void> {
  const { version } = await inspectSchema(database)
  const hash = createHash('sha256')
  let count = 0
  const put = async (line: string) => {
    hash.update(line).update('\n')
    count += 1
    await take(line)
  }
  await database.transaction(
    async (tx) => {
      await put(JSON.stringify({ format: FORMAT, schema: version }))
      for (const table of TABLES) {
        if (table.since > version) continue
        for await (const rows of pagesOf(tx, table)) {
          for (const row of rows) await put(`{"table":"${table.name}","row":${row}}`)
        }
      }
    },
    { frozen: true },
  )
  await take(JSON.stringify({ lines: count, sha256: hash.digest('hex') }))
}

export async function restore(
  database: Database,
  lines: AsyncIterable<string> | Iterable<string>,
  { now }: { readonly now: Instant },
): Promise<void> {
  const { version } = await inspectSchema(database)
  if (version !== 0) throw new Failure('restore_refused', `the schema is at ${version}`)
  const reader = readLines(lines)
  try {
    await database.transaction(
      async (tx) => {
        const schema = schemaOf((await reader.next()).value)
        const then = MIGRATIONS.filter((each) => each.version <= schema)
        await migrateIn(tx, { now, migrations: then })
        await load(tx, reader)
        await migrateIn(tx, { now })
      },
      { role: 'owner' },
    )
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new Failure('backup_malformed', error.message, { cause: error })
  }
}

async function* pagesOf(tx: Queries, { name, order }: Table): AsyncGenerator<readonly string[]> {
  const columns = (await columnsOf(tx, name)).join(', ')
  await tx.query(
    `DECLARE pages NO SCROLL CURSOR FOR
     SELECT row_to_json(whole)::text AS line
     FROM (SELECT ${columns} FROM ${name} ORDER BY ${order}) AS whole`,
  )
  for (;;) {
    const rows = await tx.query<{ line: string }>(`FETCH ${PAGE} FROM pages`)
    if (rows.length === 0) break
    yield rows.map((row) => row.line)
  }
  await tx.query('CLOSE pages')
}

async function columnsOf(queries: Queries, table: string): Promise<readonly string[]> {
  const rows = await queries.query<{ name: string }>(
    `SELECT attname::text AS name FROM pg_attribute
     WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped
       AND attname <> 'tx'
     ORDER BY attnum`,
    [table],
  )
  return rows.map((row) => row.name)
}

async function load(tx: Queries, reader: AsyncGenerator): Promise<void> {
  await tx.query('DELETE FROM totals')
  let page: unknown[] = []
  let table: string | undefined
  const flush = async () => {
    if (table !== undefined && page.length > 0) await insert(tx, table, page)
    page = []
  }
  for await (const line of reader) {
    const entry = entryOf(line)
    if (entry.table !== table || page.length >= PAGE) await flush()
    table = entry.table
    page.push(entry.row)
  }
  await flush()
  await tx.query(`SELECT setval(pg_get_serial_sequence('facts', 'id'),
    (SELECT coalesce(max(id), 0) + 1 FROM facts), false)`)
}

async function insert(tx: Queries, table: string, rows: readonly unknown[]): Promise<void> {
  const text = JSON.stringify(rows)
  if (table === 'presence_events') {
    await tx.query(
      `SELECT chimera_presence_day(day) FROM (
         SELECT DISTINCT received_at - received_at % 86400000 AS day
         FROM json_to_recordset($1::json) AS list (received_at bigint)) AS days`,
      [text],
    )
  }
  const columns = (await columnsOf(tx, table)).join(', ')
  await tx.query(
    `INSERT INTO ${table} (${columns})
     SELECT ${columns} FROM json_populate_recordset(NULL::${table}, $1::json)`,
    [text],
  )
}

/** All lines but the last, which must fit them. */
async function* readLines(lines: AsyncIterable<string> | Iterable<string>): AsyncGenerator {
  const hash = createHash('sha256')
  let count = 0
  let held: string | undefined
  for await (const line of lines) {
    if (held !== undefined) {
      hash.update(held).update('\n')
      count += 1
      yield JSON.parse(held)
    }
    held = line
  }
  const end: unknown = held === undefined ? undefined : JSON.parse(held)
  const fits =
    typeof end === 'object' &&
    end !== null &&
    'lines' in end &&
    'sha256' in end &&
    end.lines === count &&
    end.sha256 === hash.digest('hex')
  if (!fits) throw new Failure('backup_malformed', `the end does not fit the ${count} lines before`)
}

function schemaOf(line: unknown): number {
  const fits =
    typeof line === 'object' &&
    line !== null &&
    'format' in line &&
    line.format === FORMAT &&
    'schema' in line &&
    typeof line.schema === 'number'
  if (!fits) throw new Failure('backup_malformed', 'the first line is not that of a backup')
  const schema = Number(line.schema)
  const latest = Math.max(...MIGRATIONS.map((each) => each.version))
  if (schema > latest)
    throw new Failure('schema_newer', `the backup has ${schema}, here is ${latest}`)
  return schema
}

/** Only tables of ours are named in statements. */
function entryOf(line: unknown): { readonly table: string; readonly row: unknown } {
  if (typeof line === 'object' && line !== null && 'table' in line && 'row' in line) {
    const table = TABLES.find((each) => each.name === line.table)
    if (table !== undefined) return { table: table.name, row: line.row }
  }
  throw new Failure('backup_malformed', 'a line is not a row of a known table')
}
