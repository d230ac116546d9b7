/** Campaigns and reviews, as all hubs on one database know them. */
import type {
  AnswerRefusal,
  OpenRefusal,
  Review,
  ReviewAnswer,
  ReviewFact,
  ReviewState,
} from '@chimera/domain/campaign/review'
import type { Decision } from '@chimera/domain/decision'
import type {
  AgentId,
  CampaignId,
  CorrelationId,
  Digest,
  Instant,
  OwnerId,
  ReviewId,
} from '@chimera/domain/ids'

type Place = { readonly at: Instant; readonly id: string }

export type CampaignTold = {
  readonly id: CampaignId
  readonly owner: OwnerId
  readonly agent: AgentId
  readonly version: number
  readonly status: string
  readonly updatedAt: Instant
  readonly record: object
}

export type KeptCampaign = CampaignTold & { readonly wish?: 'pause' | 'resume' }

export type Campaigns = {
  /** The same version again is the same telling. */
  readonly tell: (
    told: CampaignTold,
  ) => Promise<Decision<never, 'message_outdated' | 'campaign_unknown' | 'message_malformed'>>
  readonly wish: (id: CampaignId, owner: OwnerId, wish: 'pause' | 'resume') => Promise<boolean>
  readonly find: (id: CampaignId) => Promise<KeptCampaign | undefined>
  /** The latest first. */
  readonly list: (query: {
    readonly owner: OwnerId
    readonly status?: string
    readonly before?: Place
    readonly limit: number
  }) => Promise<readonly KeptCampaign[]>
}

export type KeptReview = {
  readonly review: Review
  readonly shown: object
  readonly edited?: object
}

export type Reviews = {
  readonly open: (
    opened: Omit<Review, 'openedAt' | 'answer'> & { readonly shown: object },
    correlation: CorrelationId,
  ) => Promise<Decision<ReviewFact, OpenRefusal | 'message_malformed'>>
  /** One answer for each review; whoever comes second is judged by the first. */
  readonly answer: (
    given: Omit<ReviewAnswer, 'at'> & {
      readonly id: ReviewId
      readonly owner: OwnerId
      readonly bytes: Digest
      readonly edited?: object
      readonly by: string
    },
    correlation: CorrelationId,
  ) => Promise<Decision<ReviewFact, AnswerRefusal>>
  /** Whatever of the campaign still waits: its time is over. */
  readonly withdraw: (
    withdrawn: { readonly campaign: CampaignId; readonly owner: OwnerId; readonly by: string },
    correlation: CorrelationId,
  ) => Promise<void>
  readonly find: (id: ReviewId) => Promise<KeptReview | undefined>
  /** The latest first. */
  readonly list: (query: {
    readonly owner: OwnerId
    readonly state?: ReviewState
    readonly campaign?: CampaignId
    readonly before?: Place
    readonly limit: number
  }) => Promise<readonly KeptReview[]>
}
