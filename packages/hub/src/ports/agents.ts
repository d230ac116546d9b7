/** Who is registered: agents, their keys and whose they are. */
import type { Agent, AgentFact, Registrant, Registration } from '@chimera/domain/agent/agent'
import type { Key } from '@chimera/domain/agent/keys'
import type { Decision } from '@chimera/domain/decision'
import type { AgentId, Alias, CorrelationId, KeyId, OwnerId, PublicKey } from '@chimera/domain/ids'
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

/** Which agent is meant, and what ties the change to its cause. */
export type Target = { readonly id: AgentId; readonly correlation: CorrelationId }

export type Agents = {
  readonly register: (
    registration: Registration,
    registrant: Omit<Registrant, 'ownedAgents'>,
    correlation: CorrelationId,
  ) => Promise<AgentOutcome>
  readonly remove: (target: Target, by: OwnerId) => Promise<AgentOutcome>
  /** A name in the status feed; it can have only one holder. */
  readonly claimAlias: (target: Target, alias: Alias) => Promise<AgentOutcome>
  readonly withKey: (key: KeyId) => Promise<KeyHolder | undefined>
  /** Gives an agent that was registered unsigned its key; it can have only one first. */
  readonly bind: (target: Target, key: Key) => Promise<AgentOutcome>
  /** `signedBy` is the key whose signature on the rotation was verified. */
  readonly rotate: (
    target: Target,
    asked: { readonly key: Key; readonly signedBy: KeyId },
  ) => Promise<AgentOutcome>
  /** For an owner that has lost the key; takes effect after the delay. */
  readonly recover: (
    target: Target,
    asked: { readonly key: Key; readonly by: OwnerId; readonly delayMs: number },
  ) => Promise<AgentOutcome>
  readonly finishRecovery: (target: Target) => Promise<AgentOutcome>
  readonly callOffRecovery: (target: Target, signedBy: KeyId) => Promise<AgentOutcome>
  /** Whose recovery should have taken effect by now; some at a time. */
  readonly dueRecoveries: () => Promise<readonly AgentId[]>
  /** Tombstones included. */
  readonly load: (id: AgentId) => Promise<Agent | undefined>
  /** Every agent, tombstones included, page by page. */
  readonly loadAll: () => AsyncIterable<readonly Agent[]>
}
