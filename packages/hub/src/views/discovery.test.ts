/**
 * Whatever happened before, and whenever it is asked: the directory finds whom the domain would
 * find by ranking everybody, in the same places and for the same reasons.
 */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { crowd, openTown, query, step } from '../../test/town.ts'

describe('CH-2 AV-6 P-6 P-14 discovery from an index', () => {
  // Some seconds alone; the limit is wide, since the machine may be busy.
  test('is what ranking everybody would be, after anything and at any time', {
    timeout: 60_000,
  }, () => {
    const life = fc.array(fc.record({ step, query }), { minLength: 1, maxLength: 60, size: 'max' })
    let shown = 0
    fc.assert(
      fc.property(crowd, life, (first, all) => {
        const { take, reference, ask } = openTown()
        first.forEach(take)
        for (const each of all) {
          take(each.step)
          const found = ask(each.query)
          assert.deepEqual(found, reference(each.query))
          shown += found.hits.length
        }
      }),
      { numRuns: 120 },
    )
    assert.ok(shown > 1_000, `only ${shown} hits were compared`)
  })

  test('also when nobody asked for a long while', { timeout: 60_000 }, () => {
    fc.assert(
      fc.property(
        crowd,
        fc.array(step, { minLength: 20, maxLength: 200 }),
        fc.array(query, { minLength: 1, maxLength: 5 }),
        (first, steps, queries) => {
          const { take, reference, ask } = openTown()
          first.forEach(take)
          steps.forEach(take)
          for (const each of queries) assert.deepEqual(ask(each), reference(each))
        },
      ),
      { numRuns: 60 },
    )
  })
})
