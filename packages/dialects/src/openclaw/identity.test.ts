/** The identity of our agents, the score that they publish, and what is read of others. */
import assert from 'node:assert/strict'
import { CATEGORIES, type Skill } from '@chimera/domain/agent/agent'
import type { Standing } from '@chimera/domain/agent/condition'
import type { AgentId, CorrelationId, WorkId } from '@chimera/domain/ids'
import { NO_WINDOW, type WindowRecord } from '@chimera/domain/trust/window-score'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { checker } from '../check.ts'
import * as openclaw from './index.ts'

const NOW = Date.UTC(2026, 1, 6, 16)
const AGENT = 'a3b8d1b6-0b3b-4b1a-9c1a-1a2b3c4d5e6f' as AgentId
const CORRELATION = '110e8400-e29b-41d4-a716-446655440011' as CorrelationId
const WORK = '220e8400-e29b-41d4-a716-446655440012' as WorkId
const IDLE: Standing = {
  condition: { name: 'idle', since: NOW - 5_000 },
  workload: { running: 0, awaiting: 0, slotsTotal: 5, slotsFree: 5 },
}
const SUM: Skill = {
  name: 'sum',
  version: { major: 1, minor: 0 },
  description: 'adds',
  priceCents: 7,
}
const maybe = <Value>(each: fc.Arbitrary<Value>) => fc.option(each, { nil: undefined })
const plain = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value))

const told = (skills: readonly Skill[], changes: object = {}): openclaw.IdentityTold => ({
  agent: { id: AGENT, name: 'Counter', skills, version: '0.1' },
  standing: IDLE,
  window: NO_WINDOW,
  correlation: CORRELATION,
  ...changes,
})

/** 100 outcomes: 96 done, of which 90 in time, each answered after 3.5 s; 54 done before those. */
const WINDOW: WindowRecord = {
  doneCount: 150,
  failedCount: 4,
  recent: Array.from({ length: 100 }, (_, index) => ({
    done: index >= 4,
    onTime: index >= 10,
    responseMs: 3_500,
  })),
}

describe('OC-1 an identity', () => {
  test('of ours matches the schema and reads back, but for the price', () => {
    const skill = fc.record({
      name: fc.stringMatching(/^[a-z][a-z0-9_]{0,20}$/),
      version: fc.record({ major: fc.integer({ min: 1, max: 9 }), minor: fc.nat(9) }),
      title: fc.string({ maxLength: 50, unit: 'grapheme' }),
      description: fc.string({ maxLength: 100, unit: 'grapheme' }),
      category: fc.constantFrom(...CATEGORIES),
      input: maybe(fc.constant({ type: 'object', properties: { text: { type: 'string' } } })),
      output: maybe(fc.constant({ type: 'object' })),
      durationMs: maybe(fc.nat(1e9)),
      needsApproval: maybe(fc.boolean()),
    })
    const skills = fc.uniqueArray(skill, {
      minLength: 1,
      maxLength: 5,
      selector: openclaw.capabilityId,
    })
    fc.assert(
      fc.property(skills, (each) => {
        const stated = plain(each)
        const offered = stated.map((one) => ({ ...one, priceCents: 7 })) as Skill[]
        const read = openclaw.readIdentity(openclaw.encodeIdentity(told(offered), NOW))
        assert.ok(read.ok, read.ok ? '' : JSON.stringify(read.particulars.issues))
        assert.deepEqual(read.value.skills, stated)
        assert.equal(read.value.agent, AGENT)
        assert.equal(read.value.correlation, CORRELATION)
        assert.equal(read.value.publishedAt, NOW)
      }),
    )
  })

  test('says name, version, status and limits, and the protocol', () => {
    const { capabilities, ...rest } = openclaw.encodeIdentity(told([SUM], { perMinute: 20 }), NOW)
    assert.deepEqual(rest, {
      protocol_version: '1.0.0',
      agent_id: AGENT,
      agent_name: 'chimera-counter-a3b8d1b6',
      agent_type: 'autonomous_content_node',
      version: '0.1.0',
      spec_version: '1.0.0',
      status: { current_status: 'idle', status_timestamp: '2026-02-06T15:59:55Z' },
      trust_signals: { reputation_score: 0.5, total_collaborations: 0 },
      resource_limits: {
        max_concurrent_tasks: 5,
        current_task_count: 0,
        rate_limit_per_minute: 20,
      },
      published_at: '2026-02-06T16:00:00Z',
      correlation_id: CORRELATION,
    })
    assert.deepEqual(capabilities.input_schemas, {})
  })

  test('X-10 a skill that names no category is advertised as content_generation', () => {
    const { capabilities } = openclaw.encodeIdentity(told([SUM]), NOW)
    assert.deepEqual(capabilities.advertised_capabilities, [
      {
        capability_id: 'sum',
        capability_name: 'sum',
        description: 'adds',
        category: 'content_generation',
      },
    ])
  })

  test('of an agent that runs nowhere is still valid', () => {
    const standing = {
      condition: { name: 'stopped', since: NOW },
      workload: { running: 0, awaiting: 0, slotsTotal: 0, slotsFree: 0 },
    }
    const identity = openclaw.encodeIdentity(told([SUM], { standing }), NOW)
    assert.ok(checker(openclaw.schema.Identity)(identity).ok)
    assert.deepEqual(identity.resource_limits, { current_task_count: 0 })
  })

  test('too long for the document is cut to its bounds', () => {
    const long = { ...SUM, title: 't'.repeat(300), description: '🦀'.repeat(1_200) }
    const read = openclaw.readIdentity(openclaw.encodeIdentity(told([long]), NOW))
    assert.ok(read.ok)
    assert.equal(read.value.skills[0]?.title?.length, 200)
    assert.equal([...(read.value.skills[0]?.description ?? '')].length, 1_000)
  })

  test('has schemas for what it gives schemas for, and for nothing that objects inherit', () => {
    const identity = openclaw.encodeIdentity(
      told([
        { ...SUM, name: 'constructor' },
        { ...SUM, name: 'toString', input: { type: 'object' } },
      ]),
      NOW,
    )
    const read = openclaw.readIdentity(JSON.parse(JSON.stringify(identity)))
    assert.ok(read.ok)
    const [inherited, own] = read.value.skills
    assert.ok(inherited && !('input' in inherited) && !('output' in inherited))
    assert.deepEqual(own?.input, { type: 'object' })
  })
})

describe('OC-7 the figures that are published', () => {
  test('in the identity count successes, in the update everything', () => {
    const { trust_signals } = openclaw.encodeIdentity(told([SUM], { window: WINDOW }), NOW)
    assert.deepEqual(trust_signals, {
      // 0.6 × 0.96 + 0.3 × 0.9375 + 0.1 × 0.65
      reputation_score: 0.92225,
      total_collaborations: 150,
      success_rate: 0.96,
      average_response_time_ms: 3_500,
    })
    const update = openclaw.encodeReputationUpdate(
      { agent: AGENT, window: WINDOW, correlation: CORRELATION, update: 'periodic' },
      NOW,
    )
    assert.deepEqual(update.reputation_update, {
      update_type: 'periodic_update',
      reputation_score: 0.92225,
      update_timestamp: '2026-02-06T16:00:00Z',
      metrics: {
        total_collaborations: 154,
        successful_collaborations: 150,
        failed_collaborations: 4,
        success_rate: 0.96,
        average_response_time_ms: 3_500,
        on_time_completion_rate: 0.9375,
      },
    })
  })
  test('an agent without history scores 0.5 and claims no rate', () => {
    const { reputation_update } = openclaw.encodeReputationUpdate(
      { agent: AGENT, window: NO_WINDOW, correlation: CORRELATION, update: 'periodic' },
      NOW,
    )
    assert.equal(reputation_update.reputation_score, 0.5)
    assert.deepEqual(reputation_update.metrics, {
      total_collaborations: 0,
      successful_collaborations: 0,
      failed_collaborations: 0,
    })
  })
})

test('OC-9 updates after a completion, after a failure and in between read back as told', () => {
  const entry = fc.record({ done: fc.boolean(), onTime: fc.boolean(), responseMs: fc.nat(60_000) })
  const window = fc.record({
    doneCount: fc.nat(1e6),
    failedCount: fc.nat(1e6),
    recent: fc.array(entry, { maxLength: 100 }),
  })
  fc.assert(
    fc.property(fc.constantFrom('done', 'failed', 'periodic'), window, (update, record) => {
      const about = { agent: AGENT, window: record, correlation: CORRELATION }
      const message = openclaw.encodeReputationUpdate(
        update === 'periodic' ? { ...about, update } : { ...about, update, work: WORK },
        NOW,
      )
      const read = openclaw.readReputationUpdate(message)
      assert.ok(read.ok, read.ok ? '' : JSON.stringify(read.particulars.issues))
      const { claimed } = read.value
      assert.equal(read.value.update, update)
      assert.equal(read.value.work, update === 'periodic' ? undefined : WORK)
      assert.equal(claimed.doneCount, record.doneCount)
      assert.equal(claimed.failedCount, record.failedCount)
      assert.equal(claimed.totalCount, record.doneCount + record.failedCount)
      assert.equal(claimed.scoreMicro, Math.round(message.reputation_update.reputation_score * 1e6))
      assert.equal(claimed.onTimeMicro !== undefined, record.recent.length > 0)
    }),
  )
})
