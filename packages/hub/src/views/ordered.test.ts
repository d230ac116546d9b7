/** The list against a sorted array, over random comings and goings. */
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
        const list = createOrdered({ compare: byNumber })
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
    const list = createOrdered({ compare: byNumber })
    for (const item of items) list.add(item)
    assert.deepEqual([...list.all()], [...items].sort(byNumber))
    for (const item of items) assert.ok(list.remove(item))
    assert.deepEqual([[...list.all()], list.size()], [[], 0])
  })

  const weightOf = (item: number) => item % 7
  const roughly = (item: number) => Math.floor(item / 10)
  const isMarked = (item: number) => item % 3 === 0
  const anyBounds = fc.record({
    end: fc.option(fc.integer({ min: -5, max: 3_005 })),
    most: fc.constantFrom(undefined, -1, 0, 3, 6),
    marked: fc.boolean(),
    from: fc.integer({ min: 0, max: 3_000 }),
    length: fc.integer({ min: 0, max: 30 }),
  })

  test('counts and shows what is within bounds, as a filter over all would', () => {
    const list = createOrdered({ compare: byNumber, roughly, weightOf, isMarked })
    const members = new Set<number>()
    const items = fc.array(fc.nat({ max: 3_000 }), { minLength: 1_000, maxLength: 2_000 })
    fc.assert(
      fc.property(items, fc.array(anyBounds, { maxLength: 20 }), (changed, queries) => {
        for (const item of changed) {
          if (members.delete(item)) assert.ok(list.remove(item))
          else {
            members.add(item)
            list.add(item)
          }
        }
        const sorted = [...members].sort(byNumber)
        for (const { end, most, marked, from, length } of queries) {
          const bounds = {
            ...(end !== null && { within: (item: number) => item < end }),
            most,
            marked,
          }
          const fits = (item: number) =>
            (end === null || item < end) &&
            (most === undefined || weightOf(item) <= most) &&
            (!marked || isMarked(item))
          const expected = sorted.filter(fits)
          assert.equal(list.count(bounds), expected.length)
          assert.deepEqual(
            list.slice(bounds, from, from + length),
            expected.slice(from, from + length),
          )
        }
      }),
      { numRuns: 40 },
    )
  })

  test('of many only those in the pieces that are shown are looked at', () => {
    const list = createOrdered({ compare: byNumber, roughly, weightOf, isMarked })
    for (let item = 0; item < 50_000; item += 1) list.add(item)
    let looks = 0
    const within = (item: number) => {
      looks += 1
      return item < 40_000
    }
    assert.equal(list.count({ within, most: 2 }), 17_144)
    list.slice({ within, most: 2 }, 10_000, 10_020)
    assert.ok(looks < 600, `${looks} looks`)
  })
})
