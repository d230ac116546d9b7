/**
 * The messages of Chorus v0.1, and of the calls that Chorus programs also make. These objects are
 * the published JSON Schemas. Unknown fields are ignored here and covered by signatures.
 */
import { LIMITS } from '@chimera/domain/limits'
import { type Static, Type } from 'typebox'
import { requiredIf } from '../required-if.ts'
import { AnyObject, Credits, DateTime, OwnerName, SkillName, textUpTo, Uuid } from '../wire.ts'

export const CURRENCY = 'chorus_credits_v1'

const Endpoint = Type.String({ format: 'http-url', maxLength: LIMITS.urlChars })
const Name = Type.String({ minLength: 1, maxLength: LIMITS.nameChars })
const Score = Type.Number({ minimum: 0, maximum: 100 })
const Liveness = Type.Enum(['online', 'offline'])
/**
 * A name as skills are called by, with a version or without: `analyze_text`, `analyze_text@v1.0`.
 */
const SkillRef = Type.String({
  minLength: 1,
  maxLength: LIMITS.skillChars,
  pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]*(@v(0|[1-9]\\d{0,5})(\\.(0|[1-9]\\d{0,5}))?)?$',
})

export const SkillEntry = Type.Object({
  skill_name: SkillRef,
  description: Type.Optional(textUpTo(LIMITS.descriptionChars)),
  cost_per_call: Credits,
  input_schema: Type.Optional(AnyObject),
  output_schema: Type.Optional(AnyObject),
})
export type SkillEntry = Static<typeof SkillEntry>

export const Registration = Type.Object(
  {
    agent_id: Uuid,
    agent_name: Name,
    owner_id: OwnerName,
    api_endpoint: Endpoint,
    skills: Type.Array(SkillEntry, { minItems: 1, maxItems: LIMITS.skillsPerAgent }),
    version: Type.Optional(textUpTo(LIMITS.skillChars)),
    timestamp_utc: Type.Optional(DateTime),
  },
  { title: 'Chorus registration' },
)
export type Registration = Static<typeof Registration>

export const Registered = Type.Object(
  { status: Type.Literal('registered'), agent_id: Uuid, reputation_score: Score },
  { title: 'Chorus registration answer' },
)
export type Registered = Static<typeof Registered>

export const Discovery = Type.Object(
  {
    skill: Type.Array(SkillRef, { minItems: 1, maxItems: 10, description: 'All of these' }),
    min_reputation: Type.Optional(Score),
    max_cost: Type.Optional(Credits),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
    offset: Type.Optional(Type.Integer({ minimum: 0, maximum: 100_000 })),
    order: Type.Optional(Type.Enum(['reputation', 'fair'])),
  },
  { title: 'Chorus discovery query' },
)
export type Discovery = Static<typeof Discovery>

const SkillPrice = Type.Object({ skill_name: SkillName, cost_per_call: Credits })

export const DiscoveredAgent = Type.Object({
  agent_id: Uuid,
  agent_name: Name,
  owner_id: Type.Optional(OwnerName),
  api_endpoint: Endpoint,
  skill: SkillPrice,
  skills: Type.Optional(Type.Array(SkillEntry)),
  reputation_score: Score,
  status: Liveness,
  why: Type.Optional(Type.Array(Type.String(), { description: 'Why this agent is in this place' })),
})
export type DiscoveredAgent = Static<typeof DiscoveredAgent>

export const Discovered = Type.Object(
  { agents: Type.Array(DiscoveredAgent), total: Type.Optional(Type.Integer({ minimum: 0 })) },
  { title: 'Chorus discovery answer' },
)
export type Discovered = Static<typeof Discovered>

export const Heartbeat = Type.Object({ agent_id: Uuid }, { title: 'Chorus heartbeat' })
export type Heartbeat = Static<typeof Heartbeat>

export const HeartbeatSeen = Type.Object(
  { status: Type.Literal('ok'), agent_id: Uuid, timestamp: DateTime },
  { title: 'Chorus heartbeat answer' },
)
export type HeartbeatSeen = Static<typeof HeartbeatSeen>

export const AgentEntry = Type.Object(
  {
    agent_id: Uuid,
    agent_name: Name,
    owner_id: OwnerName,
    api_endpoint: Type.Optional(Endpoint),
    skills: Type.Array(SkillEntry),
    version: Type.Optional(Type.String()),
    reputation_score: Score,
    status: Liveness,
  },
  { title: 'Chorus agent entry' },
)
export type AgentEntry = Static<typeof AgentEntry>

export const SkillList = Type.Object(
  {
    skills: Type.Array(
      Type.Object({ skill_name: SkillName, agents: Type.Integer({ minimum: 0 }) }),
    ),
    total: Type.Integer({ minimum: 0 }),
  },
  { title: 'Chorus skills on offer' },
)
export type SkillList = Static<typeof SkillList>

export const Job = Type.Object(
  {
    job_id: Uuid,
    orchestrator_id: OwnerName,
    skill_name: SkillName,
    input_data: AnyObject,
    budget: Credits,
    currency: Type.Optional(Type.Literal(CURRENCY)),
    callback_url: Type.Optional(Endpoint),
    timestamp_utc: Type.Optional(DateTime),
    quoted_cost: Type.Optional(Credits),
    deadline_utc: Type.Optional(DateTime),
  },
  { title: 'Chorus job request' },
)
export type Job = Static<typeof Job>

export const JobResult = Type.Object(
  {
    job_id: Uuid,
    agent_id: Uuid,
    status: Type.Enum(['SUCCESS', 'FAILURE', 'PENDING']),
    output_data: Type.Optional(Type.Union([AnyObject, Type.Null()])),
    execution_cost: Credits,
    execution_time_ms: Type.Integer({ minimum: 0 }),
    error_code: Type.Optional(Type.Union([textUpTo(LIMITS.skillChars), Type.Null()])),
    error_message: Type.Optional(Type.Union([textUpTo(LIMITS.descriptionChars), Type.Null()])),
    timestamp_utc: Type.Optional(DateTime),
  },
  {
    title: 'Chorus job result',
    allOf: [
      requiredIf('status', 'SUCCESS', ['output_data'], { output_data: { type: 'object' } }),
      requiredIf('status', 'FAILURE', ['error_message'], { error_message: { type: 'string' } }),
    ],
  },
)
export type JobResult = Static<typeof JobResult>

export const Transfer = Type.Object(
  {
    transfer_id: Uuid,
    from_owner: OwnerName,
    to_owner: OwnerName,
    amount: Type.Number({ format: 'credits', exclusiveMinimum: 0 }),
    job_id: Type.Optional(Uuid),
    timestamp_utc: Type.Optional(DateTime),
  },
  { title: 'Chorus credit transfer' },
)
export type Transfer = Static<typeof Transfer>

export const TransferDone = Type.Object(
  {
    status: Type.Literal('completed'),
    transfer: Transfer,
    sender_balance: Credits,
    receiver_balance: Credits,
  },
  { title: 'Chorus credit transfer answer' },
)
export type TransferDone = Static<typeof TransferDone>

export const AccountOpening = Type.Object(
  { owner_id: OwnerName, initial_balance: Type.Optional(Credits) },
  { title: 'Chorus account opening' },
)
export type AccountOpening = Static<typeof AccountOpening>

export const Account = Type.Object(
  { owner_id: OwnerName, balance: Credits },
  { title: 'Chorus account' },
)
export type Account = Static<typeof Account>

export const ReputationReport = Type.Object(
  { job_id: Uuid, contractor_reputation: Type.Optional(Score) },
  { title: 'Chorus reputation report query' },
)
export type ReputationReport = Static<typeof ReputationReport>

export const Reputation = Type.Object(
  { agent_id: Uuid, reputation_score: Score },
  { title: 'Chorus reputation' },
)
export type Reputation = Static<typeof Reputation>

export const AuditQuery = Type.Object(
  {
    job_id: Type.Optional(Uuid),
    owner_id: Type.Optional(OwnerName),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000 })),
  },
  { title: 'Chorus audit query' },
)
export type AuditQuery = Static<typeof AuditQuery>

export const AuditList = Type.Object(
  { transactions: Type.Array(Transfer), total: Type.Integer({ minimum: 0 }) },
  { title: 'Chorus audit answer' },
)
export type AuditList = Static<typeof AuditList>

export const Economy = Type.Object(
  {
    total_accounts: Type.Integer({ minimum: 0 }),
    total_volume: Credits,
    total_transactions: Type.Integer({ minimum: 0 }),
    all_balances: Type.Optional(Type.Record(Type.String(), Credits)),
  },
  { title: 'Chorus economy' },
)
export type Economy = Static<typeof Economy>

export const Health = Type.Object(
  { service: Type.String(), status: Type.String() },
  { title: 'Chorus health' },
)
export type Health = Static<typeof Health>
