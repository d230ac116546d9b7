/**
 * Reviews: what an agent wants to publish, shown to a person, and what the person says of it.
 *
 *   V1  An answer names the hash of what was shown, so that nobody approves what they did not see.
 *   V2  Who edits and approves sends the content as it is to be; the approval is for that.
 *   V3  Who rejects says why: the words go back to whoever wrote it.
 */
import type {
  AgentId,
  CampaignId,
  ContentId,
  Digest,
  Instant,
  ReviewerId,
  ReviewId,
} from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import { type Static, Type } from 'typebox'
import { asItIs, checker, reader } from '../check.ts'
import type { Messages } from '../messages.ts'
import { queryChecker } from '../query.ts'
import { requiredIf } from '../required-if.ts'
import { ContentPackage } from '../skills/content.ts'
import { ValidationIssue } from '../skills/schema.ts'
import { PublishPlatform, Share } from '../skills/words.ts'
import { Credits, DateTime, instantOf, OwnerName, readUuid, textUpTo, Url, Uuid } from '../wire.ts'
import { Reviewer } from './approvals.ts'
import { PlaceText, readPlace, writePlace } from './place.ts'

const STATES = ['pending', 'approved', 'rejected', 'expired'] as const
export type ReviewState = (typeof STATES)[number]

const Hash = Type.String({
  pattern: '^[0-9a-f]{64}$',
  description: 'Of the canonical JSON of the content',
})
const Words = Type.String({ minLength: 1, maxLength: LIMITS.descriptionChars })
const Source = Type.Object({ url: Url, title: Type.Optional(textUpTo(500)) })

const asked = {
  review_id: Uuid,
  campaign_id: Type.Optional(Uuid),
  content: ContentPackage,
  platform: PublishPlatform,
  schedule_time: Type.Optional(DateTime),
  confidence: Share,
  issues: Type.Array(ValidationIssue, { maxItems: 100 }),
  sources: Type.Array(Source, { maxItems: 20 }),
  cost: { ...Credits, description: 'What it has cost so far' },
  round: Type.Integer({ minimum: 1, maximum: 100, description: 'How often it was written' }),
  expires_at: DateTime,
}
const told = { ...asked, agent_id: { ...Uuid, description: 'Who wants to publish it' } }
const shown = {
  ...told,
  content_hash: Hash,
  owner_id: OwnerName,
  state: Type.Enum([...STATES]),
  opened_at: DateTime,
  decided_at: Type.Optional(DateTime),
  reviewer: Type.Optional(textUpTo(LIMITS.nameChars)),
  words: Type.Optional(Words),
  approval_token: Type.Optional(
    Type.String({ maxLength: 4_096, description: 'For the agent that asked, and nobody else' }),
  ),
}

const Asked = Type.Object(asked)
/** As whoever asks for it has it. */
export type ReviewWanted = Static<typeof Asked>
export const NewReview = Type.Object(told, { title: 'New review', additionalProperties: false })
export const ReviewSeen = Type.Object(shown, { title: 'Review' })
export type ReviewSeen = Static<typeof ReviewSeen>
export const ReviewQuery = Type.Object(
  {
    state: Type.Optional(Type.Enum([...STATES, 'all'])),
    campaign_id: Type.Optional(Uuid),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIMITS.hitsPerPage })),
    after: Type.Optional(PlaceText),
  },
  { title: 'Review query', additionalProperties: false },
)
export const ReviewList = Type.Object(
  { reviews: Type.Array(Type.Object(shown)), next_after: Type.Optional(PlaceText) },
  { title: 'Reviews' },
)
export const ReviewAnswer = Type.Object(
  {
    verdict: Type.Enum(['approve', 'reject']),
    content_hash: { ...Hash, description: 'Of what was shown' },
    words: Type.Optional(Words),
    content: Type.Optional(ContentPackage),
    reviewer_id: Type.Optional({ ...Reviewer, description: 'Who looked at it, by name' }),
  },
  {
    title: 'Answer to a review',
    additionalProperties: false,
    allOf: [requiredIf('verdict', 'reject', ['words'])],
  },
)

export type ReviewAsked = {
  readonly id: ReviewId
  readonly campaign?: CampaignId
  readonly content: ContentId
  readonly platform: string
  readonly scheduledAt?: Instant
  readonly expiresAt: Instant
  readonly agent: AgentId
  readonly shown: ReviewWanted
}

export const readNewReview = reader(checker(NewReview), ({ agent_id, ...review }): ReviewAsked => {
  const { review_id, campaign_id, content, platform, schedule_time, expires_at } = review
  return {
    id: readUuid<ReviewId>(review_id),
    agent: readUuid<AgentId>(agent_id),
    ...(campaign_id !== undefined && { campaign: readUuid<CampaignId>(campaign_id) }),
    content: content.content_id as ContentId,
    platform,
    ...(schedule_time !== undefined && { scheduledAt: instantOf(schedule_time) }),
    expiresAt: instantOf(expires_at),
    shown: review,
  }
})

export type ReviewSaid = { readonly shown: Digest; readonly reviewer?: ReviewerId } & (
  | { readonly verdict: 'approve'; readonly content?: ContentPackage; readonly words?: string }
  | { readonly verdict: 'reject'; readonly words: string }
)

export const readReviewAnswer = reader(
  checker(ReviewAnswer),
  ({ verdict, content_hash, words, content, reviewer_id }): ReviewSaid => {
    const who = reviewer_id === undefined ? {} : { reviewer: reviewer_id as ReviewerId }
    const said = { shown: content_hash as Digest, ...who }
    if (verdict === 'reject') return { ...said, verdict, words: words ?? '' }
    return { ...said, verdict, ...(content && { content }), ...(words && { words }) }
  },
)

export type ReviewsWanted = {
  readonly state?: ReviewState
  readonly campaign?: CampaignId
  readonly after?: { readonly at: Instant; readonly id: string }
  readonly limit: number
}
const DEFAULT_REVIEWS = 20

export const readReviewQuery = reader(
  queryChecker(ReviewQuery),
  ({ state = 'pending', campaign_id, after, limit }): ReviewsWanted => ({
    ...(state !== 'all' && { state }),
    ...(campaign_id !== undefined && { campaign: readUuid<CampaignId>(campaign_id) }),
    ...(after !== undefined && { after: readPlace(after) }),
    limit: limit ?? DEFAULT_REVIEWS,
  }),
)
export const readReviewSeen = asItIs(checker(ReviewSeen))

export const encodeReviews = (found: {
  readonly reviews: readonly ReviewSeen[]
  readonly next?: { readonly at: Instant; readonly id: string }
}) => ({
  reviews: found.reviews,
  ...(found.next && { next_after: writePlace(found.next) }),
})

export const REVIEW_MESSAGES = {
  'new-review': { schema: NewReview, read: readNewReview },
  review: { schema: ReviewSeen, read: readReviewSeen, carries: ['approval_token'] },
  'review-query': { schema: ReviewQuery, read: readReviewQuery },
  'review-list': { schema: ReviewList, read: asItIs(checker(ReviewList)) },
  'review-answer': { schema: ReviewAnswer, read: readReviewAnswer },
} satisfies Messages
