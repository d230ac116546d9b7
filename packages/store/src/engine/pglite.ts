/**
 * The embedded database: PGlite in a worker thread, alone in its directory.
 *
 *   E1  Statements and transactions run one after another, in the order of asking.
 *   E2  Statements of different callers that wait together travel together and share one commit;
 *       one that fails does not take the others with it.
 *   E3  Statements of one transaction that are asked for together travel together and run in the
 *       order of asking. When one fails, those behind it fail for the same reason.
 *   E4  A killed process loses nothing that was acknowledged. A power cut may: the engine does not
 *       wait for the disk.
 */
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
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
import { type DirectoryLock, lockDirectory } from './lock.ts'
import { pgliteCode } from './pglite-code.ts'
import { createTurns } from './turns.ts'

export type PgliteOptions = {
  /** Where the data is kept; absent: in memory, and gone with the process. */
  readonly directory?: string
}

type Statement = { readonly sql: string; readonly params?: readonly Param[] }
type Result =
  | { readonly ok: true; readonly rows: readonly Row[] }
  | { readonly ok: false; readonly message: string; readonly sqlState?: string }
type Order = { readonly statements: readonly Statement[]; readonly apart: boolean } | 'close'
/** The order is made when its turn has come, of all that is to be in it by then. */
type Exchange = (order: () => Order) => Promise<readonly Result[]>

type Waiting = {
  readonly statement: Statement
  readonly resolve: (rows: readonly Row[]) => void
  readonly reject: (error: unknown) => void
}

// Turns, of which each is a transaction or a group. At a few ms each this is some seconds of work;
// whoever comes then is better told.
const MOST_WAITING = 1_000
// One message: large enough to share the round trip, small enough that nobody waits long behind it.
const MOST_TOGETHER = 256

export async function openPglite({ directory }: PgliteOptions): Promise<Database> {
  const lock = directory === undefined ? undefined : await lockDirectory(directory)
  try {
    const data = directory === undefined ? undefined : join(directory, 'pg')
    const { exchange, ended } = await startWorker(data)
    return serve(exchange, async () => {
      await exchange(() => 'close')
      await ended
      await lock?.release()
    })
  } catch (cause) {
    await releaseAfter(lock)
    throw cause instanceof Failure
      ? new Failure('directory_unusable', `${directory}: ${cause.detail}`, { cause })
      : cause
  }
}

function serve(exchange: Exchange, stop: () => Promise<void>): Database {
  const turns = createTurns(MOST_WAITING)
  let together: Waiting[] = []
  let armed = false
  let closed = false

  /** Until the first migration has made the role, there is none to take. */
  async function arm(): Promise<void> {
    if (armed) return
    const [result] = await exchange(() => ({ statements: [{ sql: TAKE_ROLE }], apart: false }))
    armed = result?.ok === true && result.rows.length > 0
  }

  async function runTogether(group: readonly Waiting[]): Promise<void> {
    try {
      await arm()
      const statements = group.map(({ statement: each }) => each)
      const results = await exchange(() => ({ statements, apart: true }))
      for (const [at, each] of group.entries()) settle(each, results[at])
    } catch (error) {
      for (const each of group) each.reject(error)
    }
  }

  function query<R extends Row>(sql: string, params?: readonly Param[]): Promise<readonly R[]> {
    if (closed) return Promise.reject(new Failure('database_closed', 'query after close'))
    return new Promise<readonly Row[]>((resolve, reject) => {
      const waiting = { statement: statement(sql, params), resolve, reject }
      const [first] = together
      if (first !== undefined && together.length < MOST_TOGETHER) {
        together.push(waiting)
        return
      }
      const group = [waiting]
      together = group
      turns
        .take(async () => {
          if (together === group) together = []
          await runTogether(group)
        })
        .catch((error: unknown) => {
          if (together === group) together = []
          for (const each of group) each.reject(error)
        })
    }) as Promise<readonly R[]>
  }

  const transaction: Database['transaction'] = (work, options = {}) => {
    if (closed) return Promise.reject(new Failure('database_closed', 'transaction after close'))
    // Whoever asks after this transaction was asked for comes after it (E1).
    together = []
    return turns.take(async () => {
      await arm()
      const { tx, finish } = openTransaction(exchange, beginning(options))
      try {
        const answer = await work(tx)
        await finish('COMMIT')
        return answer
      } catch (error) {
        await finish('ROLLBACK').catch(() => undefined)
        throw error
      }
    })
  }

  return {
    query,
    transaction,
    alone: true,
    async close() {
      if (closed) return
      closed = true
      await turns.idle()
      await stop()
    },
  }
}

function openTransaction(exchange: Exchange, begin: string) {
  let ended = false
  let failed: Failure | undefined
  let gathered: Waiting[] = []

  async function send(): Promise<void> {
    let sent: readonly Waiting[] = []
    try {
      const results = await exchange(() => {
        sent = gathered
        gathered = []
        return { statements: sent.map(({ statement: each }) => each), apart: false }
      })
      for (const [at, { resolve, reject }] of sent.entries()) {
        const result = results[at]
        if (result?.ok === true) resolve(result.rows)
        else {
          failed ??= failureOf(result)
          reject(failed)
        }
      }
    } catch (error) {
      // Whoever was not sent any more hears it, too.
      for (const { reject } of [...sent, ...gathered.splice(0)]) reject(error)
    }
  }

  function run(one: Statement): Promise<readonly Row[]> {
    return new Promise((resolve, reject) => {
      gathered.push({ statement: one, resolve, reject })
      if (gathered.length === 1) void send()
    })
  }

  const tx: Queries = {
    query<R extends Row>(sql: string, params?: readonly Param[]) {
      if (ended) return Promise.reject(new Failure('database_closed', 'query after the end'))
      // Also where it never began, since what came then would not be part of it.
      if (failed !== undefined) return Promise.reject(failed)
      return run(statement(sql, params)) as Promise<readonly R[]>
    },
  }
  async function finish(how: 'COMMIT' | 'ROLLBACK'): Promise<void> {
    if (ended) return
    ended = true
    // A commit after a swallowed error would roll back and say that all is well.
    await run({ sql: failed === undefined ? how : 'ROLLBACK', params: [] })
    if (failed !== undefined && how === 'COMMIT')
      throw new Failure('statement_failed', 'an error was passed over')
  }
  // Goes with the first statement; whatever is wrong with it, that one hears.
  run(begin === 'BEGIN' ? { sql: begin, params: [] } : { sql: begin }).catch(() => undefined)
  return { tx, finish }
}

// The worker's module does nothing when it is imported, so something must call it.
const BOOT = `import(require('node:worker_threads').workerData.module).then((it) => it.serve())`

async function startWorker(directory: string | undefined) {
  const module = new URL('./pglite-worker.js', import.meta.url).href
  const workerData = { module, directory, code: await pgliteCode() }
  const worker = new Worker(BOOT, { eval: true, workerData })
  let death: Failure | undefined
  let asked: Asked | undefined
  const die = (why: string, cause?: unknown) => {
    death ??= new Failure('database_unreachable', `the database thread ended: ${why}`, { cause })
    asked?.reject(death)
  }
  worker.on('error', (error) => die(error.message, error))
  const ended = new Promise<void>((resolve) => {
    worker.on('exit', (code) => {
      die(`exit ${code}`)
      resolve()
    })
  })
  worker.on('message', (results: readonly Result[]) => asked?.resolve(results))
  const answer = () =>
    new Promise<readonly Result[]>((resolve, reject) => {
      if (death === undefined) asked = { resolve, reject }
      else reject(death)
    })
  const [opened] = await answer()
  if (opened?.ok !== true) throw failureOf(opened)

  // Answers carry no number: the next order leaves when the last one is answered.
  const turns = createTurns(Number.POSITIVE_INFINITY)
  const exchange: Exchange = (order) =>
    turns.take(() => {
      const answered = answer()
      if (death === undefined) send(worker, order())
      return answered
    })
  return { exchange, ended }
}

function send(worker: Worker, order: Order): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  worker.postMessage(order)
}

type Asked = {
  readonly resolve: (results: readonly Result[]) => void
  readonly reject: (error: Failure) => void
}

function statement(sql: string, params: readonly Param[] | undefined): Statement {
  return params === undefined ? { sql } : { sql, params }
}

/** Without what cannot travel between threads. */
function settle({ resolve, reject }: Waiting, result: Result | undefined): void {
  if (result?.ok === true) resolve(result.rows)
  else reject(failureOf(result))
}

function failureOf(result: Result | undefined): Failure {
  if (result === undefined || result.ok) return new Failure('statement_failed', 'no answer')
  const { message, sqlState } = result
  if (sqlState === undefined) return new Failure('statement_failed', message)
  const code = isDisconnection(sqlState) ? 'database_unreachable' : 'statement_failed'
  return new Failure(code, message, { sqlState })
}

async function releaseAfter(lock: DirectoryLock | undefined): Promise<void> {
  await lock?.release()
}
