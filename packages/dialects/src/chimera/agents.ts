/**
 * Everybody on the network, heard or not, as the hub sees them: for whoever wants a picture of it
 * and not a partner for one piece of work, which discovery finds.
 */
import type { Agent } from '@chimera/domain/agent/agent'
import { CONDITIONS, type ConditionName } from '@chimera/domain/agent/condition'
import type { AgentId, InstanceId, Instant, OwnerId } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import type { Availability, Liveness } from '@chimera/domain/presence/presence'
import { shownHundredths } from '@chimera/domain/trust/running-score'
import { type Static, Type } from 'typebox'
import { asItIs, checker, reader } from '../check.ts'
import type { Messages } from '../messages.ts'
import { queryChecker } from '../query.ts'
import {
  Credits,
  DateTime,
  OwnerName,
  readUuid,
  SkillName,
  Uuid,
  writeCents,
  writeInstant,
} from '../wire.ts'

const LIVENESS = ['online', 'suspect', 'offline'] as const satisfies readonly Liveness[]
const STATES = [
  'available',
  'busy',
  'draining',
  'offline',
] as const satisfies readonly Availability[]

const Count = Type.Integer({ minimum: 0 })
const Name = Type.String({ minLength: 1, maxLength: LIMITS.keyChars })
const Part = Type.Number({ minimum: 0, maximum: 1 })

export const AgentQuery = Type.Object(
  {
    owner_id: Type.Optional(OwnerName),
    skill: Type.Optional(SkillName),
    after: Type.Optional({ ...Uuid, description: 'The `next_after` of the page before' }),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIMITS.agentsPerPage })),
  },
  { title: 'Agent query', additionalProperties: false },
)

const Load = Type.Object({ cpu: Part, mem: Part })

export const AgentList = Type.Object(
  {
    agents: Type.Array(
      Type.Object({
        agent_id: Name,
        agent_name: Type.String(),
        owner_id: OwnerName,
        condition: Type.Enum([...CONDITIONS]),
        liveness: Type.Enum([...LIVENESS]),
        registered_at: DateTime,
        heard_at: Type.Optional({ ...DateTime, description: 'Its last sign of life of any kind' }),
        tasks: { ...Count, description: 'Running, or waiting for a person' },
        slots_total: Count,
        slots_free: Count,
        window_score: { ...Part, description: 'As OpenClaw shows it' },
        running_score: Type.Number({
          minimum: 0,
          maximum: 100,
          description: 'As Chorus shows it',
        }),
        completed: Count,
        failed: Count,
        skills: Type.Array(Type.Object({ skill: Name, version: Name, price: Credits })),
        instances: Type.Array(
          Type.Object({
            instance_id: Name,
            state: Type.Enum([...STATES]),
            liveness: Type.Enum([...LIVENESS]),
            slots_total: Count,
            slots_free: Count,
            load: Load,
            seen_at: DateTime,
          }),
        ),
      }),
      { description: 'By their ids' },
    ),
    total: { ...Count, description: 'All that fit the query' },
    next_after: Type.Optional(Name),
  },
  { title: 'Agents' },
)

export type AgentsListed = {
  readonly owner?: OwnerId
  readonly skill?: string
  readonly after?: AgentId
  readonly limit: number
}

export type AgentSeen = {
  readonly agent: Agent
  readonly condition: ConditionName
  readonly liveness: Liveness
  readonly heardAt?: Instant
  readonly tasks: number
  readonly slotsTotal: number
  readonly slotsFree: number
  readonly windowMicro: number
  readonly runningMicro: number
  readonly doneCount: number
  readonly failedCount: number
  readonly instances: readonly {
    readonly instance: InstanceId
    readonly availability: Availability
    readonly liveness: Liveness
    readonly slotsTotal: number
    readonly slotsFree: number
    readonly load: { readonly cpu: number; readonly mem: number }
    readonly seenAt: Instant
  }[]
}

export const readAgentQuery = reader(
  queryChecker(AgentQuery),
  ({ owner_id, skill, after, limit = LIMITS.agentsPerPage }): AgentsListed => ({
    ...(owner_id !== undefined && { owner: owner_id as OwnerId }),
    ...(skill !== undefined && { skill }),
    ...(after !== undefined && { after: readUuid<AgentId>(after) }),
    limit,
  }),
)

export const encodeAgents = (found: {
  readonly agents: readonly AgentSeen[]
  readonly total: number
  readonly next?: AgentId
}): Static<typeof AgentList> => ({
  agents: found.agents.map(encodeAgent),
  total: found.total,
  ...(found.next !== undefined && { next_after: found.next }),
})

function encodeAgent(seen: AgentSeen): Static<typeof AgentList>['agents'][number] {
  const { agent, instances } = seen
  return {
    agent_id: agent.id,
    agent_name: agent.name,
    owner_id: agent.owner,
    condition: seen.condition,
    liveness: seen.liveness,
    registered_at: writeInstant(agent.registeredAt),
    ...(seen.heardAt !== undefined && { heard_at: writeInstant(seen.heardAt) }),
    tasks: seen.tasks,
    slots_total: seen.slotsTotal,
    slots_free: seen.slotsFree,
    window_score: seen.windowMicro / 1_000_000,
    running_score: writeCents(shownHundredths(seen.runningMicro)),
    completed: seen.doneCount,
    failed: seen.failedCount,
    skills: agent.skills.map(({ name, version, priceCents }) => ({
      skill: name,
      version: `${version.major}.${version.minor}`,
      price: writeCents(priceCents),
    })),
    instances: instances.map((each) => ({
      instance_id: each.instance,
      state: each.availability,
      liveness: each.liveness,
      slots_total: each.slotsTotal,
      slots_free: each.slotsFree,
      load: { cpu: each.load.cpu, mem: each.load.mem },
      seen_at: writeInstant(each.seenAt),
    })),
  }
}

export const AGENT_MESSAGES = {
  'agent-query': { schema: AgentQuery, read: readAgentQuery },
  'agent-list': { schema: AgentList, read: asItIs(checker(AgentList)) },
} satisfies Messages
