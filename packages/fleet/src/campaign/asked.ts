/**
 * `run_campaign`: what a campaign is asked for with, and what it answers when the last piece has
 * come to its end.
 *
 *   A1  A campaign spends what its budget says and no more, and the budget is part of what the run
 *       itself is paid (P-9): one that is larger could not be kept.
 *   A2  The same campaign id is the same campaign: asked for again, it goes on where it was.
 */
import { Campaign, CREDITS, campaignIssues } from '@chimera/dialects/skills/campaign'
import { CONTENT_TYPES, PublishPlatform } from '@chimera/dialects/skills/words'
import { Credits, DateTime, textUpTo, Url, Uuid } from '@chimera/dialects/wire'
import { CONTENT_STATES } from '@chimera/domain/campaign/content'
import { isCampaignOver } from '@chimera/domain/campaign/status'
import type { Issue } from '@chimera/domain/decision'
import { LIMITS } from '@chimera/domain/limits'
import { type Static, Type } from 'typebox'

const MOST_AT_ONCE = 5

export const RunCampaignInput = Type.Object(
  {
    campaign: Campaign,
    publish_to: Type.Array(PublishPlatform, {
      minItems: 1,
      maxItems: 4,
      uniqueItems: true,
      description: 'One piece for each trend and each of these',
    }),
    content_type: Type.Optional(Type.Enum(CONTENT_TYPES)),
    trends: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MOST_AT_ONCE,
        description: 'How many are written about',
      }),
    ),
    publish_at: Type.Optional({ ...DateTime, description: 'Absent: as soon as it is approved' }),
    review_minutes: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: LIMITS.reviewMs / 60_000,
        description: 'How long a person has to answer; 24 hours unless given',
      }),
    ),
  },
  { title: 'run_campaign input' },
)
export type RunCampaignInput = Static<typeof RunCampaignInput>

export const RunCampaignOutput = Type.Object(
  {
    campaign_id: Uuid,
    spent: Credits,
    pieces: Type.Array(
      Type.Object({
        piece_id: Uuid,
        content_id: Type.Optional(Uuid),
        topic: textUpTo(500),
        platform: PublishPlatform,
        state: Type.Enum([...CONTENT_STATES]),
        post_url: Type.Optional(Url),
        words: Type.Optional(textUpTo(LIMITS.descriptionChars)),
      }),
      { maxItems: LIMITS.campaignPieces },
    ),
  },
  { title: 'run_campaign output' },
)
export type RunCampaignOutput = Static<typeof RunCampaignOutput>

/** What the schema cannot say. A campaign of the network is paid in its credits. */
export function askedIssues({ campaign }: RunCampaignInput, mostCredits: number): readonly Issue[] {
  const { budget, status } = campaign
  const issues: Issue[] = campaignIssues(campaign).map((issue) => ({
    ...issue,
    path: `/campaign${issue.path}`,
  }))
  if (budget.currency !== CREDITS) {
    issues.push({
      path: '/campaign/budget/currency',
      expected: `${CREDITS}, since agents are paid in credits`,
      got: budget.currency,
    })
  }
  if (budget.total > mostCredits) {
    issues.push({
      path: '/campaign/budget/total',
      expected: `at most ${mostCredits} credits, which is what a run is paid`,
      got: String(budget.total),
    })
  }
  if (isCampaignOver(status)) {
    issues.push({ path: '/campaign/status', expected: 'active or paused', got: status })
  }
  return issues
}
