/** What the vectors cannot show: round trips, the projection, notes, fuzz, and every refusal. */
import assert from 'node:assert/strict'
import {
  CONDITIONS,
  type Condition,
  type ConditionName,
  type Standing,
  type Workload,
} from '@chimera/domain/agent/condition'
import { refuse } from '@chimera/domain/decision'
import type { AgentId, Alias, MessageId } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import {
  applyIngest,
  decideIngest,
  type Heard,
  NOTHING_HEARD,
  type StatusReport,
} from '@chimera/domain/presence/ingest'
import { isRetryable, REFUSALS, type Refusal } from '@chimera/domain/refusals'
import { failureOf, isTransient, PUBLISHING_READY } from '@chimera/domain/voice/publishing'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { checker } from '../check.ts'
import * as feed from './index.ts'
import { Accepted, ErrorAnswer, FeedState, Status } from './schema.ts'

const NOW = Date.UTC(2026, 1, 6, 12)
const ID = 'b6f9e3f8-2d3a-4e6a-9f12-0d3a1b2c3d4e' as MessageId
const alias = 'chimera_planner_01' as Alias
const fault = {
  code: 'UPSTREAM_GONE',
  message: 'secret=hunter2hunter2 at /home/acme/run.ts on db.internal, ask eva@acme.example',
  lasting: 'transient',
} as const

const conditionOf = (name: ConditionName): Condition =>
  name === 'error' ? { name, since: 0, fault } : { name, since: 0 }
const publicationOf = (standing: Standing): feed.Publication => ({
  message: ID,
  alias,
  standing,
  capabilities: ['trend_analysis'],
  startedAt: NOW - 3_600_500,
})

const zero: Workload = { running: 0, awaiting: 0, slotsTotal: 4, slotsFree: 4 }
const simple: StatusReport = {
  type: 'report_status',
  message: ID,
  alias,
  condition: 'idle',
  updatedAt: NOW,
}

const condition = fc.constantFrom(...CONDITIONS).map(conditionOf)
const workload: fc.Arbitrary<Workload> = fc.record({
  running: fc.nat(1_000),
  awaiting: fc.nat(1_000),
  slotsTotal: fc.nat(1_000),
  slotsFree: fc.nat(1_000),
})
const standing: fc.Arbitrary<Standing> = fc.record({ condition, workload })
const instant = fc.integer({ min: 0, max: 4_000_000_000_000 })
const maybe = <Value>(each: fc.Arbitrary<Value>) => fc.option(each, { nil: undefined })
/** As it looks after a trip over the wire: absent members are absent, objects are plain. */
const plain = <Value>(value: unknown): Value => JSON.parse(JSON.stringify(value))
const report = fc
  .record({
    type: fc.constant('report_status'),
    message: fc.uuid(),
    alias: fc.string({ minLength: 1, maxLength: 128, unit: 'grapheme-ascii' }),
    condition: fc.constantFrom('idle', 'working', 'human_review', 'paused'),
    capabilities: maybe(fc.array(fc.stringMatching(/^[a-z_]{1,30}$/), { maxLength: 5 })),
    updatedAt: instant,
    uptimeMs: maybe(fc.nat(1e9).map((seconds) => seconds * 1_000)),
    note: maybe(fc.constantFrom('', 'Ready.', 'Grüße aus dem Studio')),
  })
  .map((each) => plain<StatusReport>(each))

describe('what is encoded is decoded to the same', () => {
  test('SF-1 reports', () => {
    fc.assert(
      fc.property(report, (said) => {
        const read = feed.readStatus(feed.encodeReport(said))
        assert.deepEqual(read, { ok: true, value: said })
      }),
    )
  })
  test('what a hub shows of an alias', () => {
    const view = fc.record({ report, heardAt: instant, stale: fc.boolean(), claimed: fc.boolean() })
    fc.assert(
      fc.property(
        view.map((each) => plain<feed.FeedView>(each)),
        (shown) => {
          const read = feed.readFeedState(feed.encodeFeedView(shown))
          assert.deepEqual(read, { ok: true, value: shown })
        },
      ),
    )
  })
})

describe('X-2 the status feed column', () => {
  // biome-ignore format: a table is read by its columns
  const cells: Record<ConditionName, string> = {
    idle: 'AVAILABLE', working: 'BUSY', human_review: 'HUMAN_REVIEW', paused: 'PAUSED',
    draining: 'PAUSED', maintenance: 'PAUSED', error: 'PAUSED', stopped: 'PAUSED',
  }
  for (const name of CONDITIONS) {
    test(`${name} → ${cells[name]}`, () => {
      assert.equal(feed.encodeCondition(conditionOf(name)), cells[name])
    })
  }
  test('a feed that cannot be reached reads PAUSED, and only here', () => {
    const paused = { is: 'paused', failures: 6, probeAt: NOW } as const
    assert.equal(feed.encodeLocalStatus(conditionOf('working'), paused), 'PAUSED')
    assert.equal(feed.encodeLocalStatus(conditionOf('working'), PUBLISHING_READY), 'BUSY')
  })
  test('SF-3 available and busy are repeated, the others are not', () => {
    assert.deepEqual(feed.RHYTHMS, {
      AVAILABLE: 'steady',
      BUSY: 'steady',
      HUMAN_REVIEW: 'silent',
      PAUSED: 'silent',
    })
  })
})

describe('SF-1 what is published', () => {
  test('passes the stricter check, whatever the agent is doing', () => {
    fc.assert(
      fc.property(standing, fc.uuid({ version: 4 }), instant, (at, message, stamp) => {
        const sent = feed.encodeStatus(
          { ...publicationOf(at), message: message as MessageId },
          stamp,
        )
        const checked = feed.checkEmitted(sent)
        assert.ok(checked.ok, checked.ok ? '' : JSON.stringify(checked.particulars.issues))
      }),
    )
  })
  test('has whole seconds of uptime', () => {
    const still = { condition: conditionOf('idle'), workload: zero }
    assert.equal(feed.encodeStatus(publicationOf(still), NOW).uptime_s, 3_600)
    assert.equal(feed.encodeStatus(publicationOf(still), 0).uptime_s, 0)
  })
  // biome-ignore format: a table is read by its columns
  const rows: [why: string, change: object, path: string][] = [
    ['an id of another version',  { message_id: 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6' }, '/message_id'],
    ['an id with another variant', { message_id: 'b6f9e3f8-2d3a-4e6a-7f12-0d3a1b2c3d4e' }, '/message_id'],
    ['a fraction of a second',    { uptime_s: 1.5 },                                      '/uptime_s'],
    ['a note with a path',        { notes: 'see /var/log/agent.log' },                    '/notes'],
    ['an unknown field',          { task_id: '42' },                                      '/task_id'],
  ]
  for (const [why, change, path] of rows) {
    test(`refuses ${why}`, () => {
      const sent = feed.encodeStatus(
        publicationOf({ condition: conditionOf('idle'), workload: zero }),
        NOW,
      )
      const checked = feed.checkEmitted({ ...sent, ...change })
      assert.ok(!checked.ok)
      assert.deepEqual(
        checked.particulars.issues?.map((issue) => issue.path),
        [path],
      )
    })
  }
})

describe('SF-2 notes', () => {
  const work: Workload = { running: 1, awaiting: 2, slotsTotal: 4, slotsFree: 3 }
  // biome-ignore format: a table is read by its columns
  const notes: Record<ConditionName, string> = {
    idle:         'Ready: 3 of 4 slots free.',
    working:      'Working on 1 task; 3 of 4 slots free.',
    human_review: 'Waiting for a person on 2 tasks; working on 1 task.',
    paused:       'Paused; 3 tasks in flight.',
    draining:     'Draining; 3 tasks in flight.',
    maintenance:  'In maintenance; 3 tasks in flight.',
    error:        'Out of order; 3 tasks in flight.',
    stopped:      'Stopped.',
  }
  for (const name of CONDITIONS) {
    test(`${name}: ${notes[name]}`, () => {
      assert.equal(feed.encodeNote({ condition: conditionOf(name), workload: work }), notes[name])
    })
  }
  test('are fixed sentences with counts: no fault, reason or task gets into one', () => {
    const template = (note: string) => note.replace(/\d+ (task|slot)s?|\d+ of/g, '#')
    const known = new Set(Object.values(notes).map(template))
    fc.assert(
      fc.property(standing, (at) => {
        const note = feed.encodeNote(at)
        assert.ok(known.has(template(note)), note)
        assert.ok(note.length <= LIMITS.notesChars)
        assert.deepEqual(feed.findNoteIssues(note), [])
      }),
    )
  })

  // biome-ignore format: a table is read by its columns
  const planted: [note: string, got: string][] = [
    ['see http://localhost:4600/runs',                  'an inside address'],
    ['see https://runs.acme.internal/42',               'an inside address'],
    ['see https://10.1.2.3/runs',                       'an inside address'],
    ['see http://grafana/d/1',                          'an inside address'],
    ['log at /var/log/chimera/agent.log',               'a file path'],
    ['token=abcd1234efgh5678',                          'something that looks like a credential'],
    ['Bearer abcdefgh12345678ijkl',                     'something that looks like a credential'],
    ['write to eva@example.org',                        'personal data'],
    ['call +49 170 1234567',                            'personal data'],
    ['at run (node:internal/process/task_queues:95:5)', 'a stack trace'],
  ]
  for (const [notesText, got] of planted) {
    test(`${JSON.stringify(notesText)} is refused, and not repeated in the answer`, () => {
      const sent = { ...feed.encodeReport(simple), notes: notesText }
      const read = feed.readStatus(sent)
      assert.ok(!read.ok)
      const issues = read.particulars.issues ?? []
      assert.ok(issues.some((issue) => issue.path === '/notes' && issue.got === got))
      assert.ok(!JSON.stringify(feed.encodeRefusal(read, NOW)).includes(notesText))
    })
  }
  test('a public address is no inside address', () => {
    assert.deepEqual(feed.findNoteIssues('see https://status.example.org/today'), [])
  })
})

describe('SF-12 fuzz', () => {
  const known = new Set(Object.keys(Status.properties))
  const name = fc.string({ maxLength: 30, unit: 'grapheme' }).filter((each) => !known.has(each))
  const nasty = fc.constantFrom('__proto__', 'constructor', 'toString', 'Notes', 'notes ', '')

  test('extra properties are always refused and named', () => {
    fc.assert(
      fc.property(report, fc.oneof(name, nasty), fc.jsonValue(), (said, extra, value) => {
        const sent = feed.encodeReport(said)
        // As JSON.parse does it: `__proto__` becomes a property like any other.
        Object.defineProperty(sent, extra, { value, enumerable: true })
        const read = feed.readStatus(sent)
        assert.ok(!read.ok)
        assert.ok(read.particulars.issues?.some((issue) => issue.path === `/${extra}`))
        assert.ok(!feed.checkEmitted(sent).ok)
      }),
      { numRuns: 500 },
    )
  })
  test('whatever comes, the reader answers and does not throw', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => void feed.readStatus(value)))
  })
})

describe('SF-7 answers', () => {
  const holder = { by: 'agent', agent: 'a1' as AgentId } as const
  const ingest = (heard: Heard, said: StatusReport) => {
    const decision = decideIngest(heard, { report: said, publisher: holder }, NOW)
    assert.ok(decision.ok)
    return decision.facts
  }
  const facts = ingest(NOTHING_HEARD, simple)
  const heard = facts.reduce(applyIngest, NOTHING_HEARD)
  const late = { ...simple, message: '0b1f2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d' as MessageId }

  // biome-ignore format: a table is read by its columns
  const rows: [result: string, body: feed.schema.Accepted][] = [
    ['observed',  feed.encodeAccepted(ID, facts)],
    ['duplicate', feed.encodeAccepted(ID, ingest(heard, simple))],
    ['outdated',  feed.encodeAccepted(late.message, ingest(heard, { ...late, updatedAt: NOW - 1 }))],
  ]
  for (const [result, body] of rows) {
    test(result, () => {
      assert.equal(body.result, result)
      assert.ok(checker(Accepted)(body).ok)
    })
  }
  test('SF-3 the state of an alias goes stale after three missed heartbeats', () => {
    const agedMs = 3 * (LIMITS.statusCadenceMs + LIMITS.statusSlackMs)
    const fresh = feed.encodeFeedState(heard, NOW + agedMs - 1)
    const stale = feed.encodeFeedState(heard, NOW + agedMs)
    assert.deepEqual([fresh?.stale, stale?.stale, stale?.claimed], [false, true, true])
    assert.ok(checker(FeedState)(fresh).ok)
    assert.equal(feed.encodeFeedState(NOTHING_HEARD, NOW), undefined)
  })
})

describe('X-6 every refusal is a JSON error that a publisher takes as it is meant', () => {
  const check = checker(ErrorAnswer)
  for (const refusal of Object.keys(REFUSALS) as Refusal[]) {
    test(refusal, () => {
      const { status, body } = feed.encodeRefusal(refuse(refusal, { retryAt: NOW + 1 }), NOW)
      assert.ok(check(plain(body)).ok)
      const reason = failureOf({ type: 'answered', status })
      assert.ok(reason !== undefined, 'a refusal is not a success')
      assert.equal(isTransient(reason), isRetryable(refusal), 'tried again only if it may pass')
      assert.equal(reason === 'schema', body.code === 'schema_violation')
    })
  }
})
