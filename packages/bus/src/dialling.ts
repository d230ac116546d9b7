/**
 * Keeps one link to the broker: dials at once, and again after every loss and every failure, for
 * ever. The wait doubles up to a limit, and half of it is chance, so that a thousand clients of a
 * broker that comes back do not come all at once.
 */
import { reasonOf } from './failure.ts'
import type { BusLimits } from './limits.ts'
import type { BusChance, BusClock, Link } from './link.ts'

export type Dialling = { readonly close: () => Promise<void> }

export type DiallingOptions = {
  readonly dial: () => Promise<Link>
  readonly limits: BusLimits
  readonly clock: BusClock
  readonly chance: BusChance
  readonly up: (link: Link) => void
  /** Called once for each loss, and once when the first try fails. */
  readonly away: (reason: string) => void
}

export function startDialling(options: DiallingOptions): Dialling {
  const { dial, limits, clock, chance, up, away } = options
  let closed = false
  let current: Link | undefined
  let wake = (): void => {}

  const isOpen = (): boolean => !closed

  async function keepDialling(): Promise<void> {
    let failures = 0
    while (isOpen()) {
      try {
        const link = await dial()
        if (!isOpen()) return await link.close()
        failures = 0
        current = link
        up(link)
        const reason = await link.lost
        current = undefined
        if (isOpen()) away(reason)
      } catch (error) {
        failures += 1
        if (isOpen()) away(reasonOf(error))
      }
      if (isOpen()) await wait(failures)
    }
  }

  function wait(failures: number): Promise<void> {
    const longest = Math.min(limits.redialMostMs, limits.redialMs * 2 ** Math.min(failures, 20))
    return new Promise((resolve) => {
      const timer = clock.after(longest * (0.5 + chance.fraction() / 2), resolve)
      wake = () => {
        timer.cancel()
        resolve()
      }
    })
  }

  const ended = keepDialling()
  return {
    close: async () => {
      closed = true
      wake()
      await current?.close()
      await ended
    },
  }
}
