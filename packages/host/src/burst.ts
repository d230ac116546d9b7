/**
 * What many wait for, done in one go at the end of a turn of the event loop. It costs less: code
 * that runs for twenty in a row is at hand, where twenty that run through everything each find
 * nothing there; and whoever is written to is awake for all but the first. Under load both together
 * were half of what a small piece of work takes (decision 0083).
 *
 *   U1  Nobody waits for time to pass, only for what is done anyway before the next look at the
 *       network: alone, it is done at the end of its own turn.
 *   U2  In a turn that takes long or brings many it is done as they come.
 *   U3  In the order in which they were given.
 *   U4  One that throws fails as if it were alone: the others are done in the next turn.
 */
export type Burst = (run: () => void) => void

export type BurstHands = {
  /** In milliseconds, from anywhere. */
  readonly now: () => number
  /** Runs it at the end of this turn. */
  readonly atEnd: (run: () => void) => void
}

/** U2. */
const MOST = 32
const MOST_MS = 2

export function createBurst({ now, atEnd }: BurstHands = HERE): Burst {
  let waiting: (() => void)[] = []
  let since = 0

  function release(): void {
    const all = waiting
    waiting = []
    let begun = 0
    try {
      for (const run of all) {
        begun += 1
        run()
      }
    } finally {
      // U4.
      if (begun < all.length) {
        waiting.unshift(...all.slice(begun))
        atEnd(release)
      }
    }
  }

  return (run) => {
    if (waiting.push(run) === 1) {
      since = now()
      atEnd(release)
    } else if (waiting.length === MOST || now() - since >= MOST_MS) release()
  }
}

const HERE: BurstHands = { now: () => performance.now(), atEnd: (run) => void setImmediate(run) }
