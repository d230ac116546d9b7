/**
 * The keys of agents as the hub tells them, remembered for a while.
 *
 *   Y1  Where a signature does not fit, the hub is asked anew, since keys rotate; but only every
 *       few seconds for one agent, or bad signatures would become our attack on the hub.
 *   Y2  A hub that does not answer takes nothing away: what it said last is believed meanwhile.
 */
import type { KeyHistory } from '@chimera/domain/agent/keys'
import type { AgentId, Instant } from '@chimera/domain/ids'
import type { Clock } from '@chimera/host/clock'
import type { Books } from './books.ts'

/** Undefined: nobody can say. */
export type KeysOf = (agent: AgentId, fresh: boolean) => Promise<KeyHistory | undefined>

type Known = { readonly history: KeyHistory; readonly at: Instant }

const BELIEVED_MS = 60_000
const AT_MOST_EVERY_MS = 5_000
/** About half a kilobyte each. */
const MOST_AGENTS = 10_000

export function createKeys({ keys }: Pick<Books, 'keys'>, { now }: Pick<Clock, 'now'>): KeysOf {
  const known = new Map<AgentId, Known>()

  return async (agent, fresh) => {
    const before = known.get(agent)
    const ageMs = before === undefined ? Number.POSITIVE_INFINITY : now() - before.at
    if (before !== undefined && ageMs < (fresh ? AT_MOST_EVERY_MS : BELIEVED_MS)) {
      return before.history
    }
    const history = await keys(agent).catch(() => before?.history)
    if (history === undefined) return undefined
    known.delete(agent)
    known.set(agent, { history, at: now() })
    // A Map keeps the order of insertion: the first was asked for the longest ago.
    const [oldest] = known.keys()
    if (known.size > MOST_AGENTS && oldest !== undefined) known.delete(oldest)
    return history
  }
}
