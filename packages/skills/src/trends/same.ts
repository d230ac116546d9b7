/**
 * A trend that is seen on several platforms is one trend: the one that most people talk about. And
 * topics that somebody does not want are left out, however they are written.
 */
import type { TrendData } from '@chimera/dialects/skills/trend'
import { fold } from '../judge/folded.ts'

// Two thirds of the words: "Night trains sell out" and "Night trains are selling out".
const SAME_SHARE = 2 / 3
const WORD = /[\p{L}\p{N}]+/gu
const ENDING = /(?:ing|ed|es|s)$/
// Words that say nothing by themselves.
const SHORT_CHARS = 3

/** By engagement, the loudest first; equal ones as they came. */
export function withoutRepeats(trends: readonly TrendData[]): readonly TrendData[] {
  const loudest = trends.toSorted(
    (one, other) => other.engagement.engagement_score - one.engagement.engagement_score,
  )
  const kept: { readonly trend: TrendData; readonly words: ReadonlySet<string> }[] = []
  const byWord = new Map<string, number[]>()
  for (const trend of loudest) {
    const words = wordsOf(trend.topic)
    // Only those that share a word can be the same.
    const near = new Set([...words].flatMap((word) => byWord.get(word) ?? []))
    if ([...near].some((at) => isSame(words, kept[at]?.words ?? new Set()))) continue
    for (const word of words) byWord.set(word, [...(byWord.get(word) ?? []), kept.length])
    kept.push({ trend, words })
  }
  return kept.map(({ trend }) => trend)
}

/** For one of these topics, by its place: the places of those about the same, its own included. */
export function alikeAmong(topics: readonly string[]): (at: number) => readonly number[] {
  const words = topics.map(wordsOf)
  const byWord = new Map<string, number[]>()
  for (const [at, set] of words.entries()) {
    for (const word of set) {
      const places = byWord.get(word)
      if (places) places.push(at)
      else byWord.set(word, [at])
    }
  }
  return (at) => {
    const mine = words[at] ?? new Set()
    const near = new Set([at, ...[...mine].flatMap((word) => byWord.get(word) ?? [])])
    return [...near].filter((other) => other === at || isSame(mine, words[other] ?? new Set()))
  }
}

/** By all of its words, wherever they stand in the topic or its hashtags. */
export function isExcluded(trend: TrendData, topics: readonly string[]): boolean {
  const tags = trend.metadata?.hashtags ?? []
  const words = wordsOf(`${trend.topic} ${tags.join(' ')}`)
  return topics.some((topic) => {
    const wanted = wordsOf(topic)
    return wanted.size > 0 && [...wanted].every((word) => words.has(word))
  })
}

function isSame(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  const shared = [...one].filter((word) => other.has(word)).length
  return shared > 0 && shared / Math.max(one.size, other.size) >= SAME_SHARE
}

function wordsOf(text: string): ReadonlySet<string> {
  const words = fold(text).text.toLowerCase().match(WORD) ?? []
  const long = words.filter((word) => word.length > SHORT_CHARS)
  return new Set((long.length > 0 ? long : words).map((word) => word.replace(ENDING, '')))
}
