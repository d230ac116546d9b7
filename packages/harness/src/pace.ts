/**
 * How time passes in a network that lives in one process: as far as it is told to, never ahead of
 * what is under way.
 *
 *   T1  Time moves only while somebody waits for it: for a span to pass, or for something to end.
 *   T2  Before each timer, everything that can go on without time passing has gone on: messages on
 *       the way, the database, skills that do not wait for a timer.
 *   T3  What takes real time (a `fetch`, a `setTimeout`) is waited for as long as the patience
 *       says, and counts as waiting for the time from then on.
 *   T4  Several may wait at once: time goes to whatever is wanted first.
 */
import type { Instant } from '@chimera/domain/ids'
import { createVirtualClock, type VirtualClock } from '@chimera/host/virtual-clock'
import { HarnessError } from './error.ts'
import type { Traffic } from './traffic.ts'

export type Pace = {
  readonly clock: VirtualClock
  readonly pass: (ms: number) => Promise<void>
  /** Lets as much time pass as it takes, up to a bound. */
  readonly until: <Result>(ending: Promise<Result>, mostMs: number) => Promise<Result>
}

export type PaceOptions = {
  readonly traffic: Traffic
  readonly startAt: Instant
  /** Of real time, in milliseconds. */
  readonly patienceMs: number
}

type Wish = {
  /** The time that it waits for, or will not wait beyond. */
  readonly at: Instant
  readonly isDone: () => boolean
  /** The time has come. */
  readonly due: () => void
  readonly fail: (error: unknown) => void
}

// So many looks must find nothing new, each a round of the event loop and a millisecond later than
// the one before: two where nothing is under way (a signature is made on another thread and nobody
// tells of it), and eight where something is.
const IDLE_LOOKS = 2
const QUIET_LOOKS = 8

export function createPace({ traffic, startAt, patienceMs }: PaceOptions): Pace {
  const clock = createVirtualClock({ startAt, settle })
  const wishes = new Set<Wish>()
  let moving = false

  /** T2, T3. */
  async function settle(): Promise<void> {
    let seen = traffic.moves()
    let since = performance.now()
    for (let looks = 1; ; looks += 1) {
      await realMillisecond()
      const moves = traffic.moves()
      if (moves !== seen) {
        seen = moves
        since = performance.now()
        looks = 0
        continue
      }
      const { certain, waiting } = traffic.underWay()
      if (certain > 0) continue
      if (waiting === 0 && looks >= IDLE_LOOKS) return
      if (looks < QUIET_LOOKS || performance.now() - since < patienceMs) continue
      traffic.park()
      return
    }
  }

  function judge(): void {
    for (const wish of wishes) {
      if (wish.isDone()) wishes.delete(wish)
      else if (clock.now() >= wish.at) {
        wishes.delete(wish)
        wish.due()
      }
    }
  }

  async function move(): Promise<void> {
    if (moving) return
    moving = true
    try {
      while (wishes.size > 0) {
        await clock.advanceBy(0)
        judge()
        const bounds = [...wishes].map(({ at }) => at)
        if (bounds.length > 0)
          await clock.advanceTo(Math.min(...bounds, ...clock.pending().slice(0, 1)))
        judge()
      }
    } catch (error) {
      for (const { fail } of wishes) fail(error)
      wishes.clear()
    } finally {
      moving = false
    }
  }

  function wait(wish: Wish): void {
    wishes.add(wish)
    void move()
  }

  return {
    clock,
    pass: (ms) =>
      new Promise((resolve, reject) => {
        wait({ at: clock.now() + ms, isDone: () => false, due: resolve, fail: reject })
      }),
    until: (ending, mostMs) =>
      new Promise((resolve, reject) => {
        let done = false
        void ending.then(resolve, reject).finally(() => {
          done = true
        })
        const due = (): void => {
          const told = `what was awaited had not come after ${mostMs} ms of the network's time`
          reject(new HarnessError('too_long', told))
        }
        wait({ at: clock.now() + mostMs, isDone: () => done, due, fail: reject })
      }),
  }
}

const realMillisecond = (): Promise<void> =>
  new Promise((resolve) => setTimeout(() => setImmediate(resolve), 1))
