/**
 * Every cell of the lifecycle: from each condition, each command. The run below holds L1–L3 to any
 * sequence of commands.
 */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import {
  accepts,
  applyCondition,
  CONDITIONS,
  type Condition,
  type ConditionCommand,
  type ConditionName,
  decideCondition,
  nameByWork,
  type Standing,
  summarise,
  tasksOf,
  type Workload,
} from './condition.ts'

const NOW = 5_000
const fault = {
  code: 'UPSTREAM_GONE',
  message: 'the source is away',
  lasting: 'transient',
} as const
const none: Workload = { running: 0, awaiting: 0, slotsTotal: 4, slotsFree: 4 }
const some: Workload = { running: 1, awaiting: 0, slotsTotal: 4, slotsFree: 3 }

function conditionOf(name: ConditionName, since = 1_000): Condition {
  if (name === 'error') return { name, since, fault }
  return { name, since }
}
const standing = (name: ConditionName, workload = none): Standing => ({
  condition: conditionOf(name),
  workload,
})

const commands = {
  pause: { type: 'pause' },
  resume: { type: 'resume' },
  drain: { type: 'drain' },
  maintain: { type: 'maintain', until: NOW + 60_000, reason: 'new disks' },
  fail: { type: 'fail', fault },
  recover: { type: 'recover' },
  stop: { type: 'stop' },
  start: { type: 'start' },
} as const satisfies Record<string, ConditionCommand>

// biome-ignore format: a table is read by its columns
const cells: Record<ConditionName, Record<keyof typeof commands, ConditionName | 'same' | 'no'>> = {
  idle:         { pause: 'paused', resume: 'same', drain: 'draining', maintain: 'maintenance', fail: 'error', recover: 'same', stop: 'stopped', start: 'same' },
  working:      { pause: 'paused', resume: 'same', drain: 'draining', maintain: 'maintenance', fail: 'error', recover: 'same', stop: 'stopped', start: 'same' },
  human_review: { pause: 'paused', resume: 'same', drain: 'draining', maintain: 'maintenance', fail: 'error', recover: 'same', stop: 'stopped', start: 'same' },
  paused:       { pause: 'same',   resume: 'idle', drain: 'draining', maintain: 'maintenance', fail: 'error', recover: 'no',   stop: 'stopped', start: 'no' },
  draining:     { pause: 'no',     resume: 'idle', drain: 'same',     maintain: 'maintenance', fail: 'error', recover: 'no',   stop: 'stopped', start: 'no' },
  maintenance:  { pause: 'paused', resume: 'idle', drain: 'draining', maintain: 'maintenance', fail: 'error', recover: 'no',   stop: 'stopped', start: 'no' },
  error:        { pause: 'paused', resume: 'no',   drain: 'draining', maintain: 'maintenance', fail: 'error', recover: 'idle', stop: 'stopped', start: 'no' },
  stopped:      { pause: 'no',     resume: 'no',   drain: 'no',       maintain: 'no',          fail: 'no',    recover: 'no',   stop: 'same',    start: 'idle' },
}

describe('each command from each condition', () => {
  for (const from of CONDITIONS) {
    for (const [word, command] of Object.entries(commands)) {
      const answer = cells[from][word as keyof typeof commands]
      test(`${from}: ${word} → ${answer}`, () => {
        const decision = decideCondition(standing(from), command, NOW)
        if (!decision.ok) return assert.equal(answer, 'no')
        const [fact] = decision.facts
        if (fact === undefined) return assert.equal(answer, 'same')
        assert.equal(fact.type === 'condition_changed' && fact.to.name, answer)
      })
    }
  }
})

// biome-ignore format: a table is read by its columns
const byWork: [rule: string, from: ConditionName, work: Partial<Workload>, to: ConditionName][] = [
  ['OC-16 accepting work moves idle to working',             'idle',         { running: 1 },              'working'],
  ['OC-16 the last completion moves working to idle',        'working',      {},                          'idle'],
  ['OC-16 a completion that is not the last moves nothing',  'working',      { running: 2 },              'working'],
  ['OC-19 work that waits on a person shows as review',      'working',      { running: 1, awaiting: 1 }, 'human_review'],
  ['OC-19 the answer of the person ends the review',         'human_review', { running: 1 },              'working'],
  ['a drained instance stays draining when its work ends',   'draining',     {},                          'draining'],
  ['a pause is not ended by work',                           'paused',       { running: 3 },              'paused'],
  ['an error is not ended by work',                          'error',        {},                          'error'],
]

describe('what work moves', () => {
  for (const [rule, from, work, to] of byWork) {
    test(rule, () => {
      const before = standing(from, { running: 9, awaiting: 0, slotsTotal: 9, slotsFree: 0 })
      const command = { type: 'update_workload', workload: { ...none, ...work } } as const
      const decision = decideCondition(before, command, NOW)
      assert.ok(decision.ok)
      assert.equal(decision.facts.reduce(applyCondition, before).condition.name, to)
    })
  }
})

test('SK-12 an error without a reason is refused', () => {
  const silent = { type: 'fail', fault: { ...fault, message: '  ' } } as const
  const decision = decideCondition(standing('paused'), silent, NOW)
  assert.equal(!decision.ok && decision.refusal, 'reason_missing')
})

test('OC-5 recovery with work in flight goes to working', () => {
  const decision = decideCondition(standing('error', some), { type: 'recover' }, NOW)
  assert.ok(decision.ok)
  assert.equal(
    decision.facts.reduce(applyCondition, standing('error', some)).condition.name,
    'working',
  )
})

test('OC-6 maintenance has an end and a reason, and keeps its beginning when extended', () => {
  const first = decideCondition(standing('idle'), commands.maintain, NOW)
  assert.ok(first.ok)
  const during = first.facts.reduce(applyCondition, standing('idle'))
  assert.deepEqual(during.condition, {
    name: 'maintenance',
    since: NOW,
    until: NOW + 60_000,
    reason: 'new disks',
  })
  const longer = decideCondition(during, { type: 'maintain', until: NOW + 120_000 }, NOW + 1)
  assert.ok(longer.ok)
  const after = longer.facts.reduce(applyCondition, during)
  assert.deepEqual(after.condition, { name: 'maintenance', since: NOW, until: NOW + 120_000 })
})

describe('X-2 the agent is the sum of its instances', () => {
  const at = (name: ConditionName, workload: Workload) => ({
    condition: conditionOf(name),
    workload,
  })

  test('tasks and slots are summed over live instances; only an accepting one has room', () => {
    const sum = summarise([at('working', some), at('paused', some), at('stopped', some)], NOW)
    assert.deepEqual(sum.workload, { running: 2, awaiting: 0, slotsTotal: 8, slotsFree: 3 })
    assert.equal(sum.condition.name, 'working')
  })
  test('if none accepts, the mildest condition speaks', () => {
    const sum = summarise([at('error', none), at('draining', some), at('maintenance', none)], NOW)
    assert.equal(sum.condition.name, 'draining')
  })
  test('an agent without instances is stopped', () => {
    assert.equal(summarise([], NOW).condition.name, 'stopped')
  })
})

test('L1–L3 hold over any sequence of commands', () => {
  const workload = fc.record({
    running: fc.nat(3),
    awaiting: fc.nat(2),
    slotsTotal: fc.constant(4),
    slotsFree: fc.nat(4),
  })
  const command = fc.oneof(
    fc.constantFrom<ConditionCommand>(...Object.values(commands)),
    workload.map((each): ConditionCommand => ({ type: 'update_workload', workload: each })),
  )
  fc.assert(
    fc.property(fc.array(command, { maxLength: 60 }), (all) => {
      let now = NOW
      let state = standing('idle')
      for (const each of all) {
        now += 1
        const decision = decideCondition(state, each, now)
        const after = decision.ok ? decision.facts.reduce(applyCondition, state) : state
        if (accepts(after.condition)) assert.equal(after.condition.name, nameByWork(after.workload))
        if (after.condition.name === 'idle') assert.equal(tasksOf(after.workload), 0)
        if (each.type === 'update_workload' && !accepts(state.condition)) {
          assert.equal(after.condition, state.condition)
        }
        state = after
      }
    }),
  )
})
