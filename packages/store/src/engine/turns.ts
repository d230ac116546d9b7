/**
 * One after another: callers wait for their turn, and not more of them than is good.
 *
 *   T1  Turns are given in the order of asking.
 *   T2  A turn that fails ends like any other.
 *   T3  Beyond the limit nobody waits: the caller is told at once.
 */
import { Failure } from '../failure.ts'

export type Turns = {
  readonly take: <T>(run: () => Promise<T>) => Promise<T>
  /** When everybody who waits now has had a turn. */
  readonly idle: () => Promise<void>
}

export function createTurns(most: number): Turns {
  let last: Promise<unknown> = Promise.resolve()
  let waiting = 0
  return {
    take(run) {
      if (waiting >= most) {
        return Promise.reject(new Failure('database_busy', `${waiting} calls wait`))
      }
      waiting += 1
      const turn = last.then(run).finally(() => {
        waiting -= 1
      })
      last = turn.catch(() => undefined)
      return turn
    },
    idle: () => last.then(() => undefined),
  }
}
