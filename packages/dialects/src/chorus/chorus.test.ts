/** What the vectors cannot show: round trips, the projection of conditions, and every refusal. */
import assert from 'node:assert/strict'
import type { Agent, Registration } from '@chimera/domain/agent/agent'
import { CONDITIONS, type Condition, type ConditionName } from '@chimera/domain/agent/condition'
import { NO_KEYS } from '@chimera/domain/agent/keys'
import { refuse } from '@chimera/domain/decision'
import type {
  AgentId,
  CorrelationId,
  IdempotencyKey,
  OwnerId,
  TaskId,
  TransferId,
} from '@chimera/domain/ids'
import { rankForDiscovery } from '@chimera/domain/matching/matching'
import { REFUSALS, type Refusal } from '@chimera/domain/refusals'
import type { WorkAsked, WorkReported } from '@chimera/domain/work/work'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { checker } from '../check.ts'
import { ErrorBody } from '../error.ts'
import * as chorus from './index.ts'
import { AgentEntry, Discovered, Economy, JobResult, TransferDone } from './schema.ts'

const NOW = Date.UTC(2026, 1, 11, 14, 15, 9)
const uuid = fc.uuid()
const cents = fc.integer({ min: 0, max: 10_000_000_000 })
const instant = fc.integer({ min: 0, max: 4_000_000_000_000 })
const owner = fc.string({ minLength: 1, maxLength: 128, unit: 'grapheme-ascii' })
const payload = fc.dictionary(fc.string({ maxLength: 8 }), fc.jsonValue({ maxDepth: 3 }), {
  maxKeys: 4,
})
const maybe = <Value>(each: fc.Arbitrary<Value>) => fc.option(each, { nil: undefined })

/** As it looks after a trip over the wire: absent members are absent, objects are plain. */
const plain = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value))

describe('what is encoded is decoded to the same', () => {
  test('CH-1 registrations', () => {
    const skill = fc.record({
      name: fc.stringMatching(/^[a-z][a-z0-9_]{0,20}$/),
      version: fc.record({ major: fc.integer({ min: 1, max: 9 }), minor: fc.nat(9) }),
      description: fc.string({ maxLength: 100 }),
      priceCents: cents,
      input: fc.constant({ type: 'object', properties: { text: { type: 'string' } } }),
    })
    const registration = fc.record({
      id: uuid,
      owner,
      skills: fc.array(skill, { minLength: 1, maxLength: 5 }),
      name: fc.string({ minLength: 1, maxLength: 50, unit: 'grapheme' }),
    })
    fc.assert(
      fc.property(registration, ({ id, owner: by, skills, name }) => {
        const profile = plain({ name, endpoint: 'https://agent.example.org/jobs', skills })
        const sent = {
          type: 'register_agent',
          id: id as AgentId,
          owner: by as OwnerId,
          profile,
        } as const
        const read = chorus.readRegistration(chorus.encodeRegistration(sent, NOW))
        assert.deepEqual(read, { ok: true, value: sent satisfies Registration })
      }),
    )
  })

  test('CH-4 jobs', () => {
    const asked = fc.record({
      task: uuid,
      claimedRequester: owner,
      skill: fc.stringMatching(/^[a-z]{1,20}$/),
      input: payload,
      budgetCents: cents,
      sentAt: instant,
      deadline: maybe(instant),
      quotedCents: maybe(cents),
    })
    fc.assert(
      fc.property(asked, ({ task, ...rest }) => {
        const sent = plain({
          type: 'ask_work',
          task: task as TaskId,
          key: task as IdempotencyKey,
          correlation: task as CorrelationId,
          priority: 5,
          ...rest,
        }) as WorkAsked
        assert.deepEqual(chorus.readJob(chorus.encodeJob(sent, NOW)), { ok: true, value: sent })
      }),
    )
  })

  test('CH-6 results', () => {
    const base = { task: uuid, agent: uuid, durationMs: fc.nat(1e9), endedAt: instant }
    const fault = fc.record({
      code: fc.stringMatching(/^[A-Z_]{1,30}$/),
      message: fc.string({ maxLength: 100 }),
      lasting: fc.constant('permanent' as const),
    })
    const report = fc.oneof(
      fc.record({ ...base, how: fc.constant('done'), costCents: cents, output: payload }),
      fc.record({ ...base, how: fc.constant('failed'), costCents: fc.constant(0), fault }),
      fc.record({ ...base, how: fc.constant('pending'), costCents: fc.constant(0) }),
    )
    fc.assert(
      fc.property(report, (each) => {
        const sent = plain({ type: 'work_reported', ...each }) as WorkReported
        const read = chorus.readJobResult(chorus.encodeJobResult(sent, NOW))
        assert.deepEqual(read, { ok: true, value: sent })
      }),
    )
  })

  test('CH-8 transfers and accounts', () => {
    const order = fc.record({
      transfer: uuid,
      payer: owner,
      payee: owner,
      amountCents: fc.integer({ min: 1, max: 10_000_000_000 }),
      task: maybe(uuid),
    })
    fc.assert(
      fc.property(order, (each) => {
        const sent = plain({ type: 'transfer_credits', ...each }) as chorus.TransferOrdered
        assert.deepEqual(chorus.readTransfer(chorus.encodeTransfer(sent, NOW)), {
          ok: true,
          value: sent,
        })
      }),
    )
    const opening = { type: 'open_account', owner: 'acme' as OwnerId, initialCents: 2_550 } as const
    const read = chorus.readAccountOpening(chorus.encodeAccountOpening(opening))
    assert.deepEqual(read, { ok: true, value: opening })
  })

  test('CH-2 searches, as query strings', () => {
    const search = {
      type: 'find_agents',
      skills: ['sum', 'product@v2'],
      minScoreMicro: 87_500_000,
      maxCostCents: 7,
      limit: 5,
      offset: 10,
      order: 'fair',
    } as const
    const read = chorus.readDiscovery(chorus.encodeDiscovery(search))
    assert.deepEqual(read, { ok: true, value: search })
  })
})

describe('X-2 the Chorus column', () => {
  const online: readonly ConditionName[] = ['idle', 'working', 'human_review']
  for (const name of CONDITIONS) {
    const expected = online.includes(name) ? 'online' : 'offline'
    test(`${name} → ${expected}`, () => {
      assert.equal(chorus.encodeCondition({ name, since: 0 } as Condition), expected)
    })
  }
})

describe('answers match their published schemas', () => {
  const agent: Agent & { endpoint: string } = {
    id: 'a3b8d1b6-0b3b-4b1a-9c1a-1a2b3c4d5e6f' as AgentId,
    owner: 'acme' as OwnerId,
    name: 'Counter',
    endpoint: 'https://agent.example.org',
    skills: [{ name: 'sum', version: { major: 2, minor: 0 }, description: 'adds', priceCents: 7 }],
    keys: NO_KEYS,
    aliases: [],
    registeredAt: NOW,
  }
  const [skill] = agent.skills
  assert.ok(skill)

  test('CH-2 a discovery, with why', () => {
    const hit = { agent, skill, scoreMicro: 92_300_000, online: true, why: ['highest score'] }
    const answer = chorus.encodeDiscovered([hit], 1)
    assert.ok(checker(Discovered)(answer).ok)
    assert.deepEqual(answer.agents[0]?.skill, { skill_name: 'sum@v2.0', cost_per_call: 0.07 })
  })
  test('CH-14 an entry, an economy and a finished transfer', () => {
    assert.ok(checker(AgentEntry)(chorus.encodeAgentEntry(agent, 50_000_000, false)).ok)
    const balances = new Map([['acme' as OwnerId, 9_990]])
    const economy = chorus.encodeEconomy({
      accounts: 1,
      volumeCents: 10,
      transactions: 1,
      balances,
    })
    assert.ok(checker(Economy)(economy).ok)
    assert.equal(economy.all_balances?.acme, 99.9)
    const order = {
      type: 'transfer_credits',
      transfer: '0b1f2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d' as TransferId,
      payer: 'a' as OwnerId,
      payee: 'b' as OwnerId,
      amountCents: 10,
    } as const
    const done = chorus.encodeTransferDone({ order, at: NOW, payerCents: 9_990, payeeCents: 10 })
    assert.ok(checker(TransferDone)(done).ok)
  })
  test('CH-6 failed and cancelled work costs nothing', () => {
    const task = 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6' as TaskId
    const report = { type: 'work_reported', task, agent: agent.id, costCents: 10 } as const
    assert.equal(chorus.encodeJobResult({ ...report, how: 'cancelled' }, NOW).execution_cost, 0)
    const fault = { code: 'X', message: 'y', lasting: 'permanent' } as const
    assert.equal(chorus.encodeJobResult({ ...report, how: 'failed', fault }, NOW).execution_cost, 0)
  })
})

describe('CH-11 refusals', () => {
  const checkError = checker(ErrorBody)
  const checkResult = checker(JobResult)
  // biome-ignore format: a table is read by its columns
  const rows: [refusal: Refusal, status: number, code: string][] = [
    ['skill_unknown',       422, 'SKILL_MISMATCH'],
    ['budget_insufficient', 402, 'BUDGET_INSUFFICIENT'],
    ['hold_missing',        402, 'BUDGET_INSUFFICIENT'],
    ['agent_offline',       503, 'AGENT_OFFLINE'],
    ['funds_short',         402, 'TRANSFER_FAILED'],
    ['account_unknown',     404, 'ACCOUNT_UNKNOWN'],
    ['settlement_mismatch', 409, 'CONFLICT'],
    ['message_malformed',   422, 'INVALID_REQUEST'],
    ['rate_exceeded',       429, 'RATE_LIMITED'],
  ]
  for (const [refusal, status, code] of rows) {
    test(`${refusal} → ${status} ${code}`, () => {
      const answer = chorus.encodeRefusal(refuse(refusal), NOW)
      assert.deepEqual([answer.status, answer.body.code], [status, code])
    })
  }

  test('X-6 every refusal has an answer that matches the one error shape', () => {
    const job = {
      task: 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6' as TaskId,
      agent: 'a3b8d1b6-0b3b-4b1a-9c1a-1a2b3c4d5e6f' as AgentId,
    }
    for (const refusal of Object.keys(REFUSALS) as Refusal[]) {
      const { status, body } = chorus.encodeRefusal(refuse(refusal, { retryAt: NOW + 1_500 }), NOW)
      assert.ok(status >= 400 && status < 600, refusal)
      assert.ok(checkError(body).ok, refusal)
      assert.equal(body.retryable, REFUSALS[refusal].retry === 'later', refusal)
      assert.equal(body.retry_after_seconds, 2, 'seconds are rounded up')
      const inJob = chorus.encodeJobRefusal(refuse(refusal), job, NOW)
      assert.ok(checkResult(inJob.body).ok, refusal)
    }
  })
})

test('P-6 a place in a discovery explains itself in sentences', () => {
  const candidate = {
    agent: 'a2' as AgentId,
    owner: 'acme' as OwnerId,
    offers: [{ skill: 'sum', costCents: 7 }],
    scoreMicro: 92_300_000,
    successes: 12,
    failures: 1,
    settledCount: 13,
    slotsFree: 3,
    slotsTotal: 8,
    load: { cpu: 0.12, mem: 0.48 },
    seenAt: NOW - 3_000,
    online: true,
    accepting: true,
  }
  const better = { ...candidate, agent: 'a1' as AgentId, scoreMicro: 95_000_000 }
  const search = { skills: ['sum'], match: 'all' } as const
  const [, hit] = rankForDiscovery(search, [candidate, better], NOW).hits
  assert.ok(hit)
  assert.deepEqual(chorus.explainHit(hit), [
    'offers sum',
    'score 92.3 from 12 done and 1 failed',
    'costs 0.07 credits',
    '48 % of its machine in use',
    'last seen 3 s ago',
    '3 of 8 slots free',
    'behind a1: it has the higher score',
  ])
})

test('CH-5 a job that is sent again has the key of the first, whatever else changed', () => {
  const job = {
    job_id: 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6',
    orchestrator_id: 'acme',
    skill_name: 'sum',
    input_data: {},
    budget: 1,
    timestamp_utc: '2026-02-11T14:15:09Z',
  }
  const later = { ...job, job_id: job.job_id.toUpperCase(), timestamp_utc: '2026-02-11T15:00:00Z' }
  const [first, again] = [chorus.readJob(job), chorus.readJob(later)]
  assert.ok(first.ok && again.ok)
  assert.equal(first.value.key, again.value.key)
})

test('CH-4 where jobs are posted', () => {
  assert.equal(chorus.jobsAddress('https://a.example.org'), 'https://a.example.org/jobs')
  assert.equal(chorus.jobsAddress('https://a.example.org/'), 'https://a.example.org/jobs')
  assert.equal(chorus.jobsAddress('https://a.example.org/jobs'), 'https://a.example.org/jobs')
  assert.equal(chorus.jobsAddress('https://a.example.org/jobs/'), 'https://a.example.org/jobs')
})

test('CH-10 scores are shown with two decimals, a tie to the even one', () => {
  assert.equal(chorus.writeScore(50_000_000), 50)
  assert.equal(chorus.writeScore(51_844_999), 51.84)
  assert.equal(chorus.writeScore(51_845_000), 51.84)
  assert.equal(chorus.writeScore(51_855_000), 51.86)
})
