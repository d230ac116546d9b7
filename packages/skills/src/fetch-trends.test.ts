/** `fetch_trends` through the runner: platforms, what is left out, and each row of its errors. */
import assert from 'node:assert/strict'
import { checkTrendData } from '@chimera/dialects/skills/checks'
import type { FetchTrendsOutput } from '@chimera/dialects/skills/schema'
import type { TrendData } from '@chimera/dialects/skills/trend'
import { TREND_PLATFORMS, type TrendPlatform } from '@chimera/dialects/skills/words'
import { createVirtualClock } from '@chimera/host/virtual-clock'
import { createRunner } from '@chimera/skill/runner'
import { afterAll, describe, test } from 'vitest'
import { fetchTrends } from './fetch-trends.ts'
import { createEmbeddedScorer } from './relevance/embedded.ts'
import { createEmbedder } from './relevance/embedder.ts'
import type { Scorer } from './relevance/scorer.ts'
import { samplesOf } from './trends/samples.ts'
import { SourceFailure, type TrendSource } from './trends/source.ts'

const START = Date.parse('2026-01-01T12:00:00Z')

function trend(topic: string, score: number, changes: Partial<TrendData> = {}): TrendData {
  return {
    trend_id: '8b3f5a7e-4a2c-4daf-9f89-000000000001',
    topic,
    platform: 'news',
    sentiment: 'neutral',
    timestamp: '2026-01-01T11:00:00Z',
    engagement: { likes: score, comments: 0, shares: 0, impressions: 0, engagement_score: score },
    trend_velocity: 1,
    decay_score: 1,
    ...changes,
  }
}

type Script = readonly unknown[] | SourceFailure['code'] | 'hang'

function source(name: string, script: Script) {
  let asked = 0
  const one: TrendSource = {
    name,
    async fetch() {
      asked += 1
      if (script === 'hang') return new Promise(() => undefined)
      if (typeof script === 'string') throw new SourceFailure(script, 'as told')
      return script
    },
  }
  return { one, asked: () => asked }
}

type Sources = Partial<Record<TrendPlatform, readonly TrendSource[]>>

function town(sources: Sources, perHour = 100, meaning?: Scorer) {
  const clock = createVirtualClock({ startAt: START })
  const skill = fetchTrends({ sources, perHour, clock, ...(meaning && { meaning }) })
  const runner = createRunner({ skills: [skill], clock })
  return {
    clock,
    fetch: async (asked: Readonly<Record<string, unknown>>) => {
      const running = runner.run('fetch_trends', asked)
      for (let seconds = 0; seconds < 150; seconds += 5) await clock.advanceBy(5_000)
      return running
    },
  }
}

async function fetched(
  sources: Sources,
  asked: Readonly<Record<string, unknown>>,
  meaning?: Scorer,
) {
  const outcome = await town(sources, 100, meaning).fetch(asked)
  assert.ok(outcome.ok, JSON.stringify(outcome))
  return outcome.output as FetchTrendsOutput
}

const topics = ({ trends }: { readonly trends: readonly TrendData[] }) =>
  trends.map(({ topic }) => topic)

describe('SK-6 what comes through', () => {
  const loud = trend('Loud harbour library', 50_000)
  const quiet = trend('Quiet garden', 5_000)
  const old = trend('Old railway strike', 50_000, { timestamp: '2025-12-30T11:00:00Z' })
  const early = trend('From the future', 90_000, { timestamp: '2026-01-02T11:00:00Z' })
  const wrong = { ...loud, engagement: { ...loud.engagement, engagement_score: 1 } }
  const rows: readonly (readonly [
    rule: string,
    asked: Readonly<Record<string, unknown>>,
    came: readonly unknown[],
    left: readonly string[],
  ])[] = [
    [
      'the loudest first',
      {},
      [trend('B side of vinyl', 20_000), loud],
      [loud.topic, 'B side of vinyl'],
    ],
    ['loud enough', {}, [loud, quiet], [loud.topic]],
    ['as loud as asked for', { minEngagement: 0 }, [loud, quiet], [loud.topic, quiet.topic]],
    ['of the last day', {}, [loud, old], [loud.topic]],
    ['of a longer window', { timeWindow: '3d' }, [loud, old], [loud.topic, old.topic]],
    ['not from the future', {}, [loud, early], [loud.topic]],
    ['no rubbish', {}, [wrong, 'rubbish', null, loud], [loud.topic]],
    ['nothing excluded', { excludeTopics: ['libraries', 'LIBRARY'] }, [loud, old], []],
    [
      'nothing excluded by a tag',
      { excludeTopics: ['crypto'] },
      [{ ...loud, metadata: { hashtags: ['#crypto'] } }],
      [],
    ],
    ['nothing of another platform', {}, [loud, { ...loud, platform: 'market' }], [loud.topic]],
    [
      'nothing that steers or hides',
      {},
      [trend('Calm\u202e \u001b[2Jwaters\u{e0041}', 20_000)],
      ['Calm [2Jwaters'],
    ],
    ['nothing twice', {}, [loud, trend('LOUD Harbour Libraries!', 40_000)], [loud.topic]],
  ]
  for (const [rule, asked, came, left] of rows) {
    test(rule, async () => {
      const { one } = source('usual', came)
      const answer = await fetched({ news: [one] }, { platform: 'news', ...asked })
      assert.deepEqual(topics(answer), left)
    })
  }

  test('at most the limit, and it says that there are more', async () => {
    const many = ['alpha', 'bravo', 'charlie', 'delta'].map((word) => trend(word, 20_000))
    const { one } = source('usual', many)
    const answer = await fetched({ news: [one] }, { platform: 'news', limit: 3 })
    assert.deepEqual([answer.trends.length, answer.count, answer.truncated], [3, 3, true])
  })
})

describe('SK-6 several platforms', () => {
  const night = trend('Night trains sell out', 30_000)
  test('side by side; what is on both is one', async () => {
    const news = source('news', [night])
    const reddit = source('reddit', [
      {
        ...night,
        platform: 'reddit',
        topic: 'Night trains selling out',
        engagement: trend('', 40_000).engagement,
      },
      trend('Repair cafes', 20_000, { platform: 'reddit' }),
    ])
    const asked = { platform: ['news', 'reddit'] }
    const answer = await fetched({ news: [news.one], reddit: [reddit.one] }, asked)
    assert.deepEqual(topics(answer), ['Night trains selling out', 'Repair cafes'])
  })

  test('T1 one that hangs or fails takes nothing from the others', async () => {
    const sources = {
      news: [source('news', [night]).one],
      reddit: [source('reddit', 'hang').one],
      twitter: [source('twitter', 'NETWORK_ERROR').one],
    }
    const answer = await fetched(sources, { platform: ['news', 'reddit', 'twitter'] })
    assert.deepEqual(topics(answer), [night.topic])
    assert.deepEqual(answer.unavailable, ['reddit', 'twitter'])
  })

  test('the fallback of one that fails is asked at once', async () => {
    const usual = source('usual', 'NETWORK_ERROR')
    const other = source('other', [trend('Repair cafes', 20_000, { platform: 'reddit' })])
    const sources = { news: [source('news', [night]).one], reddit: [usual.one, other.one] }
    const answer = await fetched(sources, { platform: ['news', 'reddit'] })
    assert.deepEqual(topics(answer), [night.topic, 'Repair cafes'])
    assert.deepEqual([usual.asked(), other.asked(), answer.unavailable], [1, 1, undefined])
  })
})

describe('SK-6 each row of its errors', () => {
  const rows: readonly (readonly [
    code: string,
    script: Script,
    /** How often the usual source is asked, and its fallback. */
    asked: readonly [number, number],
  ])[] = [
    ['PLATFORM_UNAVAILABLE', 'PLATFORM_UNAVAILABLE', [1, 3]],
    ['NETWORK_ERROR', 'NETWORK_ERROR', [4, 0]],
    ['TIMEOUT', 'hang', [3, 1]],
    ['RATE_LIMITED', 'RATE_LIMITED', [4, 0]],
  ]
  for (const [code, script, asked] of rows) {
    test(code, async () => {
      const [usual, other] = [source('usual', script), source('other', script)]
      const outcome = await town({ news: [usual.one, other.one] }).fetch({ platform: 'news' })
      assert.ok(!outcome.ok)
      assert.equal(outcome.error.code, code)
      assert.deepEqual([usual.asked(), other.asked()], asked)
      assert.doesNotMatch(JSON.stringify(outcome), /as told/)
    })
  }

  test('PLATFORM_UNAVAILABLE: the fallback answers', async () => {
    const other = source('other', [trend('Harbour', 20_000)])
    const sources = { news: [source('usual', 'PLATFORM_UNAVAILABLE').one, other.one] }
    assert.deepEqual(topics(await fetched(sources, { platform: 'news' })), ['Harbour'])
  })

  test('VALIDATION_FAILED: nothing but rubbish is an empty list', async () => {
    const answer = await fetched({ news: [source('usual', ['rubbish']).one] }, { platform: 'news' })
    assert.deepEqual([answer.trends, answer.count], [[], 0])
  })

  test('INVALID_PLATFORM', async () => {
    const outcome = await town({}).fetch({ platform: 'myspace' })
    assert.ok(!outcome.ok)
    assert.equal(outcome.error.code, 'INVALID_PLATFORM')
  })
})

test('SK-6 the same within five minutes is not fetched again', async () => {
  const { one, asked } = source('usual', [trend('Harbour', 20_000)])
  const { fetch, clock } = town({ news: [one] })
  await fetch({ platform: 'news' })
  await fetch({ platform: 'news' })
  assert.equal(asked(), 1)
  await clock.advanceBy(5 * 60_000)
  await fetch({ platform: 'news' })
  assert.equal(asked(), 2)
})

test('SK-6 a platform is asked so often in an hour, and the hour passes', async () => {
  const { one, asked } = source('usual', [trend('Harbour', 20_000)])
  const { fetch, clock } = town({ news: [one] }, 2)
  await fetch({ platform: 'news', limit: 1 })
  await fetch({ platform: 'news', limit: 2 })
  const third = await fetch({ platform: 'news', limit: 3 })
  assert.ok(!third.ok)
  assert.equal(third.error.code, 'RATE_LIMITED')
  assert.ok((third.error.retryAfterMs ?? 0) > 3_000_000, JSON.stringify(third))
  await clock.advanceBy(3_600_000)
  assert.ok((await fetch({ platform: 'news', limit: 4 })).ok)
  assert.equal(asked(), 3)
})

describe('SK-6 T5 where no source answers', () => {
  const rows: readonly SourceFailure['code'][] = [
    'PLATFORM_UNAVAILABLE',
    'RATE_LIMITED',
    'NETWORK_ERROR',
    'TIMEOUT',
  ]
  for (const code of rows) {
    test(`${code}: the last answer stands, marked, while it is of the window`, async () => {
      let script: Script = [
        trend('Young', 30_000),
        trend('Old', 40_000, { timestamp: '2026-01-01T08:30:00Z' }),
      ]
      const one: TrendSource = {
        name: 'usual',
        fetch: (...asked) => source('', script).one.fetch(...asked),
      }
      const { fetch, clock } = town({ news: [one] })
      const asked = { platform: 'news', timeWindow: '4h' }
      const fresh = await fetch(asked)
      assert.ok(fresh.ok && !fresh.stale)
      script = code
      await clock.advanceBy(60 * 60_000)
      const outcome = await fetch(asked)
      assert.ok(outcome.ok && outcome.stale, JSON.stringify(outcome))
      const { trends, stale, fetched_at: at, count } = outcome.output as FetchTrendsOutput
      assert.deepEqual([trends.map(({ topic }) => topic), count, stale], [['Young'], 1, true])
      assert.equal(at, '2026-01-01T12:00:00.000Z')
      await clock.advanceBy(4 * 60 * 60_000)
      const later = await fetch(asked)
      assert.ok(!later.ok)
      assert.equal(later.error.code, code)
    })
  }
})

describe('SK-6 T4 topics are excluded by meaning', () => {
  const embedder = createEmbedder({ threads: 1 })
  afterAll(() => embedder.close())
  const scorer = createEmbeddedScorer(embedder)
  const few = [
    trend('Bitcoin fees fall to their lowest in months', 30_000),
    trend('Harbour warehouses become a public library', 20_000),
  ]
  // It is awaited by real threads, which a clock that stands still does not wait for.
  const excluding = async (meaning: Scorer, excludeTopics: readonly string[]) => {
    const skill = fetchTrends({ sources: { news: [source('usual', few).one] }, meaning, clock })
    const outcome = await createRunner({ skills: [skill], clock }).run(skill, {
      platform: 'news',
      excludeTopics: [...excludeTopics],
    })
    assert.ok(outcome.ok, JSON.stringify(outcome))
    return topics(outcome.output)
  }
  const clock = createVirtualClock({ startAt: START })

  test('what is about it, without a word of it', async () => {
    assert.deepEqual(await excluding(scorer, ['cryptocurrency']), [few[1]?.topic])
    assert.deepEqual(await excluding(scorer, ['football']), topics({ trends: few }))
    assert.deepEqual(await excluding(scorer, []), topics({ trends: few }))
  })

  test('who cannot tell takes nothing away, and words still count', async () => {
    const broken: Scorer = { name: 'broken', score: () => Promise.reject(new Error('no model')) }
    assert.deepEqual(await excluding(broken, ['library']), [few[0]?.topic])
  })
})

describe('samples', () => {
  for (const platform of TREND_PLATFORMS) {
    test(`S1 ${platform}: each is a trend, marked as a sample, and young`, () => {
      for (let hour = 0; hour < 30; hour += 1) {
        const now = START + hour * 3_600_000
        for (const each of samplesOf(platform, now)) {
          assert.ok(checkTrendData(each).ok, JSON.stringify(each))
          assert.deepEqual(each.metadata?.hashtags, ['#sample'])
          const ageMs = now - Date.parse(each.timestamp)
          assert.ok(ageMs >= 0 && ageMs <= 24 * 3_600_000)
        }
      }
    })
  }
})
