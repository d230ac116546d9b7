/**
 * Campaign: what a fleet works towards, with which money, from which trends, in which voice. The
 * document names the parts and not all of the fields; the names here are ours where it is silent.
 * Nothing is published without a person's approval, so `approval_required` has one value.
 */
import { CAMPAIGN_STATUSES } from '@chimera/domain/campaign/status'
import type { Issue } from '@chimera/domain/decision'
import { type Static, Type } from 'typebox'
import { DateTime, Uuid } from '../wire.ts'
import { preset } from './defaults.ts'
import { datedIssues, Persona } from './persona.ts'
import { CURRENCIES, DECIMALS, readUnits } from './units.ts'
import {
  CONTENT_TYPES,
  Count,
  Hashtag,
  Region,
  Sentence,
  Sentiment,
  Share,
  TrendPlatform,
  wordsUpTo,
} from './words.ts'

/** A campaign is paid in the network's credits or from a wallet. */
export const CREDITS = 'chorus_credits_v1'
const BUDGET_DECIMALS = { ...DECIMALS, [CREDITS]: 2 }

const Money = Type.Number({ minimum: 0 })
const Budget = Type.Object({
  total: Money,
  spent: Money,
  currency: Type.Enum([CREDITS, ...CURRENCIES]),
})

const TrendFilters = Type.Object({
  min_engagement: Type.Optional(Count),
  min_decay: Type.Optional(Share),
  sentiments: Type.Optional(Type.Array(Sentiment, { maxItems: 5 })),
  topics: Type.Optional(wordsUpTo(50)),
  excluded_topics: Type.Optional(wordsUpTo(50)),
  platforms: Type.Optional(Type.Array(TrendPlatform, { maxItems: 5 })),
  regions: Type.Optional(Type.Array(Region, { maxItems: 7 })),
})

const ContentGuidelines = Type.Object({
  persona: Persona,
  content_types: Type.Array(Type.Enum(CONTENT_TYPES), { minItems: 1, maxItems: 4 }),
  required_hashtags: Type.Optional(Type.Array(Hashtag, { maxItems: 30 })),
  required_mentions: Type.Optional(wordsUpTo(30)),
  approval_required: preset(Type.Literal(true, { default: true })),
})

export const Campaign = Type.Object(
  {
    campaign_id: Uuid,
    name: Type.String({ minLength: 3, maxLength: 200 }),
    goals: Type.Array(Sentence, { minItems: 1, maxItems: 10 }),
    status: Type.Enum([...CAMPAIGN_STATUSES]),
    budget: Budget,
    trend_filters: Type.Optional(TrendFilters),
    content_guidelines: ContentGuidelines,
    created_at: DateTime,
    updated_at: DateTime,
  },
  { title: 'Campaign' },
)
export type Campaign = Static<typeof Campaign>

/** A campaign spends only what it has, in whole units of its currency. */
export function campaignIssues(campaign: Campaign): readonly Issue[] {
  const { budget, content_guidelines } = campaign
  const decimals = BUDGET_DECIMALS[budget.currency]
  const total = readUnits(budget.total, decimals)
  const spent = readUnits(budget.spent, decimals)
  const whole = `at most ${decimals} decimals`
  return [
    ...(total === undefined ? [{ path: '/budget/total', expected: whole, got: 'more' }] : []),
    ...(spent === undefined ? [{ path: '/budget/spent', expected: whole, got: 'more' }] : []),
    ...(total !== undefined && spent !== undefined && spent > total
      ? [{ path: '/budget/spent', expected: 'at most the total', got: 'more than there is' }]
      : []),
    ...datedIssues(campaign),
    ...datedIssues(content_guidelines.persona, '/content_guidelines/persona'),
  ]
}
