import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { createOrdered } from './ordered.ts'

const byNumber = (a: number, b: number) => a - b

describe('an ordered list', () => {
  test('holds what was added and not removed, in order, whatever the sequence', () => {
    const step = fc.record({ add: fc.boolean(), item: fc.nat({ max: 60 }) })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
        const list = createOrdered(byNumber)
        const model = new Set<number>()
        for (const { add, item } of steps) {
          if (!add) assert.equal(list.remove(item), model.delete(item))
          else if (!model.has(item)) {
            model.add(item)
            list.add(item)
          }
        }
        assert.deepEqual([...list.all()], [...model].sort(byNumber))
        assert.equal(list.size(), model.size)
      }),
    )
  })

  test.each([
    ['rising', (at: number) => at],
    ['falling', (at: number) => -at],
    ['scattered', (at: number) => (at * 7_919) % 10_007],
  ])('keeps many that come %s, and lets them all go', (_, itemAt) => {
    const items = Array.from({ length: 5_000 }, (__, at) => itemAt(at))
    const list = createOrdered(byNumber)
    for (const item of items) list.add(item)
    assert.deepEqual([...list.all()], [...items].sort(byNumber))
    for (const item of items) assert.ok(list.remove(item))
    assert.deepEqual([[...list.all()], list.size()], [[], 0])
  })
})
