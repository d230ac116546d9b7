/** What is known of work by its key: the table is the specification, one row for each state. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type {
  AgentId,
  HoldId,
  InstanceId,
  OwnerId,
  ReservationId,
  TaskId,
  TransferId,
} from '../ids.ts'
import type { Hold, PaymentMade } from '../money/ledger.ts'
import type { Result } from './result.ts'
import { pickWork, type Trace, traceWork } from './trace.ts'

const NOW = 1_000
const agent = 'agent' as AgentId

const hold = (more: Partial<Hold> = {}): Hold => ({
  id: 'h' as HoldId,
  payer: 'ann' as OwnerId,
  funder: 'ann' as OwnerId,
  payee: 'own' as OwnerId,
  agent,
  task: 't' as TaskId,
  attempt: 1,
  amountCents: 50,
  lapsesAt: NOW + 10,
  stage: 'placed',
  leftCents: 50,
  paidCents: 0,
  ...more,
})
const taken = (more: Partial<Hold> = {}) =>
  hold({ stage: 'confirmed', priceCents: 30, releasesAt: NOW + 500, ...more })
const result = (how: Result['how'], more: Partial<Result> = {}) =>
  ({ agent, how, endedAt: NOW - 7, owner: 'own', requester: 'ann', ...more }) as Result
const payment = (more: Partial<PaymentMade> = {}) =>
  ({
    kind: 'payment',
    transfer: 'p' as TransferId,
    payer: 'ann',
    payee: 'own',
    at: NOW - 3,
    ...more,
  }) as PaymentMade

// biome-ignore format: a table is read by its columns
const rows: [rule: string, trace: Trace, state: string, end?: object][] = [
  ['only slots',                               {},                                                       'asked'],
  ['credits put aside',                        { hold: hold() },                                         'asked'],
  ['and taken back by time',                   { hold: hold({ lapsesAt: NOW }) },                        'refused'],
  ['as somebody has noted',                    { hold: hold({ stage: 'lapsed' }) },                      'refused'],
  ['turned down by the agent',                 { hold: hold({ stage: 'released', because: 'refused' }) }, 'refused'],
  ['withdrawn before anybody accepted',        { hold: hold({ stage: 'released', because: 'withdrawn' }) }, 'settled', { how: 'cancelled', cause: 'requester' }],
  ['accepted',                                 { hold: taken() },                                        'accepted'],
  ['accepted, its deadline now',               { hold: taken({ deadline: NOW }) },                       'accepted'],
  ['Q1 silent past its deadline',              { hold: taken({ deadline: NOW - 1 }) },                   'unknown'],
  ['silent for a day more',                    { hold: taken({ releasesAt: NOW }) },                     'settled', { how: 'failed', at: NOW, cause: 'overdue' }],
  ['as somebody has noted',                    { hold: taken({ stage: 'released', because: 'overdue', releasesAt: NOW - 9 }) }, 'settled', { how: 'failed', at: NOW - 9, cause: 'overdue' }],
  ['given up by the agent',                    { hold: taken({ stage: 'released', because: 'failed' }) }, 'settled', { how: 'failed', cause: 'agent' }],
  ['cancelled by the agent',                   { hold: taken({ stage: 'released', because: 'cancelled' }) }, 'settled', { how: 'cancelled' }],
  ['paid',                                     { hold: taken({ stage: 'captured' }), payment: payment() }, 'settled', { how: 'done', at: NOW - 3 }],
  ['Q2 done by its result, not paid yet',      { hold: taken(), result: result('done') },                'done', { how: 'done', at: NOW - 7 }],
  ['failed by its result, not given back yet', { hold: taken(), result: result('failed') },              'failed', { how: 'failed', at: NOW - 7, cause: 'agent' }],
  ['and given back',                           { hold: taken({ stage: 'released', because: 'failed' }), result: result('failed') }, 'settled', { how: 'failed', at: NOW - 7, cause: 'agent' }],
  ['the result says when it ended, not the payment', { hold: taken({ stage: 'captured' }), result: result('done'), payment: payment() }, 'settled', { how: 'done', at: NOW - 7 }],
  ['Q3 a result without money',                { result: result('cancelled') },                          'cancelled', { how: 'cancelled', at: NOW - 7 }],
  ['a payment without a hold',                 { payment: payment() },                                   'settled', { how: 'done', at: NOW - 3 }],
]
describe('P-3 what is known of work', () => {
  for (const [rule, trace, state, end] of rows) {
    test(rule, () => {
      const known = traceWork(trace, NOW)
      assert.deepEqual([known.state, known.end], [state, end])
    })
  }
})

describe('P-3 which work a key means', () => {
  const bea = { payer: 'bea' as OwnerId, id: 'b' as HoldId }
  const again = hold({ attempt: 2, id: 'h2' as HoldId })
  const slots = {
    reservation: 'r' as ReservationId,
    instance: 'i' as InstanceId,
    slots: 1,
    lapsesAt: NOW,
    stage: 'promised' as const,
    agent,
    hold: 'h2' as HoldId,
  }
  const traces = {
    holds: [hold(bea), hold(), again],
    results: [result('failed', { requester: 'bea' as OwnerId }), result('done')],
    payments: [payment({ payer: 'bea' as OwnerId }), payment()],
    slots: [slots],
  }
  const none = { holds: [], results: [], payments: [], slots: [] }

  test('the own of who hires, with all that belongs to its last attempt', () => {
    const picked = pickWork(traces, 'ann' as OwnerId)
    assert.deepEqual(
      [picked?.hold?.id, picked?.payer, picked?.result?.how, picked?.payment?.payer],
      ['h2', 'ann', 'done', 'ann'],
    )
    assert.equal(picked?.slots?.reservation, 'r')
  })
  test('of who is hired, the latest', () => {
    const picked = pickWork(traces, 'own' as OwnerId)
    assert.deepEqual([picked?.hold?.id, picked?.result?.how], ['b', 'failed'])
    assert.equal(picked?.slots, undefined)
  })
  test('a result of another agent under the same key is not its result', () => {
    const results = [result('done', { agent: 'other' as AgentId })]
    assert.equal(pickWork({ ...traces, results }, 'ann' as OwnerId)?.result, undefined)
  })
  test('a result without a hold, and slots without either', () => {
    const free = pickWork({ ...none, results: [result('done')] })
    assert.deepEqual([free?.agent, free?.payer, free?.payee], [agent, 'ann', 'own'])
    assert.equal(pickWork({ ...none, slots: [slots] })?.agent, agent)
  })
  test('nothing is nothing', () => assert.equal(pickWork(none), undefined))
})
