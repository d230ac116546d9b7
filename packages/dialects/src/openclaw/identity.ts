/**
 * The identity: who an agent is, what it offers and how it stands, in one document (OC-1). Ours are
 * made from the registered agent; those of others are read as an observation.
 *
 *   N1  A capability without a schema of its own is legal: the document's own example has one.
 *   N2  Schemas come from strangers and are bounded before anybody uses them.
 *   N3  Scores in an identity are claims (P-2), its status is what the agent states (A4).
 */
import {
  type Agent,
  DEFAULT_CATEGORY,
  type PublishedSchema,
  type Skill,
} from '@chimera/domain/agent/agent'
import { type Standing, tasksOf } from '@chimera/domain/agent/condition'
import { readSkillRef, writeSkillVersion } from '@chimera/domain/agent/skill-version'
import type { Issue } from '@chimera/domain/decision'
import type { AgentId, CorrelationId, Instant } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import type { WindowRecord } from '@chimera/domain/trust/window-score'
import { checker, reader } from '../check.ts'
import { findSchemaIssues } from '../published-schema.ts'
import { instantOf, readUuid, writeInstant } from '../wire.ts'
import { decodeStatus, encodeStatus, type StatedCondition } from './condition.ts'
import { agentName, clip, correlationOf, versionOf } from './names.ts'
import { decodeTrust, encodeTrust, type TrustClaimed } from './reputation.ts'
import * as wire from './schema.ts'
import { PROTOCOL_VERSION } from './version.ts'

/** OpenClaw has no words for prices and deprecation, so what an identity offers has neither. */
export type SkillStated = Omit<Skill, 'priceCents' | 'deprecation'>

export type LimitsStated = {
  readonly slotsTotal?: number
  readonly tasks?: number
  readonly perMinute?: number
}

export type IdentityObserved = {
  readonly type: 'identity_observed'
  readonly agent: AgentId
  readonly name: string
  readonly version: string
  readonly skills: readonly SkillStated[]
  readonly condition: StatedCondition
  readonly claimed?: TrustClaimed
  readonly limits?: LimitsStated
  readonly publishedAt?: Instant
  readonly correlation?: CorrelationId
}

export type IdentityTold = {
  readonly agent: Pick<Agent, 'id' | 'name' | 'skills' | 'version'>
  readonly standing: Standing
  readonly window: WindowRecord
  /** OC-20: what the agent enforces; absent where it has no limit. */
  readonly perMinute?: number
  readonly correlation: CorrelationId
}

export function encodeIdentity(told: IdentityTold, now: Instant): wire.Identity {
  const { agent, standing } = told
  const named = agent.skills.map((skill) => ({ skill, id: capabilityId(skill) }))
  return {
    protocol_version: PROTOCOL_VERSION,
    agent_id: agent.id,
    agent_name: agentName(agent),
    agent_type: 'autonomous_content_node',
    version: versionOf(agent.version),
    spec_version: PROTOCOL_VERSION,
    capabilities: {
      advertised_capabilities: named.map(({ skill, id }) => encodeCapability(skill, id)),
      input_schemas: schemasOf(named.map(({ skill, id }) => ({ id, schema: skill.input }))),
      output_schemas: schemasOf(named.map(({ skill, id }) => ({ id, schema: skill.output }))),
    },
    status: encodeStatus(standing, now),
    trust_signals: encodeTrust(told.window),
    resource_limits: encodeLimits(told),
    published_at: writeInstant(now),
    correlation_id: correlationOf(told.correlation),
  }
}

/** The first version goes by its bare name, as the document's capabilities do. */
export function capabilityId({ name, version }: Pick<Skill, 'name' | 'version'>): string {
  const isFirst = version.major === 1 && version.minor === 0
  return isFirst ? name : writeSkillVersion(name, version)
}

function encodeCapability(skill: Skill, id: string): wire.Capability {
  const { durationMs, needsApproval } = skill
  return {
    capability_id: id,
    capability_name: clip(skill.title ?? skill.name, LIMITS.nameChars),
    description: clip(skill.description, LIMITS.descriptionChars),
    category: skill.category ?? DEFAULT_CATEGORY,
    ...(durationMs !== undefined && { estimated_duration_ms: durationMs }),
    ...(needsApproval !== undefined && { requires_approval: needsApproval }),
  }
}

type Published = { readonly id: string; readonly schema: PublishedSchema | undefined }

const schemasOf = (all: readonly Published[]): Record<string, PublishedSchema> =>
  Object.fromEntries(all.flatMap(({ id, schema }) => (schema ? [[id, schema]] : [])))

type ResourceLimits = NonNullable<wire.Identity['resource_limits']>

/** An agent without a live instance has no slots, and says nothing about them. */
function encodeLimits({ standing, perMinute }: IdentityTold): ResourceLimits {
  const { workload } = standing
  return {
    ...(workload.slotsTotal >= 1 && { max_concurrent_tasks: workload.slotsTotal }),
    current_task_count: tasksOf(workload),
    ...(perMinute !== undefined && { rate_limit_per_minute: perMinute }),
  }
}

/** Fields are set one by one: an identity is read often, and spreads cost more than parsing it. */
type Draft<Whole> = { -readonly [Field in keyof Whole]: Whole[Field] }

export function decodeIdentity(message: wire.Identity): IdentityObserved {
  const { capabilities, trust_signals, resource_limits, published_at, correlation_id } = message
  const observed: Draft<IdentityObserved> = {
    type: 'identity_observed',
    agent: readUuid<AgentId>(message.agent_id),
    name: message.agent_name,
    version: message.version,
    skills: capabilities.advertised_capabilities.map((each) =>
      decodeCapability(each, capabilities),
    ),
    condition: decodeStatus(message.status),
  }
  if (trust_signals) observed.claimed = decodeTrust(trust_signals)
  if (resource_limits) observed.limits = decodeLimits(resource_limits)
  if (published_at !== undefined) observed.publishedAt = instantOf(published_at)
  if (correlation_id !== undefined) observed.correlation = readUuid<CorrelationId>(correlation_id)
  return observed
}

type SchemasById = wire.Identity['capabilities']['input_schemas']

function decodeCapability(
  entry: wire.Capability,
  { input_schemas, output_schemas }: wire.Identity['capabilities'],
): SkillStated {
  const { capability_id: id, estimated_duration_ms, requires_approval } = entry
  const ref = readSkillRef(id) ?? { name: id }
  const skill: Draft<SkillStated> = {
    name: ref.name,
    version: { major: ref.major ?? 1, minor: ref.minor ?? 0 },
    title: entry.capability_name,
    description: entry.description,
    category: entry.category,
  }
  const input = schemaOf(input_schemas, id)
  const output = schemaOf(output_schemas, id)
  if (input) skill.input = input
  if (output) skill.output = output
  if (estimated_duration_ms !== undefined) skill.durationMs = estimated_duration_ms
  if (requires_approval !== undefined) skill.needsApproval = requires_approval
  return skill
}

/** A capability may be called `constructor`: only what the message itself holds counts. */
function schemaOf(schemas: SchemasById, id: string): PublishedSchema | undefined {
  return Object.hasOwn(schemas, id) ? schemas[id] : undefined
}

function decodeLimits(stated: ResourceLimits): LimitsStated {
  const { max_concurrent_tasks, current_task_count, rate_limit_per_minute } = stated
  const limits: Draft<LimitsStated> = {}
  if (max_concurrent_tasks !== undefined) limits.slotsTotal = max_concurrent_tasks
  if (current_task_count !== undefined) limits.tasks = current_task_count
  if (rate_limit_per_minute !== undefined) limits.perMinute = rate_limit_per_minute
  return limits
}

/** What the schema cannot say: ids are used once, and published schemas keep within bounds. */
function identityIssues({ capabilities }: wire.Identity): readonly Issue[] {
  const { advertised_capabilities, input_schemas, output_schemas } = capabilities
  const issues: Issue[] = []
  addRepeatedIds(advertised_capabilities, issues)
  addSchemaIssues(input_schemas, '/capabilities/input_schemas', issues)
  addSchemaIssues(output_schemas, '/capabilities/output_schemas', issues)
  return issues
}

function addRepeatedIds(capabilities: readonly wire.Capability[], issues: Issue[]): void {
  const seen = new Set<string>()
  for (const { capability_id: id } of capabilities) {
    if (seen.has(id)) {
      const index = capabilities.findLastIndex((each) => each.capability_id === id)
      issues.push({
        path: `/capabilities/advertised_capabilities/${index}/capability_id`,
        expected: 'an id that no other capability has',
        got: 'one used before',
      })
    }
    seen.add(id)
  }
}

function addSchemaIssues(schemas: SchemasById, path: string, issues: Issue[]): void {
  for (const id of Object.keys(schemas)) {
    const found = findSchemaIssues(schemas[id] ?? {}, `${path}/${id}`)
    if (found.length > 0) issues.push(...found)
  }
}

export const readIdentity = reader(checker(wire.Identity, identityIssues), decodeIdentity)
