/**
 * Signs of life of a whole agent, and of one that is only watched through the status feed.
 *
 *   L1  An agent that posts presence is judged by its instances alone; one that only registers and
 *       beats, by its last sign of life. A heartbeat does not outvote presence.
 *   L2  Silence ages only what was promised to be repeated.
 */

import type { AgentId, Instant } from '../ids.ts'
import { LIMITS } from '../limits.ts'
import { BRAKE_OFF, type Brake, type Pulse } from './eviction.ts'
import { type Liveness, livenessOf, type Sighting } from './presence.ts'

/** Registering, and registering again, is a sign of life (CH-3). */
export type Signs = {
  readonly registeredAt: Instant
  readonly heartbeatAt: Instant | undefined
}

export function heartbeatLiveness(signs: Signs, now: Instant, brake: Brake = BRAKE_OFF): Liveness {
  if (now < lastSignAt(signs) + LIMITS.heartbeatSilenceMs) return 'online'
  return brake.on ? 'suspect' : 'offline'
}

/** For the sweep: an agent without presence is cut off together with everybody else. */
export function heartbeatPulse(who: AgentId, signs: Signs): Pulse<AgentId> {
  const seenAt = lastSignAt(signs)
  return {
    who,
    seenAt,
    cadenceMs: LIMITS.heartbeatSilenceMs / LIMITS.missedCadences,
    lapsesAt: seenAt + LIMITS.heartbeatSilenceMs,
  }
}

/** `sightings` are those of this agent's instances; the best of them speaks for it. */
export function agentLiveness(
  { signs, sightings }: { readonly signs: Signs; readonly sightings: readonly Sighting[] },
  now: Instant,
  brake: Brake = BRAKE_OFF,
): Liveness {
  if (sightings.length === 0) return heartbeatLiveness(signs, now, brake)
  const all = sightings.map((each) => livenessOf(each, now, brake))
  if (all.includes('online')) return 'online'
  return all.includes('suspect') ? 'suspect' : 'offline'
}

/** What the status feed last said of somebody. */
export type FeedReport = {
  readonly heardAt: Instant
  /** Whether its status is one that is repeated every minute; waiting and paused ones are not. */
  readonly repeats: boolean
}

/** When a report is too old to be believed: three heartbeats late, each by its slack; or never. */
export function feedAgesAt({ heardAt, repeats }: FeedReport): Instant | undefined {
  if (!repeats) return undefined
  return heardAt + LIMITS.missedCadences * (LIMITS.statusCadenceMs + LIMITS.statusSlackMs)
}

function lastSignAt({ registeredAt, heartbeatAt }: Signs): Instant {
  return Math.max(registeredAt, heartbeatAt ?? registeredAt)
}
