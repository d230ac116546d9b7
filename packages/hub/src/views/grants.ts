/**
 * How many grants of an agent have not ended, of those that this hub gave. Kept in memory: a
 * restart forgets them, and they end within minutes.
 */
import type { AgentId, Instant } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'

export type Grants = {
  /** Notes one more; or when there is room again, where there is none. */
  readonly note: (agent: AgentId, expiresAt: Instant, now: Instant) => Instant | undefined
}

export function createGrants(most: number = LIMITS.grantsPerAgent): Grants {
  const ends = new Map<AgentId, readonly Instant[]>()
  let sweptAt = 0

  /** Those who ask no more are forgotten too. */
  function sweep(now: Instant): void {
    if (now - sweptAt < LIMITS.grantMs) return
    sweptAt = now
    for (const [agent, all] of ends) if (all.every((end) => end <= now)) ends.delete(agent)
  }

  return {
    note(agent, expiresAt, now) {
      sweep(now)
      const standing = (ends.get(agent) ?? []).filter((end) => end > now)
      if (standing.length >= most) return Math.min(...standing)
      ends.set(agent, [...standing, expiresAt])
      return undefined
    },
  }
}
