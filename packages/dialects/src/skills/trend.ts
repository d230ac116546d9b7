/**
 * TrendData: a topic that is talked about on one platform, and how loudly.
 *
 * The score must be what its parts make it, and a trend cannot be from the future. The second needs
 * a clock, so it is a rule of its own and not part of the check.
 */
import type { Issue } from '@chimera/domain/decision'
import type { Instant } from '@chimera/domain/ids'
import { type Static, Type } from 'typebox'
import { DateTime, instantOf, Url, Uuid } from '../wire.ts'
import { Count, Region, Sentiment, Share, TrendPlatform, wordsUpTo } from './words.ts'

const HIGHEST_SCORE = 1_000_000
/** Scores that came through floats elsewhere differ in the last digits. */
const SCORE_SLACK = 0.01
/** Clocks of platforms are worse than clocks of agents. */
const AHEAD_MS = 5 * 60_000

const Engagement = Type.Object({
  likes: Count,
  comments: Count,
  shares: Count,
  impressions: Count,
  engagement_score: Type.Number({
    minimum: 0,
    maximum: HIGHEST_SCORE,
    description: 'likes + 2·comments + 3·shares, and no more than the maximum',
  }),
})

const CATEGORIES = [
  'technology',
  'fashion',
  'finance',
  'entertainment',
  'news',
  'crypto',
  'other',
] as const

const Metadata = Type.Object(
  {
    hashtags: Type.Optional(wordsUpTo(50)),
    mentions: Type.Optional(wordsUpTo(50)),
    source_urls: Type.Optional(Type.Array(Url, { maxItems: 10 })),
    category: Type.Optional(Type.Enum(CATEGORIES)),
  },
  { additionalProperties: false },
)

export const TrendData = Type.Object(
  {
    trend_id: Uuid,
    topic: Type.String({ minLength: 1, maxLength: 500 }),
    platform: TrendPlatform,
    sentiment: Sentiment,
    timestamp: DateTime,
    engagement: Engagement,
    trend_velocity: Type.Number({
      minimum: 0,
      description: 'The score of 24 hours over the score of 7 days',
    }),
    decay_score: Type.Number({
      minimum: 0,
      maximum: 1,
      description: '1 is fresh; it falls with age and never rises',
    }),
    geographic_origin: Type.Optional(Region),
    metadata: Type.Optional(Metadata),
  },
  { title: 'Trend data' },
)
export type TrendData = Static<typeof TrendData>

/** A relevance that a model gave to a trend, with its words for it. */
export const ScoredTrend = Type.Object({
  trend: TrendData,
  relevance_score: Share,
  reasoning: Type.String({ maxLength: 500 }),
})
export type ScoredTrend = Static<typeof ScoredTrend>

/** Beyond the maximum a score says only "as loud as it gets". */
export function scoreOf({ likes, comments, shares }: TrendData['engagement']): number {
  return Math.min(likes + 2 * comments + 3 * shares, HIGHEST_SCORE)
}

/** What the schema cannot say, and needs no clock. `path` is where the trend stands. */
export function scoreIssues({ engagement }: TrendData, path = ''): readonly Issue[] {
  const expected = scoreOf(engagement)
  // A hair more than the slack: 0.01 itself has no exact float.
  if (Math.abs(engagement.engagement_score - expected) <= SCORE_SLACK + 1e-9) return []
  return [
    {
      path: `${path}/engagement/engagement_score`,
      expected: `${expected}, which is likes + 2·comments + 3·shares`,
      got: 'another number',
    },
  ]
}

/** Everything about a trend that needs more than its schema. */
export function trendIssues(trend: TrendData, now: Instant, path = ''): readonly Issue[] {
  const issues = scoreIssues(trend, path)
  if (instantOf(trend.timestamp) <= now + AHEAD_MS) return issues
  return [
    ...issues,
    {
      path: `${path}/timestamp`,
      expected: 'a time at most 5 minutes ahead',
      got: 'a time further ahead',
    },
  ]
}
