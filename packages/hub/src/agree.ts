/**
 * Keeps a hub's directory at one with the others while the broker does not bring what they took in:
 * posts are read from the database as long as it is away, and everything once it is back.
 */
import type { Metrics } from '@chimera/host/metrics'
import type { Hub } from './act/hub.ts'
import type { Carrier } from './ports/carrier.ts'
import { recallObservations } from './recall.ts'
import { recallPosts, type WatchHands } from './watch.ts'

// Well below a cadence, and nothing to the database.
const LOOK_MS = 2_000
// Another hub may have taken a post in and not written it yet.
const OVERLAP_MS = 5_000

export type Agreeing = {
  /** Until the hub stops. */
  readonly run: () => Promise<void>
  /** Something that another hub told of could not be read: everything is read anew. */
  readonly missed: () => void
}

export function createAgreeing(
  hub: Hub,
  { carrier, clock, log, stop }: WatchHands & { readonly carrier: Carrier },
): Agreeing {
  const { keep, presence, alerts } = hub
  /** Up to then, all that others took in was heard or read. */
  let complete = clock.now()
  let returned = carrier.state().type !== 'connected'
  let wake = (): void => undefined

  const unwatch = carrier.watch(({ type }) => {
    if (type === 'away') alerts.raise({ kind: 'broker_away' })
    if (type === 'connected') alerts.clear('broker_away')
    if (type === 'dropped') log.warn(carrier.figures(), 'too much waits for the broker')
    if (type === 'forbidden') log.warn('the broker does not let this hub say or hear all it must')
    if (type !== 'connected' && type !== 'cut') return
    returned = true
    wake()
  })

  async function look(): Promise<void> {
    const now = clock.now()
    const away = carrier.state().type === 'away'
    if (away || returned) {
      const whole = !away
      if (whole) returned = false
      try {
        await recallPosts(keep, presence, now, complete - OVERLAP_MS)
        if (whole) await recallRest(hub)
      } catch (error) {
        returned = returned || whole
        throw error
      }
    }
    complete = now
  }

  return {
    async run() {
      while (!stop.stopping.aborted) {
        // Before the look, so that a broker that comes back during it is not slept over.
        const woken = new AbortController()
        wake = () => woken.abort()
        await look().catch((error: unknown) =>
          log.warn({ err: error }, 'what other hubs took in could not be read'),
        )
        const until = AbortSignal.any([stop.stopping, woken.signal])
        await clock.sleep(LOOK_MS, until).catch(() => undefined)
      }
      unwatch()
    },
    missed: () => {
      returned = true
    },
  }
}

/** The registry first: what is said of an agent that is unknown here would be let go. */
async function recallRest(hub: Hub): Promise<void> {
  await hub.share.catchUp()
  await recallObservations(hub)
}

export function showFigures(carrier: Carrier, metrics: Metrics): void {
  metrics.gauge({
    name: 'broker_connected',
    help: 'Whether the broker is there (1) or away (0)',
    read: () => (carrier.state().type === 'connected' ? 1 : 0),
  })
  metrics.gauge({
    name: 'broker_waiting_messages',
    help: 'Messages that wait for the broker to come back',
    read: () => carrier.figures().buffered,
  })
  metrics.gauge({
    name: 'broker_dropped_messages',
    help: 'Messages dropped since the start, since too many waited for the broker',
    read: () => carrier.figures().dropped,
  })
}
