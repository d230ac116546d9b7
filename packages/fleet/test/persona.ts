/** A campaign that nothing is wrong with, for tests to change. */
import { PERSONA } from '@chimera/skills/testing/content'
import type { RunCampaignInput } from '../src/campaign/asked.ts'

const AT = '2026-01-01T12:00:00.000Z'

export const askedFor = (more: Partial<RunCampaignInput> = {}): RunCampaignInput => ({
  campaign: {
    campaign_id: '0190a5f0-2a5e-7c11-8f2a-1b2c3d4e5f60',
    name: 'Better mornings',
    goals: ['People who work with software find better tools'],
    status: 'active',
    budget: { total: 5, spent: 0, currency: 'chorus_credits_v1' },
    trend_filters: { platforms: ['news', 'twitter'], min_engagement: 0 },
    content_guidelines: { persona: PERSONA, content_types: ['single_post'] },
    created_at: AT,
    updated_at: AT,
  },
  publish_to: ['twitter', 'instagram'],
  ...more,
})
