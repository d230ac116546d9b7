/** Where a campaign is. It is over when it was completed, or put away without that. */
export const CAMPAIGN_STATUSES = ['active', 'paused', 'completed', 'archived'] as const
export type CampaignStatus = (typeof CAMPAIGN_STATUSES)[number]

export const isCampaignOver = (status: CampaignStatus): boolean =>
  status === 'completed' || status === 'archived'
