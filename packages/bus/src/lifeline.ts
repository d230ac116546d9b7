/**
 * Promises that must not outlive something: a connection, or the bus. `Promise.race` with one that
 * lives long would keep a trace of every race until it settles.
 */
export type Lifeline = {
  /** The promise's own outcome, or the end, whichever comes first. */
  readonly within: <T>(promise: Promise<T>) => Promise<T>
  /** From now on, everything is rejected with this. */
  readonly cut: (error: Error) => void
}

export function createLifeline(): Lifeline {
  const hanging = new Set<(error: Error) => void>()
  let end: Error | undefined

  return {
    within: (promise) =>
      new Promise((resolve, reject) => {
        const leave = <A extends unknown[]>(then: (...args: A) => void) => {
          return (...args: A): void => {
            hanging.delete(drop)
            then(...args)
          }
        }
        const drop = (error: Error): void => reject(error)
        if (end === undefined) hanging.add(drop)
        else reject(end)
        promise.then(leave(resolve), leave(reject))
      }),
    cut: (error) => {
      if (end !== undefined) return
      end = error
      for (const drop of hanging) drop(error)
      hanging.clear()
    },
  }
}
