/** Who counts how often callers ask: the hub itself where it is alone, else all hubs together. */
import { LIMITS } from '@chimera/domain/limits'
import type { Hub } from '../act/hub.ts'
import { repeat, type WatchHands } from '../watch.ts'
import { createRate, type Rate } from './rate.ts'
import { createSharedRate } from './shared-rate.ts'

/** Requests in a minute; 0 is no limit. */
export type RateLimits = { readonly perCaller: number; readonly perStranger: number }

/** On an open hub everybody has the rate of a caller. */
export type Rates = { readonly byCaller: Rate; readonly byOrigin: Rate }

// What lies unused is missed by the other hubs; a third of the time for which it may be used.
const GIVE_BACK_MS = LIMITS.aheadMs / 3

export function openRates(
  { keep, sleep, now }: Pick<Hub, 'keep' | 'sleep' | 'now'>,
  { perCaller, perStranger }: RateLimits,
  hands: WatchHands,
): Rates {
  const { allowances } = keep
  if (allowances === undefined) {
    return {
      byCaller: createRate({ perMinute: perCaller }),
      byOrigin: createRate({ perMinute: perStranger }),
    }
  }
  const shared = { allowances, sleep }
  const byCaller = createSharedRate({ ...shared, kind: 'caller', perMinute: perCaller })
  const byOrigin = createSharedRate({ ...shared, kind: 'origin', perMinute: perStranger })
  const giving = repeat(
    hands,
    'what is left of allowances could not be given back',
    async () => {
      await Promise.all([byCaller.giveBack(now()), byOrigin.giveBack(now())])
      return GIVE_BACK_MS
    },
    GIVE_BACK_MS,
  )
  hands.stop.register({
    name: 'rates',
    close: async () => {
      await giving
      await Promise.all([byCaller.giveBack(now(), 'all'), byOrigin.giveBack(now(), 'all')])
    },
  })
  return { byCaller, byOrigin }
}
