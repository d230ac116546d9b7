/** The way of content, step by step, and that none leads past a person. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { LIMITS } from '../limits.ts'
import {
  CONTENT_STATES,
  type ContentState,
  type ContentWay,
  contentStateOf,
  isContentOver,
  mayFollow,
  rejectionsOf,
} from './content.ts'

const wayOf = (...states: readonly ContentState[]): ContentWay => {
  const [first = 'trend_detected', ...others] = states
  return [{ state: first, at: 0 }, ...others.map((state, at) => ({ state, at: at + 1 }))]
}

const TO_JUDGE = ['trend_detected', 'accepted', 'generating', 'generated', 'validating'] as const
const TO_PERSON = [...TO_JUDGE, 'validated', 'approval_pending'] as const

describe('the way of a piece of content', () => {
  const steps: readonly (readonly [from: ContentState, to: readonly ContentState[]])[] = [
    ['trend_detected', ['filtered_out', 'accepted']],
    ['filtered_out', []],
    ['accepted', ['generating']],
    ['generating', ['generation_failed', 'generated']],
    ['generation_failed', []],
    ['generated', ['validating']],
    ['validating', ['validation_failed', 'validated']],
    ['validation_failed', []],
    ['validated', ['approval_pending']],
    ['approval_pending', ['approval_expired', 'rejected', 'approved']],
    ['approval_expired', []],
    ['rejected', ['generating']],
    ['approved', ['publishing']],
    ['publishing', ['publish_failed', 'published']],
    ['publish_failed', []],
    ['published', []],
  ]
  for (const [from, to] of steps) {
    test(`SK-16 from ${from} it goes to ${to.join(' or ') || 'nowhere'}`, () => {
      const way = wayOf(from)
      const may = CONTENT_STATES.filter((next) => mayFollow(way, next))
      assert.deepEqual(
        may,
        CONTENT_STATES.filter((each) => to.includes(each)),
      )
      assert.equal(isContentOver(way), to.length === 0)
    })
  }

  test('SK-16 what a person rejects goes back to its writer, and not for ever', () => {
    const round = ['rejected', 'generating', 'generated', 'validating', 'validated'] as const
    let states: readonly ContentState[] = TO_PERSON
    for (let times = 1; times < LIMITS.contentRejections; times += 1) {
      states = [...states, ...round, 'approval_pending']
      assert.ok(mayFollow(wayOf(...states), 'rejected'))
    }
    const last = wayOf(...states, 'rejected')
    assert.equal(rejectionsOf(last), LIMITS.contentRejections)
    assert.equal(mayFollow(last, 'generating'), false)
    assert.equal(isContentOver(last), true)
  })

  test('SK-16 no way leads to a post without a person', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...CONTENT_STATES), { maxLength: 60 }), (tries) => {
        let way = wayOf('trend_detected')
        for (const [at, state] of tries.entries()) {
          if (mayFollow(way, state)) way = [...way, { state, at }]
        }
        const states = way.map(({ state }) => state)
        const posted = states.indexOf('publishing')
        if (posted >= 0) {
          assert.equal(states[posted - 1], 'approved')
          assert.equal(states[posted - 2], 'approval_pending')
        }
        if (states.includes('published')) assert.equal(contentStateOf(way), 'published')
      }),
      { seed: 16 },
    )
  })
})
