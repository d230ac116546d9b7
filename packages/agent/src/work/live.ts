/**
 * The work that is in this instance's hands now, and its way into the keep.
 *
 *   L1  Saves of one piece of work follow each other, so that the last one kept is the last one
 *       made. A keep that is away is waited for: until then nobody is told.
 *   L2  What another instance has taken over is stopped here, and changed here no more.
 */
import type { Instant, WorkId } from '@chimera/domain/ids'
import type { Clock, Timer } from '@chimera/host/clock'
import type { Log } from '@chimera/host/log'
import type { Looked } from '@chimera/skill/calls'
import { createLeaver, type Leaver } from '@chimera/skill/leaving'
import { isPromise, type Soon } from '@chimera/skill/soon'
import { isOver, isUnfinished, type Keep, type KeptWork } from './keep.ts'

export type Live = {
  kept: KeptWork
  /** Its input as it was looked at, where it began at once. */
  looked: Looked | undefined
  readonly stop: Stop
  /** Until time has something to say about it, and when that is. */
  timer: Timer | undefined
  dueAt: Instant | undefined
  /** Until it is looked up again what became of it, and how often it was. */
  again: Timer | undefined
  looks: number
  /** While it is on its way into the keep: whether it was kept, and is still in these hands. */
  saving: Promise<boolean> | undefined
  admitting: Promise<boolean> | undefined
  /** Its end is kept, so that it may be told. */
  told: boolean
  gone: boolean
}

/** What ends a run, and its signal for whoever hires from inside it: most hire nobody. */
export type Stop = Leaver & { readonly signal: () => AbortSignal }

function createStop(): Stop {
  const leaver = createLeaver()
  const { hasLeft, why, onLeave, leave } = leaver
  let controller: AbortController | undefined
  return {
    hasLeft,
    why,
    onLeave,
    leave,
    signal: () => {
      if (controller === undefined) {
        const made = new AbortController()
        controller = made
        if (leaver.hasLeft()) made.abort()
        else leaver.onLeave(() => made.abort())
      }
      return controller.signal
    },
  }
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
  readonly save: (one: Live, kept: KeptWork) => Soon<boolean>
  /** L2. */
  readonly lose: (one: Live | undefined, why?: string) => void
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

  function lose(one: Live | undefined, why = 'another instance has it in hand now'): void {
    if (one === undefined || one.gone) return
    one.gone = true
    leave(one)
    one.stop.leave()
    log.info({ work: one.kept.work.ask.work }, why)
    onLost(one)
  }

  function keepOne(one: Live, kept: KeptWork): Soon<boolean> {
    if (one.gone) return false
    try {
      const saved = keep.save(kept)
      return isPromise(saved) ? keepOn(one, kept, saved) : isKept(one, saved)
    } catch (error) {
      return keepOn(one, kept, Promise.reject(error))
    }
  }

  function isKept(one: Live, saved: 'saved' | 'lost'): boolean {
    if (saved === 'lost') lose(one)
    return saved === 'saved'
  }

  async function keepOn(
    one: Live,
    kept: KeptWork,
    first: Promise<'saved' | 'lost'>,
  ): Promise<boolean> {
    let saving: Soon<'saved' | 'lost'> | undefined = first
    for (let waitMs = AGAIN_MS; ; waitMs = Math.min(2 * waitMs, MOST_AGAIN_MS)) {
      try {
        return isKept(one, await (saving ?? keep.save(kept)))
      } catch (error) {
        saving = undefined
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
        looked: undefined,
        stop: createStop(),
        timer: undefined,
        dueAt: undefined,
        again: undefined,
        looks: 0,
        saving: undefined,
        admitting: undefined,
        told: isOver(kept.work.state),
        gone: false,
      }
      byWork.set(kept.work.ask.work, one)
      byScope.set(kept.scope, one)
      return one
    },
    save(one, kept) {
      one.kept = kept
      const saved =
        one.saving === undefined ? keepOne(one, kept) : one.saving.then(() => keepOne(one, kept))
      if (isPromise(saved)) {
        one.saving = saved
        void saved.finally(() => {
          if (one.saving === saved) one.saving = undefined
        })
      }
      if (!isUnfinished(kept)) leave(one)
      return saved
    },
    lose,
    async close() {
      for (const { timer, again } of byWork.values()) {
        timer?.cancel()
        again?.cancel()
      }
      closed.abort()
      const saving = [...byWork.values()].flatMap((one) => one.saving ?? [])
      await Promise.allSettled(saving)
    },
  }
}
