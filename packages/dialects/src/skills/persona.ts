/**
 * Persona: whose voice content is written in. Content uses its tone and its preferred words, never
 * a forbidden word or association, and always carries the required disclaimers.
 */
import type { Issue } from '@chimera/domain/decision'
import { type Static, Type } from 'typebox'
import { DateTime, instantOf, Uuid } from '../wire.ts'
import { preset } from './defaults.ts'
import { Region, Sentence, Share, wordsUpTo } from './words.ts'

const TargetAudience = Type.Object({
  age_range: Type.Enum(['13-17', '18-24', '25-34', '35-44', '45-54', '55+', 'all']),
  demographics: Type.Optional(wordsUpTo(10)),
  interests: wordsUpTo(20),
  regions: Type.Array(Region, { minItems: 1, maxItems: 7 }),
})

const Vocabulary = Type.Object({
  preferred_words: wordsUpTo(100),
  forbidden_words: wordsUpTo(100),
  jargon_level: Type.Enum(['beginner', 'intermediate', 'advanced', 'expert']),
})

const ContentStyle = Type.Object({
  post_length_preference: Type.Enum(['concise', 'medium', 'detailed']),
  emoji_usage: preset(Type.Enum(['none', 'minimal', 'moderate', 'heavy'], { default: 'moderate' })),
  hashtag_strategy: preset(
    Type.Enum(['none', 'trending_only', 'mix_popular_niche', 'comprehensive'], {
      default: 'mix_popular_niche',
    }),
  ),
  media_preference: Type.Enum(['text_only', 'text_images', 'videos', 'mixed']),
  storytelling_style: Type.Enum([
    'narrative',
    'listicle',
    'question_answer',
    'data_driven',
    'inspirational',
  ]),
})

const EngagementStrategy = Type.Object({
  goal: Type.Enum(['viral', 'authentic', 'educational', 'commerce', 'community_building']),
  call_to_action: Type.Enum(['none', 'like_comment_share', 'link_click', 'purchase', 'follow']),
  controversy_level: preset(Type.Enum(['safe', 'moderate', 'edgy'], { default: 'moderate' })),
  authenticity_weight: preset(Type.Number({ minimum: 0, maximum: 1, default: 0.7 })),
})

const BrandGuidelines = Type.Object({
  colors: Type.Optional(Type.Array(Type.String({ pattern: '^#[0-9A-F]{6}$' }), { maxItems: 5 })),
  forbidden_associations: Type.Optional(wordsUpTo(50)),
  required_disclaimers: Type.Optional(Type.Array(Sentence, { maxItems: 5 })),
})

const PerformanceTargets = Type.Object({
  target_engagement_rate: Type.Optional(Type.Number({ minimum: 0, maximum: 100 })),
  target_reach_per_post: Type.Optional(Type.Number({ minimum: 100 })),
})

export const Persona = Type.Object(
  {
    agent_id: Uuid,
    name: Type.String({ minLength: 3, maxLength: 100 }),
    bio: Type.String({ minLength: 10, maxLength: 500 }),
    voice_tone: Type.Enum(['formal', 'casual', 'humorous', 'technical', 'inspirational', 'edgy']),
    target_audience: TargetAudience,
    vocabulary: Vocabulary,
    content_style: ContentStyle,
    engagement_strategy: EngagementStrategy,
    platform_preferences: Type.Object({
      twitter: Share,
      tiktok: Share,
      instagram: Share,
      youtube: Share,
      linkedin: Share,
    }),
    brand_guidelines: Type.Optional(BrandGuidelines),
    values: Type.Object({
      core_values: wordsUpTo(5),
      causes_supported: Type.Optional(wordsUpTo(10)),
    }),
    content_performance_targets: Type.Optional(PerformanceTargets),
    created_at: DateTime,
    updated_at: DateTime,
    version: Type.Integer({ minimum: 1 }),
  },
  { title: 'Persona' },
)
export type Persona = Static<typeof Persona>

type Dated = { readonly created_at: string; readonly updated_at: string }

/** What was changed before it was made has a wrong clock somewhere. */
export function datedIssues({ created_at, updated_at }: Dated, path = ''): readonly Issue[] {
  if (instantOf(updated_at) >= instantOf(created_at)) return []
  return [
    { path: `${path}/updated_at`, expected: 'a time not before created_at', got: 'an earlier one' },
  ]
}
