/** The embedded scorer on the labelled pairs: how often 0.75 means what a reader would say. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import fc from 'fast-check'
import { afterAll, describe, test } from 'vitest'
import { PAIRS } from '../../test/labelled-pairs.ts'
import { trend } from '../../test/trends.ts'
import { cosine, relevanceOf } from './calibration.ts'
import { createEmbeddedScorer } from './embedded.ts'
import { createEmbedder } from './embedder.ts'

const embedder = createEmbedder()
const scorer = createEmbeddedScorer(embedder)
afterAll(() => embedder.close())
const { signal } = new AbortController()

type Quality = { readonly precision: number; readonly recall: number }

function qualityOf(said: readonly boolean[]): Quality {
  const hits = PAIRS.filter(([, , relevant], at) => relevant && said[at]).length
  const yes = said.filter(Boolean).length
  const relevant = PAIRS.filter(([, , each]) => each).length
  return { precision: hits / yes, recall: hits / relevant }
}

const scoreOf = async ([topic, goal]: (typeof PAIRS)[number]) =>
  (await scorer.score([trend(topic)], [goal], signal))[0]?.score ?? 0

describe('SK-7 on the labelled pairs, at 0.75', () => {
  test('the embeddings agree with the reader, and far more often than shared words', async () => {
    const scores = await Promise.all(PAIRS.map(scoreOf))
    const ours = qualityOf(scores.map((score) => score >= 0.75))
    const shared = qualityOf(PAIRS.map(([topic, goal]) => sharesWord(topic, goal)))
    assert.ok(ours.precision >= 0.8 && ours.recall >= 0.85, JSON.stringify(ours))
    assert.ok(f1(ours) > f1(shared) + 0.3, JSON.stringify({ ours, shared }))
    const page = await readFile(
      new URL('../../../../docs/concepts/relevance.md', import.meta.url),
      'utf8',
    )
    for (const [who, { precision, recall }] of [
      ['sentence embeddings, calibrated', ours],
      ['a shared word', shared],
    ] as const) {
      const row = `| ${who} | ${precision.toFixed(2)} | ${recall.toFixed(2)} |`
      assert.ok(page.includes(row), `docs/concepts/relevance.md should have: ${row}`)
    }
  })

  test('E1 the same texts get the same scores, in any company', async () => {
    const [first, second] = [trend('Linen suits in Milan'), trend('Bread without flour')]
    const goals = ['fashion', 'baking']
    const together = await scorer.score([first, second], goals, signal)
    const apart = await scorer.score([second], goals.toReversed(), signal)
    assert.deepEqual(apart[0], together[1])
  })

  test('the reasoning names the goal, and fits', async () => {
    const goal = 'x'.repeat(1_000)
    const [scored] = await scorer.score([trend('Linen suits in Milan')], [goal], signal)
    assert.ok(scored && scored.reasoning.length <= 500)
    const [near] = await scorer.score([trend('Linen suits in Milan')], ['fashion'], signal)
    assert.match(near?.reasoning ?? '', /“fashion”/)
  })
})

test('R1 rising likeness never lowers the score', () => {
  const shares = fc.double({ min: 0, max: 1, noNaN: true })
  fc.assert(
    fc.property(shares, shares, fc.array(shares, { minLength: 2 }), (one, other, others) => {
      const [low, high] = one < other ? [one, other] : [other, one]
      const [lower, higher] = [relevanceOf(low, others), relevanceOf(high, others)]
      assert.ok(lower <= higher && lower >= 0 && higher <= 1)
    }),
  )
})

test('a text is like itself, and like nothing where there is nothing', () => {
  assert.ok(Math.abs(cosine([1, 2, 3], [1, 2, 3]) - 1) < 1e-12)
  assert.equal(cosine([1, 0], [0, 1]), 0)
  assert.equal(cosine([0, 0], [1, 1]), 0)
})

const f1 = ({ precision, recall }: Quality): number =>
  (2 * precision * recall) / (precision + recall)

function sharesWord(topic: string, goal: string): boolean {
  const wordsOf = (text: string) =>
    new Set(
      Array.from(text.toLowerCase().matchAll(/[a-z]{3,}/g), ([word]) =>
        word.replace(/(?:ing|ed|es|s)$/, ''),
      ),
    )
  const wanted = wordsOf(goal)
  return [...wordsOf(topic)].some((word) => wanted.has(word))
}
