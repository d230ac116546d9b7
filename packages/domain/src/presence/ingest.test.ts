/** One row, one rule of J1–J4; the run below feeds messages in any order, doubled and late. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import type { Holder } from '../agent/alias.ts'
import type { AgentId, Alias, Instant, MessageId } from '../ids.ts'
import { LIMITS } from '../limits.ts'
import {
  agesAt,
  applyIngest,
  decideIngest,
  type Heard,
  type IngestAsked,
  NOTHING_HEARD,
  type ReportedCondition,
  type StatusReport,
} from './ingest.ts'

const NOW = 1_000_000
const alias = 'chimera_planner_01' as Alias
const agent: Holder = { by: 'agent', agent: 'a1' as AgentId }
const other: Holder = { by: 'agent', agent: 'a2' as AgentId }
const token: Holder = { by: 'credential', subject: 'publisher of acme' }
const namesake: Holder = { by: 'credential', subject: 'a1' }

const said = (
  message: string,
  updatedAt: Instant,
  condition: ReportedCondition = 'idle',
): StatusReport => ({
  type: 'report_status',
  message: message as MessageId,
  alias,
  condition,
  updatedAt,
})
const from = (publisher: Holder | undefined, report: StatusReport): IngestAsked =>
  publisher === undefined ? { report } : { report, publisher }

function hear(heard: Heard, asked: IngestAsked, now: Instant): Heard {
  const decision = decideIngest(heard, asked, now)
  assert.ok(decision.ok, decision.ok ? '' : decision.refusal)
  return decision.facts.reduce(applyIngest, heard)
}
const held = hear(NOTHING_HEARD, from(agent, said('m1', NOW)), NOW)
const lent = hear(NOTHING_HEARD, from(token, said('m1', NOW)), NOW)
const watched = hear(NOTHING_HEARD, from(undefined, said('m1', NOW)), NOW)

// biome-ignore format: a table is read by its columns
const rows: [rule: string, before: Heard, asked: IngestAsked, answer: string][] = [
  ['SF-7 a newer message is the view',                     held,    from(agent, said('m2', NOW + 1)),              'status_observed'],
  ['SF-7 the same message again changes nothing',          held,    from(agent, said('m1', NOW)),                  ''],
  ['SF-7 nor does it with another content',                held,    from(agent, said('m1', NOW + 5, 'working')),   ''],
  ['SF-7 an older one is outdated',                        held,    from(agent, said('m0', NOW - 1)),              'status_outdated'],
  ['SF-7 of two with one time the later heard is taken',   held,    from(agent, said('m2', NOW, 'working')),       'status_observed'],
  ['X-9 a clock may be ahead by the skew',                 held,    from(agent, said('m2', NOW + LIMITS.skewMs)),     'status_observed'],
  ['X-9 and not by more',                                  held,    from(agent, said('m2', NOW + LIMITS.skewMs + 1)), 'message_early'],
  ['X-10 an agent\'s key claims the alias',                NOTHING_HEARD, from(agent, said('m1', NOW)),            'alias_claimed status_observed'],
  ['X-10 so does a credential',                            NOTHING_HEARD, from(token, said('m1', NOW)),            'alias_held status_observed'],
  ['X-10 what nobody claims is only observed',             NOTHING_HEARD, from(undefined, said('m1', NOW)),        'status_observed'],
  ['X-10 another agent does not speak under it',           held,    from(other, said('m2', NOW + 1)),              'alias_taken'],
  ['X-10 nor a credential of the same name',               held,    from(namesake, said('m2', NOW + 1)),           'alias_taken'],
  ['X-10 nor another agent under a credential\'s',         lent,    from(agent, said('m2', NOW + 1)),              'alias_taken'],
  ['X-10 nor somebody unknown',                            held,    from(undefined, said('m2', NOW + 1)),          'caller_unknown'],
  ['X-10 the credential goes on',                          lent,    from(token, said('m2', NOW + 1)),              'status_observed'],
  ['X-10 an observed alias can still be claimed',          watched, from(agent, said('m2', NOW + 1)),              'alias_claimed status_observed'],
  ['X-10 whatever strangers said before: the time',        watched, from(agent, said('m2', NOW - 9)),              'alias_claimed status_observed'],
  ['X-10 whatever strangers said before: the id',          watched, from(agent, said('m1', NOW + 1)),              'alias_claimed status_observed'],
  ['the strongest refusal is the one given',               held,    from(other, said('m1', NOW + 90_000)),         'alias_taken'],
]

for (const [rule, before, asked, answer] of rows) {
  test(rule, () => {
    const decision = decideIngest(before, asked, NOW)
    const told = decision.ok ? decision.facts.map(({ type }) => type).join(' ') : decision.refusal
    assert.equal(told, answer)
  })
}

test('SF-7 an outdated message leaves the view and is itself remembered', () => {
  const late = from(agent, said('m0', NOW - 1, 'paused'))
  const after = hear(held, late, NOW)
  assert.deepEqual(after.last, held.last)
  assert.deepEqual(decideIngest(after, late, NOW), { ok: true, facts: [] })
})

test('X-10 a claim keeps its holder', () => {
  assert.deepEqual(held.holder, agent)
  assert.deepEqual(lent.holder, token)
  assert.equal(watched.holder, undefined)
})

test('X-9 an early message says when to come again', () => {
  const decision = decideIngest(held, from(agent, said('m2', NOW + 40_000)), NOW)
  assert.ok(!decision.ok)
  assert.equal(decision.particulars.retryAt, NOW + 40_000 - LIMITS.skewMs)
})

test('SF-7 whatever the order of arrival, and however often, the newest is the view', () => {
  const arrivals = fc
    .uniqueArray(fc.integer({ min: 1, max: 10_000 }), { minLength: 1, maxLength: 20 })
    .chain((stamps) =>
      fc.tuple(
        fc.constant(stamps),
        fc.array(fc.constantFrom(...stamps), { maxLength: 40 }),
        fc.shuffledSubarray(stamps, { minLength: stamps.length }),
      ),
    )
  fc.assert(
    fc.property(arrivals, ([stamps, some, all]) => {
      let heard = NOTHING_HEARD
      const stored: string[] = []
      for (const at of [...some, ...all]) {
        const before = heard.last?.report.updatedAt ?? 0
        const decision = decideIngest(heard, from(agent, said(`m${at}`, at)), NOW)
        assert.ok(decision.ok)
        for (const fact of decision.facts) {
          heard = applyIngest(heard, fact)
          if ('report' in fact) stored.push(fact.report.message)
        }
        assert.ok((heard.last?.report.updatedAt ?? 0) >= before)
      }
      assert.equal(heard.last?.report.updatedAt, Math.max(...stamps))
      assert.deepEqual(new Set(stored).size, stored.length, 'a message is taken once')
    }),
  )
})

test('the memory of message ids is bounded', () => {
  let heard = NOTHING_HEARD
  for (let at = 0; at < 500; at += 1) heard = hear(heard, from(agent, said(`m${at}`, at)), NOW)
  assert.equal(heard.recent.length, LIMITS.feedMemory)
})

describe('SF-3 silence', () => {
  // biome-ignore format: a table is read by its columns
  const ages: [condition: ReportedCondition, afterMs: number | undefined][] = [
    ['idle', 195_000], ['working', 195_000], ['human_review', undefined], ['paused', undefined],
  ]
  for (const [condition, afterMs] of ages) {
    test(`ages ${condition} ${afterMs === undefined ? 'never' : `after ${afterMs} ms`}`, () => {
      const ends = agesAt({ report: said('m1', NOW, condition), heardAt: NOW })
      assert.equal(ends, afterMs === undefined ? undefined : NOW + afterMs)
    })
  }
})
