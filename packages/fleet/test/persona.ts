/** A persona and a campaign that nothing is wrong with, for tests to change. */
import type { Persona } from '@chimera/dialects/skills/persona'
import type { RunCampaignInput } from '../src/campaign/asked.ts'

const AT = '2026-01-01T12:00:00.000Z'

export const PERSONA: Persona = {
  agent_id: '9c4a6b8f-5b3d-4eb1-8a9b-4c5b6a7f8e9d',
  name: 'Harbour Voice',
  bio: 'Tells a small town what happens at the water.',
  voice_tone: 'casual',
  target_audience: { age_range: 'all', interests: ['books'], regions: ['EU'] },
  vocabulary: {
    preferred_words: ['together'],
    forbidden_words: ['cheap'],
    jargon_level: 'beginner',
  },
  content_style: {
    post_length_preference: 'medium',
    emoji_usage: 'minimal',
    media_preference: 'mixed',
    storytelling_style: 'narrative',
  },
  engagement_strategy: { goal: 'community_building', call_to_action: 'none' },
  platform_preferences: { twitter: 1, tiktok: 0, instagram: 1, youtube: 0, linkedin: 0 },
  values: { core_values: ['openness'] },
  created_at: AT,
  updated_at: AT,
  version: 1,
}

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
