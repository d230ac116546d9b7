/**
 * A clock that stands still until it is told to move, for tests and for whole simulated networks.
 *
 *   V1  Timers run in the order of their times, at one time in the order in which they were set.
 *   V2  While a timer runs, `now` is its own time, however far the clock is moved at once.
 *   V3  After each timer everything that it set off is awaited, so that what it sets in turn, also
 *       after an `await`, takes its place in the same order. Real I/O is not waited for: hand in a
 *       `settle` that does.
 *   V4  The same moves over the same code give the same run.
 */
import type { Instant } from '@chimera/domain/ids'
import { type Clock, delay, sleeper } from './clock.ts'

export type VirtualClock = Clock & {
  readonly advanceBy: (ms: number) => Promise<void>
  readonly advanceTo: (instant: Instant) => Promise<void>
  /** When the timers that wait are due, the next one first. */
  readonly pending: () => readonly Instant[]
}

export type VirtualClockOptions = {
  readonly startAt?: Instant
  /** What is awaited between two timers; by default until no promise can go on without I/O. */
  readonly settle?: () => Promise<void>
}

type Waiting = { readonly at: Instant; readonly place: number; readonly run: () => void }

// 2026-01-01T00:00:00Z: an ordinary day, so that formatted times in tests look like times.
const START = 1_767_225_600_000
// A timer that sets itself for the same instant again and again would never let time pass.
const MOST_AT_ONCE = 100_000

export function createVirtualClock(options: VirtualClockOptions = {}): VirtualClock {
  const { startAt = START, settle = drain } = options
  // The next one stands last, where it is taken away without moving the others.
  const waiting: Waiting[] = []
  let now = startAt
  let places = 0
  let moving = false

  const after: Clock['after'] = (ms, run) => {
    places += 1
    const timer = { at: now + delay(ms), place: places, run }
    waiting.splice(positionOf(timer), 0, timer)
    return {
      cancel: () => {
        const position = positionOf(timer)
        if (waiting[position] === timer) waiting.splice(position, 1)
      },
    }
  }

  /** Where the timer stands, or would stand. */
  function positionOf({ at, place }: Waiting): number {
    let [from, to] = [0, waiting.length]
    while (from < to) {
      const middle = (from + to) >>> 1
      const other = waiting[middle]
      if (other && (other.at > at || (other.at === at && other.place > place))) from = middle + 1
      else to = middle
    }
    return from
  }

  async function runUntil(instant: Instant): Promise<void> {
    let atOnce = 0
    await settle()
    for (let next = waiting.at(-1); next && next.at <= instant; next = waiting.at(-1)) {
      waiting.pop()
      atOnce = next.at === now ? atOnce + 1 : 0
      if (atOnce > MOST_AT_ONCE) throw new Error('timers are set for the same instant for ever')
      now = next.at
      next.run()
      await settle()
    }
    now = instant
  }

  const advanceTo = async (instant: Instant): Promise<void> => {
    if (!(instant >= now)) throw new RangeError('a clock moves forward')
    if (moving) throw new Error('the clock is already being moved: await the first move')
    moving = true
    try {
      await runUntil(instant)
    } finally {
      moving = false
    }
  }

  return {
    now: () => now,
    after,
    sleep: sleeper(after),
    advanceBy: (ms) => advanceTo(now + ms),
    advanceTo,
    pending: () => waiting.map(({ at }) => at).reverse(),
  }
}

/** Every promise that can go on has gone on before the event loop comes round to this. */
function drain(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
