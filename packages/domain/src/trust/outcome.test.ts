/** One row, one rule: what each of the two scores makes of an ending. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type {
  AgentId,
  CorrelationId,
  Digest,
  IdempotencyKey,
  OwnerId,
  TaskId,
  WorkId,
} from '../ids.ts'
import type { Work, WorkState } from '../work/work.ts'
import {
  type Counting,
  countsForRunning,
  countsForWindow,
  type Ending,
  type Outcome,
  outcomeOf,
} from './outcome.ts'
import {
  decideRules,
  NO_PAIR_HISTORY,
  type PairHistory,
  pairKey,
  TRUST_RULES,
} from './pair-limit.ts'

const DAY_MS = 86_400_000
const NOW = 100 * DAY_MS
const ann = 'ann' as OwnerId
const bob = 'bob' as OwnerId
const done: Ending = { how: 'done' }
const failed: Ending = { how: 'failed', cause: 'agent' }
const cancelled: Ending = { how: 'cancelled' }

const outcome = (ending: Ending, change: Partial<Outcome> = {}): Outcome => ({
  work: 'w1' as WorkId,
  agent: 'a1' as AgentId,
  owner: ann,
  hirerOwner: bob,
  ending,
  priceCents: ending.how === 'done' ? 10 : 0,
  receivedAt: NOW - 2_000,
  respondedAt: NOW - 1_500,
  endedAt: NOW - 100,
  settledAt: NOW,
  ...change,
})
const say = (counting: Counting) => (counting.counts ? 'counts' : counting.why)
const counted = (times: number, ageMs: number): PairHistory => ({
  countedAt: Array.from({ length: times }, () => NOW - ageMs),
})

const fresh = NO_PAIR_HISTORY
const own = { hirerOwner: ann }
const free = { priceCents: 0 }
const overdue: Ending = { how: 'failed', cause: 'overdue' }
const late: Ending = { how: 'failed', cause: 'deadline' }
const full = counted(10, DAY_MS)

// biome-ignore format: a table is read by its columns
const rows: [rule: string, ending: Outcome, pair: PairHistory, window: string, running: string][] = [
  ['a paid success between owners',           outcome(done),           fresh, 'counts', 'counts'],
  ['a success within one owner',              outcome(done, own),      fresh, 'counts', 'same_owner'],
  ['a success that nobody paid for',          outcome(done, free),     fresh, 'counts', 'unpaid'],
  ['the smallest price is a price',           outcome(done, { priceCents: 1 }), fresh, 'counts', 'counts'],
  ['the tenth success of a pair',             outcome(done), counted(9, DAY_MS), 'counts', 'counts'],
  ['the eleventh success of a pair',          outcome(done),           full,  'counts', 'pair_limit'],
  ['successes leave the limit after 30 days', outcome(done), counted(10, 30 * DAY_MS), 'counts', 'counts'],
  ['and not a moment earlier',                outcome(done), counted(10, 30 * DAY_MS - 1), 'counts', 'pair_limit'],
  ['a failure that the agent signed',         outcome(failed),         fresh, 'counts', 'counts'],
  ['a missed deadline',                       outcome(late),           fresh, 'counts', 'counts'],
  ['a hold released as overdue (P-3)',        outcome(overdue),        fresh, 'counts', 'counts'],
  ['no limit holds a failure back',           outcome(failed),         full,  'counts', 'counts'],
  ['a failure within one owner',              outcome(failed, own),    fresh, 'counts', 'same_owner'],
  ['cancelled work',                          outcome(cancelled),      fresh, 'cancelled', 'cancelled'],
  ['the strongest reason is the one given',   outcome(done, { ...own, ...free }), full, 'counts', 'same_owner'],
]

describe('X-1 CH-12 what counts for which score', () => {
  for (const [rule, given, pair, window, running] of rows) {
    test(rule, () => {
      assert.equal(say(countsForWindow(given)), window)
      assert.equal(say(countsForRunning(given, pair, TRUST_RULES)), running)
    })
  }

  test('the limit and its window are settings', () => {
    const rules = { pairSuccesses: 2, pairWindowMs: DAY_MS }
    assert.equal(say(countsForRunning(outcome(done), counted(2, 1), rules)), 'pair_limit')
    assert.equal(say(countsForRunning(outcome(done), counted(2, DAY_MS), rules)), 'counts')
  })

  test('rules are set where they are not so already', () => {
    const rules = { pairSuccesses: 2, pairWindowMs: DAY_MS }
    const set = { type: 'trust_rules_set', rules, at: 5 }
    assert.deepEqual(decideRules(TRUST_RULES, rules, 5).facts, [set])
    assert.deepEqual(decideRules(rules, { ...rules }, 5).facts, [])
    assert.equal(decideRules({ ...rules, pairSuccesses: 3 }, rules, 5).facts.length, 1)
    assert.equal(decideRules({ ...rules, pairWindowMs: 3 }, rules, 5).facts.length, 1)
  })

  test('a pair is ordered, and no owner name can pass for another pair', () => {
    const key = (hirerOwner: string, owner: string) =>
      pairKey({ hirerOwner: hirerOwner as OwnerId, owner: owner as OwnerId })
    assert.notEqual(key('ann', 'bob'), key('bob', 'ann'))
    assert.notEqual(key('a","b', 'c'), key('a', 'b","c'))
  })
})

const work = (state: WorkState, deadline?: number): Work => ({
  ask: {
    work: 'w1' as WorkId,
    task: 't1' as TaskId,
    requester: 'bob',
    agent: 'a1' as AgentId,
    skill: 'echo',
    key: 'k1' as IdempotencyKey,
    content: 'c1' as Digest,
    correlation: 'x1' as CorrelationId,
    priority: 5,
    askedAt: 1_000,
    ...(deadline === undefined ? {} : { deadline }),
  },
  priceCents: 10,
  state,
})
const around = { owner: ann, hirerOwner: bob, respondedAt: 1_200, settledAt: 9_000 }
const fault = { code: 'BROKEN', message: 'It broke', lasting: 'permanent' } as const

describe('CH-12 P-2 outcomes come of settled work alone', () => {
  const end = { name: 'done', endedAt: 5_000, output: 'o1' as Digest } as const
  // biome-ignore format: a table is read by its columns
  const open: [state: WorkState][] = [
    [{ name: 'refused', refusal: 'input_invalid' }],
    [{ name: 'refused', refusal: 'slots_exhausted' }],
    [{ name: 'running', acceptedAt: 1_200, startedAt: 1_300 }],
    [{ name: 'unknown', acceptedAt: 1_200, since: 2_000 }],
    [end],
  ]
  for (const [state] of open) {
    const detail = state.name === 'refused' ? ` for ${state.refusal}` : ''
    test(`${state.name}${detail} is no outcome`, () => {
      assert.equal(outcomeOf(work(state), around), undefined)
    })
  }

  test('settled work yields when it was asked, how it ended and what was captured', () => {
    assert.deepEqual(outcomeOf(work({ name: 'settled', end, capturedCents: 7 }, 6_000), around), {
      ...around,
      work: 'w1',
      agent: 'a1',
      ending: { how: 'done' },
      priceCents: 7,
      receivedAt: 1_000,
      endedAt: 5_000,
      deadline: 6_000,
    })
  })

  test('a failure keeps its cause, and a cancellation counts against nobody', () => {
    const ended = (end: Extract<WorkState, { name: 'settled' }>['end']) =>
      outcomeOf(work({ name: 'settled', end, capturedCents: 0 }), around)?.ending
    const broke = { name: 'failed', endedAt: 5_000, cause: 'overdue', fault } as const
    const stopped = { name: 'cancelled', endedAt: 5_000, cause: 'unapproved' } as const
    assert.deepEqual(ended(broke), overdue)
    assert.deepEqual(ended(stopped), cancelled)
  })
})
