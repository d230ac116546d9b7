/**
 * Time, chance and ids as the runner takes them, and the real ones for whoever hands in none.
 * A clock of `host`, real or virtual, is one of these.
 */
import { randomUUID } from 'node:crypto'
import type { Instant } from '@chimera/domain/ids'
import type { Leaving } from './leaving.ts'

export type Clock = {
  readonly now: () => Instant
  /** Runs `run` once after so many milliseconds, unless it is cancelled. */
  readonly after: (ms: number, run: () => void) => { readonly cancel: () => void }
}

export type Chance = {
  /** From 0 up to, but not including, 1. */
  readonly fraction: () => number
  readonly uuid: () => string
}

// Node fires a longer timer at once, so a longer wait is cut into pieces (24.8 days each).
const LONGEST_MS = 2 ** 31 - 1

export const createClock = (): Clock => ({
  now: () => Date.now(),
  after: (ms, run) => {
    let timer: NodeJS.Timeout
    const wait = (restMs: number): void => {
      const pieceMs = Math.min(restMs, LONGEST_MS)
      timer = setTimeout(() => (restMs > pieceMs ? wait(restMs - pieceMs) : run()), pieceMs)
    }
    wait(Math.max(0, ms))
    return { cancel: () => clearTimeout(timer) }
  },
})

export const createChance = (): Chance => ({ fraction: () => Math.random(), uuid: randomUUID })

/** Whether the time came while somebody still waited. Never rejects. */
export function waitFor(clock: Clock, ms: number, leaving: Leaving): Promise<boolean> {
  return new Promise((resolve) => {
    if (leaving.hasLeft()) return resolve(false)
    const stay = leaving.onLeave(() => {
      timer.cancel()
      resolve(false)
    })
    const timer = clock.after(ms, () => {
      stay()
      resolve(true)
    })
  })
}
