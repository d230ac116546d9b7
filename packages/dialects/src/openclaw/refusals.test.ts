/** Every refusal has its words here, as a response or as an error, and reads back. */
import assert from 'node:assert/strict'
import { type Particulars, refuse } from '@chimera/domain/decision'
import type { AgentId, CorrelationId, TaskId } from '@chimera/domain/ids'
import { isRetryable, REFUSALS, type Refusal } from '@chimera/domain/refusals'
import { LADDER } from '@chimera/domain/work/admission'
import { describe, test } from 'vitest'
import { checker } from '../check.ts'
import {
  decodeRejection,
  encodeRefusal,
  encodeRefused,
  readProtocolError,
  readResponse,
  rejectionCode,
  schema,
} from './index.ts'

const NOW = Date.UTC(2026, 1, 6, 16, 30, 5)
const REPLY = {
  task: 'dd0e8400-e29b-41d4-a716-446655440008' as TaskId,
  agent: '550e8400-e29b-41d4-a716-446655440000' as AgentId,
  correlation: '110e8400-e29b-41d4-a716-446655440011' as CorrelationId,
}
const ALL = Object.keys(REFUSALS) as Refusal[]

/** The body as a response; the test fails where it is an error. */
function responseTo(refusal: Refusal, particulars: Particulars = {}) {
  const { status, body } = encodeRefused(refuse(refusal, particulars), REPLY, NOW)
  assert.ok('response_status' in body && body.rejection_reason, `${refusal} has no response`)
  return { status, body, reason: body.rejection_reason }
}

describe('OC-22 what is answered without a response', () => {
  const unanswered = ALL.filter((each) => rejectionCode(each) === undefined)

  test('is the message, its version and the proof of its sender; the rest has a code', () => {
    assert.deepEqual(unanswered.sort(), [
      'caller_unknown',
      'certificate_invalid',
      'expiry_too_far',
      'message_early',
      'message_expired',
      'message_malformed',
      'message_outdated',
      'message_oversized',
      'message_replayed',
      'planner_unknown',
      'signature_invalid',
      'token_expired',
      'token_invalid',
      'version_unsupported',
    ])
  })
  for (const refusal of unanswered) {
    test(`${refusal} is an error`, () => {
      const { status, body } = encodeRefused(refuse(refusal), REPLY, NOW)
      assert.ok(!('response_status' in body))
      assert.ok(checker(schema.ProtocolError)(body).ok)
      assert.ok(status >= 400 && status < 500)
      assert.equal(body.correlation_id, REPLY.correlation)
    })
  }
})

describe('OC-13 the ladder in the five codes', () => {
  // biome-ignore format: a table is read by its columns
  const rows: [refusal: Refusal, status: number, code: string, retryable: boolean][] = [
    ['skill_unknown',             404, 'capability_not_available', false],
    ['skill_version_unsupported', 400, 'capability_not_available', false],
    ['not_accepting',             503, 'capability_not_available', true],
    ['draining',                  503, 'capability_not_available', true],
    ['input_invalid',             422, 'invalid_input',            false],
    ['policy_violated',           403, 'policy_violation',         false],
    ['rate_exceeded',             429, 'resource_exhausted',       true],
    ['queue_full',                503, 'resource_exhausted',       true],
    ['slots_exhausted',           503, 'resource_exhausted',       true],
    ['deadline_too_soon',         422, 'deadline_too_soon',        false],
    ['price_risen',               409, 'policy_violation',         false],
    ['budget_insufficient',       402, 'policy_violation',         false],
    ['hold_missing',              402, 'policy_violation',         false],
  ]
  for (const [refusal, status, code, retryable] of rows) {
    test(`${refusal} → ${status} ${code}${retryable ? ', retryable' : ''}`, () => {
      const answer = responseTo(refusal)
      assert.equal(answer.status, status)
      assert.equal(answer.reason.code, code)
      assert.equal(answer.reason.retryable, retryable)
    })
  }
  test('every rung that a request can fall from is in the table', () => {
    const named = rows.map(([refusal]) => refusal)
    const answered = LADDER.filter((each) => rejectionCode(each) !== undefined)
    assert.deepEqual(
      answered.filter((each) => !named.includes(each)),
      [],
    )
  })

  test('a full house says how full, from the queue and from the slots alike', () => {
    const queue = responseTo('queue_full', { figures: { queued: 100, current: 5, most: 5 } })
    assert.deepEqual(queue.reason.details, {
      reason: 'queue_full',
      queued: 100,
      current_tasks: 5,
      max_tasks: 5,
    })
    const slots = responseTo('slots_exhausted', { figures: { free: 1, total: 5 } })
    assert.equal(slots.reason.details?.current_tasks, 4)
    assert.equal(slots.reason.details?.max_tasks, 5)
  })
  test('bad input names each field', () => {
    const issues = [{ path: '/trends/0/title', expected: 'to be present', got: 'nothing' }]
    const { reason } = responseTo('input_invalid', { issues })
    assert.deepEqual(reason.details, { reason: 'input_invalid', issues })
  })
})

test('OC-12 other content under a known key is a conflict', () => {
  const { status, reason } = responseTo('key_conflict')
  assert.equal(status, 409)
  assert.equal(reason.details?.reason, 'key_conflict')
  assert.equal(reason.retryable, false)
})

test('OC-14 a deadline that cannot be met is told the earliest that can', () => {
  const { reason } = responseTo('deadline_too_soon', { figures: { earliest: NOW } })
  assert.equal(reason.details?.earliest_completion, '2026-02-06T16:30:05Z')
})

test('figures are in the spelling of the wire: money in credits, lists as lists', () => {
  const { reason } = responseTo('hold_missing', { figures: { priceCents: 105, heldCents: 7 } })
  assert.deepEqual(reason.details, { reason: 'hold_missing', price: 1.05, held: 0.07 })
  const versions = responseTo('skill_version_unsupported', {
    figures: { offered: 'sum@v1.0, sum@v2.0' },
  })
  assert.deepEqual(versions.reason.details?.offered_versions, ['sum@v1.0', 'sum@v2.0'])
  const rate = responseTo('rate_exceeded', { figures: { perMinute: 20, share: 10 } })
  assert.equal(rate.reason.details?.rate_limit_per_minute, 20)
})

describe('OC-22 every refusal', () => {
  const retryAt = NOW + 1_500
  const issues = [{ path: '/a', expected: 'b', got: 'c' }]
  const figures = { current: 1, most: 2, spoken: '1.0.0', priceCents: 3 }
  const checkResponse = checker(schema.CollaborationResponse)
  const checkError = checker(schema.ProtocolError)

  for (const refusal of ALL) {
    test(`${refusal} is answered by the schema, with its retry guidance`, () => {
      const refused = refuse(refusal, { retryAt, issues, figures })
      const { body } = encodeRefused(refused, REPLY, NOW)
      const isResponse = 'response_status' in body
      const checked = (isResponse ? checkResponse : checkError)(body)
      assert.ok(checked.ok, checked.ok ? '' : JSON.stringify(checked.particulars.issues))
      const told = isResponse ? body.rejection_reason : body
      assert.equal(told?.retryable, isRetryable(refusal))
      assert.equal(told?.retry_after_seconds, 2)
      assert.equal(told?.message, REFUSALS[refusal].sentence)
      assert.equal(body.protocol_version, '1.0.0')
    })
    test(`${refusal} reads back`, () => {
      const refused = refuse(refusal, { retryAt })
      const error = readProtocolError(encodeRefusal(refused, NOW).body)
      assert.ok(error.ok)
      assert.equal(error.value.refusal, refusal)
      assert.equal(error.value.retryAfterMs, 2_000)

      const response = encodeRefused(refused, REPLY, NOW).body
      if (!('response_status' in response)) return
      const read = readResponse(response)
      assert.ok(read.ok && read.value.answer === 'refused')
      assert.equal(read.value.refusal, refusal)
      assert.equal(read.value.retryable, isRetryable(refusal))
      assert.equal(read.value.retryAfterMs, 2_000)
    })
  }
})

test('a word that every object inherits is no reason', () => {
  const read = decodeRejection({
    code: 'policy_violation',
    message: '',
    details: { reason: 'constructor' },
  })
  assert.equal(read.refusal, 'policy_violated')
})
