/**
 * Waiting for the end of work, wherever it is done: here, where its end is heard, or in the hands
 * of another instance, where the keep is looked at now and then.
 */
import type { WorkId } from '@chimera/domain/ids'
import type { Clock, Timer } from '@chimera/host/clock'
import { isOver, type Keep, type KeptWork } from './keep.ts'
import type { Progresses } from './progress.ts'

export type WaitHands = {
  readonly keep: Keep
  readonly clock: Clock
  readonly progresses: Progresses
  /** The work as it is here; undefined where it is not in these hands. */
  readonly here: (id: WorkId) => KeptWork | undefined
}

export type Waiting = {
  /** The work when it is over, or as it is when the time is. */
  readonly ended: (kept: KeptWork, ms: number) => Promise<KeptWork>
  /** It is over, here. */
  readonly over: (id: WorkId) => void
  readonly follow: Progresses['follow']
}

// Another instance's end is heard so late at most; a look is one read by key.
const LOOK_MS = 500

export function createWaiting({ keep, clock, progresses, here }: WaitHands): Waiting {
  const enders = new Map<WorkId, Set<() => void>>()

  /** Calls once when work that is not here is over; the answer gives it up. */
  function elsewhere(id: WorkId, then: (kept: KeptWork) => void): () => void {
    let timer: Timer | undefined
    let left = keep.shared === undefined
    async function look(): Promise<void> {
      const kept = here(id) === undefined ? await keep.byWork(id).catch(() => undefined) : undefined
      if (left) return
      if (kept !== undefined && isOver(kept.work.state)) then(kept)
      else next()
    }
    function next(): void {
      timer = clock.after(LOOK_MS, () => void look())
    }
    if (!left) next()
    return () => {
      left = true
      timer?.cancel()
    }
  }

  return {
    ended(kept, ms) {
      const { work } = kept.work.ask
      const now = (): KeptWork => here(work) ?? kept
      if (isOver(now().work.state)) return Promise.resolve(now())
      return new Promise((resolve) => {
        const hearers = enders.get(work) ?? new Set()
        enders.set(work, hearers)
        const finish = (): void => {
          timer.cancel()
          leave()
          hearers.delete(finish)
          if (hearers.size === 0) enders.delete(work)
          // It may be kept and gone from here by now.
          void keep.byWork(work).then(
            (found) => resolve(found ?? now()),
            () => resolve(now()),
          )
        }
        const timer = clock.after(ms, finish)
        const leave = elsewhere(work, finish)
        hearers.add(finish)
      })
    },
    over: (id) => {
      for (const hear of enders.get(id) ?? []) hear()
    },
    follow(id, after, hear) {
      const following = progresses.follow(id, after, hear)
      const leave = elsewhere(id, ({ refused }) =>
        progresses.tell(id, { is: refused === undefined ? 'result' : 'answer' }),
      )
      return {
        ...following,
        leave: () => {
          leave()
          following.leave()
        },
      }
    },
  }
}
