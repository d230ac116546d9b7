/** What is encoded matches its schema and is decoded to the same; what a response says when. */
import assert from 'node:assert/strict'
import { CONDITIONS, type Condition } from '@chimera/domain/agent/condition'
import { accept } from '@chimera/domain/decision'
import type {
  AgentId,
  CorrelationId,
  Digest,
  IdempotencyKey,
  TaskId,
  WorkId,
} from '@chimera/domain/ids'
import { type Admitted, decideAdmission } from '@chimera/domain/work/admission'
import type { EndReported } from '@chimera/domain/work/result'
import type { Ask, Work, WorkAsked, WorkState } from '@chimera/domain/work/work'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { checker } from '../check.ts'
import * as openclaw from './index.ts'

const NOW = Date.UTC(2026, 1, 6, 16, 30, 5)
const uuid = fc.uuid()
const instant = fc.integer({ min: 0, max: 4_000_000_000_000 })
const text = fc.string({ maxLength: 100, unit: 'grapheme' })
const payload = fc.dictionary(fc.string({ maxLength: 8 }), fc.jsonValue({ maxDepth: 3 }), {
  maxKeys: 4,
})
const maybe = <Value>(each: fc.Arbitrary<Value>) => fc.option(each, { nil: undefined })

/** As it looks after a trip over the wire: absent members are absent, objects are plain. */
const plain = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value))

const REPLY = {
  task: 'dd0e8400-e29b-41d4-a716-446655440008' as TaskId,
  agent: '550e8400-e29b-41d4-a716-446655440000' as AgentId,
  correlation: '110e8400-e29b-41d4-a716-446655440011' as CorrelationId,
  work: '220e8400-e29b-41d4-a716-446655440012' as WorkId,
}

describe('what is encoded is decoded to the same', () => {
  test('OC-18 what cancels, once it is signed', () => {
    const asked = fc.record({ task: uuid, requester: uuid, correlation: uuid })
    const signature = `${'A'.repeat(86)}==`
    fc.assert(
      fc.property(asked, instant, (each, sentAt) => {
        const cancel = plain({ type: 'cancel_work', ...each, sentAt }) as openclaw.CancelAsked
        const message = { ...openclaw.encodeCancel(cancel, sentAt), signature }
        assert.deepEqual(openclaw.readCancel(message), { ok: true, value: cancel })
      }),
    )
  })

  test('OC-12 requests, with a key of their own and without', () => {
    const asked = fc.record({
      task: uuid,
      claimedRequester: uuid,
      skill: fc.stringMatching(/^[a-z][a-z0-9_]{0,20}(@v[1-9]\.\d)?$/),
      input: payload,
      key: maybe(fc.string({ minLength: 1, maxLength: 256, unit: 'grapheme-ascii' })),
      correlation: uuid,
      priority: fc.integer({ min: 1, max: 10 }),
      sentAt: instant,
      deadline: maybe(instant),
      callback: maybe(fc.constant('https://planner.example.org/results')),
    })
    fc.assert(
      fc.property(asked, ({ key, ...rest }) => {
        const sent = plain({ type: 'ask_work', key: key ?? rest.task, ...rest }) as WorkAsked
        const message = openclaw.encodeRequest(sent, NOW)
        assert.equal('idempotency_key' in message, sent.key !== (sent.task as string))
        assert.deepEqual(openclaw.readRequest(message), { ok: true, value: sent })
      }),
    )
  })

  test('OC-17 results', () => {
    const base = {
      task: uuid,
      agent: uuid,
      work: uuid,
      correlation: uuid,
      durationMs: maybe(fc.nat(1e9)),
      endedAt: maybe(instant),
    }
    const fault = fc.record({
      code: fc.stringMatching(/^[A-Z_]{1,30}$/),
      message: text,
      lasting: fc.constantFrom('transient', 'permanent'),
    })
    const report = fc.oneof(
      fc.record({ ...base, how: fc.constant('done'), output: payload }),
      fc.record({ ...base, how: fc.constant('failed'), fault }),
      fc.record({ ...base, how: fc.constant('cancelled') }),
    )
    fc.assert(
      fc.property(report, (each) => {
        const sent = plain({ type: 'work_reported', ...each }) as EndReported
        const message = openclaw.encodeResult(sent, NOW)
        assert.deepEqual(openclaw.readResult(message), { ok: true, value: sent })
        assert.equal(message.error?.retryable, sent.fault && sent.fault.lasting === 'transient')
      }),
    )
  })

  test('OC-3 status updates, with what was told before', () => {
    const standing = fc.constantFrom(...CONDITIONS).map((name) => ({
      condition: {
        name,
        since: NOW - 1_000,
        ...(name === 'error' && { fault: { code: 'X', message: 'y', lasting: 'transient' } }),
      } as Condition,
      workload: { running: 1, awaiting: 1, slotsTotal: 4, slotsFree: 3 },
    }))
    const previous = fc.constantFrom('idle', 'busy', 'error', 'maintenance', undefined)
    fc.assert(
      fc.property(standing, previous, (each, before) => {
        const told = { ...REPLY, standing: each, ...(before && { previous: before }) }
        const message = openclaw.encodeStatusUpdate(told, NOW)
        assert.equal(message.status_update.previous_status, before)
        const read = openclaw.readStatusUpdate(message)
        assert.ok(read.ok)
        const { stated, details, at } = openclaw.decodeStatus(message.status_update)
        assert.deepEqual(
          read.value,
          plain({
            type: 'condition_observed',
            agent: REPLY.agent,
            stated,
            details,
            at,
            previously: before === 'busy' ? 'working' : before,
            sentAt: NOW,
            correlation: REPLY.correlation,
          }),
        )
      }),
    )
  })

  test('OC-11 responses', () => {
    fc.assert(
      fc.property(maybe(instant), (estimatedEnd) => {
        const message = openclaw.encodeAccepted(REPLY, { work: REPLY.work, estimatedEnd }, NOW)
        assert.deepEqual(openclaw.readResponse(message), {
          ok: true,
          value: plain({
            type: 'work_answered',
            ...REPLY,
            answer: 'accepted',
            estimatedEnd,
            at: NOW,
          }),
        })
      }),
    )
    fc.assert(
      fc.property(instant, (until) => {
        const { work: _, ...reply } = REPLY
        const message = openclaw.encodeDeferred(reply, until, NOW)
        const value = { type: 'work_answered', ...reply, answer: 'deferred', until, at: NOW }
        assert.deepEqual(openclaw.readResponse(message), { ok: true, value })
      }),
    )
  })
})

describe('OC-12 what is compared under one key', () => {
  const request = {
    request_id: 'dd0e8400-e29b-41d4-a716-446655440008',
    requester_agent_id: 'ee0e8400-e29b-41d4-a716-446655440009',
    capability_id: 'consume_trends',
    input_data: { trends: [] },
    correlation_id: '110e8400-e29b-41d4-a716-446655440011',
    idempotency_key: 'k',
    timestamp: '2026-02-06T16:30:00Z',
  }
  const content = (changes: object) => {
    const read = openclaw.readRequest({ ...request, ...changes })
    assert.ok(read.ok)
    return openclaw.contentOf(read.value)
  }
  test('is the capability and the input', () => {
    assert.deepEqual(content({}), {
      capability_id: 'consume_trends',
      input_data: { trends: [] },
    })
    assert.notDeepEqual(content({ input_data: { trends: [1] } }), content({}))
    assert.notDeepEqual(content({ capability_id: 'other' }), content({}))
  })
  test('and nothing of the envelope', () => {
    const retry = {
      request_id: '000e8400-e29b-41d4-a716-446655440008',
      correlation_id: '000e8400-e29b-41d4-a716-446655440011',
      timestamp: '2026-02-06T16:31:00Z',
      deadline: '2026-02-06T17:31:00Z',
      priority: 1,
    }
    assert.deepEqual(content(retry), content({}))
  })
})

describe('OC-11 a request is always answered', () => {
  const skill = {
    name: 'sum',
    version: { major: 1, minor: 0 },
    priceCents: 0,
    durationMs: 5_000,
    needsApproval: false,
  }
  const desk = {
    accepting: true,
    skills: [skill],
    rate: { perMinute: 20, admitted: [], waiting: [] },
    room: { queue: [], slotsFreeAt: [NOW + 60_000] },
    slotsTotal: 1,
    slotsFree: 1,
    reserved: false,
    open: false,
  }
  const ask: Ask = {
    ...REPLY,
    requester: 'ee0e8400-e29b-41d4-a716-446655440009',
    skill: 'sum',
    key: 'k' as IdempotencyKey,
    content: 'digest' as Digest,
    priority: 5,
    askedAt: NOW,
  }
  const examined = { schemaIssues: [], inputIssues: [] }
  const answer = (changes: object, asked: object = {}, found: object = {}) => {
    const decision = decideAdmission(
      { ...desk, ...changes },
      { ...ask, ...asked },
      { ...examined, ...found },
      NOW,
    )
    const { status, body } = openclaw.encodeAnswer(decision, REPLY, NOW)
    const isResponse = 'response_status' in body
    const shape = isResponse ? openclaw.schema.CollaborationResponse : openclaw.schema.ProtocolError
    assert.ok(checker(shape)(body).ok)
    return { status, body: { ...body } as Record<string, unknown> }
  }

  test('accepted, with the estimate', () => {
    assert.deepEqual(answer({}), {
      status: 202,
      body: {
        protocol_version: '1.0.0',
        request_id: REPLY.task,
        responder_agent_id: REPLY.agent,
        response_status: 'accepted',
        correlation_id: REPLY.correlation,
        collaboration_id: REPLY.work,
        estimated_completion: '2026-02-06T16:30:10Z',
        timestamp: '2026-02-06T16:30:05Z',
      },
    })
  })
  test('OC-19 accepted without an estimate, where a person must agree first', () => {
    const { body } = answer({ skills: [{ ...skill, needsApproval: true }] })
    assert.equal(body.response_status, 'accepted')
    assert.ok(!('estimated_completion' in body))
  })
  test('OC-15 deferred to the expected time', () => {
    const { status, body } = answer({ slotsFree: 0 })
    assert.equal(status, 202)
    assert.equal(body.response_status, 'deferred')
    assert.equal(body.deferred_until, '2026-02-06T16:31:05Z')
    assert.ok(!('collaboration_id' in body))
  })
  test('OC-14 rejected, when the deadline cannot be met', () => {
    const { body } = answer({}, { deadline: NOW + 4_999 })
    assert.equal(body.response_status, 'rejected')
    assert.deepEqual(body.rejection_reason, {
      code: 'deadline_too_soon',
      message: 'The deadline cannot be met. Ask with a later one.',
      retryable: false,
      details: { reason: 'deadline_too_soon', earliest_completion: '2026-02-06T16:30:10Z' },
    })
  })
  test('OC-22 or with the error, when it was not understood', () => {
    const issue = { path: '/priority', expected: 'at least 1', got: 'a number' }
    const { status, body } = answer({}, {}, { schemaIssues: [issue] })
    assert.equal(status, 400)
    assert.equal(body.code, 'validation_error')
    assert.deepEqual(body.details, { reason: 'message_malformed', issues: [issue] })
  })
  test('an admission without a fact is of work that is accepted already', () => {
    const { body } = openclaw.encodeAnswer(accept<Admitted>(), REPLY, NOW)
    assert.equal('response_status' in body && body.response_status, 'accepted')
  })

  const fault = { code: 'X', message: 'y', lasting: 'permanent' } as const
  const failed = { name: 'failed', endedAt: NOW, cause: 'agent', fault } as const
  // biome-ignore format: a table is read by its columns
  const states: [state: WorkState, status: string][] = [
    [{ name: 'deferred', until: NOW + 1_000 },                    'deferred'],
    [{ name: 'awaiting', since: NOW, until: NOW + 1_000 },        'accepted'],
    [{ name: 'accepted', acceptedAt: NOW, estimatedEnd: NOW + 1 }, 'accepted'],
    [{ name: 'running', acceptedAt: NOW, startedAt: NOW },        'accepted'],
    [{ name: 'unknown', acceptedAt: NOW, since: NOW },            'accepted'],
    [{ name: 'refused', refusal: 'deadline_too_soon' },           'rejected'],
    [{ name: 'done', endedAt: NOW, output: 'digest' as Digest },  'accepted'],
    [failed,                                                      'accepted'],
    [{ name: 'cancelled', endedAt: NOW, cause: 'requester' },     'accepted'],
    [{ name: 'settled', end: failed, capturedCents: 0 },          'accepted'],
  ]
  for (const [state, status] of states) {
    test(`OC-15 later, work that is ${state.name} is answered as ${status}`, () => {
      const work: Work = { ask, priceCents: 0, state }
      const echo = {
        ...REPLY,
        correlation: '000e8400-e29b-41d4-a716-446655440011' as CorrelationId,
      }
      const { body } = openclaw.encodeProgress(work, echo, NOW)
      assert.ok('response_status' in body)
      assert.equal(body.response_status, status)
      assert.equal(body.correlation_id, echo.correlation)
      assert.ok(checker(openclaw.schema.CollaborationResponse)(body).ok)
    })
  }
})
