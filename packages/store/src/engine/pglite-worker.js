/**
 * The embedded database in its own thread: on the main one it would starve the event loop.
 *
 * Plain JavaScript, since Node starts it as a file from the sources and from the build alike. It
 * knows neither roles nor callers: statements come in, one group at a time, and results go out.
 *
 * @typedef {{ sql: string, params?: (string | number | boolean | null)[] }} Statement
 *   Without parameters a script, of one or more.
 * @typedef {{ ok: true, rows: Record<string, unknown>[] }
 *   | { ok: false, message: string, sqlState?: string }} Result
 * @typedef {{ statements: Statement[], apart: boolean } | 'close'} Order
 *   `apart` statements belong to callers that do not know of each other.
 * @typedef {{ pglite: PGlite, prepared: ReturnType<typeof createPrepared> }} Database
 */
import { parentPort, workerData } from 'node:worker_threads'
import { PGlite } from '@electric-sql/pglite'
import { exactNumber } from './exact-number.js'
import { createPrepared } from './pglite-prepared.js'

const INT8 = 20
const BEGIN = { sql: 'BEGIN', params: [] }
const COMMIT = { sql: 'COMMIT', params: [] }
const ROLLBACK = { sql: 'ROLLBACK', params: [] }

export async function serve() {
  const port = parentPort
  if (port === null) return
  const { directory, code } = workerData
  const parsers = { [INT8]: exactNumber }
  /** @type {PGlite} */
  let pglite
  try {
    pglite = await PGlite.create({
      ...code,
      parsers,
      ...(directory === undefined ? {} : { dataDir: directory }),
    })
  } catch (error) {
    port.postMessage([problem(error)])
    port.close()
    return
  }
  const db = { pglite, prepared: createPrepared(pglite, pglite.parsers) }
  port.postMessage([{ ok: true, rows: [] }])
  port.on('message', (/** @type {Order} */ order) => void obey(db, port, order))
}

/**
 * What goes wrong in here ends the thread, and with it everything that waits for it.
 *
 * @param {Database} db
 * @param {import('node:worker_threads').MessagePort} port
 * @param {Order} order
 */
async function obey(db, port, order) {
  if (order === 'close') {
    await db.pglite.close()
    port.postMessage([{ ok: true, rows: [] }])
    port.close()
    return
  }
  const { statements, apart } = order
  port.postMessage(apart ? await runApart(db, statements) : await runInTurn(db, statements))
}

/**
 * One commit for all. When one fails, all are run again, each by itself.
 *
 * @param {Database} db
 * @param {Statement[]} statements
 */
async function runApart(db, statements) {
  if (statements.length > 1) {
    const results = await runInTurn(db, [BEGIN, ...statements, COMMIT])
    if (results.every(({ ok }) => ok)) return results.slice(1, -1)
    await runInTurn(db, [ROLLBACK])
  }
  const results = []
  for (const statement of statements) results.push(...(await runInTurn(db, [statement])))
  return results
}

/**
 * What is behind the first that fails is not run, and fails for the same reason.
 *
 * @param {Database} db
 * @param {Statement[]} statements
 * @returns {Promise<Result[]>}
 */
async function runInTurn(db, statements) {
  /** @type {Result[]} */
  const results = []
  /** @type {Result | undefined} */
  let failed
  while (results.length < statements.length && failed === undefined) {
    const rest = statements.slice(results.length)
    const scriptAt = rest.findIndex(({ params }) => params === undefined)
    const came =
      scriptAt === 0
        ? [await runScript(db, rest[0]?.sql ?? '')]
        : await runPrepared(db, scriptAt < 0 ? rest : rest.slice(0, scriptAt))
    results.push(...came)
    failed = came.find(({ ok }) => !ok)
  }
  if (failed === undefined) return results
  const reason = failed
  return statements.map((_, at) => results[at] ?? reason)
}

/**
 * @param {Database} db
 * @param {Statement[]} statements
 * @returns {Promise<Result[]>}
 */
async function runPrepared({ prepared }, statements) {
  try {
    const answers = await prepared.run(statements.map(({ sql, params = [] }) => ({ sql, params })))
    return answers.map((each) =>
      'error' in each ? problem(each.error) : { ok: true, rows: each.rows },
    )
  } catch (error) {
    return [problem(error)]
  }
}

/**
 * @param {Database} db
 * @param {string} sql
 * @returns {Promise<Result>}
 */
async function runScript({ pglite, prepared }, sql) {
  try {
    const results = await pglite.exec(sql)
    return { ok: true, rows: results.at(-1)?.rows ?? [] }
  } catch (error) {
    return problem(error)
  } finally {
    prepared.renew()
  }
}

/**
 * Errors lose their fields on the way between threads.
 *
 * @param {unknown} error
 * @returns {Result}
 */
function problem(error) {
  const message = error instanceof Error ? error.message : String(error)
  const sqlState =
    error instanceof Error && 'code' in error && typeof error.code === 'string' && error.code
  return { ok: false, message, ...(sqlState ? { sqlState } : {}) }
}
