/** Who is registered: agents, their keys and whose they are. */
import type { Agent, AgentFact, Registrant, Registration } from '@chimera/domain/agent/agent'
import type { Key } from '@chimera/domain/agent/keys'
import type { Decision } from '@chimera/domain/decision'
import type { AgentId, CorrelationId, KeyId, OwnerId, PublicKey } from '@chimera/domain/ids'
import type { Refusal } from '@chimera/domain/refusals'

export type AgentOutcome = {
  readonly decision: Decision<AgentFact, Refusal>
  /** As it is afterwards. */
  readonly agent?: Agent
}

/** Whose key it is. A key has one agent for ever. */
export type KeyHolder = {
  readonly agent: AgentId
  readonly owner: OwnerId
  readonly publicKey: PublicKey
  /** Another key speaks for the agent now. */
  readonly replaced: boolean
  readonly removed: boolean
}

export type Agents = {
  readonly register: (
    registration: Registration,
    registrant: Omit<Registrant, 'ownedAgents'>,
    correlation: CorrelationId,
  ) => Promise<AgentOutcome>
  readonly remove: (
    target: { readonly id: AgentId; readonly correlation: CorrelationId },
    by: OwnerId,
  ) => Promise<AgentOutcome>
  readonly withKey: (key: KeyId) => Promise<KeyHolder | undefined>
  /** Gives an agent that was registered unsigned its key; it can have only one first. */
  readonly bind: (
    target: { readonly id: AgentId; readonly correlation: CorrelationId },
    key: Key,
  ) => Promise<AgentOutcome>
  /** Every agent, tombstones included, page by page. */
  readonly loadAll: () => AsyncIterable<readonly Agent[]>
}
