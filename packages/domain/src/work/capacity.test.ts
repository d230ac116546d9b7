/**
 * The table is the specification: one row, one rule. The run below it holds C1 and C5 to any
 * sequence of offers, work, releases and lapses.
 */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import type { AgentId, InstanceId, ReservationId, TaskId, WorkId } from '../ids.ts'
import {
  applyCapacity,
  type Capacity,
  decideDrain,
  decideFree,
  decideLapse,
  decideRelease,
  decideReserve,
  decideTake,
  nextLapseAt,
  type ReserveAsked,
  slotsFree,
} from './capacity.ts'

const NOW = 1_000_000
const planner = 'planner' as AgentId
const stranger = 'stranger' as AgentId

const ask = (task: string, slots: number, more: Partial<ReserveAsked> = {}): ReserveAsked => ({
  id: `r-${task}` as ReservationId,
  planner,
  task: task as TaskId,
  slots,
  deadline: NOW + 60_000,
  ...more,
})
const promise = (task: string, slots: number, lapsesAt = NOW + 30_000) => ({
  id: `r-${task}` as ReservationId,
  planner,
  task: task as TaskId,
  slots,
  lapsesAt,
})
const work = (task: string, slots: number, by = planner) => ({
  work: `w-${task}` as WorkId,
  planner: by,
  task: task as TaskId,
  slots,
})

const instance = 'i1' as InstanceId
const free: Capacity = { instance, slots: 8, draining: false, reservations: [], running: [] }
const used: Capacity = { ...free, reservations: [promise('t1', 5)] }
const busy: Capacity = { ...free, running: [work('t1', 5)] }
const gone: Capacity = { ...free, reservations: [promise('t1', 5, NOW)] }
const leaving: Capacity = { ...used, draining: true }

// biome-ignore format: a table is read by its columns
const offers: [rule: string, before: Capacity, asked: ReserveAsked, answer: string][] = [
  ['AV-8 takes what is left',                           used,    ask('t2', 3),                      'slots_reserved'],
  ['AV-8 does not take more than is left',              used,    ask('t2', 4),                      'slots_exhausted'],
  ['AV-8 running work counts as taken',                 busy,    ask('t2', 4),                      'slots_exhausted'],
  ['AV-8 a lapsed promise frees its slots',             gone,    ask('t2', 8),                      'slots_reserved'],
  ['AV-8 the same offer is not counted twice',          used,    ask('t1', 5),                      'nothing new'],
  ['AV-8 nor once its work is running',                 busy,    ask('t1', 5),                      'nothing new'],
  ['AV-8 the same task with other slots is a conflict', used,    ask('t1', 2),                      'task_conflict'],
  ['the same task id of another planner is another',    used,    ask('t1', 3, { planner: stranger }), 'slots_reserved'],
  ['nor refused what it holds when draining',           leaving, ask('t1', 5),                      'nothing new'],
  ['AV-5 draining makes no new promise',                leaving, ask('t2', 1),                      'draining'],
  ['no slots is not an offer',                          free,    ask('t2', 0),                      'slots_invalid'],
  ['half a slot is not an offer',                       free,    ask('t2', 1.5),                    'slots_invalid'],
  ['a deadline that has come is late',                  free,    ask('t2', 1, { deadline: NOW }),   'deadline_too_soon'],
  ['the strongest refusal is the one given',            leaving, ask('t2', 0, { deadline: NOW }),   'slots_invalid'],
]

describe('an offer', () => {
  for (const [rule, before, asked, answer] of offers) {
    test(rule, () => {
      const decision = decideReserve(before, asked, NOW)
      assert.equal(
        decision.ok ? (decision.facts[0]?.type ?? 'nothing new') : decision.refusal,
        answer,
      )
    })
  }

  test('AV-8 lapses after 30 s or at the deadline, whichever is earlier', () => {
    const lapse = (deadline: number) => {
      const decision = decideReserve(free, ask('t1', 1, { deadline }), NOW)
      assert.ok(decision.ok)
      return nextLapseAt(decision.facts.reduce(applyCapacity, free))
    }
    assert.equal(lapse(NOW + 60_000), NOW + 30_000)
    assert.equal(lapse(NOW + 12_000), NOW + 12_000)
  })
})

describe('work', () => {
  const taken = (before: Capacity, asked: ReturnType<typeof work>, now = NOW) => {
    const decision = decideTake(before, asked, now)
    return decision.ok ? decision.facts.reduce(applyCapacity, before) : decision.refusal
  }

  test('AV-8 uses the promise of its planner and task', () => {
    const after = taken(used, work('t1', 1))
    assert.ok(typeof after !== 'string')
    assert.equal(after.reservations.length, 0)
    assert.equal(slotsFree(after, NOW), 3)
  })
  test('AV-8 does not use the promise of another planner', () => {
    const full: Capacity = { ...free, reservations: [promise('t1', 8)] }
    assert.equal(taken(full, work('t1', 1, stranger)), 'slots_exhausted')
  })
  test('without a promise it takes what is free', () => {
    const after = taken(free, work('t1', 2))
    assert.ok(typeof after !== 'string')
    assert.equal(slotsFree(after, NOW), 6)
  })
  test('a promise that lapsed in between does not help it into a full instance', () => {
    const late: Capacity = { ...gone, running: [work('t9', 8)] }
    assert.equal(taken(late, work('t1', 5)), 'slots_exhausted')
  })
  test('AV-5 a draining instance keeps the promise that it did not take back', () => {
    assert.ok(typeof taken(leaving, work('t1', 5)) !== 'string')
    assert.equal(taken(leaving, work('t2', 1)), 'draining')
  })
  test('that is already running is not counted twice', () => {
    assert.equal(taken(busy, work('t1', 5)), busy)
  })
  test('that ends gives its slots back, once', () => {
    const first = decideFree(busy, 'w-t1' as WorkId)
    assert.ok(first.ok)
    const after = first.facts.reduce(applyCapacity, busy)
    assert.equal(slotsFree(after, NOW), 8)
    assert.deepEqual(decideFree(after, 'w-t1' as WorkId), { ok: true, facts: [] })
  })
})

describe('the end of a promise', () => {
  test('its planner releases it', () => {
    const decision = decideRelease(used, { id: 'r-t1' as ReservationId, by: planner })
    assert.ok(decision.ok)
    assert.equal(slotsFree(decision.facts.reduce(applyCapacity, used), NOW), 8)
  })
  test('nobody else does', () => {
    const decision = decideRelease(used, { id: 'r-t1' as ReservationId, by: stranger })
    assert.equal(!decision.ok && decision.refusal, 'caller_forbidden')
  })
  test('OC-15 draining gives unused promises back, and running work goes on', () => {
    const both: Capacity = { ...used, running: [work('t9', 2)] }
    const decision = decideDrain(both)
    assert.ok(decision.ok)
    const after = decision.facts.reduce(applyCapacity, both)
    assert.deepEqual(
      [after.draining, after.reservations.length, after.running.length],
      [true, 0, 1],
    )
  })
  test('lapses are found once', () => {
    const decision = decideLapse(gone, NOW)
    assert.ok(decision.ok)
    const after = decision.facts.reduce(applyCapacity, gone)
    assert.deepEqual(decideLapse(after, NOW), { ok: true, facts: [] })
  })
})

test('AV-8 C1 holds over any run of offers, work, releases and lapses', () => {
  const step = fc.record({
    kind: fc.constantFrom('reserve', 'take', 'free', 'release', 'lapse'),
    task: fc.integer({ min: 1, max: 12 }),
    slots: fc.integer({ min: 0, max: 5 }),
    by: fc.constantFrom(planner, stranger),
    passes: fc.integer({ min: 0, max: 15_000 }),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
      let capacity = free
      let now = NOW
      for (const { kind, task, slots, by, passes } of steps) {
        now += passes
        const name = `t${task}`
        const id = `r-${name}-${by}` as ReservationId
        const occupation = { ...work(name, slots, by), work: `w-${name}-${by}` as WorkId }
        const decision =
          kind === 'reserve'
            ? decideReserve(
                capacity,
                ask(name, slots, { planner: by, id, deadline: now + 40_000 }),
                now,
              )
            : kind === 'take'
              ? decideTake(capacity, occupation, now)
              : kind === 'free'
                ? decideFree(capacity, occupation.work)
                : kind === 'release'
                  ? decideRelease(capacity, { id, by })
                  : decideLapse(capacity, now)
        if (decision.ok) capacity = decision.facts.reduce(applyCapacity, capacity)
        assert.ok(slotsFree(capacity, now) >= 0, `over-promised at ${now}`)
      }
    }),
    { numRuns: 300 },
  )
})
