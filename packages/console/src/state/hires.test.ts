/** Hires out of events: W1 once and in any order, W2 the state from the steps alone. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import type { Told } from './events.ts'
import { flowsOf, ownerNode, placeNodes } from './flows.ts'
import { applyHires, isOpen, latestHires } from './hires.ts'

const event = (seq: number, kind: string, more: Partial<Told> = {}): Told => ({
  topic: 'ledger',
  kind,
  at: new Date(1_800_000_000_000 + seq * 1_000).toISOString(),
  seq,
  task_id: 't-1',
  ...more,
})

const PAID = [
  event(1, 'slots_reserved'),
  event(2, 'credits_held', { amount: 0.5, payer: 'alice', agent_id: 'a-1', hold_id: 'h-1' }),
  event(3, 'hold_confirmed', { price: 0.4 }),
  event(4, 'slots_taken'),
  event(5, 'result_recorded', { how: 'done' }),
  event(6, 'hold_captured', { amount: 0.4 }),
  event(7, 'slots_freed'),
]

const stateAfter = (events: readonly Told[]) => applyHires(new Map(), events).get('t-1')?.state

describe('a hire', () => {
  test('W2 goes from reserved to paid', () => {
    const states = PAID.map((_, index) => stateAfter(PAID.slice(0, index + 1)))
    assert.deepEqual(states, ['reserved', 'asked', 'working', 'working', 'done', 'paid', 'paid'])
  })

  test('W1 is the same in whatever order its events come, and how often', () => {
    const whole = applyHires(new Map(), PAID).get('t-1')
    const shuffled = fc.shuffledSubarray([...PAID, ...PAID], { minLength: PAID.length * 2 })
    fc.assert(
      fc.property(shuffled, (events) => {
        assert.deepEqual(applyHires(new Map(), events).get('t-1'), whole)
      }),
    )
  })

  test('knows who, what for and how much', () => {
    const hire = applyHires(new Map(), PAID).get('t-1')
    assert.equal(hire?.payer, 'alice')
    assert.equal(hire?.agent, 'a-1')
    assert.equal(hire?.hold, 'h-1')
    assert.equal(hire?.amount, 0.5)
    assert.equal(hire?.price, 0.4)
    assert.equal(hire?.steps.length, 7)
  })

  for (const [because, state] of [
    ['failed', 'failed'],
    ['overdue', 'failed'],
    ['withdrawn', 'ended'],
    ['refused', 'ended'],
  ] as const) {
    test(`that is released as ${because} is ${state}`, () => {
      assert.equal(stateAfter([...PAID.slice(0, 3), event(4, 'hold_released', { because })]), state)
    })
  }

  test('that is tried again stands as the later attempt does', () => {
    const again = [event(1, 'credits_held'), event(2, 'hold_lapsed'), event(3, 'credits_held')]
    assert.equal(stateAfter(again), 'asked')
  })

  test('what names no task or no place is passed over', () => {
    const { task_id: _, ...without } = event(1, 'credits_held')
    assert.equal(applyHires(new Map(), [without, event(2, 'token_issued')]).size, 0)
  })

  test('the latest change comes first', () => {
    const hires = applyHires(new Map(), [
      event(1, 'credits_held', { task_id: 'old' }),
      event(2, 'credits_held', { task_id: 'new' }),
    ])
    assert.deepEqual(
      latestHires(hires).map(({ task }) => task),
      ['new', 'old'],
    )
    assert.ok(latestHires(hires).every(isOpen))
  })
})

describe('who works for whom', () => {
  test('is added up for each pair, by the hiring agent or else by who pays', () => {
    const hires = applyHires(new Map(), [
      ...PAID,
      event(11, 'credits_held', { task_id: 't-2', payer: 'alice', agent_id: 'a-1' }),
      event(12, 'credits_held', {
        task_id: 't-3',
        planner_id: 'a-2',
        payer: 'bob',
        agent_id: 'a-1',
      }),
    ])
    const flows = flowsOf(hires.values())
    const own = flows.find(({ from }) => from === ownerNode('alice'))
    assert.deepEqual([own?.count, own?.paid, own?.open], [2, 0.4, 1])
    assert.ok(flows.some(({ from, to }) => from === 'a-2' && to === 'a-1'))
  })

  test('work within other work is hired by whoever does the other', () => {
    const hires = applyHires(new Map(), [
      event(1, 'credits_held', { task_id: 'whole', payer: 'alice', agent_id: 'a-1' }),
      event(2, 'result_recorded', { task_id: 'part', agent_id: 'a-2', correlation: 'whole' }),
    ])
    assert.ok(flowsOf(hires.values()).some(({ from, to }) => from === 'a-1' && to === 'a-2'))
  })

  test('nodes have places inside the picture, each its own', () => {
    const spots = placeNodes(['a', 'b', 'c', 'd'], { width: 400, height: 300, margin: 40 })
    const places = [...spots.values()]
    assert.equal(new Set(places.map(({ x, y }) => `${x} ${y}`)).size, 4)
    assert.ok(places.every(({ x, y }) => x >= 40 && x <= 360 && y >= 40 && y <= 260))
  })
})
