/** The contracts against the document: transcribed here a second time, so that a slip shows. */
import assert from 'node:assert/strict'
import { decideOffers, readSkillRef, resolveSkill } from '@chimera/domain/agent/skill-version'
import { LIMITS } from '@chimera/domain/limits'
import { describe, test } from 'vitest'
import { inputCode, offerSkill, SKILLS, type SkillContract } from './contracts.ts'
import {
  COMMON_ERRORS,
  type ErrorRow,
  errorRow,
  retryWaitMs,
  SKILL_ERRORS,
  type SkillId,
} from './error-codes.ts'

const CONTRACTS: readonly SkillContract[] = Object.values(SKILLS)
const IDS = Object.keys(SKILLS) as SkillId[]

// biome-ignore format: a table is read by its columns
const DOCUMENT: Record<SkillId, { timeoutS: number; cacheS?: number; errors: Record<string, number> }> = {
  fetch_trends:              { timeoutS: 30, cacheS: 300,    errors: { PLATFORM_UNAVAILABLE: 503, RATE_LIMITED: 429, INVALID_PLATFORM: 400, VALIDATION_FAILED: 422, TIMEOUT: 504, NETWORK_ERROR: 503 } },
  semantic_filter:           { timeoutS: 10, cacheS: 1_800,  errors: { FILTER_TIMEOUT: 504, INVALID_INPUT: 400, LLM_ERROR: 503, INVALID_GOALS: 422 } },
  generate_content:          { timeoutS: 45,                 errors: { GENERATION_TIMEOUT: 504, INVALID_PERSONA: 400, MEDIA_GENERATION_FAILED: 502, SAFETY_VIOLATION: 422, LLM_ERROR: 503 } },
  validate_content:          { timeoutS: 5,  cacheS: 21_600, errors: { VALIDATION_ERROR: 422, SAFETY_CHECK_TIMEOUT: 504, INVALID_CONTENT: 400 } },
  publish_content:           { timeoutS: 15,                 errors: { PUBLISH_FAILED: 502, INVALID_TOKEN: 401, TOKEN_EXPIRED: 401, PLATFORM_ERROR: 503, DUPLICATE_CONTENT: 409 } },
  get_agent_profile:         { timeoutS: 2,  cacheS: 10,     errors: { AGENT_NOT_FOUND: 404, UNAVAILABLE: 503 } },
  update_agent_state:        { timeoutS: 5,                  errors: { CONCURRENCY_ERROR: 409, AGENT_NOT_FOUND: 404, INVALID_STATE_TRANSITION: 422 } },
  fetch_wallet_balance:      { timeoutS: 5,  cacheS: 30,     errors: { WALLET_ERROR: 500, NETWORK_ERROR: 503, INVALID_ADDRESS: 400 } },
  debit_wallet:              { timeoutS: 10,                 errors: { INSUFFICIENT_BALANCE: 402, TX_FAILED: 502, INVALID_ADDRESS: 400, NETWORK_ERROR: 503 } },
  register_openclaw_profile: { timeoutS: 10,                 errors: { REGISTRATION_FAILED: 502, INVALID_PROFILE: 422, NETWORK_ERROR: 503 } },
}

/** A row of ours that the document has elsewhere: its general list says that TIMEOUT is retried. */
const OURS: Partial<Record<SkillId, readonly string[]>> = { debit_wallet: ['TIMEOUT'] }

describe('SK-1 the ten skills', () => {
  for (const id of IDS) {
    test(`${id}: timeout, cache, codes and their statuses`, () => {
      const contract: SkillContract = SKILLS[id]
      const { timeoutS, cacheS, errors } = DOCUMENT[id]
      assert.equal(contract.name, id)
      assert.equal(contract.timeoutMs, timeoutS * 1_000)
      assert.equal(contract.cache?.ttlMs, cacheS === undefined ? undefined : cacheS * 1_000)
      const own: Record<string, ErrorRow> = { ...contract.errors }
      for (const code of OURS[id] ?? []) delete own[code]
      const statuses = Object.entries(own).map(([code, { http }]) => [code, http])
      assert.deepEqual(Object.fromEntries(statuses), errors)
    })
  }
  test('SK-6 one platform has 10 s of the 30, and what was fetched is kept 5 minutes', () => {
    assert.deepEqual(SKILLS.fetch_trends.parts, { platform: 10_000 })
    assert.deepEqual(SKILLS.fetch_trends.cache, { ttlMs: 300_000, by: 'input' })
  })
  test('SK-7 batches of 100 have 3 s each, and scores are kept per trend and goals', () => {
    assert.deepEqual(SKILLS.semantic_filter.parts, { batch: 3_000 })
    assert.equal(SKILLS.semantic_filter.batch, 100)
    assert.deepEqual(SKILLS.semantic_filter.cache, { ttlMs: 1_800_000, by: 'trend_and_goals' })
  })
  test('SK-8 the model has 15 s, media has 30 s, and unsafe content is not retried', () => {
    assert.deepEqual(SKILLS.generate_content.parts, { model: 15_000, media: 30_000 })
    assert.equal(errorRow('generate_content', 'SAFETY_VIOLATION')?.retryable, false)
    assert.equal(errorRow('generate_content', 'MEDIA_GENERATION_FAILED')?.retries, 2)
  })
  test('SK-9 a verdict is kept for the content and the rules, and a context may be given', () => {
    assert.deepEqual(SKILLS.validate_content.cache, { ttlMs: 21_600_000, by: 'content_and_rules' })
    assert.ok('context' in SKILLS.validate_content.input.properties)
  })
  test('SK-15 a registration that fails three times ends in a warning', () => {
    const row = errorRow('register_openclaw_profile', 'REGISTRATION_FAILED')
    assert.deepEqual([row?.retries, row?.ending], [3, 'warn'])
  })
})

type Cell = [skill: SkillId, code: string, row: Partial<ErrorRow>]

describe('SK-2 recovery', () => {
  // biome-ignore format: a table is read by its columns
  const cells: Cell[] = [
    ['fetch_trends',              'PLATFORM_UNAVAILABLE',    { retries: 3, ending: 'cached', fallback: { to: 'source', fromRetry: 1 } }],
    ['fetch_trends',              'RATE_LIMITED',            { retries: 3, ending: 'cached', escalate: true }],
    ['fetch_trends',              'INVALID_PLATFORM',        { retries: 0, ending: 'refuse' }],
    ['fetch_trends',              'VALIDATION_FAILED',       { retries: 0, ending: 'empty' }],
    ['fetch_trends',              'TIMEOUT',                 { retries: 3, ending: 'cached', fallback: { to: 'source', fromRetry: 3 } }],
    ['fetch_trends',              'NETWORK_ERROR',           { retries: 3, ending: 'cached' }],
    ['semantic_filter',           'FILTER_TIMEOUT',          { retries: 0, ending: 'partial' }],
    ['semantic_filter',           'LLM_ERROR',               { retries: 3, ending: 'refuse', fallback: { to: 'model', fromRetry: 1 } }],
    ['semantic_filter',           'INVALID_GOALS',           { retries: 0, ending: 'refuse' }],
    ['generate_content',          'GENERATION_TIMEOUT',      { retries: 0, ending: 'partial' }],
    ['generate_content',          'INVALID_PERSONA',         { retries: 0, ending: 'refuse' }],
    ['generate_content',          'MEDIA_GENERATION_FAILED', { retries: 2, ending: 'without_media' }],
    ['generate_content',          'SAFETY_VIOLATION',        { retries: 0, ending: 'refuse', counts: 'rejections' }],
    ['generate_content',          'LLM_ERROR',               { retries: 2, ending: 'refuse', fallback: { to: 'model', fromRetry: 1 } }],
    ['validate_content',          'VALIDATION_ERROR',        { retries: 0, ending: 'invalid' }],
    ['validate_content',          'SAFETY_CHECK_TIMEOUT',    { retries: 0, ending: 'review' }],
    ['publish_content',           'PUBLISH_FAILED',          { retries: 3, ending: 'refuse' }],
    ['publish_content',           'INVALID_TOKEN',           { retries: 0, ending: 'refuse' }],
    ['publish_content',           'TOKEN_EXPIRED',           { retries: 0, ending: 'refuse', needs: 'new_approval' }],
    ['publish_content',           'PLATFORM_ERROR',          { retries: 3, ending: 'refuse', fallback: undefined as never }],
    ['publish_content',           'DUPLICATE_CONTENT',       { retries: 0, ending: 'existing' }],
    ['get_agent_profile',         'AGENT_NOT_FOUND',         { retries: 0, ending: 'refuse' }],
    ['get_agent_profile',         'UNAVAILABLE',             { retries: 0, ending: 'cached' }],
    ['update_agent_state',        'CONCURRENCY_ERROR',       { retries: 0, ending: 'refuse', needs: 'fresh_version' }],
    ['fetch_wallet_balance',      'WALLET_ERROR',            { retries: 2, ending: 'refuse', escalate: true }],
    ['fetch_wallet_balance',      'NETWORK_ERROR',           { retries: 3, ending: 'cached' }],
    ['debit_wallet',              'INSUFFICIENT_BALANCE',    { retries: 0, ending: 'refuse', escalate: true }],
    ['debit_wallet',              'TX_FAILED',               { retries: 3, ending: 'refuse', escalate: true }],
    ['debit_wallet',              'NETWORK_ERROR',           { retries: 3, ending: 'refuse', needs: 'same_key' }],
    ['register_openclaw_profile', 'REGISTRATION_FAILED',     { retries: 3, ending: 'warn' }],
    ['register_openclaw_profile', 'INVALID_PROFILE',         { retries: 0, ending: 'refuse' }],
    ['register_openclaw_profile', 'NETWORK_ERROR',           { retries: 3, ending: 'warn' }],
  ]
  for (const [skill, code, wanted] of cells) {
    test(`${skill} ${code}`, () => {
      const table: Record<string, ErrorRow> = SKILL_ERRORS[skill]
      const row = table[code]
      assert.ok(row)
      for (const [name, value] of Object.entries(wanted)) {
        assert.deepEqual(row[name as keyof ErrorRow], value, name)
      }
    })
  }

  const rows = [COMMON_ERRORS, ...Object.values(SKILL_ERRORS)].flatMap(
    (table): [string, ErrorRow][] => Object.entries(table),
  )
  const all = (codes: readonly string[], retryable: boolean) => {
    for (const [code, row] of rows) if (codes.includes(code)) assert.equal(row.retryable, retryable)
  }
  test('the two lists of the document', () => {
    all(['TIMEOUT', 'RATE_LIMITED', 'NETWORK_ERROR', 'PLATFORM_UNAVAILABLE', 'TX_FAILED'], true)
    all(['INVALID_INPUT', 'INVALID_PLATFORM', 'AGENT_NOT_FOUND', 'INSUFFICIENT_BALANCE'], false)
  })
  test('nothing is retried that is not retryable, and nothing more than three times', () => {
    for (const [code, { retries, retryable, fallback }] of rows) {
      assert.ok(retries === 0 || retryable, code)
      assert.ok(retries <= 3, code)
      assert.ok(fallback === undefined || fallback.fromRetry <= retries, code)
    }
  })
  test('four codes tell a person, wherever they stand', () => {
    const telling = rows.filter(([, { escalate }]) => escalate).map(([code]) => code)
    assert.deepEqual([...new Set(telling)].sort(), [
      'INSUFFICIENT_BALANCE',
      'RATE_LIMITED',
      'TX_FAILED',
      'WALLET_ERROR',
    ])
    const silent = rows.filter(([code, { escalate }]) => telling.includes(code) && !escalate)
    assert.deepEqual(silent, [])
  })
  test('E2 a code has one status', () => {
    const statuses = new Map<string, number>()
    for (const [code, { http }] of rows) {
      assert.equal(statuses.get(code) ?? http, http, code)
      statuses.set(code, http)
    }
  })
  test('waits of 1, 2 and 4 s, and up to a second more', () => {
    assert.deepEqual(
      [1, 2, 3].map((each) => retryWaitMs(each, 0)),
      [1_000, 2_000, 4_000],
    )
    assert.deepEqual(
      [1, 2, 3].map((each) => retryWaitMs(each, 0.999)),
      [1_999, 2_999, 4_999],
    )
  })
  test('Q2 every code that a contract names has a row', () => {
    for (const { name, codes, errors } of CONTRACTS) {
      const known = { ...COMMON_ERRORS, ...errors }
      const named = [codes.timeout, codes.output, ...codes.input.map(([, code]) => code)]
      for (const code of named) assert.ok(code in known, `${name} ${code}`)
    }
  })
  test('a skill’s own row wins over the shared one', () => {
    assert.equal(errorRow('fetch_wallet_balance', 'NETWORK_ERROR').ending, 'cached')
    assert.equal(errorRow('validate_content', 'NETWORK_ERROR').ending, 'refuse')
  })
})

describe('which code says that the input is wrong', () => {
  const at = (path: string) => [{ path, expected: '', got: '' }]
  // biome-ignore format: a table is read by its columns
  const rows: [skill: SkillId, path: string, code: string][] = [
    ['fetch_trends',              '/platform',                   'INVALID_PLATFORM'],
    ['fetch_trends',              '/platform/1',                 'INVALID_PLATFORM'],
    ['fetch_trends',              '/limit',                      'INVALID_INPUT'],
    ['fetch_trends',              '/platforms',                  'INVALID_INPUT'],
    ['semantic_filter',           '/campaign_goals/0',           'INVALID_GOALS'],
    ['semantic_filter',           '/trends',                     'INVALID_INPUT'],
    ['generate_content',          '/persona/bio',                'INVALID_PERSONA'],
    ['validate_content',          '/content/script',             'INVALID_CONTENT'],
    ['validate_content',          '/context/platform',           'INVALID_INPUT'],
    ['publish_content',           '/approval_token',             'INVALID_TOKEN'],
    ['get_agent_profile',         '/agent_id',                   'INVALID_INPUT'],
    ['update_agent_state',        '/state_updates/status',       'INVALID_INPUT'],
    ['fetch_wallet_balance',      '/wallet_address',             'INVALID_ADDRESS'],
    ['debit_wallet',              '/wallet_address',             'INVALID_ADDRESS'],
    ['debit_wallet',              '/amount',                     'INVALID_INPUT'],
    ['register_openclaw_profile', '/agent_profile/name',         'INVALID_PROFILE'],
  ]
  for (const [skill, path, code] of rows) {
    test(`${skill} ${path} → ${code}`, () => {
      const contract: SkillContract = SKILLS[skill]
      assert.equal(inputCode(contract, at(path)), code)
    })
  }
})

describe('SK-5 a contract is an offer of a version', () => {
  test('found by name, with a version or without', () => {
    for (const text of ['fetch_trends', 'fetch_trends@v1', 'fetch_trends@v1.0']) {
      const ref = readSkillRef(text)
      assert.ok(ref)
      const found = resolveSkill(CONTRACTS, ref, 0)
      assert.ok(found.ok && found.offer.name === 'fetch_trends', text)
    }
    assert.equal(resolveSkill(CONTRACTS, { name: 'fetch_trends', major: 2 }, 0).ok, false)
  })
  test('all ten can be offered by one agent, with schemas within the limit', () => {
    const skills = IDS.map((id) => offerSkill(id, 10))
    assert.ok(decideOffers(skills).ok)
    for (const { name, input, output } of skills) {
      for (const schema of [input, output]) {
        const bytes = JSON.stringify(schema).length
        assert.ok(bytes <= LIMITS.schemaBytes, `${name}: ${bytes}`)
      }
    }
  })
})
