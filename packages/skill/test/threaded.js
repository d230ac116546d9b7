/**
 * Functions that run in a thread: good ones, and all that a bad one can do there. Plain JavaScript,
 * since a thread loads it as a file.
 */
import { setTimeout as wait } from 'node:timers/promises'

const never = () => new Promise(() => undefined)

/**
 * @param {{ n: number }} input
 * @param {{ signal: AbortSignal, attempt: number, key?: string, progress: Function, log: any,
 *   keep: Function, failure: Function, hire: Function }} context
 */
export async function run({ n }, { signal, attempt, key, progress, log, keep, failure, hire }) {
  switch (n) {
    case 1:
      progress(0.5, 'half')
      log.info('at work', { attempt, key })
      return { n: 2 }
    case 2:
      // Spins for ever: it cannot even hear its signal.
      for (;;) if (n === 0) return { n }
    case 3: {
      const kept = []
      for (;;) kept.push(new Array(10_000).fill(kept.length))
    }
    case 4:
      throw failure('RATE_LIMITED', { detail: 'slow down', retryAfter: '30s' })
    case 5:
      void Promise.reject(new Error('nobody waits for this'))
      return never()
    case 6:
      return process.exit(3)
    case 7:
      return { n: () => 1 }
    case 8:
      await wait(60_000, undefined, { signal }).catch(() => undefined)
      return { n: 8 }
    case 9:
      keep({ n: 9 })
      for (let each = 0; each < 10_000; each += 1) progress(each / 10_000)
      return { n: 9 }
    case 10:
      throw new Error('boom')
    case 11:
      throw Object.assign(new Error('fetch failed'), { cause: { code: 'ECONNREFUSED' } })
    case 12: {
      const { output } = await hire('add', { n }, { budget: 0.02 })
      await hire('nobody', {}).catch((error) => log.info(error.message, { code: error.code }))
      return { n: output.n }
    }
    default:
      return { n: Number(Math.random() > 2) }
  }
}

export const notOne = 1
