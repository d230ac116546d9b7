/**
 * The ladder, rung by rung; then its order: with any set of things wrong, the answer is the
 * highest.
 */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import type { AgentId, CorrelationId, Digest, IdempotencyKey, TaskId, WorkId } from '../ids.ts'
import {
  type AdmissionRefusal,
  countsForRate,
  type Desk,
  decideAdmission,
  type Examined,
  LADDER,
  type OfferedSkill,
} from './admission.ts'
import type { Queued } from './queue.ts'
import type { Ask } from './work.ts'

const NOW = 1_000_000
const skill: OfferedSkill = {
  name: 'sum',
  version: { major: 1, minor: 0 },
  priceCents: 10,
  durationMs: 5_000,
  needsApproval: false,
}
const ask: Ask = {
  work: 'w1' as WorkId,
  task: 't1' as TaskId,
  requester: 'hirer',
  agent: 'a1' as AgentId,
  skill: 'sum',
  key: 'k1' as IdempotencyKey,
  content: 'feed' as Digest,
  correlation: 'c1' as CorrelationId,
  priority: 5,
  askedAt: NOW,
  budgetCents: 15,
}
const desk: Desk = {
  accepting: true,
  skills: [skill],
  rate: { perMinute: 20, admitted: [], waiting: [] },
  room: { queue: [], slotsFreeAt: [NOW, NOW] },
  slotsTotal: 2,
  slotsFree: 2,
  reserved: false,
  heldCents: 10,
  open: false,
}
const fine: Examined = { schemaIssues: [], inputIssues: [] }
const issue = { path: '/text', expected: 'a string', got: 'a number' }
const { heldCents: _, ...unheld } = desk
const full: Desk = { ...desk, slotsFree: 0, room: { queue: [], slotsFreeAt: [NOW + 4_000] } }
const waiting = Array.from({ length: 100 }, (_, index): Queued => {
  return { work: `q${index}` as WorkId, priority: 5, queuedAt: NOW - 1, durationMs: 1 }
})
const packed: Desk = { ...full, room: { ...full.room, queue: waiting } }
const asking = (more: Partial<Ask>): Ask => ({ ...ask, ...more })
const slow: Desk = { ...desk, skills: [{ ...skill, needsApproval: true }] }
const gratis: Desk = { ...unheld, skills: [{ ...skill, priceCents: 0 }] }

const answerOf = (at: Desk, asked: Ask, examined = fine) => {
  const decision = decideAdmission(at, asked, examined, NOW)
  return decision.ok ? decision.facts[0]?.answer : decision.refusal
}

// biome-ignore format: a table is read by its columns
const rows: [rule: string, at: Desk, asked: Ask, examined: Examined, answer: string][] = [
  ['a good ask is accepted',                                        desk,  ask, fine, 'accepted'],
  ['OC-10 a message that fails its schema goes no further',         desk,  ask, { ...fine, schemaIssues: [issue] }, 'message_malformed'],
  ['OC-21 an unknown major version is refused',                     desk,  ask, { ...fine, spokenVersions: ['1.0.0'] }, 'version_unsupported'],
  ['OC-13 an unknown capability',                                   desk,  asking({ skill: 'product' }), fine, 'skill_unknown'],
  ['SK-5 a version that is not run',                                desk,  asking({ skill: 'sum@v9' }), fine, 'skill_version_unsupported'],
  ['OC-13 an agent that is not accepting',                          { ...desk, accepting: false }, ask, fine, 'not_accepting'],
  ['OC-10 input that fails the capability\'s own schema',           desk,  ask, { ...fine, inputIssues: [issue] }, 'input_invalid'],
  ['OC-13 what the policy forbids',                                 desk,  ask, { ...fine, policyBreach: 'adult_content' }, 'policy_violated'],
  ['OC-13 over the rate limit',                                     { ...desk, rate: { perMinute: 1, admitted: [{ requester: 'x', at: NOW }], waiting: [] } }, ask, fine, 'rate_exceeded'],
  ['OC-15 no slot, room in the queue: deferred',                    full,  ask, fine, 'deferred'],
  ['OC-13 no slot, no room',                                        packed, ask, fine, 'queue_full'],
  ['AV-8 a reservation is room in a full house',                    { ...packed, reserved: true }, ask, fine, 'accepted'],
  ['OC-14 a deadline before the estimated end',                     desk,  asking({ deadline: NOW + 4_999 }), fine, 'deadline_too_soon'],
  ['OC-14 a deadline that just fits',                               desk,  asking({ deadline: NOW + 5_000 }), fine, 'accepted'],
  ['OC-14 a deadline that the queue cannot meet',                   full,  asking({ deadline: NOW + 8_999 }), fine, 'deadline_too_soon'],
  ['OC-14 a deadline that the queue can meet',                      full,  asking({ deadline: NOW + 9_000 }), fine, 'deferred'],
  ['OC-19 what needs a person waits without a slot',                { ...slow, slotsFree: 0 }, ask, fine, 'awaiting'],
  ['CH-6 a price above the one quoted is refused, not charged',     desk,  asking({ quotedCents: 9 }), fine, 'price_risen'],
  ['CH-6 a price below the one quoted is fine',                     desk,  asking({ quotedCents: 11 }), fine, 'accepted'],
  ['CH-11 a budget below the price',                                desk,  asking({ budgetCents: 9 }), fine, 'budget_insufficient'],
  ['CH-15 no hold, no priced work',                                 unheld, ask, fine, 'hold_missing'],
  ['CH-15 a hold below the price is none',                          { ...desk, heldCents: 9 }, ask, fine, 'hold_missing'],
  ['CH-15 in open mode priced work runs without a hold',            { ...unheld, open: true }, ask, fine, 'accepted'],
  ['CH-15 but a hold that is too small is refused there too',       { ...desk, heldCents: 9, open: true }, ask, fine, 'hold_missing'],
  ['OC-13 unpriced work moves no money',                            gratis, ask, fine, 'accepted'],
]

describe('the ladder', () => {
  for (const [rule, at, asked, examined, answer] of rows) {
    test(rule, () => assert.equal(answerOf(at, asked, examined), answer))
  }

  test('OC-13 a full house says how full', () => {
    const decision = decideAdmission(packed, ask, fine, NOW)
    assert.ok(!decision.ok)
    assert.deepEqual(
      [decision.particulars.figures?.current, decision.particulars.figures?.most],
      [2, 2],
    )
    assert.ok((decision.particulars.retryAt ?? 0) > NOW)
  })
  test('OC-15 a deferred answer carries the expected time', () => {
    const decision = decideAdmission(full, ask, fine, NOW)
    assert.ok(decision.ok)
    assert.equal(decision.facts[0]?.deferredUntil, NOW + 4_000)
    assert.equal(decision.facts[0]?.estimatedEnd, NOW + 9_000)
  })
})

/** For each rung, what makes exactly that rung refuse. */
const faults: Record<
  AdmissionRefusal,
  (at: Desk, asked: Ask, seen: Examined) => [Desk, Ask, Examined]
> = {
  message_malformed: (at, asked, seen) => [at, asked, { ...seen, schemaIssues: [issue] }],
  version_unsupported: (at, asked, seen) => [at, asked, { ...seen, spokenVersions: ['1.0.0'] }],
  skill_unknown: (at, asked, seen) => [{ ...at, skills: [] }, asked, seen],
  skill_version_unsupported: (at, asked, seen) => [at, { ...asked, skill: 'sum@v9' }, seen],
  not_accepting: (at, asked, seen) => [{ ...at, accepting: false }, asked, seen],
  input_invalid: (at, asked, seen) => [at, asked, { ...seen, inputIssues: [issue] }],
  policy_violated: (at, asked, seen) => [at, asked, { ...seen, policyBreach: 'no' }],
  rate_exceeded: (at, asked, seen) => [
    { ...at, rate: { perMinute: 1, admitted: [{ requester: 'x', at: NOW }], waiting: [] } },
    asked,
    seen,
  ],
  queue_full: (at, asked, seen) => [{ ...at, slotsFree: 0, room: packed.room }, asked, seen],
  deadline_too_soon: (at, asked, seen) => [at, { ...asked, deadline: NOW + 1 }, seen],
  price_risen: (at, asked, seen) => [at, { ...asked, quotedCents: 1 }, seen],
  budget_insufficient: (at, asked, seen) => [at, { ...asked, budgetCents: 1 }, seen],
  hold_missing: (at, asked, seen) => [{ ...at, heldCents: 0 }, asked, seen],
}

test('D1 of any set of faults the highest on the ladder is the answer', () => {
  fc.assert(
    fc.property(fc.subarray([...LADDER], { minLength: 1 }), (wrong) => {
      const [at, asked, seen] = wrong.reduce<[Desk, Ask, Examined]>(
        ([at, asked, seen], each) => faults[each](at, asked, seen),
        [desk, ask, fine],
      )
      assert.equal(answerOf(at, asked, seen), wrong[0])
    }),
    { numRuns: 500 },
  )
})

test('OC-20 an ask uses up the minute once it has reached that rung', () => {
  const at = (asked: Ask, examined = fine) => decideAdmission(desk, asked, examined, NOW)
  assert.ok(countsForRate(at(ask)))
  assert.ok(countsForRate(at(asking({ budgetCents: 1 }))))
  assert.ok(!countsForRate(at(ask, { ...fine, inputIssues: [issue] })))
})
