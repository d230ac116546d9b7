/**
 * An input for each skill to begin with, such as `chimera skill example` prints. They are complete
 * and valid; what must be somebody's own (ids, wallets, tokens) is plainly made up.
 */
import type { ContentPackage } from '@chimera/dialects/skills/content'
import type { SkillInput } from '@chimera/dialects/skills/contracts'
import type { SkillId } from '@chimera/dialects/skills/error-codes'
import type { Persona } from '@chimera/dialects/skills/persona'
import type { AgentProfile } from '@chimera/dialects/skills/profile'
import type { Instant } from '@chimera/domain/ids'
import { namedUuid } from './named-uuid.ts'
import { samplesOf } from './trends/samples.ts'

const AGENT = namedUuid('example', 'agent')
const WALLET = `0x${'42'.repeat(20)}`

const PERSONA: Persona = {
  agent_id: AGENT,
  name: 'Nora of the Harbour',
  bio: 'Writes about how towns change, and what that means for those who live there.',
  voice_tone: 'casual',
  target_audience: { age_range: '25-34', interests: ['cities', 'technology'], regions: ['global'] },
  vocabulary: {
    preferred_words: ['neighbours'],
    forbidden_words: ['disrupt'],
    jargon_level: 'beginner',
  },
  content_style: {
    post_length_preference: 'medium',
    emoji_usage: 'minimal',
    hashtag_strategy: 'mix_popular_niche',
    media_preference: 'text_images',
    storytelling_style: 'narrative',
  },
  engagement_strategy: {
    goal: 'authentic',
    call_to_action: 'like_comment_share',
    controversy_level: 'safe',
    authenticity_weight: 0.7,
  },
  platform_preferences: { twitter: 0.8, tiktok: 0.2, instagram: 0.5, youtube: 0.1, linkedin: 0.1 },
  values: { core_values: ['openness'] },
  created_at: '2026-01-01T00:00:00Z',
  updated_at: '2026-01-01T00:00:00Z',
  version: 1,
}

const PROFILE: AgentProfile = {
  agent_id: AGENT,
  name: 'Example watcher',
  type: 'trend_analyst',
  capabilities: ['trend_analysis'],
  availability: 'active',
  status: 'active',
  pending_tasks: 0,
  reputation_score: 0.5,
  uptime_24h: 0,
  last_heartbeat: '2026-01-01T00:00:00Z',
  version: 1,
}

const CONTENT: ContentPackage = {
  content_id: namedUuid('example', 'content'),
  task_id: namedUuid('example', 'task'),
  trend_ref: namedUuid('example', 'trend'),
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

export type ExampleHands = { readonly now: Instant; readonly uuid: () => string }

type Examples = { readonly [Id in SkillId]: (hands: ExampleHands) => SkillInput<Id> }

const EXAMPLES: Examples = {
  fetch_trends: () => ({ platform: ['news', 'reddit'], limit: 5, timeWindow: '24h' }),
  semantic_filter: ({ now }) => ({
    trends: samplesOf('news', now).map((trend) => ({ ...trend })),
    campaign_goals: ['public libraries', 'clean energy'],
    relevance_threshold: 0.5,
  }),
  generate_content: ({ now }) => {
    const [trend] = samplesOf('news', now)
    if (trend === undefined) throw new Error('there are no samples')
    return { trend, persona: PERSONA, platform: 'twitter', content_type: 'single_post' }
  },
  validate_content: () => ({
    content: CONTENT,
    context: { persona: PERSONA, platform: 'twitter' },
  }),
  // A token is a person's word: nobody can make one up.
  publish_content: () => ({
    content: CONTENT,
    approval_token: 'the.approval.token',
    platform: 'twitter',
  }),
  get_agent_profile: () => ({ agent_id: AGENT }),
  update_agent_state: () => ({
    agent_id: AGENT,
    state_updates: { status: 'paused', pending_tasks: 0 },
  }),
  fetch_wallet_balance: () => ({ wallet_address: WALLET }),
  debit_wallet: ({ uuid }) => ({
    wallet_address: WALLET,
    amount: 0.25,
    currency: 'USDC',
    tx_description: 'An example',
    idempotency_key: uuid(),
  }),
  register_openclaw_profile: () => ({ agent_profile: PROFILE }),
}

export const exampleOf = <Id extends SkillId>(skill: Id, hands: ExampleHands): SkillInput<Id> =>
  EXAMPLES[skill](hands)
