/** Courses that are known, as points; and noise, which must not be taken for one. */
import assert from 'node:assert/strict'
import { createSeededChance } from '@chimera/host/chance'
import { describe, test } from 'vitest'
import { type Course, courseOf, FEWEST_POINTS, fit, type Point, settled } from './trend.ts'

const LIMIT = 1
const points = (count: number, figureAt: (at: number) => number): readonly Point[] =>
  Array.from({ length: count }, (_, at) => ({ at, figure: figureAt(at) }))
const { fraction } = createSeededChance(7)
const noise = (size: number): number => (fraction() - 0.5) * size

// biome-ignore format: a table is read by its columns
const rows: [rule: string, course: Course, points: readonly Point[]][] = [
  ['nothing changes',                        'flat',    points(60, () => 5)],
  ['it falls',                               'flat',    points(60, (at) => -at)],
  ['it rises as the limit allows',           'flat',    points(60, (at) => at)],
  ['it rises faster',                        'rising',  points(60, (at) => 2 * at)],
  ['a leak under noise ten times its step',  'rising',  points(90, (at) => 2 * at + noise(20))],
  ['noise alone',                            'flat',    points(90, () => noise(20))],
  ['one step up in the middle of noise',     'flat',    points(90, (at) => (at > 85 ? 30 : 0) + noise(5))],
  ['saw teeth',                              'flat',    points(90, (at) => (at % 10) * 3)],
  ['a tenth of the points is wild',          'flat',    points(90, (at) => (at % 10 === 9 ? at * 100 : 0))],
  ['a leak, and a tenth of them wild',       'rising',  points(90, (at) => (at % 10 === 9 ? 0 : 2 * at))],
  ['noise that hides the limit',             'unclear', points(12, (at) => at + noise(40))],
  ['too few to say',                         'unclear', points(FEWEST_POINTS - 1, () => 0)],
  ['no time passes',                         'unclear', points(20, () => 0).map(() => ({ at: 1, figure: 0 }))],
]

describe('the course of a figure', () => {
  for (const [rule, course, given] of rows) {
    test(`${rule}: ${course}`, () => {
      const found = fit(given)
      assert.equal(courseOf(found, LIMIT), course, JSON.stringify(found))
      if (found) assert.ok(found.least <= found.slope && found.slope <= found.most)
    })
  }

  test('T3 the first third does not count', () => {
    const warming = points(90, (at) => (at < 30 ? at * 50 : 1_500))
    assert.equal(settled(warming).length, 60)
    assert.equal(fit(settled(warming))?.slope, 0)
    assert.deepEqual(settled([]), [])
  })
})
