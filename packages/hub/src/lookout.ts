/**
 * Looks, again and again, at conditions that nobody reports: whether the database answers, and
 * whether feeds went silent. It also keeps the alerts, and lets go of old ones and of old letters.
 */
import { LIMITS } from '@chimera/domain/limits'
import type { Hub } from './act/hub.ts'
import type { WatchHands } from './watch.ts'

// Old rows may lie a while longer.
const PURGE_MS = 60 * 60 * 1_000

export function keepLookout(hub: Hub, { clock, log, stop }: WatchHands): void {
  let purgedAt = Number.NEGATIVE_INFINITY

  async function purge(): Promise<void> {
    if (clock.now() - purgedAt < PURGE_MS) return
    await hub.keep.letters.purge()
    await hub.keep.alerts.purge()
    purgedAt = clock.now()
  }

  async function look(): Promise<void> {
    lookAtFeed(hub)
    try {
      await hub.keep.check()
      hub.alerts.clear('database_away')
    } catch (error) {
      log.debug({ err: error }, 'the database does not answer')
      hub.alerts.raise({ kind: 'database_away' })
      return
    }
    await hub.alerts.save()
    await purge()
  }

  async function keepLooking(): Promise<void> {
    while (!stop.stopping.aborted) {
      await look().catch((error: unknown) => log.warn({ err: error }, 'alerts are not kept'))
      await clock.sleep(LIMITS.alertLookMs, stop.stopping).catch(() => undefined)
    }
  }

  const looking = keepLooking()
  stop.register({ name: 'lookout', close: () => looking })
}

/** Stands as long as it is raised at each look. */
function lookAtFeed({ feed, alerts, now }: Hub): void {
  for (const subject of feed.silent(now())) {
    alerts.raise({ kind: 'feed_silent', subject, lastsMs: 3 * LIMITS.alertLookMs })
  }
}
