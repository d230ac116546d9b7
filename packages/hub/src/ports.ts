/**
 * What the hub needs of whatever keeps its state. The hub knows no database: `compose.ts` fills
 * these from the store, and a test may fill them from anything that keeps the same promises.
 */
import type { Agent, AgentFact, Registrant, Registration } from '@chimera/domain/agent/agent'
import type { Key } from '@chimera/domain/agent/keys'
import type { Sealed } from '@chimera/domain/audit'
import type { Decision } from '@chimera/domain/decision'
import type {
  AgentId,
  CorrelationId,
  Digest,
  InstanceId,
  Instant,
  KeyId,
  OwnerId,
  PublicKey,
  TaskId,
  TransferId,
} from '@chimera/domain/ids'
import type { Account, MoneyFact, Movement } from '@chimera/domain/money/ledger'
import type { MoneyCommand } from '@chimera/domain/money/money'
import type { Announcement, Availability } from '@chimera/domain/presence/presence'
import type { Refusal } from '@chimera/domain/refusals'
import type { OutcomeReported } from '@chimera/domain/trust/trail'
import type { AccessDenied } from './act/denials.ts'

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

export type PaymentFilter = {
  readonly owner?: OwnerId
  readonly task?: TaskId
  readonly limit: number
}

export type Economy = {
  readonly accounts: number
  readonly payments: number
  readonly volumeCents: number
}

/** What a command takes from the cap of the token that orders it. */
export type Spend = { readonly token: Digest; readonly amountCents: number }

export type Money = {
  /** Decided together with whatever arrives at the same time, and committed before it answers. */
  readonly submit: (
    command: MoneyCommand,
    correlation: CorrelationId,
    spend?: Spend,
  ) => Promise<Decision<MoneyFact, Refusal>>
  readonly account: (owner: OwnerId) => Promise<Account | undefined>
  readonly movement: (transfer: TransferId) => Promise<Movement | undefined>
  /** The latest first. */
  readonly payments: (filter: PaymentFilter) => Promise<readonly Movement[]>
  readonly economy: () => Promise<Economy>
  readonly accounts: () => Promise<readonly Account[]>
  /** Ends holds whose time has come; answers how many. */
  readonly endDue: () => Promise<number>
}

export type Trail = {
  readonly append: (
    fact: OutcomeReported | AccessDenied,
    correlation: CorrelationId,
    now: Instant,
  ) => Promise<void>
  /** Gives new facts their place in the chain; answers how many. */
  readonly seal: () => Promise<number>
  readonly sealedAfter: (seq: number) => Promise<readonly Sealed<unknown>[]>
}

export type TokenTerms = {
  readonly digest: Digest
  readonly id: string
  readonly kind: 'owner' | 'operator'
  /** Absent on operators' tokens. */
  readonly owner?: OwnerId
  readonly scopes: readonly string[]
  readonly expiresAt?: Instant
  readonly capCents?: number
}

export type Token = TokenTerms & {
  readonly issuedAt: Instant
  readonly spentCents: number
  readonly revokedAt?: Instant
}

export type Tokens = {
  readonly issue: (terms: TokenTerms, correlation: CorrelationId) => Promise<void>
  readonly find: (digest: Digest) => Promise<Token | undefined>
  readonly listOf: (owner: OwnerId) => Promise<readonly Token[]>
  /** Whether there is such a token. */
  readonly revoke: (id: string, correlation: CorrelationId) => Promise<boolean>
  /** Whether some operator's token still counts. */
  readonly hasOperator: (now: Instant) => Promise<boolean>
}

/** A presence post as it was received, and what came of it. */
export type PresenceEvent = {
  readonly id: string
  readonly announcement: Announcement
  readonly receivedAt: Instant
  /** `verified`, or the refusal that the post met. */
  readonly verification: string
  readonly signature: string
  readonly raw: string
}

export type PresenceQuery = {
  readonly agent?: AgentId
  readonly instance?: InstanceId
  readonly state?: Availability
  /** The last 24 hours if nothing is said. */
  readonly since?: Instant
  readonly until?: Instant
  readonly after?: { readonly receivedAt: Instant; readonly id: string }
  readonly first: 'oldest'
  readonly limit: number
}

export type PresenceEvents = {
  /** Answers when it is kept. */
  readonly append: (event: PresenceEvent) => Promise<void>
  readonly find: (query: PresenceQuery) => Promise<readonly PresenceEvent[]>
  /** Makes room for the coming day and lets go of those that are over, 24 hours aside. */
  readonly turnDays: () => Promise<void>
}

export type Keep = {
  readonly agents: Agents
  readonly tokens: Tokens
  readonly money: Money
  readonly trail: Trail
  readonly presence: PresenceEvents
  /** Whether it answers; rejects when it does not. */
  readonly check: () => Promise<void>
}
