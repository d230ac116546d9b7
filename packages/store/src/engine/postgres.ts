/**
 * PostgreSQL, 15 or newer, through a pool of connections.
 *
 *   P1  Statements with parameters are prepared once per connection, under a name.
 *   P2  A connection that broke is replaced; the call that was on it fails and is the caller's to
 *       repeat.
 *   P3  No statement and no idle transaction holds its locks for ever: both have a time limit.
 *   P4  TLS as the address says (`?sslmode=verify-full`).
 *   P5  Statements of one transaction that are asked for together travel together and run in the
 *       order of asking. When one fails, those behind it fail for the same reason.
 *
 * A pooler that gives each transaction another connection (PgBouncer in transaction mode) does not
 * fit: role and prepared statements belong to the connection.
 */
import pg from 'pg'
import { Failure } from '../failure.ts'
import {
  beginning,
  type Database,
  isDisconnection,
  type Param,
  type Queries,
  type Row,
  TAKE_ROLE,
} from './database.ts'
import { exactNumber } from './exact-number.js'

export type PostgresOptions = {
  /** 10 by default: the ledger uses one at a time, and reads share the rest. */
  readonly connections?: number
  /** 30 s by default: far above any statement of ours, below what a caller waits. */
  readonly statementMs?: number
  /** 5 s by default. */
  readonly connectMs?: number
}

const INT8 = 20
// Far more than there are statements here; a bound against statements that are made up per call.
const MOST_NAMES = 500
// Behind a pool of ten with statements of a millisecond this is a second's wait.
const MOST_WAITING = 10_000

export async function openPostgres(
  address: string,
  { connections = 10, statementMs = 30_000, connectMs = 5_000 }: PostgresOptions = {},
): Promise<Database> {
  const pool = new pg.Pool({
    connectionString: address,
    max: connections,
    connectionTimeoutMillis: connectMs,
    statement_timeout: statementMs,
    idle_in_transaction_session_timeout: 2 * statementMs,
    application_name: 'chimera',
    pipeline: true,
    types: {
      getTypeParser: (oid: number, format?: 'text' | 'binary') =>
        oid === INT8 ? exactNumber : pg.types.getTypeParser(oid, format),
    },
  })
  // Whoever waits on a broken connection is told by its call, and an idle one is dropped by the
  // pool; but without a listener for it, the event would end the process.
  pool.on('error', () => undefined)
  pool.on('connect', (client) => client.on('error', () => undefined))
  const database = serve(pool)
  try {
    await database.query('SELECT 1')
  } catch (cause) {
    await pool.end()
    throw cause
  }
  return database
}

function serve(pool: pg.Pool): Database {
  const names = new Map<string, string>()
  const armed = new WeakSet<pg.PoolClient>()
  let closed = false

  function prepared(sql: string, params: readonly Param[]): pg.QueryConfig {
    const values = [...params]
    const known = names.get(sql)
    if (known !== undefined) return { name: known, text: sql, values }
    if (names.size >= MOST_NAMES) return { text: sql, values }
    const name = `chimera_${names.size + 1}`
    names.set(sql, name)
    return { name, text: sql, values }
  }

  async function ask(
    client: pg.PoolClient,
    sql: string,
    params?: readonly Param[],
  ): Promise<readonly Row[]> {
    const answer: unknown = await client.query(params === undefined ? sql : prepared(sql, params))
    const last: unknown = Array.isArray(answer) ? answer.at(-1) : answer
    return isResult(last) ? last.rows : []
  }

  async function connect(): Promise<pg.PoolClient> {
    if (closed) throw new Failure('database_closed', 'call after close')
    if (pool.waitingCount >= MOST_WAITING) {
      throw new Failure('database_busy', `${pool.waitingCount} calls wait`)
    }
    const client = await pool.connect().catch((cause: unknown) => {
      throw new Failure('database_unreachable', textOf(cause), { cause })
    })
    if (armed.has(client)) return client
    try {
      const taken = await ask(client, TAKE_ROLE)
      if (taken.length > 0) armed.add(client)
      return client
    } catch (cause) {
      client.release(true)
      throw failureOf(cause)
    }
  }

  async function query<R extends Row>(
    sql: string,
    params?: readonly Param[],
  ): Promise<readonly R[]> {
    const client = await connect()
    try {
      const rows = await ask(client, sql, params)
      client.release()
      return rows as readonly R[]
    } catch (cause) {
      const failure = failureOf(cause)
      client.release(failure.code === 'database_unreachable')
      throw failure
    }
  }

  const transaction: Database['transaction'] = async (work, options = {}) => {
    const client = await connect()
    let failed: Failure | undefined
    const run = async (sql: string, params?: readonly Param[]): Promise<readonly Row[]> => {
      try {
        return await ask(client, sql, params)
      } catch (cause) {
        failed ??= failureOf(cause)
        throw failed
      }
    }
    const tx: Queries = {
      query: <R extends Row>(sql: string, params?: readonly Param[]) =>
        run(sql, params) as Promise<readonly R[]>,
    }
    try {
      await run(beginning(options))
      const answer = await work(tx)
      // A commit after a swallowed error would roll back and say that all is well.
      if (failed !== undefined) throw new Failure('statement_failed', 'an error was passed over')
      await commit(run)
      client.release()
      return answer
    } catch (error) {
      const broken = await run('ROLLBACK').then(
        () => false,
        () => true,
      )
      client.release(broken)
      throw error
    }
  }

  return {
    query,
    transaction,
    async close() {
      if (closed) return
      closed = true
      await pool.end()
    },
  }
}

/** Without an answer to the commit nobody here knows whether it happened. */
async function commit(run: (sql: string) => Promise<readonly Row[]>): Promise<void> {
  try {
    await run('COMMIT')
  } catch (cause) {
    const lost = cause instanceof Failure && cause.code === 'database_unreachable'
    throw lost ? new Failure('outcome_unknown', cause.detail, { cause }) : cause
  }
}

function isResult(value: unknown): value is { readonly rows: readonly Row[] } {
  return typeof value === 'object' && value !== null && 'rows' in value && Array.isArray(value.rows)
}

function failureOf(cause: unknown): Failure {
  if (cause instanceof Failure) return cause
  // The driver's own errors about a connection have no SQLSTATE.
  const sqlState = cause instanceof pg.DatabaseError ? cause.code : undefined
  if (sqlState === undefined) {
    const code = cause instanceof RangeError ? 'statement_failed' : 'database_unreachable'
    return new Failure(code, textOf(cause), { cause })
  }
  const code = isDisconnection(sqlState) ? 'database_unreachable' : 'statement_failed'
  return new Failure(code, textOf(cause), { cause, sqlState })
}

function textOf(cause: unknown): string {
  // A refused connection to a name with several addresses has no message of its own.
  if (cause instanceof AggregateError) return cause.errors.map(textOf).join('; ')
  return cause instanceof Error ? cause.message : String(cause)
}
