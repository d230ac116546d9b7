/**
 * Chorus → domain. A message that passed its schema always decodes; what it means may still be
 * refused, but that is for the rules to say.
 */
import type { Registration as AgentRegistration, Skill } from '@chimera/domain/agent/agent'
import type { Fault } from '@chimera/domain/agent/condition'
import { readSkillRef } from '@chimera/domain/agent/skill-version'
import type { Issue } from '@chimera/domain/decision'
import type {
  AgentId,
  CorrelationId,
  IdempotencyKey,
  OwnerId,
  TaskId,
  TransferId,
} from '@chimera/domain/ids'
import { DEFAULT_PRIORITY } from '@chimera/domain/work/queue'
import type { WorkAsked, WorkReported } from '@chimera/domain/work/work'
import { checker, reader } from '../check.ts'
import { findSchemaIssues, readPublishedSchema } from '../published-schema.ts'
import { queryChecker } from '../query.ts'
import { centsOf, instantOf, readUuid } from '../wire.ts'
import * as wire from './schema.ts'

export type AgentSeen = { readonly type: 'agent_seen'; readonly agent: AgentId }

export type AgentsSought = {
  readonly type: 'find_agents'
  readonly skills: readonly string[]
  readonly minScoreMicro?: number
  readonly maxCostCents?: number
  readonly limit: number
  readonly offset: number
  readonly order: 'reputation' | 'fair'
}

export type TransferOrdered = {
  readonly type: 'transfer_credits'
  readonly transfer: TransferId
  readonly payer: OwnerId
  readonly payee: OwnerId
  readonly amountCents: number
  readonly task?: TaskId
}

export type AccountAsked = {
  readonly type: 'open_account'
  readonly owner: OwnerId
  /** Absent: the hub's own grant. */
  readonly initialCents?: number
}

/** What a hirer says about a job. `contractor_reputation` is not believed, so it is not here. */
export type OutcomeReported = { readonly type: 'report_outcome'; readonly task: TaskId }

export type AuditSought = {
  readonly type: 'read_transfers'
  readonly task?: TaskId
  readonly owner?: OwnerId
  readonly limit: number
}

export type AgentFound = {
  readonly id: AgentId
  readonly name: string
  readonly owner?: OwnerId
  readonly endpoint: string
  readonly skill: { readonly name: string; readonly priceCents: number }
  readonly scoreMicro: number
  readonly online: boolean
  /** Why it is here and in this place (P-6), where the hub says. */
  readonly why?: readonly string[]
}

const DEFAULT_PAGE = 20
const DEFAULT_AUDIT_PAGE = 100
/** How a job ended is told without saying whether it would end so again; we assume it would. */
const UNSAID_LASTING: Fault['lasting'] = 'permanent'

export function decodeSkill(entry: wire.SkillEntry): Skill {
  const ref = readSkillRef(entry.skill_name) ?? { name: entry.skill_name }
  return {
    name: ref.name,
    version: { major: ref.major ?? 1, minor: ref.minor ?? 0 },
    description: entry.description ?? '',
    priceCents: centsOf(entry.cost_per_call),
    ...(entry.input_schema && { input: readPublishedSchema(entry.input_schema) }),
    ...(entry.output_schema && { output: readPublishedSchema(entry.output_schema) }),
  }
}

export function decodeRegistration(message: wire.Registration): AgentRegistration {
  return {
    type: 'register_agent',
    id: readUuid<AgentId>(message.agent_id),
    owner: message.owner_id as OwnerId,
    profile: {
      name: message.agent_name,
      endpoint: message.api_endpoint,
      skills: message.skills.map(decodeSkill),
      ...(message.version !== undefined && { version: message.version }),
    },
  }
}

export function decodeDiscovery(query: wire.Discovery): AgentsSought {
  return {
    type: 'find_agents',
    skills: query.skill,
    ...(query.min_reputation !== undefined && { minScoreMicro: microOf(query.min_reputation) }),
    ...(query.max_cost !== undefined && { maxCostCents: centsOf(query.max_cost) }),
    limit: query.limit ?? DEFAULT_PAGE,
    offset: query.offset ?? 0,
    order: query.order ?? 'reputation',
  }
}

export function decodeDiscovered(answer: wire.Discovered): readonly AgentFound[] {
  return answer.agents.map((each) => ({
    id: readUuid<AgentId>(each.agent_id),
    name: each.agent_name,
    ...(each.owner_id !== undefined && { owner: each.owner_id as OwnerId }),
    endpoint: each.api_endpoint,
    skill: { name: each.skill.skill_name, priceCents: centsOf(each.skill.cost_per_call) },
    scoreMicro: microOf(each.reputation_score),
    online: each.status === 'online',
    ...(each.why && { why: each.why }),
  }))
}

export function decodeHeartbeat(message: wire.Heartbeat): AgentSeen {
  return { type: 'agent_seen', agent: readUuid<AgentId>(message.agent_id) }
}

/** The job's id serves as its idempotency key (CH-5) and as its correlation. */
export function decodeJob(message: wire.Job): WorkAsked {
  const task = readUuid<TaskId>(message.job_id)
  return {
    type: 'ask_work',
    task,
    claimedRequester: message.orchestrator_id,
    skill: message.skill_name,
    input: message.input_data,
    key: task as string as IdempotencyKey,
    correlation: task as string as CorrelationId,
    priority: DEFAULT_PRIORITY,
    budgetCents: centsOf(message.budget),
    ...(message.timestamp_utc !== undefined && { sentAt: instantOf(message.timestamp_utc) }),
    ...(message.deadline_utc !== undefined && { deadline: instantOf(message.deadline_utc) }),
    ...(message.quoted_cost !== undefined && { quotedCents: centsOf(message.quoted_cost) }),
    ...(message.callback_url !== undefined && { callback: message.callback_url }),
  }
}

const HOW = { SUCCESS: 'done', FAILURE: 'failed', PENDING: 'pending' } as const

export function decodeJobResult(message: wire.JobResult): WorkReported {
  return {
    type: 'work_reported',
    task: readUuid<TaskId>(message.job_id),
    agent: readUuid<AgentId>(message.agent_id),
    how: HOW[message.status],
    costCents: centsOf(message.execution_cost),
    durationMs: message.execution_time_ms,
    ...(message.status === 'SUCCESS' && message.output_data && { output: message.output_data }),
    ...(message.status === 'FAILURE' && { fault: faultOf(message) }),
    ...(message.timestamp_utc !== undefined && { endedAt: instantOf(message.timestamp_utc) }),
  }
}

export function decodeTransfer(message: wire.Transfer): TransferOrdered {
  return {
    type: 'transfer_credits',
    transfer: readUuid<TransferId>(message.transfer_id),
    payer: message.from_owner as OwnerId,
    payee: message.to_owner as OwnerId,
    amountCents: centsOf(message.amount),
    ...(message.job_id !== undefined && { task: readUuid<TaskId>(message.job_id) }),
  }
}

export function decodeAccountOpening(message: wire.AccountOpening): AccountAsked {
  return {
    type: 'open_account',
    owner: message.owner_id as OwnerId,
    ...(message.initial_balance !== undefined && {
      initialCents: centsOf(message.initial_balance),
    }),
  }
}

export function decodeReputationReport(query: wire.ReputationReport): OutcomeReported {
  return { type: 'report_outcome', task: readUuid<TaskId>(query.job_id) }
}

export function decodeAuditQuery(query: wire.AuditQuery): AuditSought {
  return {
    type: 'read_transfers',
    ...(query.job_id !== undefined && { task: readUuid<TaskId>(query.job_id) }),
    ...(query.owner_id !== undefined && { owner: query.owner_id as OwnerId }),
    limit: query.limit ?? DEFAULT_AUDIT_PAGE,
  }
}

/**
 * CH-4: where jobs are posted. One trailing slash is dropped; `/jobs` is added where it is missing.
 */
export function jobsAddress(endpoint: string): string {
  const bare = endpoint.endsWith('/') ? endpoint.slice(0, -1) : endpoint
  return bare.endsWith('/jobs') ? bare : `${bare}/jobs`
}

/** The other doors of an agent stand beside the one where Chorus knocks. */
export const besideJobs = (endpoint: string): string =>
  jobsAddress(endpoint).slice(0, -'/jobs'.length)

export const readRegistration = reader(
  checker(wire.Registration, ({ skills }) => skills.flatMap(skillIssues)),
  decodeRegistration,
)
export const readDiscovered = reader(checker(wire.Discovered), decodeDiscovered)
export const readHeartbeat = reader(checker(wire.Heartbeat), decodeHeartbeat)
export const readJob = reader(checker(wire.Job), decodeJob)
export const readJobResult = reader(checker(wire.JobResult), decodeJobResult)
export const readTransfer = reader(checker(wire.Transfer), decodeTransfer)
export const readAccountOpening = reader(checker(wire.AccountOpening), decodeAccountOpening)

export const readDiscovery = reader(queryChecker(wire.Discovery), decodeDiscovery)
export const readReputationReport = reader(
  queryChecker(wire.ReputationReport),
  decodeReputationReport,
)
export const readAuditQuery = reader(queryChecker(wire.AuditQuery), decodeAuditQuery)

/** A score as millionths. Scores have two decimals on the wire; more are read as they are. */
const microOf = (score: number): number => Math.round(score * 1_000_000)

function faultOf(message: wire.JobResult): Fault {
  return {
    code: message.error_code ?? 'EXECUTION_ERROR',
    message: message.error_message ?? '',
    lasting: UNSAID_LASTING,
  }
}

function skillIssues(entry: wire.SkillEntry, index: number): readonly Issue[] {
  const at = (member: string) => `/skills/${index}/${member}`
  return [
    ...(entry.input_schema ? findSchemaIssues(entry.input_schema, at('input_schema')) : []),
    ...(entry.output_schema ? findSchemaIssues(entry.output_schema, at('output_schema')) : []),
  ]
}
