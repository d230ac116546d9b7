/** Models over the wire of Google and OpenAI, on loopback: what is asked, and what goes wrong. */
import assert from 'node:assert/strict'
import { inspect } from 'node:util'
import { keepSecret } from '@chimera/host/settings/secret'
import { Type } from 'typebox'
import { afterEach, describe, test } from 'vitest'
import type { Seen, Turn } from '../../test/model-servers.ts'
import { createStage, KEY, type Stage } from '../../test/model-stage.ts'
import { ModelFailure } from './model.ts'
import { type ModelSettings, openModel } from './open.ts'
import { loadPeer } from './peers.ts'
import { costOf, createTally, PRICES, showNanos } from './prices.ts'

const KINDS = ['google', 'openai', 'compatible'] as const
const Answer = Type.Object({
  word: Type.String({ maxLength: 10 }),
  mood: Type.Enum(['good', 'bad']),
  marks: Type.Array(Type.Number({ minimum: 0, maximum: 1 }), { maxItems: 2 }),
})
const GOOD = { word: 'yes', mood: 'good', marks: [0.5] }
const ASK = {
  purpose: 'test',
  system: 'Answer.',
  prompt: 'What?',
  schema: Answer,
  temperature: 0,
  maxOutputTokens: 64,
  timeoutMs: 3_000,
} as const
const { signal: WAITS } = new AbortController()

let stages: Stage[] = []
afterEach(async () => {
  for (const each of stages) await each.close()
  stages = []
})
async function stage(script: Turn | ((seen: Seen, turn: number) => Turn)): Promise<Stage> {
  const made = await createStage(typeof script === 'function' ? script : () => script)
  stages.push(made)
  return made
}

async function failureOf(running: Promise<unknown>): Promise<ModelFailure> {
  const error = await running.then(
    () => assert.fail('it was answered'),
    (thrown: unknown) => thrown,
  )
  assert.ok(error instanceof ModelFailure, inspect(error))
  return error
}

for (const kind of KINDS) {
  test(`${kind}: one request with seed, bounds and schema, and a checked value`, async () => {
    const { model, server, uses } = await stage({ say: GOOD, usage: { input: 1_200, output: 34 } })
    const { value, use } = await model(kind).ask(ASK, WAITS)
    assert.deepEqual(value, GOOD)
    const [seen, ...more] = server.seen
    assert.ok(seen && more.length === 0)
    assert.deepEqual([seen.seed, seen.temperature, seen.maxTokens], [7, 0, 64])
    assert.deepEqual(seen.roles, ['system', 'user'])
    assert.deepEqual([seen.system, seen.user], ['Answer.', 'What?'])
    assert.match(JSON.stringify(seen.schema), /"word"/)
    assert.doesNotMatch(JSON.stringify(seen.schema), /maxLength|maxItems|minimum/)
    const key = kind === 'google' ? seen.headers['x-goog-api-key'] : seen.headers.authorization
    assert.equal(key, kind === 'google' ? KEY : `Bearer ${KEY}`)
    assert.doesNotMatch(seen.path, new RegExp(KEY))
    assert.deepEqual(use.tokens, { input: 1_200, cachedInput: 0, output: 34 })
    assert.deepEqual(uses, [use])
  })
}

// biome-ignore format: a table is read by its columns
const WRONG: readonly (readonly [what: string, turn: Turn, code: string, detail: RegExp])[] = [
  ['a body that is no JSON',   { status: 200, body: '<html>' },          'unusable',     /status 200/],
  ['text that is no JSON',     { text: 'Sure! Here it is: {' },          'unusable',     /no JSON/],
  ['another shape',            { say: { word: 'yes' } },                 'unusable',     /another shape/],
  ['a word that is too long',  { say: { ...GOOD, word: 'x'.repeat(11) } }, 'unusable',   /another shape/],
  ['a mark beyond its bound',  { say: { ...GOOD, marks: [2] } },         'unusable',     /another shape/],
  ['a refusal',                'refuse',                                 'refused',      /./],
  ['half an answer',           'cut',                                    'cut',          /./],
  ['a broken connection',      'drop',                                   'unavailable',  /network/],
  ['far too much',             'huge',                                   'unusable',     /larger/],
  ['a limit',                  { status: 429, headers: { 'retry-after': '7' } }, 'rate_limited', /429/],
  ['a broken server',          { status: 503 },                          'unavailable',  /503/],
  ['a wrong key',              { status: 401, body: `{"error":{"message":"bad key ${KEY}","code":"invalid_api_key"}}` }, 'unauthorised', /401/],
  ['an unknown model',         { status: 404, body: '{"error":{"message":"no","code":"model_not_found"}}' }, 'unusable', /404/],
  ['a redirect',               { status: 307, headers: { location: 'http://127.0.0.1:1/' } }, 'bad_address', /redirects/],
  ['no answer',                'hold',                                   'timeout',      /3000 ms/],
]
describe('what goes wrong has one code, and neither the key nor words of the provider', () => {
  for (const kind of KINDS) {
    for (const [what, turn, code, detail] of WRONG) {
      test(`${kind}: ${what}`, async () => {
        const { model, server, until } = await stage(turn)
        const failure = await failureOf(until(model(kind).ask(ASK, WAITS)))
        assert.equal(failure.code, code, inspect(failure))
        assert.match(failure.detail, detail)
        assert.equal(server.seen.length, 1, 'asked once')
        const all = { depth: 9, showHidden: true }
        const shown = `${inspect(failure, all)} ${JSON.stringify(failure)}`
        assert.doesNotMatch(shown, /sk-test|bad key|What\?/)
        if (code === 'rate_limited') assert.equal(failure.retryAfterMs, 7_000)
      })
    }
  }
})

test('what was paid for is counted, also when it is of no use', async () => {
  const { model, uses } = await stage({ text: 'no JSON' })
  await failureOf(model('openai').ask(ASK, WAITS))
  assert.deepEqual(uses[0]?.tokens, { input: 1_000, cachedInput: 0, output: 100 })
  assert.equal(uses[0]?.costNanos, 1_000 * 150 + 100 * 600)
})

test('a server that counts nonsense is not believed', async () => {
  const { model } = await stage({ say: GOOD, usage: { input: 1e15, output: 1e15 } })
  const { use } = await model('openai').ask(ASK, WAITS)
  assert.deepEqual(use.tokens, { input: 100_000_000, cachedInput: 0, output: 100_000_000 })
})

test('a caller that leaves ends the request', async () => {
  const { model, server, until } = await stage('hold')
  const leaving = new AbortController()
  const running = model('google').ask(ASK, leaving.signal)
  while (server.held() === 0) await new Promise((resolve) => setImmediate(resolve))
  leaving.abort(new Error('gone'))
  await assert.rejects(until(running), /gone/)
})

test('a question that is too long is not sent', async () => {
  const { model, server } = await stage({ say: GOOD })
  const failure = await failureOf(
    model('google').ask({ ...ASK, prompt: 'x'.repeat(250_000) }, WAITS),
  )
  assert.deepEqual([failure.code, server.seen.length], ['too_long', 0])
})

test('a model that takes no schema is told it, and fences are taken off', async () => {
  const { model, server } = await stage({ text: `\`\`\`json\n${JSON.stringify(GOOD)}\n\`\`\`` })
  const { value } = await model('compatible', { structured: false }).ask(ASK, WAITS)
  assert.deepEqual(value, GOOD)
  assert.equal(server.seen[0]?.schema, undefined)
  assert.match(server.seen[0]?.system ?? '', /"properties":\{"word"/)
})

describe('an address', () => {
  const key = keepSecret(KEY).secret
  // biome-ignore format: a table is read by its columns
  const rows: readonly (readonly [what: string, settings: Partial<ModelSettings>, code: string])[] = [
    ['none for a compatible model',       { kind: 'compatible' },                                        'bad_address'],
    ['one that is none',                  { url: 'nowhere', key },                                       'bad_address'],
    ['of another scheme',                 { url: 'ftp://a.example.org', key },                           'bad_address'],
    ['with a password in it',             { url: 'https://u:p@a.example.org', key },                     'bad_address'],
    ['a key in the clear',                { url: 'http://a.example.org', key },                          'bad_address'],
    ['the provider’s own without a key',  {},                                                            'no_key'],
  ]
  for (const [what, settings, code] of rows) {
    test(`${what}: ${code}`, () => {
      try {
        openModel({ name: 'x', kind: 'openai', ...settings })
        assert.fail('it was opened')
      } catch (error) {
        assert.ok(error instanceof ModelFailure, inspect(error))
        assert.equal(error.code, code)
      }
    })
  }

  test('in a private network is not dialled unless its network is allowed', async () => {
    const model = openModel({ name: 'x', kind: 'compatible', url: 'http://10.1.2.3:8080/v1' })
    assert.equal((await failureOf(model.ask(ASK, WAITS))).code, 'bad_address')
    await model.close()
  })
})

test('what cannot be a key is not sent, nor shown', async () => {
  const { model, server } = await stage({ say: GOOD })
  const key = keepSecret(`${KEY}\r\nx-other: 1`).secret
  const failure = await failureOf(model('openai', { key }).ask(ASK, WAITS))
  assert.deepEqual([failure.code, server.seen.length], ['no_key', 0])
  assert.doesNotMatch(inspect(failure), /sk-test/)
})

test('a package that is not installed is named with its version', async () => {
  const absent = Object.assign(new Error('Cannot find'), { code: 'ERR_MODULE_NOT_FOUND' })
  const failure = await failureOf(loadPeer(['ai', '@ai-sdk/google'], () => Promise.reject(absent)))
  assert.equal(failure.code, 'missing_package')
  assert.match(failure.message, /npm install ai@6\.0\.326 @ai-sdk\/google@3\.0\.141/)
})

test('what it costs, by the table and in sum', () => {
  const price = PRICES['gpt-4o-mini']
  assert.ok(price)
  const tokens = { input: 1_000, cachedInput: 400, output: 10 }
  assert.equal(costOf(tokens, price), 600 * 150 + 400 * 75 + 10 * 600)
  assert.equal(costOf({ input: 1, cachedInput: 0, output: 0 }, { input: 0.0001, output: 0 }), 1)
  const tally = createTally()
  const use = { model: 'a', purpose: 'x', tokens, costNanos: 126_000, priced: true }
  tally.add(use)
  tally.add({ ...use, model: 'b', costNanos: 0, priced: false })
  assert.deepEqual(tally.total(), {
    calls: 2,
    tokens: { input: 2_000, cachedInput: 800, output: 20 },
    costNanos: 126_000,
    unpriced: 1,
  })
  assert.equal(tally.total('c').calls, 0)
  assert.deepEqual(
    [showNanos(126_000), showNanos(0), showNanos(2e9)],
    ['$0.00013', '$0.00', '$2.00'],
  )
})
