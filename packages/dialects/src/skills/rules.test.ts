/** What the shapes' schemas cannot say: scores, clocks, media, moods. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { writeInstant } from '../wire.ts'
import { checkSemanticFilterInput, checkTrendData } from './checks.ts'
import { type ContentPackage, contentIssues, type Making } from './content.ts'
import { scoreOf, type TrendData, trendIssues } from './trend.ts'

const NOW = Date.UTC(2026, 1, 11, 14, 15, 9)

const trend = (engagement: Partial<TrendData['engagement']> = {}, at = NOW): TrendData => {
  const counts = { likes: 10, comments: 5, shares: 2, impressions: 100, engagement_score: 26 }
  return {
    trend_id: '7c9e6679-7425-40de-944b-e07fc1f90ae7',
    topic: 'Cotton',
    platform: 'twitter',
    sentiment: 'positive',
    timestamp: writeInstant(at),
    engagement: { ...counts, ...engagement },
    trend_velocity: 1,
    decay_score: 1,
  }
}

const pathsOf = (issues: readonly { readonly path: string }[]) => issues.map(({ path }) => path)

describe('the score of a trend', () => {
  test('any trend whose score was computed so is accepted, and no other score is', () => {
    const count = fc.oneof(fc.nat(1_000), fc.maxSafeNat())
    const off = fc.oneof(fc.constant(0.02), fc.constant(-0.02), fc.integer({ min: 1, max: 50_000 }))
    fc.assert(
      fc.property(count, count, count, off, (likes, comments, shares, away) => {
        const counts = { likes, comments, shares, impressions: 0 }
        const score = scoreOf({ ...counts, engagement_score: 0 })
        assert.ok(checkTrendData(trend({ ...counts, engagement_score: score })).ok)
        assert.ok(!checkTrendData(trend({ ...counts, engagement_score: score + away })).ok)
      }),
    )
  })

  // biome-ignore format: a table is read by its columns
  const rows: [score: number, ok: boolean][] = [
    [26, true], [26.01, true], [25.99, true], [26.011, false], [25.989, false],
  ]
  for (const [score, ok] of rows) {
    test(`26 may be written as ${score}: ${ok}`, () => {
      assert.equal(trendIssues(trend({ engagement_score: score }), NOW).length === 0, ok)
    })
  }

  test('a thousand wrong trends are not a thousand complaints', () => {
    const wrong = trend({ engagement_score: 1 })
    const input = { trends: Array.from({ length: 1_000 }, () => wrong), campaign_goals: ['x'] }
    const checked = checkSemanticFilterInput(input)
    assert.ok(!checked.ok)
    const { issues = [] } = checked.particulars
    assert.equal(issues.length, 20)
    assert.equal(issues[19]?.path, '/trends/19/engagement/engagement_score')
  })
})

describe('the time of a trend', () => {
  const FIVE_MINUTES_MS = 300_000
  // biome-ignore format: a table is read by its columns
  const rows: [name: string, at: number, paths: string[]][] = [
    ['long ago',                     NOW - 1e12,                 []],
    ['now',                          NOW,                        []],
    ['five minutes ahead',           NOW + FIVE_MINUTES_MS,      []],
    ['a millisecond further ahead',  NOW + FIVE_MINUTES_MS + 1,  ['/trends/0/timestamp']],
  ]
  for (const [name, at, paths] of rows) {
    test(name, () => assert.deepEqual(pathsOf(trendIssues(trend({}, at), NOW, '/trends/0')), paths))
  }
  test('both rules complain at once', () => {
    const both = trend({ engagement_score: 1 }, NOW + 1e9)
    assert.deepEqual(pathsOf(trendIssues(both, NOW)), [
      '/engagement/engagement_score',
      '/timestamp',
    ])
  })
})

describe('how content came about', () => {
  const content = (media: number, confidence: number) =>
    ({
      media_urls: Array.from({ length: media }, () => 'https://cdn.example/1'),
      confidence_score: confidence,
    }) as unknown as ContentPackage
  const made = (media: Making['media'], sentiment: Making['sentiment'] = 'positive'): Making => ({
    media,
    sentiment,
  })

  // biome-ignore format: a table is read by its columns
  const rows: [rule: string, content: ContentPackage, making: Making, paths: string[]][] = [
    ['media that was made is there',            content(1, 0.9),  made('made'),                 []],
    ['and not missing',                         content(0, 0.9),  made('made'),                 ['/media_urls']],
    ['none is legal when none was asked for',   content(0, 0.9),  made('not_asked'),            []],
    ['or when none could be made',              content(0, 0.9),  made('failed'),               []],
    ['a mixed mood is trusted up to 0.75',      content(1, 0.75), made('made', 'mixed'),        []],
    ['and not beyond',                          content(1, 0.76), made('made', 'mixed'),        ['/confidence_score']],
    ['nor is an unknown one',                   content(1, 0.76), made('made', 'unknown'),      ['/confidence_score']],
    ['a bad mood is clear',                     content(1, 1),    made('made', 'negative'),     []],
  ]
  for (const [rule, package_, making, paths] of rows) {
    test(rule, () => assert.deepEqual(pathsOf(contentIssues(package_, making)), paths))
  }
})
