/**
 * Statements of the embedded database, prepared once and sent together. Its own `query` has each
 * text read, described and planned every time, which takes four times as long as running it.
 *
 *   R1  Statements that are sent together run in their order. The first that fails ends it: what
 *       is behind it is not run.
 *   R2  Nothing analyses the tables here and makes old plans void, so a plan that was made when a
 *       table was small is made anew after so many uses; and all of them after a script, which may
 *       have changed what the tables are.
 *   R3  A statement whose preparation may have failed is prepared again. Closing one that is not
 *       there is no mistake, so no name is ever taken.
 *
 * @typedef {{ sql: string, params: readonly (string | number | boolean | null)[] }} Prepared
 * @typedef {{ rows: Record<string, unknown>[] } | { error: unknown }} Answer
 */
import { protocol } from '@electric-sql/pglite'

const { serialize } = protocol

// The first five uses are planned each time; beyond a hundred, what that costs is not felt.
const USES = 100
// Far more than there are statements here; a bound against statements that are made up per call.
const MOST_NAMES = 500

/**
 * @param {import('@electric-sql/pglite').PGlite} db
 * @param {Record<number, (text: string) => unknown>} parsers
 */
export function createPrepared(db, parsers) {
  /** @type {Map<string, { name: string, left: number }>} */
  const known = new Map()

  /**
   * @param {string} sql
   * @param {Uint8Array[]} parts
   * @returns {{ name: string, isNew: boolean }}
   */
  function prepare(sql, parts) {
    const before = known.get(sql)
    if (before !== undefined && before.left > 0) {
      before.left -= 1
      return { name: before.name, isNew: false }
    }
    const name = before?.name ?? (known.size < MOST_NAMES ? `s${known.size}` : '')
    if (name !== '') known.set(sql, { name, left: USES - 1 })
    parts.push(serialize.close({ type: 'S', name }), serialize.parse({ name, text: sql }))
    return { name, isNew: true }
  }

  /**
   * One answer for each, up to the first that failed (R1).
   *
   * @param {readonly Prepared[]} statements
   * @returns {Promise<Answer[]>}
   */
  async function run(statements) {
    /** @type {Uint8Array[]} */
    const parts = []
    const names = statements.map(({ sql, params }) => {
      const prepared = prepare(sql, parts)
      parts.push(
        serialize.bind({ statement: prepared.name, values: params.map(textOf) }),
        serialize.describe({ type: 'P', name: '' }),
        serialize.execute({}),
      )
      return prepared
    })
    parts.push(serialize.sync())
    const { messages } = await db.execProtocol(Buffer.concat(parts), { throwOnError: false })
    const answers = answersIn(messages, parsers)
    for (const [at, { isNew }] of names.entries()) {
      const answer = answers[at]
      const { sql } = statements[at] ?? {}
      const entry = sql === undefined ? undefined : known.get(sql)
      // R3.
      if (isNew && entry !== undefined && (answer === undefined || 'error' in answer)) {
        entry.left = 0
      }
    }
    return answers
  }

  return {
    run,
    /** R2. */
    renew: () => {
      for (const each of known.values()) each.left = 0
    },
  }
}

/**
 * @param {string | number | boolean | null} param
 * @returns {string | null}
 */
const textOf = (param) => (param === null ? null : String(param))

/**
 * @param {readonly unknown[]} messages
 * @param {Record<number, (text: string) => unknown>} parsers
 * @returns {Answer[]}
 */
function answersIn(messages, parsers) {
  /** @type {Answer[]} */
  const answers = []
  /** @type {{ name: string, dataTypeID: number }[]} */
  let fields = []
  /** @type {Record<string, unknown>[]} */
  let rows = []
  /** @type {unknown} */
  let wrong
  for (const message of messages) {
    const said = /** @type {{ name: string, fields: never[] }} */ (message)
    if (said.name === 'rowDescription') fields = said.fields
    else if (said.name === 'dataRow') {
      try {
        rows.push(rowOf(fields, said.fields, parsers))
      } catch (error) {
        wrong ??= error
      }
    } else if (said.name === 'commandComplete') {
      answers.push(wrong === undefined ? { rows } : { error: wrong })
      fields = []
      rows = []
      wrong = undefined
    } else if (said.name === 'error') {
      answers.push({ error: message })
      break
    }
  }
  return answers
}

/**
 * @param {readonly { name: string, dataTypeID: number }[]} fields
 * @param {readonly (string | null)[]} texts
 * @param {Record<number, (text: string) => unknown>} parsers
 */
function rowOf(fields, texts, parsers) {
  /** @type {Record<string, unknown>} */
  const row = {}
  for (let at = 0; at < fields.length; at += 1) {
    const field = fields[at]
    const text = texts[at]
    if (field === undefined) continue
    const parse = parsers[field.dataTypeID]
    if (text === null || text === undefined) row[field.name] = null
    else row[field.name] = parse === undefined ? text : parse(text)
  }
  return row
}
