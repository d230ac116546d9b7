/**
 * The work that is in this instance's hands now, and its way into the keep.
 *
 *   L1  Saves of one piece of work follow each other, so that the last one kept is the last one
 *       made. A keep that is away is waited for: until then nobody is told.
 *   L2  What another instance has taken over is stopped here, and changed here no more.
 */
import type { WorkId } from '@chimera/domain/ids'
import type { Clock, Timer } from '@chimera/host/clock'
import type { Log } from '@chimera/host/log'
import { isUnfinished, type Keep, type KeptWork } from './keep.ts'

export type Live = {
  kept: KeptWork
  readonly stop: AbortController
  /** Until time has something to say about it. */
  timer: Timer | undefined
  /** Until it is looked up again what became of it, and how often it was. */
  again: Timer | undefined
  looks: number
  /** Whether it was kept, and is still in these hands. */
  saved: Promise<boolean>
  admitting: Promise<boolean> | undefined
  gone: boolean
}

export type LiveHands = {
  readonly keep: Keep
  readonly clock: Clock
  readonly log: Log
  readonly onLost: (one: Live) => void
}

export type Lives = {
  readonly of: (id: WorkId) => Live | undefined
  readonly under: (scope: string) => Live | undefined
  readonly all: () => readonly Live[]
  readonly put: (kept: KeptWork) => Live
  /** Whether it is kept now. */
  readonly save: (one: Live, kept: KeptWork) => Promise<boolean>
  /** L2. */
  readonly lose: (one: Live | undefined) => void
  /** Ends what waits for a keep that is away. */
  readonly close: () => Promise<void>
}

// A keep that is away is tried again: soon, since callers wait, and then less often.
const AGAIN_MS = 100
const MOST_AGAIN_MS = 5_000

export function createLives({ keep, clock, log, onLost }: LiveHands): Lives {
  const byWork = new Map<WorkId, Live>()
  const byScope = new Map<string, Live>()
  const closed = new AbortController()

  function leave(one: Live): void {
    const { work } = one.kept.work.ask
    one.timer?.cancel()
    one.again?.cancel()
    if (byWork.get(work) === one) byWork.delete(work)
    if (byScope.get(one.kept.scope) === one) byScope.delete(one.kept.scope)
  }

  function lose(one: Live | undefined): void {
    if (one === undefined || one.gone) return
    one.gone = true
    leave(one)
    one.stop.abort()
    log.info({ work: one.kept.work.ask.work }, 'another instance has it in hand now')
    onLost(one)
  }

  async function keepOne(one: Live, kept: KeptWork): Promise<boolean> {
    for (let waitMs = AGAIN_MS; ; waitMs = Math.min(2 * waitMs, MOST_AGAIN_MS)) {
      try {
        if ((await keep.save(kept)) === 'saved') return true
        lose(one)
        return false
      } catch (error) {
        log.error({ err: error }, 'work could not be kept')
      }
      try {
        await clock.sleep(waitMs, closed.signal)
      } catch {
        return false
      }
    }
  }

  return {
    of: (id) => byWork.get(id),
    under: (scope) => byScope.get(scope),
    all: () => [...byWork.values()],
    put(kept) {
      // Lost, and back before that was noticed: what was begun then is not this.
      lose(byWork.get(kept.work.ask.work))
      const one: Live = {
        kept,
        stop: new AbortController(),
        timer: undefined,
        again: undefined,
        looks: 0,
        saved: Promise.resolve(true),
        admitting: undefined,
        gone: false,
      }
      byWork.set(kept.work.ask.work, one)
      byScope.set(kept.scope, one)
      return one
    },
    save(one, kept) {
      one.kept = kept
      one.saved = one.saved.then(() => !one.gone && keepOne(one, kept))
      if (!isUnfinished(kept)) leave(one)
      return one.saved
    },
    lose,
    async close() {
      for (const { timer, again } of byWork.values()) {
        timer?.cancel()
        again?.cancel()
      }
      closed.abort()
      await Promise.allSettled([...byWork.values()].map(({ saved }) => saved))
    },
  }
}
