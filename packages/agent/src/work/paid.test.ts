/** Work and money: what is taken on with a hold, without one, and when the hold is gone. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { TaskId } from '@chimera/domain/ids'
import { describe, test } from 'vitest'
import { createGate, createStage, held, PAYER } from '../../test/working.ts'
import type { Answered } from './asking.ts'

const settle = () => new Promise((resolve) => setImmediate(resolve))
const stateOf = (answer: Answered) => (answer.ok ? answer.kept.work.state.name : answer.refusal)
const workOf = (answer: Answered) => {
  assert.ok(answer.ok, 'was refused')
  return answer.kept
}
const task = () => randomUUID() as TaskId

describe('paid work', () => {
  const priced = () => createGate({ price: 0.05 })

  test('CH-15 OC-13 without a hold is refused where the hub is not open', async () => {
    const stage = createStage({ skills: [priced().skill] })
    stage.hub.open = false
    assert.equal(stateOf(await stage.ask()), 'caller_unknown')
  })

  test('CH-15 starts only when its hold is confirmed, and belongs to whoever pays', async () => {
    const { skill, runs } = priced()
    const stage = createStage({ skills: [skill] })
    stage.hub.open = false
    const asked = { task: task() }
    const hold = held(5)
    stage.hub.holds.set(asked.task, hold)
    const kept = workOf(await stage.ask(asked))
    assert.deepEqual([kept.requester.name, kept.hold], [PAYER, hold.hold])
    assert.deepEqual(stage.hub.confirmed, [hold.hold])
    await settle()
    assert.equal(runs.length, 1)
  })

  test('CH-15 is refused where the hold is too small', async () => {
    const stage = createStage({ skills: [priced().skill] })
    const asked = { task: task() }
    stage.hub.holds.set(asked.task, held(4))
    assert.equal(stateOf(await stage.ask(asked)), 'hold_missing')
  })

  test('P-1 whose hold is gone by then runs nothing, and its slot is free again', async () => {
    const { skill, runs } = priced()
    const stage = createStage({ skills: [skill] })
    const asked = { task: task() }
    stage.hub.holds.set(asked.task, held(5))
    stage.hub.refuseConfirm = true
    assert.equal(stateOf(await stage.ask(asked)), 'hold_missing')
    await settle()
    assert.deepEqual([runs.length, stage.desk.workload(0).slotsFree], [0, 1])
  })

  test('is asked for later where the hub does not answer', async () => {
    const stage = createStage({ skills: [priced().skill] })
    stage.hub.away = true
    assert.equal(stateOf(await stage.ask()), 'service_unavailable')
  })
})

describe('a full house with money', () => {
  test('P-1 what waits and is turned away gives its credits back', async () => {
    const stage = createStage({ skills: [createGate({ price: 0.05 }).skill] })
    await stage.ask()
    const asked = { task: task() }
    const hold = held(5)
    stage.hub.holds.set(asked.task, hold)
    assert.equal(stateOf(await stage.ask(asked)), 'deferred')
    assert.deepEqual(stage.hub.confirmed, [], 'nothing is bound before it is accepted')
    void stage.workshop.drain()
    await settle()
    assert.deepEqual(stage.hub.released, [hold.hold])
  })

  test('CH-15 OC-15 what waits is accepted only if its hold still stands', async () => {
    const { skill, runs } = createGate({ price: 0.05 })
    const stage = createStage({ skills: [skill] })
    await stage.ask()
    const asked = { task: task() }
    stage.hub.holds.set(asked.task, held(5))
    const { work } = workOf(await stage.ask(asked)).work.ask
    await settle()
    stage.hub.refuseConfirm = true
    runs[0]?.end()
    await stage.clock.advanceBy(1)
    const now = await stage.workshop.find(work)
    assert.deepEqual(now?.work.state, { name: 'refused', refusal: 'hold_missing' })
    assert.deepEqual([runs.length, stage.desk.workload(0).slotsFree], [1, 1])
  })
})
