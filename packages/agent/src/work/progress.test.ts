/** What is kept for whoever follows: of what goes on all of it, of what is long over its end. */
import assert from 'node:assert/strict'
import type { WorkId } from '@chimera/domain/ids'
import { describe, test } from 'vitest'
import { createProgresses } from './progress.ts'

const nobody = (): void => undefined
const ended = (number: number): WorkId => `work-${number}` as WorkId

/** Answered, half way, and done. */
function fill(progresses: ReturnType<typeof createProgresses>, from: number, to: number): void {
  for (let number = from; number < to; number += 1) {
    progresses.tell(ended(number), { is: 'answer' })
    progresses.tell(ended(number), { is: 'progress', share: 0.5, note: 'half' })
    progresses.tell(ended(number), { is: 'result' })
  }
}

describe('P-7 what can be followed', () => {
  test('a follower that was cut off goes on after the place it has seen', () => {
    const progresses = createProgresses(() => 7)
    fill(progresses, 0, 1)
    const { past, gap } = progresses.follow(ended(0), 1, nobody)
    const half = { is: 'progress', share: 0.5, note: 'half', place: 2, at: 7 }
    assert.deepEqual([past, gap], [[half, { is: 'result', place: 3, at: 7 }], false])
  })

  // biome-ignore format: a table is read by its columns
  const rows: readonly (readonly [why: string, after: number, places: readonly number[], gap: boolean])[] = [
    ['nothing was seen',        0, [3], true],
    ['the answer was seen',     1, [3], true],
    ['all but the end was seen', 2, [3], false],
    ['all was seen',            3, [],  false],
    ['more than there was',     4, [],  true],
  ]
  for (const [why, after, places, gap] of rows) {
    test(`long after the end: ${why}`, () => {
      const progresses = createProgresses(() => 7)
      fill(progresses, 0, 200)
      const found = progresses.follow(ended(0), after, nobody)
      assert.deepEqual([found.past.map(({ place }) => place), found.gap], [places, gap])
    })
  }

  test('what goes on is kept however much ends beside it', () => {
    const progresses = createProgresses(() => 7)
    progresses.tell(ended(-1), { is: 'answer' })
    progresses.tell(ended(-1), { is: 'progress', share: 0.1 })
    fill(progresses, 0, 1_500)
    const { past, gap } = progresses.follow(ended(-1), 0, nobody)
    assert.deepEqual([past.map(({ place }) => place), gap], [[1, 2], false])
  })
})
