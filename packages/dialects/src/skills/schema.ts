/**
 * What the ten skills take and give. These objects are the published JSON Schemas. Unknown fields
 * are ignored and covered by signatures; defaults are published and never filled in here.
 *
 * The document marks which inputs are required and is silent about outputs. Required of an output
 * is what the document's own example shows, or all of it where there is no example.
 */
import { LIMITS } from '@chimera/domain/limits'
import { type Static, Type } from 'typebox'
import { requiredIf } from '../required-if.ts'
import { DateTime, textUpTo, Url, Uuid } from '../wire.ts'
import { ContentPackage } from './content.ts'
import { preset } from './defaults.ts'
import { Persona } from './persona.ts'
import { AgentProfile, Embedded, ProfileStatus } from './profile.ts'
import { ScoredTrend, TrendData } from './trend.ts'
import {
  CONTENT_TYPES,
  Count,
  PublishPlatform,
  Sentence,
  Share,
  TREND_PLATFORMS,
  TrendPlatform,
  Word,
  wordsUpTo,
} from './words.ts'

export { ProfileAnswer as GetAgentProfileOutput } from './profile.ts'
export * from './wallet.ts'

/** SK-6: one platform, or several at once. */
const Platforms = Type.Union([
  TrendPlatform,
  Type.Array(TrendPlatform, {
    minItems: 1,
    maxItems: TREND_PLATFORMS.length,
    uniqueItems: true,
  }),
])

export const FetchTrendsInput = Type.Object(
  {
    platform: Platforms,
    limit: preset(Type.Integer({ minimum: 1, maximum: 500, default: 50 })),
    timeWindow: preset(
      Type.String({
        pattern: '^[0-9]+(h|d)$',
        // A year in hours, and then some.
        maxLength: 5,
        default: '24h',
        description: "Such as '4h' or '1d'",
      }),
    ),
    minEngagement: preset(Type.Integer({ minimum: 0, default: 10_000 })),
    excludeTopics: Type.Optional(wordsUpTo(50)),
  },
  { title: 'fetch_trends input' },
)
export type FetchTrendsInput = Static<typeof FetchTrendsInput>

export const FetchTrendsOutput = Type.Object(
  {
    trends: Type.Array(TrendData, { maxItems: 500 }),
    fetched_at: Type.Optional(DateTime),
    platform: Type.Optional(Platforms),
    count: Count,
    truncated: Type.Boolean({ description: 'There are more than the limit let through' }),
    unavailable: Type.Optional(
      Type.Array(TrendPlatform, {
        maxItems: TREND_PLATFORMS.length,
        description: 'Platforms of the list that gave nothing',
      }),
    ),
    stale: Type.Optional(
      Type.Boolean({
        description: 'No source answered; these are from the last time, see fetched_at',
      }),
    ),
  },
  { title: 'fetch_trends output' },
)
export type FetchTrendsOutput = Static<typeof FetchTrendsOutput>

export const SemanticFilterInput = Type.Object(
  {
    trends: Type.Array(TrendData, { minItems: 1, maxItems: 1_000 }),
    campaign_goals: Type.Array(
      // INVALID_GOALS: a goal of blanks is an empty goal.
      Type.String({ pattern: '\\S', maxLength: LIMITS.descriptionChars }),
      { minItems: 1, maxItems: 10 },
    ),
    relevance_threshold: preset(Type.Number({ minimum: 0, maximum: 1, default: 0.75 })),
    model: preset(Type.Enum(['gemini-3-flash', 'gpt-4o-mini'], { default: 'gemini-3-flash' })),
  },
  { title: 'semantic_filter input' },
)
export type SemanticFilterInput = Static<typeof SemanticFilterInput>

export const SemanticFilterOutput = Type.Object(
  {
    filtered_trends: Type.Array(ScoredTrend, { maxItems: 1_000 }),
    total_input: Type.Optional(Count),
    total_output: Type.Optional(Count),
    filtered_at: Type.Optional(DateTime),
    partial: Type.Optional(
      Type.Boolean({ description: 'Time ran out; these are the batches that were done' }),
    ),
  },
  { title: 'semantic_filter output' },
)
export type SemanticFilterOutput = Static<typeof SemanticFilterOutput>

export const GenerateContentInput = Type.Object(
  {
    trend: TrendData,
    persona: Persona,
    platform: PublishPlatform,
    content_type: preset(Type.Enum(CONTENT_TYPES, { default: 'video_script' })),
    media_generation: preset(Type.Boolean({ default: true })),
    revision: Type.Optional(
      Type.Object(
        { round: Type.Integer({ minimum: 2, maximum: 100 }), words: Sentence },
        { description: 'A person sent the last text back: how often it is written now, and why' },
      ),
    ),
  },
  { title: 'generate_content input' },
)
export type GenerateContentInput = Static<typeof GenerateContentInput>

export const GenerateContentOutput = Type.Object(
  {
    content: ContentPackage,
    generation_time_ms: Count,
    model_used: Word,
    confidence_score: Share,
  },
  { title: 'generate_content output' },
)
export type GenerateContentOutput = Static<typeof GenerateContentOutput>

const checkedByDefault = () => preset(Type.Boolean({ default: true }))
const ValidationRules = Type.Object(
  {
    check_offensive_language: checkedByDefault(),
    check_misinformation: checkedByDefault(),
    check_copyright: checkedByDefault(),
    check_platform_compliance: checkedByDefault(),
  },
  { default: {} },
)

/** SK-9: what sharpens the checks. The text of a source spares the judge from fetching it. */
const ValidationContext = Type.Object({
  persona: Type.Optional(Persona),
  platform: Type.Optional(PublishPlatform),
  sources: Type.Optional(
    Type.Array(Type.Object({ url: Url, text: Type.Optional(textUpTo(10_000)) }), { maxItems: 20 }),
  ),
})

export const ValidateContentInput = Type.Object(
  {
    content: ContentPackage,
    validation_rules: preset(ValidationRules),
    context: Type.Optional(ValidationContext),
  },
  { title: 'validate_content input' },
)
export type ValidateContentInput = Static<typeof ValidateContentInput>

export const ValidationIssue = Type.Object({
  rule: Word,
  severity: Type.Enum(['error', 'warning', 'info']),
  message: textUpTo(LIMITS.descriptionChars),
  span: Type.Optional(
    Type.Object(
      {
        field: Type.String({ maxLength: 200, description: 'A JSON pointer into the content' }),
        start: Count,
        end: Count,
      },
      { description: 'The words that it is about, in UTF-16 units' },
    ),
  ),
})

export const ValidateContentOutput = Type.Object(
  {
    valid: Type.Boolean(),
    confidence_score: Share,
    issues: Type.Array(ValidationIssue, { maxItems: 100 }),
    requires_human_review: Type.Boolean({ description: 'True whenever an issue is an error' }),
    validation_time_ms: Type.Optional(Count),
  },
  {
    title: 'validate_content output',
    allOf: [
      {
        if: {
          properties: {
            issues: {
              type: 'array',
              contains: { properties: { severity: { const: 'error' } }, required: ['severity'] },
            },
          },
          required: ['issues'],
        },
        // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
        then: { properties: { requires_human_review: { const: true } } },
      },
    ],
  },
)
export type ValidateContentOutput = Static<typeof ValidateContentOutput>

export const PublishContentInput = Type.Object(
  {
    content: ContentPackage,
    approval_token: Type.String({
      pattern: '^[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+$',
      maxLength: 4_096,
      description: 'The signed approval of a person, a compact JWT',
    }),
    platform: PublishPlatform,
    schedule_time: Type.Optional(
      Type.Union([DateTime, Type.Null()], { description: 'Absent or null: at once' }),
    ),
  },
  { title: 'publish_content input' },
)
export type PublishContentInput = Static<typeof PublishContentInput>

export const PublishContentOutput = Type.Object(
  {
    success: Type.Boolean(),
    post_id: Type.Optional(Word),
    post_url: Type.Optional(Url),
    platform: Type.Optional(PublishPlatform),
    published_at: Type.Optional(DateTime),
    scheduled_for: Type.Optional(
      Type.String({
        format: 'date-time',
        description: 'Accepted and not yet published: there is no post to name before this time',
      }),
    ),
    engagement_snapshot: Type.Optional(
      Type.Object({
        likes: Type.Optional(Count),
        comments: Type.Optional(Count),
        shares: Type.Optional(Count),
      }),
    ),
  },
  {
    title: 'publish_content output',
    allOf: [
      {
        if: {
          properties: { success: { const: true } },
          required: ['success'],
          not: { required: ['scheduled_for'] },
        },
        // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
        then: { required: ['post_id', 'post_url', 'published_at'] },
      },
    ],
  },
)
export type PublishContentOutput = Static<typeof PublishContentOutput>

export const GetAgentProfileInput = Type.Object(
  { agent_id: Uuid },
  { title: 'get_agent_profile input' },
)
export type GetAgentProfileInput = Static<typeof GetAgentProfileInput>

export const UpdateAgentStateInput = Type.Object(
  {
    agent_id: Uuid,
    state_updates: Type.Object({
      status: Type.Optional(ProfileStatus),
      reason: Type.Optional(
        Type.String({
          maxLength: LIMITS.descriptionChars,
          description: 'Why; an agent goes to error only with a reason',
        }),
      ),
      pending_tasks: Type.Optional(Count),
      last_execution: Type.Optional(DateTime),
      wallet_balance: Type.Optional(Type.Number({ minimum: 0 })),
    }),
    expected_version: Type.Optional(Type.Integer({ minimum: 1 })),
  },
  { title: 'update_agent_state input' },
)
export type UpdateAgentStateInput = Static<typeof UpdateAgentStateInput>

export const UpdateAgentStateOutput = Type.Object(
  {
    success: Type.Boolean(),
    updated_profile: AgentProfile,
    new_version: Type.Integer({ minimum: 1 }),
    embedded: Embedded,
  },
  { title: 'update_agent_state output' },
)
export type UpdateAgentStateOutput = Static<typeof UpdateAgentStateOutput>

export const RegisterOpenclawProfileInput = Type.Object(
  { agent_profile: AgentProfile },
  { title: 'register_openclaw_profile input' },
)
export type RegisterOpenclawProfileInput = Static<typeof RegisterOpenclawProfileInput>

export const RegisterOpenclawProfileOutput = Type.Object(
  {
    registered: Type.Boolean(),
    profile_url: Type.Optional(Url),
    directory_id: Type.Optional(Word),
    registered_at: Type.Optional(DateTime),
    warning: Type.Optional(textUpTo(LIMITS.descriptionChars)),
  },
  {
    title: 'register_openclaw_profile output',
    allOf: [
      requiredIf('registered', true, ['profile_url', 'directory_id', 'registered_at']),
      requiredIf('registered', false, ['warning']),
    ],
  },
)
export type RegisterOpenclawProfileOutput = Static<typeof RegisterOpenclawProfileOutput>
