/**
 * A campaign as a person writes it, in YAML, JSON or TypeScript, and as the fleet takes it.
 *
 *   F1  What is wrong is said all at once, each by its field, what was expected and what came.
 *   F2  What is left out has a default that a newcomer would want; the rest is theirs to say.
 *   F3  A campaign is known by its owner and its name: the same file is the same campaign.
 */

import { checker } from '@chimera/dialects/check'
import { CREDITS } from '@chimera/dialects/skills/campaign'
import type { Persona } from '@chimera/dialects/skills/persona'
import {
  CONTENT_TYPES,
  Hashtag,
  PublishPlatform,
  Region,
  Sentence,
  Sentiment,
  Share,
  TrendPlatform,
  wordsUpTo,
} from '@chimera/dialects/skills/words'
import { Credits, DateTime, writeInstant } from '@chimera/dialects/wire'
import type { Issue } from '@chimera/domain/decision'
import type { Instant } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import { readDuration } from '@chimera/skill/duration'
import { namedUuid } from '@chimera/skills/named-uuid'
import { type Static, Type } from 'typebox'
import type { RunCampaignInput } from '../campaign/asked.ts'

const Span = Type.String({ pattern: '^[1-9][0-9]{0,4}(m|h)$', description: '90m or 24h' })

const CampaignFile = Type.Object(
  {
    name: Type.String({ minLength: 3, maxLength: 200 }),
    goals: Type.Array(Sentence, { minItems: 1, maxItems: 10 }),
    persona: Type.Union([Type.String({ minLength: 1, maxLength: 500 }), Type.Object({})], {
      description: 'A persona file beside this one, or the persona itself',
    }),
    budget: { ...Credits, description: 'The most that all steps may cost, in credits' },
    publish: Type.Object(
      {
        to: Type.Array(PublishPlatform, { minItems: 1, maxItems: 4, uniqueItems: true }),
        type: Type.Optional(Type.Enum(CONTENT_TYPES)),
        at: Type.Optional(DateTime),
        hashtags: Type.Optional(Type.Array(Hashtag, { maxItems: 30 })),
        mentions: Type.Optional(wordsUpTo(30)),
      },
      { additionalProperties: false },
    ),
    trends: Type.Optional(
      Type.Object(
        {
          from: Type.Optional(Type.Array(TrendPlatform, { minItems: 1, maxItems: 5 })),
          count: Type.Optional(Type.Integer({ minimum: 1, maximum: 5 })),
          topics: Type.Optional(wordsUpTo(50)),
          exclude: Type.Optional(wordsUpTo(50)),
          minEngagement: Type.Optional(Type.Integer({ minimum: 0 })),
          minFreshness: Type.Optional(Share),
          moods: Type.Optional(Type.Array(Sentiment, { maxItems: 5 })),
          regions: Type.Optional(Type.Array(Region, { maxItems: 7 })),
        },
        { additionalProperties: false },
      ),
    ),
    reviewWithin: Type.Optional(Span),
  },
  { title: 'Campaign file', additionalProperties: false },
)
export type CampaignFile = Static<typeof CampaignFile>

const check = checker(CampaignFile)

export type CampaignRead =
  | { readonly ok: true; readonly file: CampaignFile }
  | { readonly ok: false; readonly issues: readonly Issue[] }

/** F1. */
export function readCampaignFile(value: unknown): CampaignRead {
  const checked = check(value)
  if (!checked.ok) return { ok: false, issues: checked.particulars.issues ?? [] }
  const file = checked.message
  const minutes = minutesOf(file.reviewWithin)
  if (minutes !== undefined && minutes > LIMITS.reviewMs / 60_000) {
    const issue = { path: '/reviewWithin', expected: 'at most 24h', got: String(file.reviewWithin) }
    return { ok: false, issues: [issue] }
  }
  return { ok: true, file }
}

const minutesOf = (span: string | undefined): number | undefined => {
  const ms = span === undefined ? undefined : readDuration(span)
  return ms === undefined ? undefined : ms / 60_000
}

/** Fresh and loud enough on any platform; the filter asks for relevance anyway. */
const DEFAULT_FROM = ['news', 'twitter', 'reddit'] as const
const DEFAULT_ENGAGEMENT = 1_000

export function campaignOf(
  file: CampaignFile,
  { persona, owner, now }: { persona: Persona; owner: string; now: Instant },
): RunCampaignInput {
  const { name, goals, budget, publish, trends = {} } = file
  const at = writeInstant(now)
  const minutes = minutesOf(file.reviewWithin)
  return {
    campaign: {
      campaign_id: namedUuid('campaign', owner, name),
      name,
      goals,
      status: 'active',
      budget: { total: budget, spent: 0, currency: CREDITS },
      trend_filters: {
        platforms: trends.from ?? [...DEFAULT_FROM],
        min_engagement: trends.minEngagement ?? DEFAULT_ENGAGEMENT,
        ...(trends.minFreshness !== undefined && { min_decay: trends.minFreshness }),
        ...(trends.moods && { sentiments: trends.moods }),
        ...(trends.topics && { topics: trends.topics }),
        ...(trends.exclude && { excluded_topics: trends.exclude }),
        ...(trends.regions && { regions: trends.regions }),
      },
      content_guidelines: {
        persona,
        content_types: [publish.type ?? 'single_post'],
        ...(publish.hashtags && { required_hashtags: publish.hashtags }),
        ...(publish.mentions && { required_mentions: publish.mentions }),
      },
      created_at: at,
      updated_at: at,
    },
    publish_to: publish.to,
    content_type: publish.type ?? 'single_post',
    ...(trends.count !== undefined && { trends: trends.count }),
    ...(publish.at !== undefined && { publish_at: publish.at }),
    ...(minutes !== undefined && { review_minutes: minutes }),
  }
}
