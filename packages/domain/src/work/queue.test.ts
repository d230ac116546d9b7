/** OC-15: the order of those who wait, the expected time, and the bounds. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import type { WorkId } from '../ids.ts'
import { decideDefer, expectedStart, inOrder, type Queued, type WaitingRoom } from './queue.ts'

const NOW = 10_000_000
const MINUTE = 60_000
const entry = (
  work: string,
  priority: number,
  waitedMs = 0,
  more: Partial<Queued> = {},
): Queued => ({
  work: work as WorkId,
  priority,
  queuedAt: NOW - waitedMs,
  durationMs: 10_000,
  ...more,
})
const order = (...queue: Queued[]) => inOrder(queue, NOW).map((each) => each.work)

describe('OC-15 who is next', () => {
  test('the better priority, whoever came first', () => {
    assert.deepEqual(order(entry('old', 5, 50_000), entry('urgent', 1)), ['urgent', 'old'])
  })
  test('among equals the one who waits longer', () => {
    assert.deepEqual(order(entry('new', 5, 1), entry('old', 5, 2)), ['old', 'new'])
  })
  test('a minute of waiting is worth one level', () => {
    const waited = entry('waited', 6, MINUTE)
    assert.deepEqual(order(entry('fresh', 5), waited), ['waited', 'fresh'])
    assert.deepEqual(order(entry('fresh', 5), entry('waited', 6, MINUTE - 1)), ['fresh', 'waited'])
  })
  test('who waits ten minutes at the lowest level is before a fresh one at the highest', () => {
    assert.deepEqual(order(entry('urgent', 1), entry('patient', 10, 10 * MINUTE)), [
      'patient',
      'urgent',
    ])
  })
  test('the order does not depend on the order in which they are kept', () => {
    const queued = fc.record({ p: fc.integer({ min: 1, max: 10 }), waited: fc.nat(600_000) })
    fc.assert(
      fc.property(fc.array(queued, { maxLength: 20 }), (all) => {
        const queue = all.map(({ p, waited }, index) => entry(`w${index}`, p, waited))
        assert.deepEqual(inOrder(queue, NOW), inOrder([...queue].reverse(), NOW))
      }),
    )
  })
})

// biome-ignore format: a table is read by its columns
const waits: [rule: string, room: WaitingRoom, startsIn: number][] = [
  ['a slot that is free starts it now',       { queue: [], slotsFreeAt: [NOW - 5] },                           0],
  ['a slot that gets free starts it then',    { queue: [], slotsFreeAt: [NOW + 3_000, NOW + 7_000] },          3_000],
  ['those before it take the early slots',    { queue: [entry('a', 1)], slotsFreeAt: [NOW + 3_000, NOW + 7_000] }, 7_000],
  ['a slot is used again when its work ends', { queue: [entry('a', 1), entry('b', 1)], slotsFreeAt: [NOW + 3_000] }, 23_000],
  ['those behind it do not count',            { queue: [entry('z', 9)], slotsFreeAt: [NOW + 3_000] },          3_000],
]

describe('OC-15 when it would begin', () => {
  for (const [rule, room, startsIn] of waits) {
    test(rule, () => assert.equal(expectedStart(room, entry('me', 5), NOW), NOW + startsIn))
  }
})

describe('OC-15 the bounds', () => {
  const room: WaitingRoom = { queue: [], slotsFreeAt: [NOW + 5_000] }
  const answer = (where: WaitingRoom, deadline?: number) => {
    const decision = decideDefer(
      where,
      entry('me', 5, 0, deadline === undefined ? {} : { deadline }),
      NOW,
    )
    return decision.ok ? decision.facts[0]?.until : decision.refusal
  }
  test('a deadline that still fits is deferred until the slot is free', () => {
    assert.equal(answer(room, NOW + 15_000), NOW + 5_000)
  })
  test('OC-14 one millisecond less is too soon', () => {
    assert.equal(answer(room, NOW + 14_999), 'deadline_too_soon')
  })
  test('the hundredth is taken and the next is not', () => {
    const queue = (length: number) => Array.from({ length }, (_, index) => entry(`w${index}`, 5, 1))
    assert.ok(typeof answer({ ...room, queue: queue(99) }) === 'number')
    assert.equal(answer({ ...room, queue: queue(100) }), 'queue_full')
  })
  test('an instance without slots takes nothing', () => {
    assert.equal(answer({ queue: [], slotsFreeAt: [] }), 'queue_full')
  })
})
