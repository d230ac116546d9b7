/**
 * Domain → Chorus. What Chorus cannot say is listed in docs/dialects/chorus.md.
 */
import type { Agent, Registration, Skill } from '@chimera/domain/agent/agent'
import type { Condition } from '@chimera/domain/agent/condition'
import { accepts } from '@chimera/domain/agent/condition'
import { writeSkillVersion } from '@chimera/domain/agent/skill-version'
import type { AgentId, Instant, OwnerId } from '@chimera/domain/ids'
import type { WorkAsked, WorkReported } from '@chimera/domain/work/work'
import { writeCents, writeInstant } from '../wire.ts'
import type { AccountAsked, AgentsSought, TransferOrdered } from './decode.ts'
import * as wire from './schema.ts'
import { writeScore } from './why.ts'

/** the Chorus column. An agent that takes no work is offline to whoever looks for one. */
export function encodeCondition(condition: Condition): 'online' | 'offline' {
  return accepts(condition) ? 'online' : 'offline'
}

export function encodeSkill(skill: Skill): wire.SkillEntry {
  const { major, minor } = skill.version
  // The first version goes by its bare name, which is all that Chorus programs know.
  const isFirst = major === 1 && minor === 0
  return {
    skill_name: isFirst ? skill.name : writeSkillVersion(skill.name, skill.version),
    description: skill.description,
    cost_per_call: writeCents(skill.priceCents),
    ...(skill.input && { input_schema: skill.input }),
    ...(skill.output && { output_schema: skill.output }),
  }
}

/** Chorus knows an agent by its address: one that has none is not shown there. */
export type Reachable = { readonly endpoint: string }

export function encodeRegistration(
  { id, owner, profile }: Registration & { readonly profile: Reachable },
  now: Instant,
): wire.Registration {
  return {
    agent_id: id,
    agent_name: profile.name,
    owner_id: owner,
    api_endpoint: profile.endpoint,
    skills: profile.skills.map(encodeSkill),
    ...(profile.version !== undefined && { version: profile.version }),
    timestamp_utc: writeInstant(now),
  }
}

export function encodeRegistered(id: AgentId, scoreMicro: number): wire.Registered {
  return { status: 'registered', agent_id: id, reputation_score: writeScore(scoreMicro) }
}

/** The query of a search, as the names and texts of its parameters. */
export function encodeDiscovery(search: AgentsSought): Record<string, string> {
  return {
    skill: search.skills.join(','),
    ...(search.minScoreMicro !== undefined && {
      min_reputation: `${search.minScoreMicro / 1_000_000}`,
    }),
    ...(search.maxCostCents !== undefined && { max_cost: `${writeCents(search.maxCostCents)}` }),
    limit: `${search.limit}`,
    offset: `${search.offset}`,
    order: search.order,
  }
}

/** One place in a discovery: the agent, the skill that was asked for, and why it is there (P-6). */
export type Hit = {
  readonly agent: Agent & Reachable
  readonly skill: Skill
  readonly scoreMicro: number
  readonly online: boolean
  readonly why?: readonly string[]
}

export function encodeDiscovered(hits: readonly Hit[], total: number): wire.Discovered {
  return { agents: hits.map(encodeHit), total }
}

function encodeHit({ agent, skill, scoreMicro, online, why }: Hit): wire.DiscoveredAgent {
  const { skill_name, cost_per_call } = encodeSkill(skill)
  return {
    agent_id: agent.id,
    agent_name: agent.name,
    owner_id: agent.owner,
    api_endpoint: agent.endpoint,
    skill: { skill_name, cost_per_call },
    skills: agent.skills.map(encodeSkill),
    reputation_score: writeScore(scoreMicro),
    status: online ? 'online' : 'offline',
    ...(why && { why: [...why] }),
  }
}

export function encodeHeartbeatSeen(agent: AgentId, now: Instant): wire.HeartbeatSeen {
  return { status: 'ok', agent_id: agent, timestamp: writeInstant(now) }
}

export function encodeAgentEntry(
  agent: Agent,
  scoreMicro: number,
  online: boolean,
): wire.AgentEntry {
  return {
    agent_id: agent.id,
    agent_name: agent.name,
    owner_id: agent.owner,
    ...(agent.endpoint !== undefined && { api_endpoint: agent.endpoint }),
    skills: agent.skills.map(encodeSkill),
    ...(agent.version !== undefined && { version: agent.version }),
    reputation_score: writeScore(scoreMicro),
    status: online ? 'online' : 'offline',
  }
}

export function encodeSkillList(offers: ReadonlyMap<string, number>): wire.SkillList {
  const skills = [...offers].map(([skill_name, agents]) => ({ skill_name, agents }))
  return { skills, total: skills.length }
}

export function encodeJob(asked: WorkAsked, now: Instant): wire.Job {
  return {
    job_id: asked.task,
    orchestrator_id: asked.claimedRequester,
    skill_name: asked.skill,
    input_data: asked.input,
    budget: writeCents(asked.budgetCents ?? 0),
    currency: wire.CURRENCY,
    ...(asked.callback !== undefined && { callback_url: asked.callback }),
    timestamp_utc: writeInstant(asked.sentAt ?? now),
    ...(asked.quotedCents !== undefined && { quoted_cost: writeCents(asked.quotedCents) }),
    ...(asked.deadline !== undefined && { deadline_utc: writeInstant(asked.deadline) }),
  }
}

const STATUS = {
  done: 'SUCCESS',
  failed: 'FAILURE',
  cancelled: 'FAILURE',
  pending: 'PENDING',
} as const

/** CH-6: what is not done costs nothing, whatever the report says. */
export function encodeJobResult(report: WorkReported, now: Instant): wire.JobResult {
  const fault = report.how === 'cancelled' ? CANCELLED : report.fault
  return {
    job_id: report.task,
    agent_id: report.agent,
    status: STATUS[report.how],
    output_data: report.how === 'done' ? (report.output ?? {}) : null,
    execution_cost: report.how === 'done' ? writeCents(report.costCents ?? 0) : 0,
    execution_time_ms: report.durationMs ?? 0,
    ...(fault && { error_code: fault.code }),
    error_message: fault?.message ?? null,
    timestamp_utc: writeInstant(report.endedAt ?? now),
  }
}

const CANCELLED = { code: 'CANCELLED', message: 'The requester cancelled the job' }

export function encodeTransfer(order: TransferOrdered, now: Instant): wire.Transfer {
  return {
    transfer_id: order.transfer,
    from_owner: order.payer,
    to_owner: order.payee,
    amount: writeCents(order.amountCents),
    ...(order.task !== undefined && { job_id: order.task }),
    timestamp_utc: writeInstant(now),
  }
}

export type TransferMade = {
  readonly order: TransferOrdered
  readonly at: Instant
  readonly payerCents: number
  readonly payeeCents: number
}

export function encodeTransferDone({
  order,
  at,
  payerCents,
  payeeCents,
}: TransferMade): wire.TransferDone {
  return {
    status: 'completed',
    transfer: encodeTransfer(order, at),
    sender_balance: writeCents(payerCents),
    receiver_balance: writeCents(payeeCents),
  }
}

export function encodeAccountOpening({ owner, initialCents }: AccountAsked): wire.AccountOpening {
  return {
    owner_id: owner,
    ...(initialCents !== undefined && { initial_balance: writeCents(initialCents) }),
  }
}

export function encodeAccount(owner: OwnerId, balanceCents: number): wire.Account {
  return { owner_id: owner, balance: writeCents(balanceCents) }
}

export function encodeReputation(agent: AgentId, scoreMicro: number): wire.Reputation {
  return { agent_id: agent, reputation_score: writeScore(scoreMicro) }
}

export function encodeAuditList(
  transfers: readonly { readonly order: TransferOrdered; readonly at: Instant }[],
  total: number,
): wire.AuditList {
  return { transactions: transfers.map(({ order, at }) => encodeTransfer(order, at)), total }
}

export type EconomyFigures = {
  readonly accounts: number
  readonly volumeCents: number
  readonly transactions: number
  /** Given to operators only, but on an open hub (CH-14). */
  readonly balances?: ReadonlyMap<OwnerId, number>
}

export function encodeEconomy(figures: EconomyFigures): wire.Economy {
  const { balances } = figures
  return {
    total_accounts: figures.accounts,
    total_volume: writeCents(figures.volumeCents),
    total_transactions: figures.transactions,
    ...(balances && {
      all_balances: Object.fromEntries(
        [...balances].map(([owner, cents]) => [owner, writeCents(cents)]),
      ),
    }),
  }
}
