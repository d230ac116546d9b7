/**
 * Domain → skills. What this dialect cannot say is listed in docs/dialects/skills.md.
 */
import type { Agent, Skill } from '@chimera/domain/agent/agent'
import type { ConditionName, Standing } from '@chimera/domain/agent/condition'
import type { AgentRecord, RecordUpdate, WantedCondition } from '@chimera/domain/agent/record'
import type { AgentId, Instant } from '@chimera/domain/ids'
import { writeInstant } from '../wire.ts'
import type { CallRecord } from './call-record.ts'
import type { BalanceRead, CallRecorded, ProfileSought, PublishAsked } from './decode.ts'
import {
  type AgentProfile,
  type AgentType,
  MOST_TASKS,
  type Pricing,
  type ProfileAnswer,
  type ProfileAvailability,
  type ProfileCapability,
  type ProfileStatus,
  type SupportedPlatform,
} from './profile.ts'
import type * as wire from './schema.ts'
import { type Currency, DECIMALS, showUnits } from './units.ts'
import type { PublishPlatform } from './words.ts'

type Shown = { readonly status: ProfileStatus; readonly availability: ProfileAvailability }

// biome-ignore format: a table is read by its columns
const SHOWN: Readonly<Record<ConditionName, Shown>> = {
  idle:         { status: 'active', availability: 'active' },
  working:      { status: 'busy',   availability: 'busy' },
  human_review: { status: 'busy',   availability: 'busy' },
  paused:       { status: 'paused', availability: 'unavailable' },
  draining:     { status: 'paused', availability: 'unavailable' },
  maintenance:  { status: 'paused', availability: 'maintenance' },
  error:        { status: 'error',  availability: 'unavailable' },
  stopped:      { status: 'paused', availability: 'unavailable' },
}

/** the profile's column, and the availability beside it. Slots make no difference here. */
export function encodeCondition({ condition }: Pick<Standing, 'condition'>): Shown {
  return SHOWN[condition.name]
}

/** What a profile shows. What the domain does not know of an agent is handed in beside it. */
export type ProfileView = {
  readonly agent: Agent
  readonly record: AgentRecord
  readonly kind: AgentType
  /** The window score, in millionths of one. */
  readonly scoreMicro: number
  /** The share of the last 24 hours, in millionths of one. */
  readonly uptimeMicro: number
  readonly seenAt: Instant
  readonly pricing?: Pricing
  readonly wallet?: string
  readonly platforms?: readonly SupportedPlatform[]
}

export function encodeAgentProfile(view: ProfileView): AgentProfile {
  const { agent, record, pricing, wallet, platforms } = view
  const { slotsTotal } = record.standing.workload
  return {
    agent_id: agent.id,
    name: fitName(agent.name, agent.id),
    type: view.kind,
    capabilities: capabilitiesOf(agent.skills),
    ...encodeCondition(record.standing),
    pending_tasks: record.pendingTasks,
    ...(slotsTotal > 0 && { max_concurrent_tasks: Math.min(slotsTotal, MOST_TASKS) }),
    ...(pricing && { pricing }),
    ...(wallet !== undefined && { wallet_address: wallet }),
    ...(record.walletBalance !== undefined && { wallet_balance: record.walletBalance }),
    reputation_score: view.scoreMicro / 1_000_000,
    uptime_24h: view.uptimeMicro / 10_000,
    last_heartbeat: writeInstant(view.seenAt),
    ...(record.lastExecutionAt !== undefined && {
      last_execution: writeInstant(record.lastExecutionAt),
    }),
    ...(platforms && { supported_platforms: [...platforms] }),
    version: record.version,
  }
}

/** SK-11: `stale` when the source was down and this is the last known copy. */
export function encodeProfileAnswer(profile: AgentProfile, stale: boolean): ProfileAnswer {
  return stale ? { ...profile, stale } : profile
}

export function encodeProfileSought({ agent }: ProfileSought): wire.GetAgentProfileInput {
  return { agent_id: agent }
}

export function encodeRegistration(profile: AgentProfile): wire.RegisterOpenclawProfileInput {
  return { agent_profile: profile }
}

const STATUS_OF_CONDITION = {
  accepting: 'active',
  occupied: 'busy',
  paused: 'paused',
  failed: 'error',
} as const satisfies Record<WantedCondition['name'], ProfileStatus>

export function encodeStateUpdate(
  agent: AgentId,
  update: RecordUpdate,
): wire.UpdateAgentStateInput {
  const { condition, expectedVersion, pendingTasks, lastExecutionAt, walletBalance } = update
  return {
    agent_id: agent,
    state_updates: {
      ...(condition && { status: STATUS_OF_CONDITION[condition.name] }),
      ...(condition?.name === 'failed' && { reason: condition.fault.message }),
      ...(pendingTasks !== undefined && { pending_tasks: pendingTasks }),
      ...(lastExecutionAt !== undefined && { last_execution: writeInstant(lastExecutionAt) }),
      ...(walletBalance !== undefined && { wallet_balance: walletBalance }),
    },
    ...(expectedVersion !== undefined && { expected_version: expectedVersion }),
  }
}

export function encodeUpdated(view: ProfileView): wire.UpdateAgentStateOutput {
  return {
    success: true,
    updated_profile: encodeAgentProfile(view),
    new_version: view.record.version,
  }
}

export function encodePublish(asked: PublishAsked): wire.PublishContentInput {
  return {
    content: asked.package,
    approval_token: asked.token,
    platform: asked.platform,
    ...(asked.scheduledAt !== undefined && { schedule_time: writeInstant(asked.scheduledAt) }),
  }
}

export type Published = {
  readonly platform: PublishPlatform
  readonly post: string
  readonly url: string
  readonly at: Instant
  readonly engagement?: { likes: number; comments: number; shares: number }
}

export function encodePublished(published: Published): wire.PublishContentOutput {
  const { platform, post, url, at, engagement } = published
  return {
    success: true,
    post_id: post,
    post_url: url,
    platform,
    published_at: writeInstant(at),
    ...(engagement && { engagement_snapshot: engagement }),
  }
}

/** Accepted for later: there is no post to name yet. */
export function encodeScheduled(platform: PublishPlatform, at: Instant): wire.PublishContentOutput {
  return { success: true, platform, scheduled_for: writeInstant(at) }
}

export function encodeBalance(read: BalanceRead): wire.FetchWalletBalanceOutput {
  const { wallet, currency, network, units, at, stale } = read
  return {
    wallet_address: wallet,
    balance: showUnits(units, DECIMALS[currency]),
    balance_units: units.toString(),
    currency,
    last_updated: writeInstant(at),
    ...(network === undefined ? { simulated: true } : { network }),
    ...(stale && { stale }),
  }
}

export type Debited = {
  readonly tx: string
  readonly currency: Currency
  readonly units: bigint
  readonly balanceUnits: bigint
  readonly confirmedAt: Instant
  /** There is no chain, and the money is pretended. */
  readonly simulated?: boolean
}

export function encodeDebited(debited: Debited): wire.DebitWalletOutput {
  const decimals = DECIMALS[debited.currency]
  return {
    success: true,
    tx_id: debited.tx,
    amount_deducted: showUnits(debited.units, decimals),
    new_balance: showUnits(debited.balanceUnits, decimals),
    confirmed_at: writeInstant(debited.confirmedAt),
    ...(debited.simulated === true && { simulated: true }),
  }
}

export function encodeCall(call: CallRecorded): CallRecord {
  return {
    skill_name: call.skill,
    agent_id: call.agent,
    timestamp: writeInstant(call.at),
    input_hash: call.input,
    output_hash: call.output ?? null,
    duration_ms: call.durationMs,
    error_code: call.code ?? null,
    retry_count: call.retries,
    success: call.code === undefined,
    ...(call.correlation !== undefined && { trace_id: call.correlation }),
  }
}

// biome-ignore format: a table is read by its columns
const CAPABILITIES: Readonly<Record<string, ProfileCapability>> = {
  fetch_trends: 'trend_analysis',            semantic_filter: 'trend_analysis',
  generate_content: 'content_writing',       validate_content: 'quality_control',
  publish_content: 'social_engagement',      register_openclaw_profile: 'social_engagement',
  fetch_wallet_balance: 'budget_management', debit_wallet: 'budget_management',
  // A skill may go by the capability's own name.
  trend_analysis: 'trend_analysis',          content_writing: 'content_writing',
  video_generation: 'video_generation',      image_generation: 'image_generation',
  social_engagement: 'social_engagement',    budget_management: 'budget_management',
  quality_control: 'quality_control',
}

const OF_CATEGORY = {
  trend_consumption: 'trend_analysis',
  trend_analysis: 'trend_analysis',
  content_validation: 'quality_control',
  content_generation: 'content_writing',
} as const satisfies Record<NonNullable<Skill['category']>, ProfileCapability>

/** Seven words for any number of skills: by name, else by category, else by X-10's default one. */
export function capabilitiesOf(skills: readonly Skill[]): ProfileCapability[] {
  const words = skills.map(
    ({ name, category = 'content_generation' }) => CAPABILITIES[name] ?? OF_CATEGORY[category],
  )
  return words.length === 0 ? [OF_CATEGORY.content_generation] : [...new Set(words)]
}

/** What an agent offers of which no more is known than its capabilities: each, at no price. */
export function skillsFor(capabilities: readonly ProfileCapability[]): readonly Skill[] {
  return [...new Set(capabilities)].map((name) => ({
    name,
    version: { major: 1, minor: 0 },
    description: `${name.replaceAll('_', ' ')}, as its profile says`,
    priceCents: 0,
    category: CATEGORY_OF[name],
  }))
}

const CATEGORY_OF = {
  trend_analysis: 'trend_analysis',
  video_generation: 'content_generation',
  image_generation: 'content_generation',
  content_writing: 'content_generation',
  social_engagement: 'content_generation',
  budget_management: 'content_validation',
  quality_control: 'content_validation',
} as const satisfies Record<ProfileCapability, NonNullable<Skill['category']>>

/** A profile's name has 3 to 100 characters, an agent's may be shorter or longer. */
function fitName(name: string, id: AgentId): string {
  const characters = [...name]
  if (characters.length < 3) return `${name} ${id.slice(0, 8)}`.trim()
  return characters.length <= 100 ? name : `${characters.slice(0, 99).join('')}…`
}
