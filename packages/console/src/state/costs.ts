/** What a campaign has cost so far, and what for. */
import type { CampaignSeen } from '@chimera/dialects/chimera'

export type Costs = {
  readonly campaign: CampaignSeen
  readonly spent: number
  /** By skill, the dearest first; what cost nothing is left out. */
  readonly parts: readonly { readonly skill: string; readonly amount: number }[]
  readonly published: number
}

/** In hundredths while it is added up, so that nothing is lost. */
const cents = (credits: number): number => Math.round(credits * 100)

export function costsOf(campaign: CampaignSeen): Costs {
  const sums = new Map<string, number>()
  for (const { skill, cost = 0 } of campaign.steps) {
    sums.set(skill, (sums.get(skill) ?? 0) + cents(cost))
  }
  const parts = [...sums]
    .filter(([, sum]) => sum > 0)
    .map(([skill, sum]) => ({ skill, amount: sum / 100 }))
    .sort((a, b) => b.amount - a.amount || (a.skill < b.skill ? -1 : 1))
  const published = campaign.pieces.filter(
    ({ moments }) => moments.at(-1)?.state === 'published',
  ).length
  return { campaign, spent: campaign.budget.spent, parts, published }
}
