/**
 * What the status feed says, by alias (SF-7). Kept in memory only: a publisher repeats itself every
 * minute, and an observation is no ground for anything.
 *
 *   B1  At most so many aliases; a new one takes the place of the one that was silent the longest.
 *   B2  An alias that a registered agent has claimed is never heard from anybody else.
 */
import type { AgentId, Alias, Instant } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import {
  applyIngest,
  decideIngest,
  type Heard,
  type IngestAsked,
  NOTHING_HEARD,
} from '@chimera/domain/presence/ingest'

export type Feed = {
  readonly hear: (asked: IngestAsked, now: Instant) => ReturnType<typeof decideIngest>
  readonly of: (alias: Alias) => Heard
}

export function createFeed(
  holderOf: (alias: Alias) => AgentId | undefined,
  most: number = LIMITS.feedAliases,
): Feed {
  // In the order of their last message, so the first one is the one that was silent the longest.
  const heard = new Map<Alias, Heard>()

  function of(alias: Alias): Heard {
    const known = heard.get(alias) ?? NOTHING_HEARD
    const agent = holderOf(alias)
    if (agent === undefined || isHeldBy(known, agent)) return known
    // Claimed since: what strangers said before counts for nothing.
    return applyIngest(known, { type: 'alias_claimed', id: agent, alias })
  }

  return {
    of,
    hear(asked, now) {
      const { alias } = asked.report
      const known = of(alias)
      const decision = decideIngest(known, asked, now)
      if (!decision.ok) return decision
      heard.delete(alias)
      heard.set(alias, decision.facts.reduce(applyIngest, known))
      if (heard.size > most) {
        const oldest = heard.keys().next()
        if (!oldest.done) heard.delete(oldest.value)
      }
      return decision
    },
  }
}

const isHeldBy = ({ holder }: Heard, agent: AgentId): boolean =>
  holder?.by === 'agent' && holder.agent === agent
