/** Where an agent is found again by whoever only knows its id. */
import type { AgentId } from '@chimera/domain/ids'
import { checker, reader } from '../check.ts'
import { readUuid } from '../wire.ts'
import { AgentEntry } from './schema.ts'

export type AgentPlace = {
  readonly id: AgentId
  readonly name: string
  /** Absent: it takes work elsewhere, such as on the bus. */
  readonly endpoint?: string
}

export const readAgentEntry = reader(
  checker(AgentEntry),
  ({ agent_id, agent_name, api_endpoint }): AgentPlace => ({
    id: readUuid<AgentId>(agent_id),
    name: agent_name,
    ...(api_endpoint !== undefined && { endpoint: api_endpoint }),
  }),
)
