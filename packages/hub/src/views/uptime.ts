/**
 * How much of the last 24 hours an agent was there, by its presence posts (SK-11).
 *
 *   T1  Of an agent that has not been registered for so long, the time since it was counts.
 *   T2  A figure is good for a minute, in which it can move by a thousandth at most: thousands of
 *       posts are behind it. So many are kept; the oldest goes first.
 */
import type { Agent } from '@chimera/domain/agent/agent'
import type { AgentId, Instant } from '@chimera/domain/ids'
import type { Profiles } from '../ports/profiles.ts'

export type Uptime = {
  /** In millionths of the time looked at. */
  readonly of: (agent: Pick<Agent, 'id' | 'registeredAt'>, now: Instant) => Promise<number>
}

const DAY_MS = 24 * 60 * 60 * 1_000
const GOOD_MS = 60 * 1_000
const MOST = 10_000

export function createUptime(upMs: Profiles['upMs']): Uptime {
  const kept = new Map<AgentId, { readonly micro: Promise<number>; readonly at: Instant }>()

  async function ask({ id, registeredAt }: Pick<Agent, 'id' | 'registeredAt'>, now: Instant) {
    const since = Math.max(now - DAY_MS, registeredAt)
    if (since >= now) return 0
    const up = await upMs(id, { since, until: now })
    return Math.min(1_000_000, Math.floor((up / (now - since)) * 1_000_000))
  }

  return {
    of(agent, now) {
      const known = kept.get(agent.id)
      if (known !== undefined && now - known.at < GOOD_MS) return known.micro
      const micro = ask(agent, now)
      kept.delete(agent.id)
      kept.set(agent.id, { micro, at: now })
      const [oldest] = kept.keys()
      if (kept.size > MOST && oldest !== undefined) kept.delete(oldest)
      // A question that failed is not an answer.
      micro.catch(() => kept.delete(agent.id))
      return micro
    },
  }
}
