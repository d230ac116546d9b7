/**
 * A campaign as its orchestrator tells the hub: what was asked for, how far each piece of content
 * has come, which steps were taken, by whom, and what they cost.
 *
 *   C1  A record is told whole. Its version rises by one with each telling, so that of two tellers
 *       one is refused.
 *   C2  What it has spent is what its steps cost.
 */
import { CONTENT_STATES } from '@chimera/domain/campaign/content'
import { CAMPAIGN_STATUSES } from '@chimera/domain/campaign/status'
import type { AgentId, CampaignId, Instant } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import { type Static, Type } from 'typebox'
import { asItIs, type CrossCheck, checker, reader } from '../check.ts'
import type { Messages } from '../messages.ts'
import { queryChecker } from '../query.ts'
import { PublishPlatform, Sentence, Share } from '../skills/words.ts'
import {
  Credits,
  centsOf,
  DateTime,
  instantOf,
  OwnerName,
  readUuid,
  SkillName,
  textUpTo,
  Url,
  Uuid,
} from '../wire.ts'
import { PlaceText, readPlace, writePlace } from './place.ts'

const Status = Type.Enum([...CAMPAIGN_STATUSES])
const Words = textUpTo(LIMITS.descriptionChars)

const Piece = Type.Object({
  piece_id: { ...Uuid, description: 'One trend on one platform' },
  content_id: Type.Optional(Uuid),
  topic: textUpTo(500),
  platform: PublishPlatform,
  moments: Type.Array(
    Type.Object({
      state: Type.Enum([...CONTENT_STATES]),
      at: DateTime,
      words: Type.Optional(Words),
    }),
    { minItems: 1, maxItems: 40, description: 'Its way so far, the first moment first' },
  ),
  relevance: Type.Optional(Share),
  confidence: Type.Optional(Share),
  review_id: Type.Optional(Uuid),
  post_url: Type.Optional(Url),
})
export type CampaignPiece = Static<typeof Piece>

const Step = Type.Object({
  step: Type.String({ minLength: 1, maxLength: LIMITS.nameChars }),
  skill: SkillName,
  piece_id: Type.Optional(Uuid),
  state: Type.Enum(['running', 'done', 'failed']),
  attempts: Type.Integer({ minimum: 1, maximum: 1_000 }),
  cost: Credits,
  began_at: DateTime,
  ended_at: Type.Optional(DateTime),
  words: Type.Optional(Words),
})
export type CampaignStep = Static<typeof Step>

const record = {
  campaign_id: Uuid,
  version: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
  name: Type.String({ minLength: 3, maxLength: 200 }),
  goals: Type.Array(Sentence, { minItems: 1, maxItems: 10 }),
  persona: Type.String({ minLength: 1, maxLength: LIMITS.nameChars }),
  status: Status,
  budget: Type.Object({ total: Credits, spent: Credits }),
  pieces: Type.Array(Piece, { maxItems: LIMITS.campaignPieces }),
  steps: Type.Array(Step, { maxItems: LIMITS.campaignSteps }),
  created_at: DateTime,
  updated_at: DateTime,
}
const told = { ...record, agent_id: { ...Uuid, description: 'The orchestrator that runs it' } }
const seen = {
  ...told,
  owner_id: OwnerName,
  wish: Type.Optional(
    Type.Enum(['pause', 'resume'], { description: 'What a person wants of it, not yet followed' }),
  ),
}

const Recorded = Type.Object(record)
/** As its orchestrator has it. */
export type CampaignRecord = Static<typeof Recorded>
export const CampaignRecordTold = Type.Object(told, {
  title: 'Campaign record',
  additionalProperties: false,
})
export const CampaignSeen = Type.Object(seen, { title: 'Campaign' })
export type CampaignSeen = Static<typeof CampaignSeen>
export const CampaignQuery = Type.Object(
  {
    status: Type.Optional(Status),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIMITS.hitsPerPage })),
    after: Type.Optional(PlaceText),
  },
  { title: 'Campaign query', additionalProperties: false },
)
export const CampaignList = Type.Object(
  { campaigns: Type.Array(Type.Object(seen)), next_after: Type.Optional(PlaceText) },
  { title: 'Campaigns' },
)
export const CampaignWish = Type.Object(
  { wish: Type.Enum(['pause', 'resume']) },
  { title: 'What a person wants of a campaign', additionalProperties: false },
)

/** C2. */
const spent: CrossCheck<CampaignRecord> = ({ budget, steps }) => {
  const cost = steps.reduce((sum, each) => sum + centsOf(each.cost), 0)
  return cost === centsOf(budget.spent)
    ? []
    : [{ path: '/budget/spent', expected: 'what the steps cost', got: 'another sum' }]
}

export type CampaignTold = {
  readonly id: CampaignId
  readonly version: number
  readonly status: CampaignRecord['status']
  readonly updatedAt: Instant
  readonly agent: AgentId
  readonly record: CampaignRecord
}

export const readCampaignRecord = reader(
  checker(CampaignRecordTold, spent),
  ({ agent_id, ...kept }): CampaignTold => ({
    id: readUuid(kept.campaign_id),
    version: kept.version,
    status: kept.status,
    updatedAt: instantOf(kept.updated_at),
    agent: readUuid(agent_id),
    record: kept,
  }),
)

export type CampaignsWanted = {
  readonly status?: CampaignRecord['status']
  readonly after?: { readonly at: Instant; readonly id: string }
  readonly limit: number
}
const DEFAULT_CAMPAIGNS = 20

export const readCampaignQuery = reader(
  queryChecker(CampaignQuery),
  ({ status, after, limit }): CampaignsWanted => ({
    ...(status && { status }),
    ...(after !== undefined && { after: readPlace(after) }),
    limit: limit ?? DEFAULT_CAMPAIGNS,
  }),
)
export const readCampaignWish = reader(checker(CampaignWish), ({ wish }) => wish)
export const readCampaignSeen = asItIs(checker(CampaignSeen))

export type CampaignShown = {
  readonly record: CampaignRecord
  readonly owner: string
  readonly agent: string
  readonly wish?: 'pause' | 'resume'
}

export const encodeCampaign = ({ record: kept, owner, agent, wish }: CampaignShown) => ({
  ...kept,
  owner_id: owner,
  agent_id: agent,
  ...(wish && { wish }),
})

export const encodeCampaigns = (found: {
  readonly campaigns: readonly CampaignShown[]
  readonly next?: { readonly at: Instant; readonly id: string }
}) => ({
  campaigns: found.campaigns.map(encodeCampaign),
  ...(found.next && { next_after: writePlace(found.next) }),
})

export const CAMPAIGN_MESSAGES = {
  'campaign-record': { schema: CampaignRecordTold, read: readCampaignRecord },
  campaign: { schema: CampaignSeen, read: readCampaignSeen },
  'campaign-query': { schema: CampaignQuery, read: readCampaignQuery },
  'campaign-list': { schema: CampaignList, read: asItIs(checker(CampaignList)) },
  'campaign-wish': { schema: CampaignWish, read: readCampaignWish },
} satisfies Messages
