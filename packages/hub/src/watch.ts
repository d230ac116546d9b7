/**
 * What time alone does while a hub runs: facts are sealed and holds end, silent agents are let go,
 * and the days of the presence events are turned.
 */
import type { Instant } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import type { Clock } from '@chimera/host/clock'
import type { Log } from '@chimera/host/log'
import type { Stop } from '@chimera/host/stop'
import type { Hub } from './act/hub.ts'
import type { Keep } from './ports/keep.ts'
import type { Presence } from './views/presence.ts'

export type WatchHands = { readonly clock: Clock; readonly log: Log; readonly stop: Stop }

// A day is made ahead of its time, so an hour more or less makes no difference.
const TURN_MS = 60 * 60 * 1_000
const PAGE = 1_000
// A new fact is in the chain within a second, also when nobody asks for it.
const SEAL_MS = 1_000

/** Reads back what could still be played again, so that a restart forgets no post (AV-3). */
export async function recallPosts(keep: Keep, presence: Presence, now: Instant): Promise<void> {
  // A post lives so long at most from its signing, which may be ahead of our clock by the skew.
  const since = now - LIMITS.presenceTtlMs - LIMITS.skewMs
  let after: { readonly receivedAt: Instant; readonly id: string } | undefined
  for (;;) {
    const events = await keep.presence.find({
      since,
      ...(after && { after }),
      first: 'oldest',
      limit: PAGE,
    })
    for (const { announcement, receivedAt, verification } of events) {
      if (verification === 'verified') presence.restore({ announcement, at: receivedAt }, now)
    }
    after = events.at(-1)
    if (after === undefined) return
  }
}

export function keepBooks(hub: Hub, hands: WatchHands): void {
  const keeping = repeat(
    hands,
    'the books could not be kept up',
    async () => {
      await hub.keep.money.endDue()
      await hub.settle()
      return SEAL_MS
    },
    SEAL_MS,
  )
  hands.stop.register({ name: 'books', close: () => keeping })
}

export function keepWatch(hub: Hub, hands: WatchHands): void {
  const { log, stop } = hands

  function sweep(): number {
    const now = hub.now()
    const { facts, nextAt = Number.POSITIVE_INFINITY } = hub.directory.sweep(now)
    for (const fact of facts) {
      if (fact.type === 'brake_set') log.warn(fact, 'many are silent at once: nobody is let go')
      if (fact.type === 'brake_released') log.info(fact, 'heard again')
    }
    // Who is first heard after this look lasts at least three cadences.
    return Math.min(nextAt - now, LIMITS.presenceCadenceMs)
  }

  const sweeping = repeat(hands, 'the directory could not be swept', sweep, LIMITS.sweepMs)
  const turning = repeat(
    hands,
    'the days of presence could not be turned',
    async () => {
      await hub.keep.presence.turnDays()
      return TURN_MS
    },
    LIMITS.probeMs,
  )
  stop.register({ name: 'watch', close: async () => void (await Promise.all([sweeping, turning])) })
}

/** Again and again, each time after as long as the last one said, until the hub stops. */
async function repeat(
  { clock, log, stop }: WatchHands,
  failed: string,
  run: () => number | Promise<number>,
  afterFailureMs: number,
): Promise<void> {
  while (!stop.stopping.aborted) {
    let waitMs = afterFailureMs
    try {
      waitMs = await run()
    } catch (error) {
      log.warn({ err: error }, failed)
    }
    await clock.sleep(waitMs, stop.stopping).catch(() => undefined)
  }
}
