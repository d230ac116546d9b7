/** The person of a soak: the shares of what they say, and that the hub understands it. */
import assert from 'node:assert/strict'
import { type ReviewSeen, readReviewAnswer } from '@chimera/dialects/chimera'
import { describe, test } from 'vitest'
import { answerTo, EDITED, lotOf, REJECTED, type Said, sayingOf } from './person.ts'

describe('the person', () => {
  test('approves most, edits some and rejects some', () => {
    const said: Record<Said, number> = { approves: 0, edits: 0, rejects: 0 }
    for (let lot = 0; lot < 100; lot += 1) said[sayingOf(lot)] += 1
    assert.deepEqual(said, { approves: 100 - EDITED - REJECTED, edits: EDITED, rejects: REJECTED })
    const lots = Array.from({ length: 2_000 }, (_, at) => lotOf(`review ${at}`))
    assert.ok(lots.every((lot) => lot >= 0 && lot < 100))
    const rejected = lots.filter((lot) => sayingOf(lot) === 'rejects').length
    assert.ok(rejected > 140 && rejected < 260, `${rejected}`)
    assert.equal(lotOf('a'), lotOf('a'))
  })

  const content = {
    content_id: '0190a5f0-2a5e-7c11-8f2a-1b2c3d4e5f60',
    agent_id: '9c4a6b8f-5b3d-4eb1-8a9b-4c5b6a7f8e9d',
    trend_id: '0190a5f0-2a5e-7c11-8f2a-1b2c3d4e5f61',
    content_type: 'single_post',
    script: 'A library opens.',
    captions: 'A library opens.',
    hashtags: [],
    media: [],
    confidence_score: 0.8,
    requires_review: false,
  }
  const review = { round: 2, content_hash: 'a'.repeat(64), content } as unknown as ReviewSeen

  test('and what is said is an answer', () => {
    for (const said of ['approves', 'rejects'] as const) {
      const read = readReviewAnswer(answerTo(review, said))
      assert.ok(read.ok, JSON.stringify(read))
    }
    const edited = answerTo(review, 'edits').content as typeof content
    assert.equal(edited.captions, 'A library opens!')
  })
})
