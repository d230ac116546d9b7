/** What the vectors cannot show: round trips, what the rules make of a message, and every error. */
import assert from 'node:assert/strict'
import { type AgentRecord, decideUpdate, type RecordUpdate } from '@chimera/domain/agent/record'
import { decideUse } from '@chimera/domain/approval'
import { refuse } from '@chimera/domain/decision'
import type { ApprovalId, Digest, IdempotencyKey, ReviewerId } from '@chimera/domain/ids'
import { isRetryable, REFUSALS, type Refusal } from '@chimera/domain/refusals'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { AGENT, instant, maybe, NOW, plain, recordOf, WALLET } from '../../test/samples.ts'
import * as checks from './checks.ts'
import type { ContentPackage } from './index.ts'
import * as skills from './index.ts'

const digest = fc.stringMatching(/^[0-9a-f]{64}$/)
describe('SK-12 state updates', () => {
  test('what is encoded is decoded to the same', () => {
    const condition = fc.oneof(
      fc.constantFrom({ name: 'accepting' }, { name: 'occupied' }, { name: 'paused' } as const),
      fc.string({ maxLength: 100 }).map((message) => ({
        name: 'failed' as const,
        fault: { ...skills.DECLARED_FAULT, message },
      })),
    )
    const update = fc.record({
      expectedVersion: maybe(fc.integer({ min: 1, max: 1e9 })),
      condition: maybe(condition),
      pendingTasks: maybe(fc.nat()),
      lastExecutionAt: maybe(instant),
      walletBalance: maybe(fc.nat()),
    })
    fc.assert(
      fc.property(update, (each) => {
        const sent = plain(each) as RecordUpdate
        const read = skills.readStateUpdate(skills.encodeStateUpdate(AGENT, sent))
        const value = { type: 'update_record', agent: AGENT, update: sent }
        assert.deepEqual(read, { ok: true, value })
      }),
    )
  })

  const answerTo = (record: AgentRecord, updates: object, version?: number) => {
    const expected = version === undefined ? {} : { expected_version: version }
    const read = skills.readStateUpdate({ agent_id: AGENT, state_updates: updates, ...expected })
    assert.ok(read.ok)
    const decision = decideUpdate(record, read.value.update, NOW)
    return decision.ok ? 'ok' : skills.encodeRefusal(decision, NOW)
  }
  // biome-ignore format: a table is read by its columns
  const rows: [rule: string, record: AgentRecord, updates: object, version: number | undefined, code: string][] = [
    ['paused → error without a reason', recordOf('paused'),     { status: 'error' },                   undefined, 'INVALID_STATE_TRANSITION 422'],
    ['paused → error with one',         recordOf('paused'),     { status: 'error', reason: 'Disk' },   undefined, 'ok'],
    ['idle → error without a reason',   recordOf('idle'),       { status: 'error' },                   undefined, 'INVALID_STATE_TRANSITION 422'],
    ['busy without work',               recordOf('idle'),       { status: 'busy' },                    undefined, 'INVALID_STATE_TRANSITION 422'],
    ['busy with work',                  recordOf('working', 1), { status: 'busy' },                    undefined, 'ok'],
    ['an old version',                  recordOf('idle'),       { status: 'paused' },                  6,         'CONCURRENCY_ERROR 409'],
    ['the present version',             recordOf('idle'),       { status: 'paused' },                  7,         'ok'],
    ['a reputation is never set',       recordOf('idle'),       { reputation_score: 1 },               7,         'ok'],
  ]
  for (const [rule, record, updates, version, code] of rows) {
    test(`${rule}: ${code}`, () => {
      const answer = answerTo(record, updates, version)
      assert.equal(answer === 'ok' ? 'ok' : `${answer.body.code} ${answer.status}`, code)
    })
  }
  test('a reputation in an update does not even get through', () => {
    const read = skills.readStateUpdate({ agent_id: AGENT, state_updates: { reputation_score: 1 } })
    assert.deepEqual(read, { ok: true, value: { type: 'update_record', agent: AGENT, update: {} } })
  })
})

describe('SK-10 publications', () => {
  const content: ContentPackage = {
    content_id: '0b1f2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d',
    task_id: AGENT,
    trend_ref: AGENT,
    script: 's'.repeat(50),
    captions: 'c'.repeat(20),
    media_urls: [],
    hashtags: ['#a', '#b', '#c'],
    confidence_score: 0.9,
    requires_review: false,
  }
  const bytes = 'd'.repeat(64) as Digest
  const asked = (over: object = {}) => {
    const input = { content, approval_token: 'a.b.c', platform: 'tiktok', ...over }
    const read = skills.readPublish(input)
    assert.ok(read.ok, JSON.stringify(read))
    return read.value
  }

  test('what is encoded is decoded to the same', () => {
    const times = maybe(instant)
    fc.assert(
      fc.property(fc.constantFrom(...skills.PUBLISH_PLATFORMS), times, (platform, scheduledAt) => {
        const sent = plain({ ...asked(), platform, scheduledAt }) as skills.PublishAsked
        assert.deepEqual(skills.readPublish(skills.encodePublish(sent)), { ok: true, value: sent })
      }),
    )
  })
  test('null and nothing are the same time: at once', () => {
    assert.deepEqual(asked({ schedule_time: null }), asked())
  })
  test('an approval fits the publication as it was asked for, and no other', () => {
    const publication = skills.publicationOf(asked(), bytes)
    const approval = {
      id: 'ap-1' as ApprovalId,
      publication,
      reviewer: 'r-1' as ReviewerId,
      approvedAt: NOW,
      expiresAt: NOW + 1_000,
    }
    assert.ok(decideUse(approval, publication, NOW).ok)
    const others = [
      skills.publicationOf(asked({ platform: 'twitter' }), bytes),
      skills.publicationOf(asked({ schedule_time: '2026-02-12T09:00:00Z' }), bytes),
      skills.publicationOf(asked(), 'e'.repeat(64) as Digest),
    ]
    for (const other of others) {
      const use = decideUse(approval, other, NOW)
      assert.ok(!use.ok)
      assert.equal(skills.encodeRefusal(use, NOW).body.code, 'INVALID_TOKEN')
    }
  })
  test('posts, now or later, match their schema', () => {
    const post = {
      platform: 'tiktok',
      post: '1',
      url: 'https://tiktok.example/1',
      at: NOW,
    } as const
    const engagement = { likes: 0, comments: 0, shares: 0 }
    for (const answer of [
      skills.encodePublished(post),
      skills.encodePublished({ ...post, engagement }),
      skills.encodeScheduled('tiktok', NOW),
    ]) {
      assert.ok(checks.checkPublishContentOutput(answer).ok)
    }
  })
})

describe('wallets', () => {
  test('SK-13 balances of any size survive the trip', () => {
    const read = fc.record({
      units: fc.bigInt({ min: 0n, max: 10n ** 40n }),
      currency: fc.constantFrom('USDC' as const, 'ETH' as const),
      network: fc.constantFrom('mainnet' as const, 'base' as const, 'sepolia' as const),
      at: instant,
      stale: fc.boolean(),
    })
    fc.assert(
      fc.property(read, (each) => {
        const sent = { type: 'balance_read', wallet: WALLET, ...each } as const
        const wire = JSON.parse(JSON.stringify(skills.encodeBalance(sent)))
        assert.deepEqual(skills.readBalance(wire), { ok: true, value: sent })
        assert.ok(checks.checkFetchWalletBalanceOutput({ ...wire }).ok)
      }),
    )
  })

  test('SK-14 a debit is in base units, and none is partial', () => {
    const input = {
      wallet_address: WALLET.toUpperCase().replace('0X', '0x'),
      amount: 0.07,
      currency: 'USDC',
      tx_description: 'OpenClaw RFP-123 payment',
      idempotency_key: AGENT.toUpperCase(),
    }
    const read = skills.readDebit(input)
    assert.deepEqual(read, {
      ok: true,
      value: {
        type: 'debit_wallet',
        wallet: WALLET,
        currency: 'USDC',
        network: 'base',
        units: 70_000n,
        description: 'OpenClaw RFP-123 payment',
        key: AGENT as string as IdempotencyKey,
      },
    })
    const done = skills.encodeDebited({
      tx: '0xab',
      currency: 'USDC',
      units: 70_000n,
      balanceUnits: 12_430_000n,
      confirmedAt: NOW,
    })
    assert.ok(checks.checkDebitWalletOutput(done).ok)
    assert.equal(done.amount_deducted, 0.07)
    assert.equal(done.new_balance, 12.43)
  })
})

describe('SK-3 call records', () => {
  test('what is encoded is decoded to the same', () => {
    const call = fc.record({
      skill: fc.constantFrom('fetch_trends', 'fetch_trends@v1.0'),
      agent: fc.string({ minLength: 1, maxLength: 128, unit: 'grapheme-ascii' }),
      at: instant,
      input: digest,
      durationMs: fc.nat(),
      retries: fc.nat(3),
      correlation: maybe(fc.uuid()),
    })
    const ending = fc.oneof(
      fc.record({ output: digest }),
      fc.record({ code: fc.constantFrom('TIMEOUT', 'LLM_ERROR'), output: maybe(digest) }),
    )
    fc.assert(
      fc.property(call, ending, (each, end) => {
        const sent = plain({ ...each, ...end }) as unknown as skills.CallRecorded
        const record = skills.encodeCall(sent)
        assert.equal(record.success, !('code' in end))
        assert.deepEqual(skills.readCall(record), { ok: true, value: sent })
      }),
    )
  })
})

describe('X-6 every error', () => {
  for (const refusal of Object.keys(REFUSALS) as Refusal[]) {
    test(`${refusal} is ${skills.SKILL_CODES[refusal]}`, () => {
      const issues = [{ path: '/a', expected: 'b', got: 'c' }]
      const particulars = { retryAt: NOW + 1_500, issues, figures: { most: 5 } }
      const { status, body } = skills.encodeRefusal(refuse(refusal, particulars), NOW)
      assert.ok(checks.checkSkillError(body).ok)
      assert.equal(body.code, skills.SKILL_CODES[refusal])
      assert.ok(status >= 400 && status < 600)
      assert.deepEqual(body.details, { most: 5, issues })
      const rows: Record<string, skills.ErrorRow> = Object.assign(
        {},
        skills.COMMON_ERRORS,
        ...Object.values(skills.SKILL_ERRORS),
      )
      assert.equal(status, rows[body.code]?.http)
      assert.equal(body.retryable, isRetryable(refusal))
      assert.equal(rows[body.code]?.retryable, body.retryable)
    })
  }

  // biome-ignore format: a table is read by its columns
  const documented: [refusal: Refusal, answer: string][] = [
    ['message_malformed',   'INVALID_INPUT 400'],
    ['rate_exceeded',       'RATE_LIMITED 429'],
    ['service_unavailable', 'UNAVAILABLE 503'],
    ['agent_unknown',       'AGENT_NOT_FOUND 404'],
    ['skills_invalid',      'INVALID_PROFILE 422'],
    ['state_changed',       'CONCURRENCY_ERROR 409'],
    ['transition_illegal',  'INVALID_STATE_TRANSITION 422'],
    ['funds_short',         'INSUFFICIENT_BALANCE 402'],
    ['approval_invalid',    'INVALID_TOKEN 401'],
    ['approval_mismatched', 'INVALID_TOKEN 401'],
    ['approval_expired',    'TOKEN_EXPIRED 401'],
    ['approval_used',       'DUPLICATE_CONTENT 409'],
  ]
  for (const [refusal, answer] of documented) {
    test(`${refusal} has the document’s word: ${answer}`, () => {
      const { status, body } = skills.encodeRefusal(refuse(refusal), NOW)
      assert.equal(`${body.code} ${status}`, answer)
    })
  }

  for (const [id, table] of Object.entries(skills.SKILL_ERRORS)) {
    test(`${id} can say all of its codes`, () => {
      const rows: Record<string, skills.ErrorRow> = { ...skills.COMMON_ERRORS, ...table }
      for (const [code, row] of Object.entries(rows)) {
        const name = id as 'fetch_trends'
        const { status, body } = skills.encodeFailure(name, code as 'TIMEOUT', NOW, {
          retryAt: NOW + 1_500,
        })
        assert.ok(checks.checkSkillError(body).ok, code)
        assert.equal(status, row.http)
        assert.equal(body.message, row.words)
        assert.equal(body.retry_after_seconds, row.retryable ? 2 : undefined)
      }
    })
  }

  test('X-3 input that is wrong is named in the skill’s own word, with each field', () => {
    const checked = skills.SKILLS.fetch_trends.checkInput({ platform: 'myspace', limit: 0 })
    assert.ok(!checked.ok)
    const { status, body } = skills.encodeInputRefusal('fetch_trends', checked, NOW)
    assert.equal(`${body.code} ${status}`, 'INVALID_PLATFORM 400')
    const paths = (body.details?.issues ?? []).map(({ path }) => path)
    assert.ok(paths.includes('/platform') && paths.includes('/limit'))
  })
})

test('SK-6 one platform or several, and windows of hours and days', () => {
  assert.deepEqual(skills.platformsOf({ platform: 'news' }), ['news'])
  assert.deepEqual(skills.platformsOf({ platform: ['news', 'reddit'] }), ['news', 'reddit'])
  assert.equal(skills.windowMs('4h'), 4 * 3_600_000)
  assert.equal(skills.windowMs('1d'), 24 * 3_600_000)
})

test('get_agent_profile asks by id', () => {
  const sought = { type: 'read_profile', agent: AGENT } as const
  assert.deepEqual(skills.readProfileSought(skills.encodeProfileSought(sought)), {
    ok: true,
    value: sought,
  })
})
