/** A hire as it is read from end to end. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type { Told } from './events.ts'
import { applyHires, type Hire } from './hires.ts'
import { type ScoreChange, timelineOf, triesOf } from './timeline.ts'

const at = (second: number) => new Date(second * 1_000).toISOString()
const told = (seq: number, kind: string, more: Partial<Told> = {}): Told => ({
  topic: 'ledger',
  kind,
  seq,
  at: at(seq * 10),
  task_id: 't',
  ...more,
})
const hireOf = (...events: readonly Told[]): Hire => {
  const hire = applyHires(new Map(), events).get('t')
  assert.ok(hire)
  return hire
}
const words = (hire: Hire, beside = {}) => timelineOf(hire, beside).map((line) => line.words)

const whole = hireOf(
  told(1, 'credits_held', { amount: 2 }),
  told(2, 'hold_confirmed', { price: 1.5 }),
  told(3, 'result_recorded', { how: 'done' }),
  told(4, 'hold_captured', { amount: 1.5 }),
)
const change = (more: Partial<ScoreChange['running']> = {}): ScoreChange => ({
  seq: 4,
  at: at(40),
  work_id: 't',
  hirer_owner_id: 'acme',
  ended: 'done',
  window: { before: 0.5, after: 0.9, counted: true, reasons: [] },
  running: { before: 50, after: 51, counted: true, reasons: ['done'], ...more },
})

describe('a timeline', () => {
  test('L1 has what was found, how far it came and what it did to the score, in place', () => {
    const work = {
      found: { at: at(5), skill: 'count', place: 2, of: 3 },
      progress: [{ share: 0.5, note: 'half', at: at(25) }],
    }
    assert.deepEqual(words(whole, { work, changes: [change()] }), [
      'Found, in place 2 of 3 who offer count',
      '2.00 credits were put aside',
      'Asked, the agent accepted at 1.50',
      '50 % done',
      'The result was handed over',
      '1.50 credits were paid',
      'Rated: its running score is 51.00 (+1.00)',
    ])
  })
  test('of scores only what this work moved, and why it did not', () => {
    const other = { ...change(), seq: 9 }
    const same = change({ counted: false, reasons: ['same_owner'] })
    const lines = timelineOf(whole, { changes: [other, same] })
    assert.equal(lines.at(-1)?.words, 'Rated: its running score is unchanged')
    assert.match(lines.at(-1)?.about ?? '', /Same owner/)
    assert.equal(lines.length, 5)
  })
  test('L2 a second try is told as one, and counted', () => {
    const tried = hireOf(
      told(1, 'credits_held', { amount: 2 }),
      told(2, 'hold_released', { because: 'withdrawn' }),
      told(3, 'credits_held', { amount: 2 }),
    )
    assert.equal(words(tried)[2], 'Tried once more: 2.00 credits were put aside')
    assert.deepEqual([triesOf(tried), triesOf(whole)], [2, 1])
  })
  test('an error stands there in its words', () => {
    const failed = hireOf(told(1, 'result_recorded', { how: 'failed' }))
    const work = { result: { error: { message: 'there is nothing' } } } as never
    assert.deepEqual(
      timelineOf(failed, { work }).map(({ tone, note }) => [tone, note]),
      [['bad', 'there is nothing']],
    )
  })
})
