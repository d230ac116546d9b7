/**
 * Publishes what is due and finds out what is unknown, for as long as it runs. Several instances
 * may run beside each other on one keep: a record is in the hands of one (publishing.ts, E4).
 *
 *   L1  The wake-up is made before the look: whoever calls during a look is not missed.
 *   L2  What fails is told and looked at again; nothing ends the loop but its end.
 */
import type { Ended, Publishing } from './publishing.ts'

export type SchedulerOptions = {
  readonly publishing: Publishing
  /** Hears what came of each, such as a post that is out. */
  readonly told?: (key: string, ended: Ended) => void
  readonly onTrouble?: (error: unknown) => void
}

export type Scheduler = {
  /** Looks now rather than at the next second. */
  readonly poke: () => void
  /** Ends the hand-over that is under way, whose end is then found out by the next to run. */
  readonly stop: () => Promise<void>
}

/** A scheduled post is at most so late. */
const LOOK_MS = 1_000
const AT_ONCE = 20

export function startScheduler({ publishing, told, onTrouble }: SchedulerOptions): Scheduler {
  const { keep, clock } = publishing
  const ending = new AbortController()
  let wake = new AbortController()

  async function look(): Promise<void> {
    const due = await keep.due(clock.now(), AT_ONCE)
    for (const { key } of due) {
      if (ending.signal.aborted) return
      try {
        const ended = await publishing.carry(key, ending.signal, 'later')
        told?.(key, ended)
      } catch (error) {
        onTrouble?.(error)
      }
    }
  }

  async function run(): Promise<void> {
    while (!ending.signal.aborted) {
      // L1.
      wake = new AbortController()
      const mine = wake
      await look().catch((error: unknown) => onTrouble?.(error))
      await new Promise<void>((resolve) => {
        if (mine.signal.aborted || ending.signal.aborted) return resolve()
        const done = (): void => {
          timer.cancel()
          mine.signal.removeEventListener('abort', done)
          ending.signal.removeEventListener('abort', done)
          resolve()
        }
        const timer = clock.after(LOOK_MS, done)
        mine.signal.addEventListener('abort', done)
        ending.signal.addEventListener('abort', done)
      })
    }
  }

  const running = run()
  return {
    poke: () => wake.abort(),
    stop: async () => {
      ending.abort()
      await running
    },
  }
}
