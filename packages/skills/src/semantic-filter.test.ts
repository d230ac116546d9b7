/** `semantic_filter` through the runner: batches, memory, fallback, and an early end. */
import assert from 'node:assert/strict'
import { createVirtualClock } from '@chimera/host/virtual-clock'
import { createRunner } from '@chimera/skill/runner'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { trend } from '../test/trends.ts'
import type { Scorer } from './relevance/scorer.ts'
import { semanticFilter } from './semantic-filter.ts'

type Script = {
  readonly scorer: Scorer
  /** How many trends it was asked for at a time. */
  readonly batches: number[]
}

/** Scores by the number in the topic; fails or hangs as it is told. */
function scripted(
  name: string,
  how: (batch: number) => 'answer' | 'fail' | 'hang' = () => 'answer',
) {
  const batches: number[] = []
  const scorer: Scorer = {
    name,
    async score(trends) {
      batches.push(trends.length)
      const what = how(batches.length)
      if (what === 'fail') throw new Error('no model here')
      if (what === 'hang') return new Promise(() => undefined)
      return trends.map(({ topic }) => ({
        score: Number(/\d+/.exec(topic)?.[0] ?? 0) / 1_000,
        reasoning: `by ${name}`,
      }))
    },
  }
  return { scorer, batches } satisfies Script
}

const many = (count: number) => Array.from({ length: count }, (_, at) => trend(`topic ${at}`, at))

async function filter(
  hands: Parameters<typeof semanticFilter>[0],
  asked: Readonly<Record<string, unknown>>,
) {
  const skill = semanticFilter(hands)
  const clock = createVirtualClock()
  const runner = createRunner({ skills: [skill], clock })
  const running = runner.run('semantic_filter', { campaign_goals: ['books'], ...asked })
  for (let second = 0; second < 60; second++) await clock.advanceBy(1_000)
  const outcome = await running
  await runner.close()
  return outcome
}

type Filtered = {
  readonly filtered_trends: readonly {
    readonly trend: { readonly topic: string }
    readonly relevance_score: number
    readonly reasoning: string
  }[]
  readonly total_input: number
  readonly total_output: number
  readonly partial?: boolean
}

async function filtered(...asked: Parameters<typeof filter>): Promise<Filtered> {
  const outcome = await filter(...asked)
  assert.ok(outcome.ok, JSON.stringify(outcome))
  return outcome.output as Filtered
}

test('SK-7 in batches of a hundred, those above the threshold, the best first', async () => {
  const { scorer, batches } = scripted('embedded')
  const answer = await filtered({ embedded: scorer }, { trends: many(1_000) })
  assert.deepEqual(batches, Array(10).fill(100))
  assert.deepEqual([answer.total_input, answer.total_output], [1_000, 250])
  const scores = answer.filtered_trends.map((each) => each.relevance_score)
  assert.deepEqual(
    scores,
    scores.toSorted((one, other) => other - one),
  )
  assert.equal(answer.filtered_trends[0]?.trend.topic, 'topic 999')
  assert.equal(answer.partial, undefined)
})

test('SK-7 a threshold of its own', async () => {
  const { scorer } = scripted('embedded')
  const asked = { trends: many(1_000), relevance_threshold: 0.9 }
  assert.equal((await filtered({ embedded: scorer }, asked)).total_output, 100)
})

test('SK-7 F1 the same trend and goals are scored once in half an hour', async () => {
  const { scorer, batches } = scripted('embedded')
  const skill = semanticFilter({ embedded: scorer })
  const clock = createVirtualClock()
  const runner = createRunner({ skills: [skill], clock })
  const ask = (goals: readonly string[], count: number) =>
    runner.run(skill, { trends: many(count), campaign_goals: [...goals] })
  await ask(['books', 'music'], 10)
  await ask(['music', 'books'], 12)
  await ask(['books'], 10)
  assert.deepEqual(batches, [10, 2, 10])
  await clock.advanceBy(29 * 60_000)
  await ask(['books', 'music'], 10)
  assert.deepEqual(batches, [10, 2, 10])
  await clock.advanceBy(2 * 60_000)
  await ask(['books', 'music'], 10)
  assert.deepEqual(batches, [10, 2, 10, 10])
  await runner.close()
})

test('SK-7 F1 however it is asked, each is scored once in half an hour', async () => {
  const TTL_MS = 30 * 60_000
  const step = fc.record({
    trends: fc.uniqueArray(fc.nat(7), { minLength: 1, maxLength: 8 }),
    goals: fc.constantFrom('books', 'music', 'music,books', 'books,music'),
    twice: fc.boolean(),
    minutes: fc.nat(20),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 8 }), async (steps) => {
      const clock = createVirtualClock()
      const scoredAt = new Map<string, number>()
      const embedded: Scorer = {
        name: 'counting',
        async score(trends, goals) {
          return trends.map(({ topic }) => {
            const key = `${topic} ${goals.toSorted()}`
            const before = scoredAt.get(key) ?? Number.NEGATIVE_INFINITY
            assert.ok(clock.now() - before >= TTL_MS, `${key} again`)
            scoredAt.set(key, clock.now())
            return { score: Number(/\d+/.exec(topic)?.[0]) / 10, reasoning: key }
          })
        },
      }
      const skill = semanticFilter({ embedded })
      const runner = createRunner({ skills: [skill], clock })
      for (const { trends, goals, twice, minutes } of steps) {
        const asked = {
          trends: trends.map((at) => trend(`topic ${at}`, at)),
          campaign_goals: goals.split(','),
          relevance_threshold: 0,
        }
        // One flight: who asks the same at once gets the same.
        const outcomes = await Promise.all(
          Array.from({ length: twice ? 2 : 1 }, () => runner.run(skill, asked)),
        )
        for (const outcome of outcomes) {
          assert.ok(outcome.ok, JSON.stringify(outcome))
          const scores = outcome.output.filtered_trends.map((each) => each.relevance_score)
          assert.deepEqual(
            scores,
            trends.toSorted((a, b) => b - a).map((at) => at / 10),
          )
        }
        await clock.advanceBy(minutes * 60_000)
      }
      await runner.close()
    }),
    { numRuns: 25 },
  )
})

test('SK-7 F2 FILTER_TIMEOUT: the batches that are done are the answer', async () => {
  const { scorer } = scripted('embedded', (batch) => (batch <= 3 ? 'answer' : 'hang'))
  const answer = await filtered(
    { embedded: scorer },
    { trends: many(1_000), relevance_threshold: 0 },
  )
  assert.deepEqual([answer.partial, answer.total_output], [true, 300])
})

describe('SK-7 who is asked', () => {
  const rows: readonly (readonly [
    what: string,
    configured: readonly ('gemini-3-flash' | 'gpt-4o-mini')[],
    broken: readonly string[],
    by: string,
  ])[] = [
    ['the model that is asked for', ['gemini-3-flash', 'gpt-4o-mini'], [], 'by gemini-3-flash'],
    [
      'the other one where it fails',
      ['gemini-3-flash', 'gpt-4o-mini'],
      ['gemini-3-flash'],
      'by gpt-4o-mini',
    ],
    ['the one that there is', ['gpt-4o-mini'], [], 'by gpt-4o-mini'],
    ['the embeddings where it fails', ['gpt-4o-mini'], ['gpt-4o-mini'], 'by embedded'],
    ['the embeddings without any', [], [], 'by embedded'],
  ]
  for (const [what, configured, broken, by] of rows) {
    test(what, async () => {
      const models = Object.fromEntries(
        configured.map((name) => [
          name,
          scripted(name, () => (broken.includes(name) ? 'fail' : 'answer')).scorer,
        ]),
      )
      const embedded = scripted('embedded').scorer
      const asked = { trends: [trend('topic 900')] }
      const answer = await filtered({ models, embedded }, asked)
      assert.equal(answer.filtered_trends[0]?.reasoning, by)
    })
  }
})

describe('SK-7 each row of its errors', () => {
  const good = { trends: [trend('topic 900')] }
  const rows: readonly (readonly [code: string, asked: Readonly<Record<string, unknown>>])[] = [
    ['INVALID_GOALS', { ...good, campaign_goals: [] }],
    ['INVALID_GOALS', { ...good, campaign_goals: ['  '] }],
    ['INVALID_GOALS', { ...good, campaign_goals: Array(11).fill('books') }],
    ['INVALID_INPUT', { trends: [] }],
    ['INVALID_INPUT', { ...good, relevance_threshold: 1.1 }],
    ['INVALID_INPUT', { ...good, model: 'gpt-2' }],
  ]
  for (const [code, asked] of rows) {
    test(`${code} ${JSON.stringify(asked).slice(-60)}`, async () => {
      const outcome = await filter({ embedded: scripted('embedded').scorer }, asked)
      assert.ok(!outcome.ok)
      assert.equal(outcome.error.code, code)
    })
  }

  test('LLM_ERROR when nobody can score', async () => {
    const broken = scripted('embedded', () => 'fail').scorer
    const outcome = await filter({ embedded: broken }, good)
    assert.ok(!outcome.ok)
    assert.equal(outcome.error.code, 'LLM_ERROR')
    assert.doesNotMatch(JSON.stringify(outcome), /no model here/)
  })
})
