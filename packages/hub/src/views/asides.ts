/**
 * What is said of a hire beside its facts, for whoever looks at it: that its agent was found by a
 * search, and how far the work has come.
 *
 *   B1  Nothing is decided by it. It lies in memory at the hub that heard it, and ends with it.
 *   B2  Searches are told apart by their trace; progress by its task and by the agent that
 *       told it, so that nobody speaks of another's work.
 *   B3  So much is kept of each; what was touched longest ago goes first.
 */
import type { AgentId, CorrelationId, Instant, TaskId } from '@chimera/domain/ids'

export type Search = {
  readonly at: Instant
  readonly skill: string
  /** In the order in which they were shown. */
  readonly agents: readonly AgentId[]
  /** All that fit. */
  readonly total: number
}

/** `place` counts from 1. */
export type Found = Pick<Search, 'at' | 'skill'> & { readonly place: number; readonly of: number }

export type Advance = { readonly at: Instant; readonly share: number; readonly note?: string }

export type Asked = {
  readonly task: TaskId
  readonly correlation: CorrelationId
  readonly at: Instant
}

export type WorkHeard = {
  readonly task: TaskId
  readonly agent?: AgentId
  /** Of its result, where nobody put anything aside for it. */
  readonly correlation?: CorrelationId
  /** What was searched for later was for other work. */
  readonly before: Instant
}

export type Asides = {
  readonly noteSearch: (correlation: CorrelationId, search: Search) => void
  readonly noteAsked: (asked: Asked) => void
  readonly noteAdvance: (task: TaskId, agent: AgentId | undefined, advance: Advance) => void
  readonly of: (heard: WorkHeard) => {
    readonly found?: Found
    readonly progress: readonly Advance[]
  }
}

// As many hires as are looked at of late; each is some hundred bytes.
const MOST_HIRES = 2_000
// A campaign searches under one trace for everybody that it hires.
const MOST_SEARCHES = 32
/** The last words of long work; whoever wants all follows the agent itself. */
const MOST_ADVANCES = 20

export function createAsides(): Asides {
  const searches = new Map<CorrelationId, readonly Search[]>()
  const asked = new Map<TaskId, Asked>()
  const advances = new Map<string, readonly Advance[]>()

  return {
    noteSearch: (correlation, search) => {
      const before = searches.get(correlation) ?? []
      keep(searches, correlation, [...before, search].slice(-MOST_SEARCHES))
    },
    noteAsked: (one) => keep(asked, one.task, one),
    noteAdvance: (task, agent, advance) => {
      const key = keyOf(task, agent)
      keep(advances, key, [...(advances.get(key) ?? []), advance].slice(-MOST_ADVANCES))
    },
    of({ task, agent, correlation, before }) {
      const one = asked.get(task)
      const trace = one?.correlation ?? correlation
      const known = trace === undefined ? [] : (searches.get(trace) ?? [])
      const found = foundIn(known, agent, one?.at ?? before)
      const own = advances.get(keyOf(task, agent)) ?? advances.get(keyOf(task, undefined)) ?? []
      return { ...(found && { found }), progress: own }
    },
  }
}

const keyOf = (task: TaskId, agent: AgentId | undefined): string => `${agent ?? ''} ${task}`

/** B3. */
function keep<Key, Value>(kept: Map<Key, Value>, key: Key, value: Value): void {
  kept.delete(key)
  kept.set(key, value)
  const [oldest] = kept.keys()
  if (kept.size > MOST_HIRES && oldest !== undefined) kept.delete(oldest)
}

function foundIn(
  searches: readonly Search[],
  agent: AgentId | undefined,
  before: Instant,
): Found | undefined {
  if (agent === undefined) return undefined
  const last = searches.findLast(({ at, agents }) => at <= before && agents.includes(agent))
  if (last === undefined) return undefined
  const { at, skill, agents, total } = last
  return { at, skill, place: agents.indexOf(agent) + 1, of: total }
}
