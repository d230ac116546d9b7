/** Slots under any order of asks, offers and ends: never more than there are (AV-8). */
import assert from 'node:assert/strict'
import type { AgentId, InstanceId, ReservationId, TaskId, WorkId } from '@chimera/domain/ids'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { createDesk } from './desk.ts'

const SLOTS = 3
const newDesk = () => createDesk({ instance: 'i' as InstanceId, slots: SLOTS })
const claim = (name: number) => ({ requester: `planner ${name}`, task: `task ${name}` as TaskId })
const offer = (name: number, slots: number) => ({
  id: `reservation ${name}` as ReservationId,
  planner: `planner ${name}` as AgentId,
  task: `task ${name}` as TaskId,
  slots,
  deadline: 1_000_000,
})

test('AV-8 promised and used slots together never exceed those owned', () => {
  const step = fc.record({
    what: fc.constantFrom('take', 'free', 'reserve', 'release', 'lapse', 'wait'),
    name: fc.integer({ min: 0, max: 7 }),
    slots: fc.integer({ min: 1, max: 4 }),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const desk = newDesk()
      let now = 0
      const used = new Map<number, number>()
      for (const { what, name, slots } of steps) {
        const work = `work ${name}` as WorkId
        if (what === 'wait') now += 20_000
        else if (what === 'take') {
          const promised = desk.promised(claim(name), now)
          const had = used.has(name)
          if (desk.take({ ...claim(name), work, until: now + 5 }, now) && !had) {
            used.set(name, promised?.slots ?? 1)
          }
        } else if (what === 'free') {
          desk.free(work)
          used.delete(name)
        } else if (what === 'reserve') desk.reserve(offer(name, slots), now)
        else if (what === 'release') desk.release(offer(name, slots))
        else desk.lapse(now)

        const { slotsFree, running } = desk.workload(now)
        const inUse = [...used.values()].reduce((sum, each) => sum + each, 0)
        assert.ok(inUse + slotsFree <= SLOTS, `${inUse} used and ${slotsFree} free of ${SLOTS}`)
        assert.equal(running, used.size)
      }
    }),
  )
})

describe('the desk', () => {
  test('lets those who wait go before those who come', () => {
    const desk = newDesk()
    const entry = { work: 'w' as WorkId, priority: 5, queuedAt: 0, durationMs: 10 }
    for (let each = 0; each < SLOTS; each += 1) desk.queue({ ...entry, work: `${each}` as WorkId })
    assert.equal(desk.look(claim(1), 0).slotsFree, 0)
    assert.equal(desk.next(0)?.work, '0')
  })

  test('AV-8 counts a promise as room for whoever holds it, until it lapses', () => {
    const desk = newDesk()
    assert.ok(desk.reserve(offer(1, 3), 0).ok)
    assert.deepEqual(
      [desk.look(claim(1), 0).reserved, desk.look(claim(2), 0).reserved],
      [true, false],
    )
    assert.equal(desk.look(claim(2), 0).slotsFree, 0)
    assert.equal(desk.look(claim(1), 30_000).reserved, false)
    assert.equal(desk.look(claim(2), 30_000).slotsFree, 3)
  })

  test('AV-5 promises nothing while it drains, and gives unused promises back', () => {
    const desk = newDesk()
    desk.reserve(offer(1, 2), 0)
    assert.deepEqual(
      desk.drain().map(({ id }) => id),
      ['reservation 1'],
    )
    const refused = desk.reserve(offer(2, 1), 0)
    assert.ok(!refused.ok && refused.refusal === 'draining')
    desk.reopen()
    assert.ok(desk.reserve(offer(2, 1), 0).ok)
  })
})
