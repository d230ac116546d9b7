/**
 * Which trends a campaign writes about: those that its filters let through, the most relevant
 * first, and of those as many as were asked for.
 */
import type { Campaign } from '@chimera/dialects/skills/campaign'
import type { ScoredTrend } from '@chimera/dialects/skills/trend'

export type Chosen = {
  readonly taken: readonly ScoredTrend[]
  /** With why not, for whoever looks at the board. */
  readonly left: readonly { readonly scored: ScoredTrend; readonly words: string }[]
}

export function chooseTrends(
  scored: readonly ScoredTrend[],
  { trend_filters: filters = {} }: Campaign,
  count: number,
): Chosen {
  const taken: ScoredTrend[] = []
  const left: { scored: ScoredTrend; words: string }[] = []
  const inOrder = [...scored].sort(
    (one, other) =>
      other.relevance_score - one.relevance_score ||
      other.trend.engagement.engagement_score - one.trend.engagement.engagement_score ||
      (one.trend.trend_id < other.trend.trend_id ? -1 : 1),
  )
  for (const each of inOrder) {
    const words = whyNot(each, filters)
    if (words !== undefined) left.push({ scored: each, words })
    else if (taken.length < count) taken.push(each)
    else left.push({ scored: each, words: 'others fit better' })
  }
  return { taken, left }
}

type Filters = NonNullable<Campaign['trend_filters']>

function whyNot({ trend }: ScoredTrend, filters: Filters): string | undefined {
  const { min_decay = 0, sentiments, topics, regions } = filters
  if (trend.decay_score < min_decay) return 'it is fading'
  if (sentiments && sentiments.length > 0 && !sentiments.includes(trend.sentiment)) {
    return `its mood is ${trend.sentiment}`
  }
  const region = trend.geographic_origin
  if (regions && regions.length > 0 && region !== undefined && !regions.includes(region)) {
    return `it is from ${region}`
  }
  if (topics && topics.length > 0 && !topics.some((topic) => speaksOf(trend, topic))) {
    return 'it is about something else'
  }
  return undefined
}

function speaksOf({ topic, metadata }: ScoredTrend['trend'], word: string): boolean {
  const said = [topic, ...(metadata?.hashtags ?? [])].join(' ').toLowerCase()
  return said.includes(word.toLowerCase())
}
