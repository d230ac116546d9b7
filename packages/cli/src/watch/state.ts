/**
 * What a watcher knows of a network: the hub's own lists as they were asked for last, and the last
 * events of its feed. Bounded, however long somebody watches.
 */
import { type Check, checker } from '@chimera/dialects/check'
import { AgentList, Books, HoldList } from '@chimera/dialects/chimera'
import type { Instant } from '@chimera/domain/ids'
import type { Told } from './words.ts'

export const checkAgents = checker(AgentList)
export const checkHolds = checker(HoldList)
export const checkSums = checker(Books)

type Checked<C> = C extends Check<infer Message> ? Message : never
export type AgentRow = Checked<typeof checkAgents>['agents'][number]
export type Hold = Checked<typeof checkHolds>['holds'][number]
export type Sums = Checked<typeof checkSums>

export type Event = { readonly topic: string; readonly told: Told }

export type Watched = {
  readonly hub: string
  /** How the connection is, in words; undefined while all is well. */
  readonly trouble: string | undefined
  readonly agents: readonly AgentRow[]
  readonly total: number
  /** Undefined: nobody told this caller. */
  readonly holds: readonly Hold[] | undefined
  readonly sums: Sums | undefined
  /** The latest first. */
  readonly events: readonly Event[]
  /** Since when each piece of work is seen to go on. */
  readonly since: ReadonlyMap<string, Instant>
}

// More than any screen has rows.
const EVENTS = 200

export const beginWatching = (hub: string): Watched => ({
  hub,
  trouble: 'connecting',
  agents: [],
  total: 0,
  holds: undefined,
  sums: undefined,
  events: [],
  since: new Map(),
})

export function applyEvent(watched: Watched, event: Event): Watched {
  // A sign of life comes every few seconds from everybody, and the list of agents shows it.
  if (event.told.kind === 'instance_seen') return watched
  return { ...watched, events: [event, ...watched.events].slice(0, EVENTS) }
}

export type Lists = {
  readonly agents: readonly AgentRow[]
  readonly total: number
  readonly holds?: readonly Hold[]
  readonly sums?: Sums
}

export function applyLists(watched: Watched, lists: Lists, now: Instant): Watched {
  const holds = lists.holds?.filter(isStanding)
  return {
    ...watched,
    agents: lists.agents,
    total: lists.total,
    holds,
    sums: lists.sums,
    since: new Map(
      (holds ?? []).map(({ hold_id: id }) => [id, watched.since.get(id) ?? now] as const),
    ),
  }
}

const isStanding = ({ state }: Hold): boolean => state === 'placed' || state === 'confirmed'
