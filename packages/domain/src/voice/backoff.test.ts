/** How long to wait after each failure: the plans of the feed and of presence (SF-5, AV-4). */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { BACKOFF, type BackoffPlan, backoffMs } from './backoff.ts'

const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
const failures = fc.integer({ min: 1, max: 2_000 })
const waits = (plan: BackoffPlan, count: number) =>
  Array.from({ length: count }, (_, i) => backoffMs(plan, { failures: i + 1, chance: 0 }))

describe('how long to wait', () => {
  test('SF-5 the feed: one second, doubled five times over', () => {
    assert.deepEqual(waits(BACKOFF.feed, 5), [1_000, 2_000, 4_000, 8_000, 16_000])
  })

  test('SF-5 chance moves a wait, by a fifth at most', () => {
    const least = backoffMs(BACKOFF.feed, { failures: 1, chance: 0.999 })
    assert.equal(least, 800)
    assert.notEqual(backoffMs(BACKOFF.feed, { failures: 1, chance: 0.5 }), 1_000)
  })

  test('AV-4 presence: exponential, up to five minutes', () => {
    assert.deepEqual(
      waits(BACKOFF.presence, 11),
      [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300].map((seconds) => seconds * 1_000),
    )
  })

  test('AV-4 never longer, and never so short that it is a storm, however many failures', () => {
    fc.assert(
      fc.property(failures, chance, (count, drawn) => {
        const waitMs = backoffMs(BACKOFF.presence, { failures: count, chance: drawn })
        assert.ok(Number.isSafeInteger(waitMs))
        assert.ok(waitMs <= 300_000)
        assert.ok(waitMs >= 500)
        assert.ok(waitMs * 2 >= Math.min(1_000 * 2 ** (count - 1), 300_000) - 1)
      }),
    )
  })

  test('B1 for one draw, a later wait is no shorter', () => {
    fc.assert(
      fc.property(failures, chance, (count, drawn) => {
        const one = backoffMs(BACKOFF.presence, { failures: count, chance: drawn })
        const two = backoffMs(BACKOFF.presence, { failures: count + 1, chance: drawn })
        assert.ok(two >= one)
      }),
    )
  })
})
