/** Orders of operators to agents, as all hubs on one database know them. */
import type {
  Addressed,
  ControlIssued,
  ControlOrder,
  ControlSeen,
  ControlWanted,
  IssueRefusal,
} from '@chimera/domain/control'
import type { Decision } from '@chimera/domain/decision'
import type {
  AgentId,
  ControlId,
  CorrelationId,
  Instant,
  KeyId,
  OwnerId,
} from '@chimera/domain/ids'

export type IssueAsked = {
  readonly wanted: ControlWanted
  readonly key: KeyId
  readonly by: string
  readonly correlation: CorrelationId
}
/** The message of an order, signed; it is called once the order has its number. */
export type Sign = (order: ControlOrder) => object

/** The message is the one that was signed, as it was. */
export type KeptOrder = { readonly order: ControlOrder; readonly message: object }

/** With the number of agents that it is for, and of those that have obeyed. */
export type StandingOrder = KeptOrder & { readonly addressed: number; readonly seen: number }

export type IssueOutcome = {
  readonly decision: Decision<ControlIssued, IssueRefusal | 'message_malformed'>
  /** As it was given, now or before. */
  readonly kept?: KeptOrder
}

export type Seen = { readonly agent: AgentId; readonly at: Instant }

export type Control = {
  readonly issue: (asked: IssueAsked, sign: Sign) => Promise<IssueOutcome>
  /** The latest of each lever under each address that reaches the agent. */
  readonly reaching: (addressed: Addressed) => Promise<readonly KeptOrder[]>
  /** The latest of each lever under each address, the latest first, and so many. */
  readonly latest: (limit: number) => Promise<readonly StandingOrder[]>
  readonly find: (id: ControlId) => Promise<KeptOrder | undefined>
  /** The agents of an owner that are there. */
  readonly agentsOf: (owner: OwnerId) => Promise<readonly AgentId[]>
  /** Once for each agent; without a fact when it was recorded before. */
  readonly see: (
    addressed: Addressed,
    target: { readonly id: ControlId; readonly correlation: CorrelationId },
  ) => Promise<Decision<ControlSeen, 'order_unknown'>>
  /** Who has obeyed, by id. */
  readonly listSeen: (
    id: ControlId,
    page: { readonly after?: AgentId; readonly limit: number },
  ) => Promise<readonly Seen[]>
}
