/** A content package and a persona that nothing is wrong with, for tests to change. */
import type { ContentPackage } from '@chimera/dialects/skills/content'
import type { Persona } from '@chimera/dialects/skills/persona'

export const CONTENT: ContentPackage = {
  content_id: '6f1d3f5c-2f0a-4b8e-9d67-1f2e3d4c5b6a',
  task_id: '7a2e4f6d-3f1b-4c9f-8e78-2a3f4e5d6c7b',
  trend_ref: '8b3f5a7e-4a2c-4daf-9f89-3b4a5f6e7d8c',
  script: [
    'Our harbour gets a library.',
    'There will be reading rooms, a small cinema and space to build things.',
    'Come and tell us what you would put inside.',
  ].join(' '),
  captions: 'A free place to meet is coming to the old warehouses.',
  media_urls: [],
  hashtags: ['#harbour', '#library', '#reading'],
  confidence_score: 0.9,
  requires_review: false,
}

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
  brand_guidelines: {
    forbidden_associations: ['casino'],
    required_disclaimers: ['Opinions are our own.'],
  },
  values: { core_values: ['openness'] },
  created_at: '2026-01-01T00:00:00Z',
  updated_at: '2026-01-01T00:00:00Z',
  version: 1,
}
