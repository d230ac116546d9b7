/**
 * Hashtags from a model, the trend and the persona: as many as its strategy likes, and none
 * forbidden. The count is the same whoever writes, so that the same brief has the same structure.
 */
import { fold } from '../judge/folded.ts'
import type { Brief } from './brief.ts'
import { keywordsOf } from './subject.ts'

const MOST = { none: 3, trending_only: 3, mix_popular_niche: 6, comprehensive: 12 } as const
// A content package has three at least.
const ALWAYS = ['#today', '#community', '#stories', '#now', '#talk']
const TAG_CHARS = 30

export function hashtagsFor(
  { trend, persona, careful }: Brief,
  given: readonly string[] = [],
): readonly string[] {
  const { vocabulary, brand_guidelines: brand, content_style: style } = persona
  const strategy = style.hashtag_strategy ?? 'mix_popular_niche'
  const forbidden = [...vocabulary.forbidden_words, ...(brand?.forbidden_associations ?? [])].map(
    (word) => tagOf(word).toLowerCase(),
  )
  // A topic that was not safe to show gives no tags either.
  const trending = careful ? [] : [...(trend.metadata?.hashtags ?? []), ...keywordsOf(trend.topic)]
  const own = strategy === 'trending_only' ? [] : persona.target_audience.interests
  const tags = [...given, ...trending.slice(0, 6), ...own, ...ALWAYS].map(tagOf)
  const known = new Set<string>()
  const fit = tags.filter((tag) => {
    const lower = tag.toLowerCase()
    const isNew = tag.length > 1 && !known.has(lower)
    known.add(lower)
    return isNew && !forbidden.some((word) => word.length > 1 && lower.includes(word.slice(1)))
  })
  return fit.slice(0, MOST[strategy])
}

/** `slow food` is `#SlowFood`. */
function tagOf(words: string): string {
  const parts = fold(words).text.match(/[A-Za-z0-9_]+/g) ?? []
  const [first = '', ...rest] = parts
  const joined = [first, ...rest.map((each) => each.charAt(0).toUpperCase() + each.slice(1))]
  return `#${joined.join('').slice(0, TAG_CHARS)}`
}
