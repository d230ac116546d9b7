/**
 * Agent Profile: what an agent is, what it can do, and how it stands. `reputation_score` is
 * computed from settled work and never set; one that somebody else sends is only an observation.
 */
import { type Static, Type } from 'typebox'
import { DateTime, Uuid } from '../wire.ts'
import { preset } from './defaults.ts'
import { Currency } from './units.ts'
import { Count, Share, WalletAddress } from './words.ts'

export const AgentType = Type.Enum([
  'content_creator',
  'trend_analyst',
  'distribution_manager',
  'judge',
  'orchestrator',
])
export type AgentType = Static<typeof AgentType>

export const ProfileCapability = Type.Enum([
  'trend_analysis',
  'video_generation',
  'image_generation',
  'content_writing',
  'social_engagement',
  'budget_management',
  'quality_control',
])
export type ProfileCapability = Static<typeof ProfileCapability>

export const ProfileAvailability = Type.Enum(['active', 'busy', 'unavailable', 'maintenance'])
export type ProfileAvailability = Static<typeof ProfileAvailability>

/** What update_agent_state sets. */
export const ProfileStatus = Type.Enum(['active', 'busy', 'paused', 'error'])
export type ProfileStatus = Static<typeof ProfileStatus>

const SupportedPlatform = Type.Enum(['twitter', 'tiktok', 'instagram', 'youtube', 'news'])
export type SupportedPlatform = Static<typeof SupportedPlatform>

const Price = Type.Number({ minimum: 0 })
export const Pricing = Type.Object({
  currency: Currency,
  rate_per_task: Price,
  rate_per_hour: Type.Optional(Price),
})
export type Pricing = Static<typeof Pricing>

export const MOST_TASKS = 100

const members = {
  agent_id: Uuid,
  name: Type.String({ minLength: 3, maxLength: 100 }),
  type: AgentType,
  capabilities: Type.Array(ProfileCapability, { minItems: 1, maxItems: 10 }),
  availability: ProfileAvailability,
  status: ProfileStatus,
  pending_tasks: Count,
  max_concurrent_tasks: preset(Type.Integer({ minimum: 1, maximum: MOST_TASKS, default: 5 })),
  pricing: Type.Optional(Pricing),
  wallet_address: Type.Optional(WalletAddress),
  wallet_balance: Type.Optional(Type.Number({ minimum: 0 })),
  reputation_score: Share,
  uptime_24h: Type.Number({ minimum: 0, maximum: 100 }),
  last_heartbeat: DateTime,
  last_execution: Type.Optional(DateTime),
  supported_platforms: Type.Optional(Type.Array(SupportedPlatform, { maxItems: 5 })),
  version: Type.Integer({ minimum: 1, description: 'The optimistic lock' }),
  signature: Type.Optional(
    Type.String({
      maxLength: 128,
      description: 'Ed25519 over the canonical JSON of the profile without this field, base64',
    }),
  ),
}

export const AgentProfile = Type.Object(members, { title: 'Agent profile' })
export type AgentProfile = Static<typeof AgentProfile>

/** Said by an answer that no network stands behind. */
export const Embedded = Type.Optional(
  Type.Boolean({ description: 'No hub is configured; nobody but this machine knows it' }),
)

/** SK-11: a copy that may be out of date says so. */
export const ProfileAnswer = Type.Object(
  {
    ...members,
    embedded: Embedded,
    stale: Type.Optional(
      Type.Boolean({ description: 'The source was down; this is the last known copy' }),
    ),
  },
  { title: 'get_agent_profile output' },
)
export type ProfileAnswer = Static<typeof ProfileAnswer>
