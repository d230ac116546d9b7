/**
 * Time as something that is handed in: what it is now, and being called or woken later.
 *
 *   T1  A timer runs at most once, never before its time, and never inside the call that set it.
 *   T2  A cancelled timer does not run; cancelling again, or after it ran, does nothing.
 *   T3  A sleep that is aborted rejects with the signal's reason, and leaves no timer behind.
 *
 * Code that uses this port is tested with the virtual clock beside it, and never sleeps in a test.
 */
import type { Instant } from '@chimera/domain/ids'

export type Timer = { readonly cancel: () => void }

export type Clock = {
  readonly now: () => Instant
  /** Runs `run` once, after so many milliseconds; less than nothing counts as nothing. */
  readonly after: (ms: number, run: () => void) => Timer
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>
}

export type ClockOptions = {
  /** Whether waiting timers let the process end. For background work; a server leaves it off. */
  readonly unref?: boolean
}

// Node fires a longer timer at once, so a longer wait is cut into pieces (24.8 days each).
const LONGEST_MS = 2 ** 31 - 1

export function createClock({ unref = false }: ClockOptions = {}): Clock {
  const after: Clock['after'] = (ms, run) => {
    if (ms <= LONGEST_MS) {
      const timer = setTimeout(run, delay(ms))
      if (unref) timer.unref()
      return { cancel: () => clearTimeout(timer) }
    }
    let waiting: NodeJS.Timeout
    const wait = (rest: number): void => {
      const piece = Math.min(rest, LONGEST_MS)
      waiting = setTimeout(() => (rest > piece ? wait(rest - piece) : run()), piece)
      if (unref) waiting.unref()
    }
    wait(delay(ms))
    return { cancel: () => clearTimeout(waiting) }
  }
  return { now: () => Date.now(), after, sleep: sleeper(after) }
}

/** A wait that is not a number is a mistake of the caller; Node would take it for no wait. */
export function delay(ms: number): number {
  if (Number.isNaN(ms)) throw new RangeError('a timer needs a number of milliseconds')
  return Math.max(0, ms)
}

export function sleeper(after: Clock['after']): Clock['sleep'] {
  return (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const stop = (): void => {
        timer.cancel()
        reject(signal?.reason)
      }
      const timer = after(ms, () => {
        signal?.removeEventListener('abort', stop)
        resolve()
      })
      signal?.addEventListener('abort', stop, { once: true })
    })
}
