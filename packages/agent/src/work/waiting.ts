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
  /** It is over, here, and kept so. */
  readonly over: (ended: KeptWork) => void
  readonly follow: Progresses['follow']
}

// Another instance's end is heard so late at most; a look is one read by key.
const LOOK_MS = 500
const nothing = (): void => undefined

export function createWaiting({ keep, clock, progresses, here }: WaitHands): Waiting {
  const enders = new Map<WorkId, readonly ((ended: KeptWork) => void)[]>()

  /** A keep that is away says nothing. */
  const find = async (id: WorkId): Promise<KeptWork | undefined> => {
    try {
      return await keep.byWork(id)
    } catch {
      return undefined
    }
  }

  /** Calls once when work that is not here is over; the answer gives it up. */
  function elsewhere(id: WorkId, then: (kept: KeptWork) => void): () => void {
    if (keep.shared === undefined) return nothing
    let timer: Timer | undefined
    let left = false
    async function look(): Promise<void> {
      const kept = here(id) === undefined ? await find(id) : undefined
      if (left) return
      if (kept !== undefined && isOver(kept.work.state)) then(kept)
      else next()
    }
    function next(): void {
      timer = clock.after(LOOK_MS, () => void look())
    }
    next()
    return () => {
      left = true
      timer?.cancel()
    }
  }

  /** The work at its end, or as it is when the time is over. */
  async function latest(kept: KeptWork): Promise<KeptWork> {
    const { work } = kept.work.ask
    // It may be kept and gone from here by now.
    return (await find(work)) ?? here(work) ?? kept
  }

  return {
    ended(kept, ms) {
      const { work } = kept.work.ask
      const now = here(work) ?? kept
      if (isOver(now.work.state)) return Promise.resolve(now)
      return new Promise((resolve) => {
        const hearers = enders.get(work) ?? []
        const finish = (ended: KeptWork | undefined): void => {
          timer.cancel()
          leave()
          resolve(ended ?? latest(kept))
        }
        const timer = clock.after(ms, () => {
          const others = enders.get(work)?.filter((each) => each !== finish) ?? []
          if (others.length === 0) enders.delete(work)
          else enders.set(work, others)
          finish(undefined)
        })
        const leave = elsewhere(work, finish)
        enders.set(work, [...hearers, finish])
      })
    },
    over: (ended) => {
      const { work } = ended.work.ask
      const hearers = enders.get(work)
      if (hearers === undefined) return
      enders.delete(work)
      for (const hear of hearers) hear(ended)
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
