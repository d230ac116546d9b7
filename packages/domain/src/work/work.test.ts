/**
 * Every state against every command, then K1–K5 over any sequence of commands.
 */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import type { AgentId, CorrelationId, Digest, IdempotencyKey, TaskId, WorkId } from '../ids.ts'
import {
  type Ask,
  applyWork,
  decideWork,
  endOf,
  nextDueAt,
  type Work,
  type WorkCommand,
  type WorkState,
} from './work.ts'

const NOW = 1_000_000
const DAY = 86_400_000
const DEADLINE = NOW + 60_000
const output = 'cafe' as Digest
const fault = { code: 'UPSTREAM', message: 'it broke', lasting: 'permanent' } as const

const ask: Ask = {
  work: 'w1' as WorkId,
  task: 't1' as TaskId,
  requester: 'hirer',
  agent: 'a1' as AgentId,
  skill: 'word_count',
  key: 'k1' as IdempotencyKey,
  content: 'feed' as Digest,
  correlation: 'c1' as CorrelationId,
  priority: 5,
  askedAt: NOW,
  deadline: DEADLINE,
}
const { deadline: _, ...openEnded } = ask

const states = {
  deferred: { name: 'deferred', until: NOW + 5 },
  awaiting: { name: 'awaiting', since: NOW, until: DEADLINE },
  accepted: { name: 'accepted', acceptedAt: NOW },
  running: { name: 'running', acceptedAt: NOW, startedAt: NOW },
  unknown: { name: 'unknown', acceptedAt: NOW, since: NOW },
  refused: { name: 'refused', refusal: 'queue_full' },
  done: { name: 'done', endedAt: NOW, output },
  failed: { name: 'failed', endedAt: NOW, cause: 'agent', fault },
  cancelled: { name: 'cancelled', endedAt: NOW, cause: 'requester' },
  settled: { name: 'settled', end: { name: 'done', endedAt: NOW, output }, capturedCents: 5 },
} as const satisfies Record<string, WorkState>
type Name = keyof typeof states

const commands = {
  admit: { type: 'admit' },
  turn_away: { type: 'turn_away', refusal: 'deadline_too_soon' },
  await_person: { type: 'await_person' },
  start: { type: 'start' },
  finish: { type: 'finish', endedAt: NOW + 1, output },
  fail: { type: 'fail', endedAt: NOW + 1, fault },
  cancel: { type: 'cancel', by: 'hirer' },
  lose: { type: 'lose' },
  settle: { type: 'settle', capturedCents: 5 },
} as const satisfies Record<string, WorkCommand>
type Word = keyof typeof commands

const at = (name: Name, asked: Ask = ask): Work => ({
  ask: asked,
  priceCents: 5,
  state: states[name],
})

/** The state after the command, `same` for nothing new, or the refusal. */
function after(work: Work, command: WorkCommand, now = NOW + 1): string {
  const decision = decideWork(work, command, now)
  if (!decision.ok) return decision.refusal
  return decision.facts[0]?.to.name ?? 'same'
}

const [ended, early] = ['work_ended', 'work_not_begun']
// biome-ignore format: a table is read by its columns
const cells: Record<Name, Record<Word, string>> = {
  deferred:  { admit: 'accepted', turn_away: 'refused', await_person: early,      start: early,     finish: early,  fail: early,    cancel: 'cancelled', lose: early,     settle: early },
  awaiting:  { admit: 'accepted', turn_away: early,     await_person: 'same',     start: early,     finish: early,  fail: early,    cancel: 'cancelled', lose: early,     settle: early },
  accepted:  { admit: 'same',     turn_away: early,     await_person: 'awaiting', start: 'running', finish: early,  fail: early,    cancel: 'cancelled', lose: 'unknown', settle: early },
  running:   { admit: 'same',     turn_away: early,     await_person: early,      start: 'same',    finish: 'done', fail: 'failed', cancel: 'cancelled', lose: 'unknown', settle: early },
  unknown:   { admit: early,      turn_away: early,     await_person: early,      start: early,     finish: 'done', fail: 'failed', cancel: 'cancelled', lose: 'same',    settle: early },
  refused:   { admit: ended,      turn_away: ended,     await_person: ended,      start: ended,     finish: ended,  fail: ended,    cancel: ended,       lose: ended,     settle: ended },
  done:      { admit: ended,      turn_away: ended,     await_person: ended,      start: ended,     finish: 'same', fail: ended,    cancel: ended,       lose: ended,     settle: 'settled' },
  failed:    { admit: ended,      turn_away: ended,     await_person: ended,      start: ended,     finish: ended,  fail: 'same',   cancel: ended,       lose: ended,     settle: 'settlement_mismatch' },
  cancelled: { admit: ended,      turn_away: ended,     await_person: ended,      start: ended,     finish: ended,  fail: ended,    cancel: 'same',      lose: ended,     settle: 'settlement_mismatch' },
  settled:   { admit: ended,      turn_away: ended,     await_person: ended,      start: ended,     finish: 'same', fail: ended,    cancel: ended,       lose: ended,     settle: 'same' },
}

describe('each command in each state', () => {
  for (const name of Object.keys(states) as Name[]) {
    for (const word of Object.keys(commands) as Word[]) {
      test(`${name}: ${word} → ${cells[name][word]}`, () => {
        assert.equal(after(at(name), commands[word]), cells[name][word])
      })
    }
  }
})

const passed = (work: Work, now: number) => {
  const decision = decideWork(work, { type: 'pass_time' }, now)
  assert.ok(decision.ok)
  const state = decision.facts[0]?.to
  return state === undefined
    ? 'same'
    : 'cause' in state
      ? `${state.name}: ${state.cause}`
      : state.name
}

// biome-ignore format: a table is read by its columns
const overdue: [rule: string, work: Work, lastGood: number, then: string][] = [
  ['OC-17 work whose deadline passes while it runs has failed',        at('running'),             DEADLINE - 1,       'failed: deadline'],
  ['OC-17 and so has work that never got to run',                      at('accepted'),            DEADLINE - 1,       'failed: deadline'],
  ['OC-15 what is deferred past its deadline is turned away',          at('deferred'),            DEADLINE - 1,       'refused'],
  ['OC-19 what nobody approved is cancelled at its deadline',          at('awaiting'),            DEADLINE - 1,       'cancelled: unapproved'],
  ['P-3 an unknown end is the agent\'s failure 24 h after its deadline', at('unknown'),           DEADLINE + DAY - 1, 'failed: overdue'],
  ['P-3 without a deadline 24 h after it was accepted',                at('unknown', openEnded),  NOW + DAY - 1,      'failed: overdue'],
  ['P-3 work without a deadline does not run for ever',                at('running', openEnded),  NOW + DAY - 1,      'failed: overdue'],
]

describe('time passes', () => {
  for (const [rule, work, lastGood, then] of overdue) {
    test(rule, () => {
      assert.equal(passed(work, lastGood), 'same')
      assert.equal(passed(work, lastGood + 1), then)
      assert.equal(nextDueAt(work), lastGood + 1)
    })
  }
  test('OC-19 without a deadline the wait for a person ends after 24 h', () => {
    const decision = decideWork(at('accepted', openEnded), { type: 'await_person' }, NOW)
    assert.ok(decision.ok)
    const waiting = decision.facts.reduce(applyWork, at('accepted', openEnded))
    assert.equal(nextDueAt(waiting), NOW + DAY)
  })
})

describe('the rules of ending', () => {
  test('OC-17 what is finished after its deadline has failed', () => {
    const late = { type: 'finish', endedAt: DEADLINE + 1, output } as const
    assert.equal(after(at('running'), late, DEADLINE + 1), 'failed')
    assert.equal(after(at('running'), { ...late, endedAt: DEADLINE }, DEADLINE + 1), 'done')
  })
  test('P-3 an answer that was lost is reconciled with the end that really was', () => {
    const found = { type: 'finish', endedAt: DEADLINE - 1, output } as const
    assert.equal(after(at('unknown'), found, DEADLINE + 5_000), 'done')
  })
  test('an agent cannot have ended its work in the future', () => {
    const decision = decideWork(
      at('running'),
      { type: 'finish', endedAt: NOW + 9e9, output },
      NOW + 2,
    )
    assert.ok(decision.ok)
    assert.deepEqual(decision.facts[0]?.to, { name: 'done', endedAt: NOW + 2, output })
  })
  test('another output for work that is done is refused', () => {
    const other = { type: 'finish', endedAt: NOW, output: 'beef' as Digest } as const
    assert.equal(after(at('done'), other), 'work_ended')
  })
  test('OC-18 only the requester cancels', () => {
    assert.equal(after(at('running'), { type: 'cancel', by: 'stranger' }), 'caller_forbidden')
  })
  test('CH-6 failed work costs 0, and nothing costs more than its price', () => {
    assert.equal(after(at('failed'), { type: 'settle', capturedCents: 0 }), 'settled')
    assert.equal(after(at('done'), { type: 'settle', capturedCents: 6 }), 'settlement_mismatch')
  })
})

test('K1 and K4 hold over any sequence of commands', () => {
  const step = fc.record({
    word: fc.constantFrom<Word | 'pass_time'>(...(Object.keys(commands) as Word[]), 'pass_time'),
    passes: fc.integer({ min: 0, max: 30_000 }),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), fc.boolean(), (steps, hasDeadline) => {
      let work = at('deferred', hasDeadline ? ask : openEnded)
      let now = NOW
      const ends = new Set<string>()
      for (const { word, passes } of steps) {
        now += passes
        const command = word === 'pass_time' ? ({ type: word } as const) : commands[word]
        const decision = decideWork(work, command, now)
        if (decision.ok) work = decision.facts.reduce(applyWork, work)
        const end = endOf(work.state)
        if (end !== undefined) ends.add(JSON.stringify(end))
        if (work.state.name === 'settled' && work.state.capturedCents > 0) {
          assert.equal(work.state.end.name, 'done')
        }
      }
      assert.ok(ends.size <= 1, 'ended twice')
    }),
    { numRuns: 300 },
  )
})
