/**
 * Stopping in good order: what was opened last is closed first, each in its time, all in theirs.
 *
 *   E1  Parts close one after the other, against the order in which they were registered.
 *   E2  A part that does not close in time, or throws, is reported and does not keep the others.
 *   E3  The whole stop takes no longer than its bound, which is under 10 s: container platforms
 *       kill after that. A part whose turn comes with no time left is still told to close.
 *   E4  Stopping happens once; who asks again gets the same report.
 */
import { setMaxListeners } from 'node:events'
import type { Clock } from './clock.ts'

export type Part = {
  readonly name: string
  /** `signal` is aborted when the part's time is over. */
  readonly close: (signal: AbortSignal) => Promise<void> | void
  readonly boundMs?: number
}

export type NotClosed = {
  readonly name: string
  readonly why: 'late' | 'failed'
  /** What it threw. */
  readonly error?: unknown
}

export type StopReport = {
  readonly reason: string
  readonly tookMs: number
  readonly notClosed: readonly NotClosed[]
}

export type Stop = {
  /** Returns the way to take it off again, for a part that was closed by itself. */
  readonly register: (part: Part) => () => void
  readonly stop: (reason: string) => Promise<StopReport>
  /** Aborted as soon as stopping begins, so that loops end and nothing new is begun. */
  readonly stopping: AbortSignal
}

export type StopOptions = {
  readonly clock: Clock
  readonly totalMs?: number
  /** The bound of a part that names none. */
  readonly partMs?: number
}

// A second under the ten after which platforms kill, for what comes after the report.
const TOTAL_MS = 9_000
// Two parts that hang leave time for those under them, such as the database.
const PART_MS = 4_000

export function createStop(options: StopOptions): Stop {
  const { clock, totalMs = TOTAL_MS, partMs = PART_MS } = options
  if (!(totalMs > 0 && totalMs < 10_000)) throw new RangeError('a stop takes less than 10 s')
  const parts: Part[] = []
  const stopping = new AbortController()
  // Every loop and every request under way listens, which is no leak.
  setMaxListeners(0, stopping.signal)
  let report: Promise<StopReport> | undefined

  async function closeAll(reason: string): Promise<StopReport> {
    const began = clock.now()
    const notClosed: NotClosed[] = []
    for (let part = parts.pop(); part; part = parts.pop()) {
      const left = Math.max(0, began + totalMs - clock.now())
      const outcome = await closeOne(clock, part, Math.min(part.boundMs ?? partMs, left))
      if (outcome) notClosed.push(outcome)
    }
    return { reason, tookMs: clock.now() - began, notClosed }
  }

  return {
    register: (part) => {
      if (stopping.signal.aborted) throw new Error(`${part.name} was opened after the stop`)
      parts.push(part)
      return () => {
        const place = parts.indexOf(part)
        if (place >= 0) parts.splice(place, 1)
      }
    },
    stop: (reason) => {
      if (!report) {
        stopping.abort(new Error(`stopping: ${reason}`))
        report = closeAll(reason)
      }
      return report
    },
    stopping: stopping.signal,
  }
}

async function closeOne(
  clock: Clock,
  { name, close }: Part,
  ms: number,
): Promise<NotClosed | undefined> {
  const over = new AbortController()
  const closed = attempt(() => close(over.signal)).then(
    () => undefined,
    (error: unknown): NotClosed => ({ name, why: 'failed', error }),
  )
  const late = new Promise<NotClosed>((resolve) => {
    const timer = clock.after(ms, () => {
      over.abort(new Error(`${name} was to close within ${ms} ms`))
      resolve({ name, why: 'late' })
    })
    void closed.then(timer.cancel)
  })
  return Promise.race([closed, late])
}

/** What throws before its first `await` fails like what throws after it. */
async function attempt(run: () => Promise<void> | void): Promise<void> {
  await run()
}
