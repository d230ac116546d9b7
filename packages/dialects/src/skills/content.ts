/**
 * Content Package: what is written for a trend, judged, approved and published.
 *
 * Low confidence always asks for a person; that is in the schema. Two more rules need to know how
 * the content came about, so they stand apart.
 */
import type { Issue } from '@chimera/domain/decision'
import { LIMITS } from '@chimera/domain/limits'
import { type Static, Type } from 'typebox'
import { requiredIf } from '../required-if.ts'
import { textUpTo, Url, Uuid } from '../wire.ts'
import { Count, Hashtag, type Sentiment, Share, Word, wordsUpTo } from './words.ts'

/** Below this a person looks at it. */
export const REVIEW_BELOW = 0.8
/** Content from a trend whose mood is unclear is trusted no more than this. */
const UNCLEAR_MOOD_MOST = 0.75

const MediaDetail = Type.Object(
  {
    url: Url,
    type: Type.Enum(['image', 'video']),
    duration_sec: Type.Optional(Type.Number({ minimum: 0, maximum: 600 })),
    size_bytes: Type.Optional(Count),
    generated_by: Type.Optional(Type.Enum(['ideogram', 'runwayml'])),
    alt_text: Type.Optional(
      Type.String({ maxLength: 1_000, description: 'What is to be seen, for who cannot see it' }),
    ),
  },
  { allOf: [requiredIf('type', 'video', ['duration_sec'])] },
)

const GenerationMetadata = Type.Object(
  {
    generator_agent: Type.Optional(Word),
    model: Type.Optional(Word),
    persona_applied: Type.Optional(Type.Enum(['strict', 'flexible', 'experimental'])),
    safety_checks_passed: Type.Optional(Type.Boolean()),
    generation_time_ms: Type.Optional(Count),
  },
  { additionalProperties: false },
)

/** What a platform shows is required of its variant; the rest is as the platform needs it. */
const PlatformVariants = Type.Object(
  {
    twitter: Type.Optional(
      Type.Object({ text: textUpTo(280), media_ids: Type.Optional(wordsUpTo(10)) }),
    ),
    tiktok: Type.Optional(
      Type.Object({
        video_url: Type.Optional(Url),
        description: textUpTo(2_200),
        sound_id: Type.Optional(Word),
      }),
    ),
    instagram: Type.Optional(
      Type.Object({
        carousel_items: Type.Optional(
          Type.Array(textUpTo(LIMITS.urlChars), {
            maxItems: 10,
            description: 'An address of a picture, or the text of a slide',
          }),
        ),
        caption: textUpTo(2_200),
      }),
    ),
    youtube: Type.Optional(
      Type.Object({ title: textUpTo(100), description: Type.Optional(textUpTo(5_000)) }),
    ),
  },
  { additionalProperties: false },
)

export const ContentPackage = Type.Object(
  {
    content_id: Uuid,
    task_id: Uuid,
    trend_ref: Uuid,
    script: Type.String({ minLength: 50, maxLength: 5_000 }),
    captions: Type.String({ minLength: 20, maxLength: 2_000 }),
    media_urls: Type.Array(Url, {
      maxItems: 10,
      description: 'Empty only when media was not asked for or could not be made',
    }),
    media_metadata: Type.Optional(Type.Array(MediaDetail, { maxItems: 10 })),
    hashtags: Type.Array(Hashtag, { minItems: 3, maxItems: 30 }),
    confidence_score: Share,
    requires_review: Type.Boolean({ description: 'True whenever the confidence is below 0.8' }),
    generation_metadata: Type.Optional(GenerationMetadata),
    platform_variants: Type.Optional(PlatformVariants),
  },
  {
    title: 'Content package',
    allOf: [
      {
        if: {
          properties: { confidence_score: { type: 'number', exclusiveMaximum: REVIEW_BELOW } },
          required: ['confidence_score'],
        },
        // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
        then: { properties: { requires_review: { const: true } } },
      },
    ],
  },
)
export type ContentPackage = Static<typeof ContentPackage>

/** How content came about, as far as its rules look at it. */
export type Making = {
  readonly media: 'made' | 'not_asked' | 'failed'
  readonly sentiment: Sentiment
}

/** What is wrong with content that came about so, though its shape is right. */
export function contentIssues(content: ContentPackage, { media, sentiment }: Making) {
  const issues: Issue[] = []
  if (media === 'made' && content.media_urls.length === 0) {
    issues.push({
      path: '/media_urls',
      expected: 'at least 1 element, since media was asked for and made',
      got: 'a list of 0 elements',
    })
  }
  const unclear = sentiment === 'mixed' || sentiment === 'unknown'
  if (unclear && content.confidence_score > UNCLEAR_MOOD_MOST) {
    issues.push({
      path: '/confidence_score',
      expected: `at most ${UNCLEAR_MOOD_MOST}, since the sentiment of the trend is ${sentiment}`,
      got: 'a number',
    })
  }
  return issues
}
