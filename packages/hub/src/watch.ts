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
import { finishDueRecoveries } from './act/keys.ts'
import { settleResults } from './act/results.ts'
import { tellDue } from './act/trust.ts'
import { watched } from './alarm.ts'
import type { Keep } from './ports/keep.ts'
import type { Presence } from './views/presence.ts'

export type WatchHands = { readonly clock: Clock; readonly log: Log; readonly stop: Stop }

// A day is made ahead of its time, so an hour more or less makes no difference.
const TURN_MS = 60 * 60 * 1_000
const PAGE = 1_000
// Nonces and the counts of callers are of use for two minutes, so at most three minutes of them lie
// there.
const NONCES_MS = 60_000
// Somebody has waited days for it, so some seconds more are nothing.
const KEYS_MS = 5_000
const TELL_MS = 60 * 1_000
// A new fact is in the chain within a second, also when nobody asks for it.
const SEAL_MS = 1_000

/** Reads back what could still be played again, so that a restart forgets no post (AV-3). */
export async function recallPosts(
  keep: Pick<Keep, 'presence'>,
  presence: Presence,
  now: Instant,
  // A post lives so long at most from its signing, which may be ahead of our clock by the skew.
  since: Instant = now - LIMITS.presenceTtlMs - LIMITS.skewMs,
): Promise<void> {
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
    watched(hub.alerts, 'books_stalled', async () => {
      await settleResults(hub)
      await hub.keep.money.endDue()
      await hub.settle()
      return SEAL_MS
    }),
    SEAL_MS,
  )
  hands.stop.register({ name: 'books', close: () => keeping })
}

/** A recovery takes effect when its time has come, whether or not its owner asks for it. */
export function keepKeys(hub: Hub, hands: WatchHands): void {
  const keeping = repeat(
    hands,
    'recovered keys could not be looked after',
    async () => {
      for (const id of await finishDueRecoveries(hub)) hands.log.info({ id }, 'key recovered')
      return KEYS_MS
    },
    KEYS_MS,
  )
  hands.stop.register({ name: 'keys', close: () => keeping })
}

/** Readers hear that the stream is alive, and are let go before the hub closes its doors. */
export function keepLive(hub: Hub, hands: WatchHands): void {
  const { stopping } = hands.stop
  stopping.addEventListener('abort', hub.live.close, { once: true })
  const beating = repeat(
    hands,
    'readers could not be kept up',
    () => {
      hub.live.beat()
      return LIMITS.liveBeatMs
    },
    LIMITS.liveBeatMs,
  )
  hands.stop.register({ name: 'live feed', close: () => beating })
}

/** OC-9: who is due is due five minutes early, so a look each minute is in time. */
export function keepTold(hub: Hub, hands: WatchHands): void {
  const telling = repeat(
    hands,
    'reputations could not be told',
    async () => {
      await tellDue(hub)
      return TELL_MS
    },
    TELL_MS,
  )
  hands.stop.register({ name: 'telling', close: () => telling })
}

/** What has lapsed is of no use, and would make every look-up a little slower. */
export function keepNonces(hub: Hub, hands: WatchHands): void {
  const keeping = repeat(
    hands,
    'lapsed nonces and counts could not be removed',
    async () => {
      await hub.keep.nonces.purge(hub.now())
      await hub.keep.allowances?.purge(hub.now())
      return NONCES_MS
    },
    NONCES_MS,
  )
  hands.stop.register({ name: 'nonces', close: () => keeping })
}

/** The content of results is kept for a while; what the trail says of them, for ever. */
export function keepResults(hub: Hub, hands: WatchHands): void {
  const keeping = repeat(
    hands,
    'old results could not be emptied',
    async () => {
      await hub.keep.results.deleteContentBefore(hub.now() - hub.resultsKeptMs)
      return TURN_MS
    },
    LIMITS.probeMs,
  )
  hands.stop.register({ name: 'results', close: () => keeping })
}

export function keepWatch(hub: Hub, hands: WatchHands): void {
  const { log, stop } = hands

  function sweep(): number {
    const now = hub.now()
    const { facts, nextAt = Number.POSITIVE_INFINITY } = hub.directory.sweep(now)
    for (const fact of facts) {
      if (fact.type === 'brake_set') {
        log.warn(fact, 'many are silent at once: nobody is let go')
        hub.alerts.raise({ kind: 'eviction_braked' })
      }
      if (fact.type === 'brake_released') {
        log.info(fact, 'heard again')
        hub.alerts.clear('eviction_braked')
      }
    }
    // Who is first heard after this look lasts at least three cadences.
    return Math.min(nextAt - now, LIMITS.presenceCadenceMs)
  }

  const sweeping = repeat(hands, 'the directory could not be swept', sweep, LIMITS.sweepMs)
  const turning = repeat(
    hands,
    'the days of presence could not be turned',
    watched(hub.alerts, 'presence_stalled', async () => {
      await hub.keep.presence.turnDays()
      return TURN_MS
    }),
    LIMITS.probeMs,
  )
  stop.register({ name: 'watch', close: async () => void (await Promise.all([sweeping, turning])) })
}

/** Bounded as the views are that they are read back into: what those let go is let go here too. */
export function keepObservations(hub: Hub, hands: WatchHands): void {
  const { observations } = hub.keep
  const bounding = repeat(
    hands,
    'observations could not be bounded',
    async () => {
      await observations.prune('declaration', LIMITS.instancesPerAgent)
      for (const kind of ['status', 'rumour'] as const) {
        await observations.prune(kind, LIMITS.feedAliases)
      }
      return LIMITS.probeMs
    },
    LIMITS.probeMs,
  )
  hands.stop.register({ name: 'observations', close: () => bounding })
}

/** Again and again, each time after as long as the last one said, until the hub stops. */
export async function repeat(
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
