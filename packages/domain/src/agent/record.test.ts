/** SK-12: an update is all or nothing, versioned, and keeps to the lifecycle. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import type { AgentId } from '../ids.ts'
import type { ConditionName } from './condition.ts'
import {
  type AgentRecord,
  decideUpdate,
  firstRecord,
  presentRecord,
  type RecordUpdate,
} from './record.ts'

const NOW = 1_000_000
const fault = { code: 'BROKEN', message: 'the wallet is gone', lasting: 'permanent' } as const
function record(name: ConditionName, running = 0): AgentRecord {
  const condition = name === 'error' ? { name, since: 0, fault } : { name, since: 0 }
  const workload = { running, awaiting: 0, slotsTotal: 4, slotsFree: 4 - running }
  return { agent: 'a1' as AgentId, version: 7, standing: { condition, workload }, pendingTasks: 0 }
}

// biome-ignore format: a table is read by its columns
const rows: [rule: string, before: AgentRecord | undefined, update: RecordUpdate, answer: string][] = [
  ['SK-12 an agent that nobody knows',                   undefined,            { pendingTasks: 1 },                                        'agent_unknown'],
  ['SK-12 the expected version',                         record('idle'),       { expectedVersion: 7, pendingTasks: 1 },                    'v8 idle'],
  ['SK-12 another version than the present one',         record('idle'),       { expectedVersion: 6, pendingTasks: 1 },                    'state_changed'],
  ['SK-12 no expected version is no lock',               record('idle'),       { pendingTasks: 1 },                                        'v8 idle'],
  ['SK-12 nothing changed keeps the version',            record('idle'),       { pendingTasks: 0 },                                        'nothing'],
  ['SK-12 busy without work is not a state',             record('idle'),       { condition: { name: 'occupied' } },                        'transition_illegal'],
  ['SK-12 busy with work states what is so',             record('working', 1), { condition: { name: 'occupied' } },                        'nothing'],
  ['SK-12 idle with work is not a state either',         record('working', 1), { condition: { name: 'accepting' } },                       'transition_illegal'],
  ['SK-12 pausing',                                      record('idle'),       { condition: { name: 'paused' } },                          'v8 paused'],
  ['SK-12 resuming',                                     record('paused'),     { condition: { name: 'accepting' } },                       'v8 idle'],
  ['SK-12 resuming into work',                           record('paused', 2),  { condition: { name: 'occupied' } },                        'v8 working'],
  ['SK-12 paused to error with a reason',                record('paused'),     { condition: { name: 'failed', fault } },                   'v8 error'],
  ['SK-12 paused to error without a reason',             record('paused'),     { condition: { name: 'failed', fault: { ...fault, message: '' } } }, 'reason_missing'],
  ['SK-12 recovering',                                   record('error'),      { condition: { name: 'accepting' } },                       'v8 idle'],
  ['SK-12 nobody wakes a stopped agent from outside',    record('stopped'),    { condition: { name: 'accepting' } },                       'transition_illegal'],
]

describe('an update', () => {
  for (const [rule, before, update, answer] of rows) {
    test(rule, () => {
      const decision = decideUpdate(before, update, NOW)
      const after = decision.ok ? decision.facts[0]?.record : undefined
      const got = !decision.ok
        ? decision.refusal
        : after === undefined
          ? 'nothing'
          : `v${after.version} ${after.standing.condition.name}`
      assert.equal(got, answer)
    })
  }

  test('SK-12 is atomic: a refused condition takes the other fields with it', () => {
    const both = { pendingTasks: 9, condition: { name: 'occupied' } } as const
    assert.deepEqual(decideUpdate(record('idle'), both, NOW).ok, false)
  })
})

describe('U5 U6 how an agent stands', () => {
  const seen = (name: ConditionName, running = 0, slotsTotal = 4) => ({
    ...record(name, running).standing,
    workload: { running, awaiting: 0, slotsTotal, slotsFree: 0 },
  })
  const stated = (pendingTasks: number): AgentRecord => ({ ...record('idle'), pendingTasks })
  const busy = { pendingTasks: 2, condition: { name: 'occupied' } } as const

  // biome-ignore format: a table is read by its columns
  const standings: [rule: string, kept: AgentRecord, by: ReturnType<typeof seen>, answer: string][] = [
    ['nothing ordered: as it is seen',              record('idle'),       seen('working', 1),     'working 1'],
    ['what was ordered holds',                      record('paused'),     seen('working', 1),     'paused 1'],
    ['a fault outweighs a pause',                   record('error'),      seen('paused'),         'error 0'],
    ['what is worse shows',                         record('paused'),     seen('maintenance'),    'maintenance 0'],
    ['work that was once kept does not come back',  record('working', 3), seen('idle'),           'idle 0'],
    ['who is gone has stopped',                     record('paused'),     seen('stopped'),        'stopped 0'],
    ['stated tasks are work where no slot is known', stated(2),           seen('idle', 0, 0),     'working 2'],
    ['and are not where slots are',                 stated(2),            seen('idle'),           'idle 0'],
    ['nor where tasks are seen',                    stated(2),            seen('working', 1, 0),  'working 1'],
  ]
  for (const [rule, kept, by, answer] of standings) {
    test(rule, () => {
      const { standing, version } = presentRecord(kept, by)
      assert.equal(`${standing.condition.name} ${standing.workload.running}`, answer)
      assert.equal(version, kept.version)
    })
  }

  test('SK-12 tasks that are stated with it make an agent without slots busy', () => {
    const first = firstRecord('a1' as AgentId, seen('idle', 0, 0))
    assert.equal(first.version, 1)
    const decision = decideUpdate(first, busy, NOW)
    const after = decision.ok ? decision.facts[0]?.record : undefined
    assert.deepEqual([after?.version, after?.standing.condition.name], [2, 'working'])
    const known = decideUpdate(record('idle'), busy, NOW)
    assert.equal(!known.ok && known.refusal, 'transition_illegal', 'its slots say otherwise')
  })

  test('SK-12 stating the same tasks again is nothing new', () => {
    const first = decideUpdate(firstRecord('a1' as AgentId, seen('idle', 0, 0)), busy, NOW)
    const after = first.ok ? first.facts[0]?.record : undefined
    assert.deepEqual(decideUpdate(after, { pendingTasks: 2 }, NOW + 5), { ok: true, facts: [] })
  })
})

test('SK-12 of any number of writers that read the same version, one wins', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 20 }),
      (values) => {
        let state = record('idle')
        let wins = 0
        for (const pendingTasks of values) {
          const decision = decideUpdate(state, { expectedVersion: 7, pendingTasks }, NOW)
          if (!decision.ok) continue
          wins += 1
          state = decision.facts[0]?.record ?? state
        }
        assert.equal(wins, 1)
        assert.equal(state.pendingTasks, values[0])
      },
    ),
  )
})
