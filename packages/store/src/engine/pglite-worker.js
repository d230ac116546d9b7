/**
 * The embedded database in its own thread: on the main one it would starve the event loop.
 *
 * Plain JavaScript, since Node starts it as a file from the sources and from the build alike. It
 * knows neither roles nor callers: statements come in, one group at a time, and results go out.
 *
 * @typedef {{ sql: string, params?: (string | number | boolean | null)[] }} Statement
 * @typedef {{ ok: true, rows: Record<string, unknown>[] }
 *   | { ok: false, message: string, sqlState?: string }} Result
 * @typedef {{ statements: Statement[], apart: boolean } | 'close'} Order
 *   `apart` statements belong to callers that do not know of each other.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { PGlite } from '@electric-sql/pglite'
import { exactNumber } from './exact-number.js'

const INT8 = 20

export async function serve() {
  const port = parentPort
  if (port === null) return
  const { directory, code } = workerData
  const parsers = { [INT8]: exactNumber }
  /** @type {PGlite} */
  let db
  try {
    db = await PGlite.create({
      ...code,
      parsers,
      ...(directory === undefined ? {} : { dataDir: directory }),
    })
  } catch (error) {
    port.postMessage([problem(error)])
    port.close()
    return
  }
  port.postMessage([{ ok: true, rows: [] }])
  port.on('message', (/** @type {Order} */ order) => void obey(db, port, order))
}

/**
 * What goes wrong in here ends the thread, and with it everything that waits for it.
 *
 * @param {PGlite} db
 * @param {import('node:worker_threads').MessagePort} port
 * @param {Order} order
 */
async function obey(db, port, order) {
  if (order === 'close') {
    await db.close()
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
 * @param {PGlite} db
 * @param {Statement[]} statements
 */
async function runApart(db, statements) {
  if (statements.length === 1) return runInTurn(db, statements)
  await db.exec('BEGIN')
  /** @type {Result[]} */
  const results = []
  for (const statement of statements) {
    const result = await run(db, statement)
    if (!result.ok) {
      await db.exec('ROLLBACK')
      return runInTurn(db, statements)
    }
    results.push(result)
  }
  await db.exec('COMMIT')
  return results
}

/**
 * @param {PGlite} db
 * @param {Statement[]} statements
 */
async function runInTurn(db, statements) {
  const results = []
  for (const statement of statements) results.push(await run(db, statement))
  return results
}

/**
 * @param {PGlite} db
 * @param {Statement} statement
 * @returns {Promise<Result>}
 */
async function run(db, { sql, params }) {
  try {
    if (params === undefined) {
      const results = await db.exec(sql)
      return { ok: true, rows: results.at(-1)?.rows ?? [] }
    }
    const { rows } = await db.query(sql, params)
    return { ok: true, rows: /** @type {Record<string, unknown>[]} */ (rows) }
  } catch (error) {
    return problem(error)
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
