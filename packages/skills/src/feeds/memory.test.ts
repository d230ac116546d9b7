/** Velocity and decay from what was seen over a week. */
import assert from 'node:assert/strict'
import { checkTrendData } from '@chimera/dialects/skills/checks'
import { trendIssues } from '@chimera/dialects/skills/trend'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import type { Entry } from './entries.ts'
import { createMemory } from './memory.ts'
import type { Feed } from './settings.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const START = Date.parse('2026-01-10T00:00:00Z')
const FEED: Feed = { platform: 'news', url: 'https://a.example', category: 'news', region: 'EU' }

function entry(topic: string, changes: Partial<Entry> = {}): Entry {
  const counts = { likes: 0, comments: 0, shares: 0, impressions: 0 }
  return { id: topic, topic, tags: [], at: START, ...counts, ...changes }
}

describe('M2 velocity', () => {
  const rows: readonly (readonly [
    rule: string,
    readings: readonly (readonly [hours: number, likes: number])[],
    velocity: number,
  ])[] = [
    ['all of it today', [[10, 100]], 1],
    [
      'half of it today',
      [
        [24, 100],
        [48, 200],
      ],
      0.5,
    ],
    [
      'nothing new today',
      [
        [24, 100],
        [50, 100],
      ],
      0,
    ],
    ['read late: it is taken to have grown evenly', [[48, 100]], 0.5],
    [
      'it has lost some',
      [
        [24, 100],
        [48, 80],
      ],
      0,
    ],
  ]
  for (const [rule, readings, velocity] of rows) {
    test(rule, () => {
      const memory = createMemory()
      let now = START
      for (const [hours, likes] of readings) {
        now = START + hours * HOUR_MS
        memory.add(FEED, [entry('Trains', { likes })], now)
      }
      assert.equal(memory.trends('news', now)[0]?.trend_velocity, velocity)
    })
  }

  test('without counts it is the share of mentions that are of today', () => {
    const memory = createMemory()
    const at = (hours: number) => ({ at: START + hours * HOUR_MS })
    memory.add(
      FEED,
      [
        entry('Harbour library opens', at(0)),
        entry('The harbour library opened', at(1)),
        entry('Harbour library opening', at(70)),
        entry('Coffee prices', at(70)),
      ],
      START + 72 * HOUR_MS,
    )
    const velocities = memory
      .trends('news', START + 72 * HOUR_MS)
      .map(({ topic, trend_velocity }) => [topic, trend_velocity])
    assert.equal(Object.fromEntries(velocities)['Harbour library opening'], 0.333)
    assert.equal(Object.fromEntries(velocities)['Coffee prices'], 1)
  })
})

test('M3 decay is 1 when fresh, a half after a day, and never rises', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -5, max: 60 }), { maxLength: 20 }), (steps) => {
      const memory = createMemory()
      let now = START + 10 * DAY_MS
      let last = 1
      memory.add(FEED, [entry('Trains', { at: now })], now)
      for (const hours of steps) {
        now += hours * HOUR_MS
        // A feed that says anew when it was published.
        memory.add(FEED, [entry('Trains', { at: now, likes: 5 })], now)
        const decay = memory.trends('news', now)[0]?.decay_score
        // After a week it is no trend any more.
        if (decay === undefined) continue
        assert.ok(decay <= last && decay >= 0)
        last = decay
      }
    }),
    { numRuns: 200 },
  )
  const memory = createMemory()
  memory.add(FEED, [entry('Trains')], START)
  assert.equal(memory.trends('news', START)[0]?.decay_score, 1)
  assert.equal(memory.trends('news', START + DAY_MS)[0]?.decay_score, 0.5)
})

test('M1 what comes out is a trend, and nothing is from the future', () => {
  const memory = createMemory()
  const wild = entry('Soon', {
    at: START + 9 * DAY_MS,
    tags: ['Public Transport', '???'],
    url: 'https://a.example/1',
    likes: 5,
    comments: 2,
    shares: 1,
  })
  memory.add(FEED, [wild, wild], START)
  const [trend, ...others] = memory.trends('news', START)
  assert.deepEqual(others, [])
  assert.ok(trend && checkTrendData(trend).ok, JSON.stringify(checkTrendData(trend)))
  assert.deepEqual(trendIssues(trend, START), [])
  assert.equal(trend.timestamp, new Date(START).toISOString())
  assert.equal(trend.engagement.engagement_score, 12)
  assert.deepEqual(trend.metadata, {
    hashtags: ['#PublicTransport'],
    source_urls: ['https://a.example/1'],
    category: 'news',
  })
})

test('M4 after a week it is forgotten, and there are never more than five thousand', () => {
  const memory = createMemory()
  const many = Array.from({ length: 5_500 }, (_, at) => entry(`Topic ${at}`))
  memory.add(FEED, many, START)
  assert.equal(memory.all().length, 5_000)
  memory.add(FEED, [entry('New', { at: START + 8 * DAY_MS })], START + 8 * DAY_MS)
  assert.equal(memory.all().length, 1)
})
