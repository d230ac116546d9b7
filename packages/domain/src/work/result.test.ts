/** Results: one for each piece of work, and which hold each of them settles, and how. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type {
  AgentId,
  CorrelationId,
  Digest,
  HoldId,
  OwnerId,
  TaskId,
  TransferId,
  WorkId,
} from '../ids.ts'
import type { Hold } from '../money/ledger.ts'
import { REFUSALS, type Refusal } from '../refusals.ts'
import {
  decideResult,
  type End,
  holdMeant,
  isUnsettled,
  type ResultKnown,
  settlementOf,
} from './result.ts'

const NOW = 1_000
const agent = 'agent' as AgentId

const known: ResultKnown = {
  agent,
  work: 'w' as WorkId,
  task: 't' as TaskId,
  owner: 'own' as OwnerId,
  requester: 'ann' as OwnerId,
  how: 'done',
  content: 'c' as Digest,
  output: 'o' as Digest,
  correlation: 'x' as CorrelationId,
  transfer: 'p' as TransferId,
}
const hold = (id: string, more: Partial<Hold> = {}): Hold => ({
  id: id as HoldId,
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

describe('E1 E2 a result is recorded once', () => {
  test('the fact holds digests and no content', () => {
    assert.deepEqual(decideResult(undefined, known, NOW), {
      ok: true,
      facts: [
        {
          type: 'result_recorded',
          at: NOW,
          agent,
          work: 'w',
          task: 't',
          how: 'done',
          endedAt: NOW,
          requester: 'ann',
          output: 'o',
        },
      ],
    })
  })
  test('the same again is nothing new, another is refused', () => {
    assert.deepEqual(decideResult({ content: known.content }, known, NOW), { ok: true, facts: [] })
    const other = decideResult({ content: 'd' as Digest }, known, NOW)
    assert.equal(!other.ok && other.refusal, 'work_ended')
  })
  test('work has ended when its agent says, but not in the future', () => {
    for (const [said, noted] of [
      [NOW - 5, NOW - 5],
      [NOW + 5, NOW],
    ]) {
      const decision = decideResult(undefined, { ...known, endedAt: said ?? 0 }, NOW)
      assert.equal(decision.ok && decision.facts[0]?.endedAt, noted)
    }
  })
})

// biome-ignore format: a table is read by its columns
const settlements: [how: End, hold: Hold, command: object][] = [
  ['done',      hold('h', { stage: 'confirmed', priceCents: 30 }), { type: 'capture_hold', hold: 'h', transfer: 'p', agent, amountCents: 30 }],
  ['done',      hold('h'),                                         { type: 'capture_hold', hold: 'h', transfer: 'p', agent, amountCents: 50 }],
  ['failed',    hold('h', { stage: 'confirmed', priceCents: 30 }), { type: 'release_hold', hold: 'h', because: 'failed', agent }],
  ['cancelled', hold('h', { stage: 'confirmed', priceCents: 30 }), { type: 'release_hold', hold: 'h', because: 'cancelled', agent }],
]
test('E3 the word of the agent settles its hold', () => {
  for (const [how, each, command] of settlements) {
    assert.deepEqual(settlementOf({ ...known, how }, each), command)
  }
})

test('E3 only "not yet" is asked again', () => {
  const again = (Object.keys(REFUSALS) as Refusal[]).filter(isUnsettled)
  assert.deepEqual(again.sort(), ['service_unavailable', 'work_not_begun'])
})

const confirmed = { stage: 'confirmed' } as const
const bea = { payer: 'bea' as OwnerId }
const asked = { agent }

// biome-ignore format: a table is read by its columns
const meant: [rule: string, holds: Hold[], by: Parameters<typeof holdMeant>[1], id: string | undefined][] = [
  ['nothing held, nothing meant',               [],                                                      asked, undefined],
  ['the one there is',                          [hold('a')],                                             asked, 'a'],
  ['not that of another agent',                 [hold('a', { agent: 'other' as AgentId })],              asked, undefined],
  ['accepted goes before placed',               [hold('a', bea), hold('b', confirmed)],                  asked, 'b'],
  ['of two that were accepted, none',           [hold('a', { ...bea, ...confirmed }), hold('b', confirmed)], asked, undefined],
  ['unless the requester is named',             [hold('a', { ...bea, ...confirmed }), hold('b', confirmed)], { agent, requester: 'bea' as OwnerId }, 'a'],
  ['not that of another requester',             [hold('a', confirmed)],                                  { agent, requester: 'bea' as OwnerId }, undefined],
  ['what stands goes before what has ended',    [hold('a', { stage: 'lapsed' }), hold('b', { attempt: 2 })], asked, 'b'],
  ['of what has ended, the last attempt',       [hold('b', { stage: 'released', attempt: 2 }), hold('a', { stage: 'lapsed' })], asked, 'b'],
  ['of what has ended for several payers, none', [hold('a', { stage: 'lapsed' }), hold('b', { ...bea, stage: 'lapsed' })], asked, undefined],
]
describe('which hold a result is about', () => {
  for (const [rule, holds, by, id] of meant) {
    test(rule, () => assert.equal(holdMeant(holds, by)?.id, id))
  }
})
