/** Moments come up in their order, each once. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { test } from 'vitest'
import { createMoments } from './moments.ts'

test('what is due comes out, the earliest first, and nothing else', () => {
  const step = fc.record({ at: fc.integer({ min: 0, max: 50 }), take: fc.boolean() })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
      const moments = createMoments<number>()
      let waiting: number[] = []
      for (const { at, take } of steps) {
        if (!take) {
          moments.add(at, at)
          waiting.push(at)
          continue
        }
        const due = waiting.filter((each) => each <= at).sort((one, other) => one - other)
        for (const each of due) assert.deepEqual(moments.takeDue(at), { at: each, item: each })
        assert.equal(moments.takeDue(at), undefined)
        waiting = waiting.filter((each) => each > at)
      }
    }),
  )
})
