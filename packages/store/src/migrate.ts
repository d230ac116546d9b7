/**
 * Brings a database to the schema that this version works with, or says why it cannot.
 *
 *   V1  Steps are taken in order, all in one transaction, by one process at a time.
 *   V2  A database with a breaking step that is not known here is not touched: going on could
 *       write what the newer version cannot read.
 *   V3  Newer steps that break nothing are no obstacle, so that a fleet is updated one by one.
 */
import type { Instant } from '@chimera/domain/ids'
import { ADVISORY, type Database, type Queries } from './engine/database.ts'
import { Failure } from './failure.ts'
import type { Migration } from './migrations/migration.ts'
import { MIGRATIONS } from './migrations/ordered.ts'

export type SchemaState = {
  /** The highest step that was taken; 0 for an empty database. */
  readonly version: number
  /** Steps that are known here and not taken there. */
  readonly pending: readonly Migration[]
  /** Steps that were taken and are not known here. */
  readonly unknown: readonly Pick<Migration, 'version' | 'name' | 'breaking'>[]
}

type Known = { readonly migrations?: readonly Migration[] }

const TABLE = `
CREATE TABLE IF NOT EXISTS schema_migrations (
  version bigint PRIMARY KEY,
  name text NOT NULL,
  breaking boolean NOT NULL,
  applied_at bigint NOT NULL
);
GRANT SELECT ON schema_migrations TO PUBLIC`

/** What `--check` shows. Writes nothing. */
export async function inspectSchema(
  database: Database,
  { migrations = MIGRATIONS }: Known = {},
): Promise<SchemaState> {
  return readState(database, migrations)
}

/** For a process that starts: everything is there, and nothing that it cannot work with. */
export async function requireSchema(database: Database, known: Known = {}): Promise<void> {
  const state = await inspectSchema(database, known)
  refuseNewer(state)
  const [first] = state.pending
  if (first !== undefined) {
    throw new Failure('schema_missing', `migration ${first.version} (${first.name}) is pending`)
  }
}

/** Answers the state before, whose `pending` steps are now taken. */
export async function migrate(
  database: Database,
  options: Known & { readonly now: Instant },
): Promise<SchemaState> {
  return database.transaction((tx) => migrateIn(tx, options), { role: 'owner' })
}

/** As part of a transaction of the owner's. */
export async function migrateIn(
  tx: Queries,
  { now, migrations = MIGRATIONS }: Known & { readonly now: Instant },
): Promise<SchemaState> {
  await tx.query('SELECT pg_advisory_xact_lock($1)', [ADVISORY.migrate])
  const state = await readState(tx, migrations)
  refuseNewer(state)
  if (state.version === 0) await tx.query(TABLE)
  for (const { version, name, breaking, sql } of state.pending) {
    await tx.query(sql)
    await tx.query(
      `INSERT INTO schema_migrations (version, name, breaking, applied_at)
       VALUES ($1, $2, $3, $4)`,
      [version, name, breaking, now],
    )
  }
  return state
}

async function readState(queries: Queries, migrations: readonly Migration[]): Promise<SchemaState> {
  const [table] = await queries.query<{ there: boolean }>(
    `SELECT to_regclass('schema_migrations') IS NOT NULL AS there`,
  )
  const taken =
    table?.there === true
      ? await queries.query<Pick<Migration, 'version' | 'name' | 'breaking'>>(
          'SELECT version, name, breaking FROM schema_migrations ORDER BY version',
        )
      : []
  const there = new Set(taken.map((each) => each.version))
  const here = new Set(migrations.map((each) => each.version))
  return {
    version: Math.max(0, ...there),
    pending: migrations.filter((each) => !there.has(each.version)),
    unknown: taken.filter((each) => !here.has(each.version)),
  }
}

function refuseNewer({ unknown }: SchemaState): void {
  const newer = unknown.find((each) => each.breaking)
  if (newer === undefined) return
  const latest = Math.max(0, ...MIGRATIONS.map((each) => each.version))
  throw new Failure(
    'schema_newer',
    `the database has migration ${newer.version} (${newer.name}); this version knows ${latest}`,
  )
}
