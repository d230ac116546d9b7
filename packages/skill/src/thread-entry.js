/**
 * A skill in a thread of its own. Plain JavaScript, since Node starts it as a file from the sources
 * and from the build alike.
 *
 * Calls come in one at a time; progress, log lines and results go out. A skill that says more than
 * the other side takes is not heard for a while: what waits there is memory that nobody bounds.
 *
 * @typedef {{ call: string, attempt: number, until: number, fallback?: string, caller?: string,
 *   key?: string }} Given
 * @typedef {{ is: 'call', input: unknown, given: Given } | { is: 'abort', reason: string }
 *   | { is: 'ping' } | { is: 'heard', count: number } | Hired} Order
 * @typedef {{ is: 'hired', id: number, hired?: unknown,
 *   failed?: { message: string, code: string } }} Hired
 */
import { parentPort, workerData } from 'node:worker_threads'

const MOST_UNHEARD = 100

export async function serve() {
  const port = parentPort
  if (port === null) return
  const module = await import(workerData.module)
  const run = module[workerData.export]
  let own = new AbortController()
  let unheard = 0
  let hires = 0
  /** @type {Map<number, (answer: Hired) => void>} */
  const hiring = new Map()

  /** @param {Record<string, unknown>} word */
  const say = (word) => {
    if (unheard >= MOST_UNHEARD) return
    unheard += 1
    port.postMessage(word)
  }

  /** @param {Given} given */
  const contextOf = ({ call, ...given }) => {
    /** @param {string} level @returns {(message: string, fields?: unknown) => void} */
    const logger = (level) => (message, fields) => say({ is: 'log', level, message, fields })
    return {
      ...given,
      call,
      signal: own.signal,
      now: () => Date.now(),
      /** @param {number} share @param {string} [note] */
      progress: (share, note) => say({ is: 'progress', share, note }),
      /** @param {boolean} does @param {string} [note] */
      awaiting: (does, note) => say({ is: 'awaiting', does, note }),
      log: {
        debug: logger('debug'),
        info: logger('info'),
        warn: logger('warn'),
        error: logger('error'),
      },
      /** @param {string} skill @param {unknown} input @param {unknown} [terms] */
      hire: (skill, input, terms) =>
        new Promise((resolve, reject) => {
          hires += 1
          const id = hires
          // First: what cannot be sent throws.
          port.postMessage({ is: 'hire', id, skill, input, terms })
          hiring.set(id, ({ hired, failed: why }) => {
            if (why === undefined) resolve(hired)
            else reject(Object.assign(new Error(why.message), { code: why.code }))
          })
        }),
      /** @param {unknown} partial */
      keep: (partial) => say({ is: 'keep', partial }),
      /** @param {string} code @param {{ detail?: string, retryAfter?: unknown }} [options] */
      failure: (code, options = {}) =>
        Object.assign(new Error(options.detail ?? code), {
          name: 'SkillFailure',
          code,
          retryAfter: options.retryAfter,
        }),
    }
  }

  /** @param {unknown} error */
  const failed = (error) => {
    /** @type {Record<string, unknown>} */
    const { name, message, code, retryAfter, cause } = Object(error)
    const { code: below } = Object(cause)
    const text = [name, message, code ?? below].map((each) => (each ? String(each) : undefined))
    const wait = ['number', 'string'].includes(typeof retryAfter) ? retryAfter : ''
    port.postMessage({ is: 'failed', name: text[0], message: text[1], code: text[2], wait })
  }

  /** @param {unknown} input @param {Given} given */
  const call = async (input, given) => {
    own = new AbortController()
    try {
      if (typeof run !== 'function') throw new TypeError(`no function ${workerData.export}`)
      const value = await run(input, contextOf(given))
      port.postMessage({ is: 'done', value })
    } catch (error) {
      failed(error)
    }
  }

  port.on('message', (/** @type {Order} */ order) => {
    if (order.is === 'call') void call(order.input, order.given)
    else if (order.is === 'abort') own.abort(new DOMException(order.reason, order.reason))
    else if (order.is === 'heard') unheard -= order.count
    else if (order.is === 'hired') {
      hiring.get(order.id)?.(order)
      hiring.delete(order.id)
    } else port.postMessage({ is: 'pong' })
  })
  port.postMessage({ is: 'ready' })
}
