/**
 * The agents of the network as the page knows them: the list of the hub, kept up to date by what
 * the live feed tells until the list is asked for again.
 */
import type { encodeAgents } from '@chimera/dialects/chimera'
import type { Told } from './events.ts'

export type AgentPage = ReturnType<typeof encodeAgents>
export type AgentRow = AgentPage['agents'][number]
type Instance = AgentRow['instances'][number]

export type AgentMap = ReadonlyMap<string, AgentRow>

export const listAgents = (rows: readonly AgentRow[]): AgentMap =>
  new Map(rows.map((row) => [row.agent_id, row]))

/** Kinds after which the list itself is asked for again. */
const ANEW = new Set([
  'agent_registered',
  'agent_returned',
  'agent_removed',
  'profile_changed',
  'hold_captured',
  'hold_released',
  'outcome_reported',
  'record_updated',
])
export const wantsAnew = ({ kind }: Told): boolean => ANEW.has(kind)

/** A post of an instance is all that the feed tells of slots; the rest comes with the list. */
export function applyPost(agents: AgentMap, told: Told): AgentMap {
  const { kind, agent_id: id, instance_id: instance, state, slots_total, slots_free, at } = told
  const agent = id === undefined ? undefined : agents.get(id)
  if (kind !== 'instance_seen' || agent === undefined || instance === undefined) return agents
  if (slots_total === undefined || slots_free === undefined || !isState(state)) return agents
  const known = agent.instances.find((each) => each.instance_id === instance)
  const seen: Instance = {
    load: { cpu: 0, mem: 0 },
    ...known,
    instance_id: instance,
    state,
    liveness: state === 'offline' ? 'offline' : 'online',
    slots_total,
    slots_free,
    seen_at: at,
  }
  const instances = [...agent.instances.filter((each) => each !== known), seen].sort((a, b) =>
    a.instance_id < b.instance_id ? -1 : 1,
  )
  return new Map(agents).set(agent.agent_id, together({ ...agent, heard_at: at }, instances))
}

const STATES = ['available', 'busy', 'draining', 'offline'] as const
const isState = (word: string | undefined): word is Instance['state'] =>
  STATES.some((each) => each === word)

function together(agent: AgentRow, instances: readonly Instance[]): AgentRow {
  const there = instances.filter(({ state }) => state !== 'offline')
  const sum = (pick: (each: Instance) => number) => there.reduce((all, each) => all + pick(each), 0)
  const slots_total = sum((each) => each.slots_total)
  const slots_free = sum((each) => each.slots_free)
  const byWork = agent.condition === 'idle' || agent.condition === 'working'
  const wasGone = agent.condition === 'stopped'
  const condition = slots_free < slots_total ? ('working' as const) : ('idle' as const)
  return {
    ...agent,
    instances: [...instances],
    liveness: there.length > 0 ? 'online' : 'offline',
    condition: there.length === 0 ? 'stopped' : byWork || wasGone ? condition : agent.condition,
    slots_total,
    slots_free,
    tasks: slots_total - slots_free,
  }
}

export type AgentFilter = {
  readonly words: string
  readonly liveness: string
  readonly skill: string
}

export function filterAgents(agents: AgentMap, { words, liveness, skill }: AgentFilter) {
  const sought = words.trim().toLowerCase()
  return [...agents.values()].filter(
    (each) =>
      (liveness === '' || (liveness === 'here') === (each.liveness !== 'offline')) &&
      (skill === '' || each.skills.some((offered) => offered.skill === skill)) &&
      (sought === '' || textsOf(each).some((text) => text.toLowerCase().includes(sought))),
  )
}

const textsOf = (agent: AgentRow): readonly string[] => [
  agent.agent_name,
  agent.agent_id,
  agent.owner_id,
  agent.condition,
  ...agent.skills.map(({ skill }) => skill),
]

/** Who is here first; among these the better running score. */
export const inOrder = (rows: readonly AgentRow[]): readonly AgentRow[] =>
  [...rows].sort(
    (a, b) =>
      Number(a.liveness === 'offline') - Number(b.liveness === 'offline') ||
      b.running_score - a.running_score ||
      (a.agent_name < b.agent_name ? -1 : 1),
  )

/** The heaviest of an agent's instances. */
export function loadOf({ instances }: AgentRow): number | undefined {
  const there = instances.filter(({ liveness }) => liveness !== 'offline')
  if (there.length === 0) return undefined
  return Math.max(...there.map(({ load }) => Math.max(load.cpu, load.mem)))
}
