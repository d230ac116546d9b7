/**
 * One row, one rule: what a hub answers in turn, and what the client makes of it. The hub is a
 * plain server that follows a script; nobody waits, since the clock is handed in.
 */
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { CorrelationId } from '@chimera/domain/ids'
import { createSeededChance } from '@chimera/host/chance'
import type { Clock } from '@chimera/host/clock'
import { generateKeyPair } from '@chimera/identity/keys'
import { afterEach, beforeEach, describe, test } from 'vitest'
import { createHubClient, type HubAnswer, type HubCall, type HubClientOptions } from './client.ts'

type Step = 'cut' | { readonly status: number; readonly body?: unknown; readonly headers?: object }
type Heard = { readonly headers: IncomingMessage['headers']; readonly body: string }

const OK: Step = { status: 200, body: { fine: true } }
const LATER: Step = {
  status: 503,
  body: { code: 'service_unavailable', message: 'later', retryable: true, retry_after_seconds: 2 },
}
const NEVER: Step = {
  status: 403,
  body: { code: 'caller_forbidden', message: 'no', retryable: false },
}
const GATEWAY: Step = { status: 502, body: 'Bad gateway' }

let script: Step[] = []
let heard: Heard[] = []
let slept: number[] = []
let now = 1_000_000
let address = ''
const server = createServer((request, response) => {
  const pieces: Buffer[] = []
  request.on('data', (piece: Buffer) => pieces.push(piece))
  request.on('end', () => {
    heard.push({ headers: request.headers, body: Buffer.concat(pieces).toString() })
    const step = script.shift() ?? 'cut'
    if (step === 'cut') return void request.socket.destroy()
    const text = typeof step.body === 'string' ? step.body : JSON.stringify(step.body ?? '')
    response.writeHead(step.status, { ...step.headers }).end(step.body === undefined ? '' : text)
  })
})

/** Sleeping is noted and over at once; what waits for the world never fires. */
const clock: Clock = {
  now: () => now,
  after: () => ({ cancel: () => undefined }),
  sleep: async (ms) => {
    slept.push(ms)
    now += ms
  },
}

beforeEach(async () => {
  ;[script, heard, slept] = [[], [], []]
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterEach(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

async function calling(
  steps: readonly Step[],
  call: HubCall,
  more: Partial<HubClientOptions> = {},
): Promise<HubAnswer> {
  script = [...steps]
  const client = createHubClient({ hub: address, clock, chance: createSeededChance(1), ...more })
  try {
    return await client.call(call)
  } finally {
    await client.close()
  }
}

const GET: HubCall = { path: '/v1/holds' }
const POST: HubCall = { method: 'POST', path: '/v1/holds', body: { hold_id: 'h' } }
const SAME: HubCall = { ...POST, repeatable: true }

describe('what is asked again, and what is not', () => {
  // biome-ignore format: a table is read by its columns
  const rows: [rule: string, steps: Step[], call: HubCall, tries: number, came: string][] = [
    ['an answer is an answer',                             [OK],                         GET,  1, 'answered'],
    ['no answer to a reading: asked again',                ['cut', OK],                  GET,  2, 'answered'],
    ['no answer to an order: not asked again',             ['cut', OK],                  POST, 1, 'network'],
    ['no answer to an order with a key: asked again',      ['cut', OK],                  SAME, 2, 'answered'],
    ['a refusal that may pass: asked again, key or none',  [LATER, OK],                  POST, 2, 'answered'],
    ['a refusal that may not: heard once',                 [NEVER, OK],                  SAME, 1, 'caller_forbidden'],
    ['as often as the plan says, and no more',             [LATER, LATER, LATER, LATER, OK], GET, 4, 'service_unavailable'],
    ['once, where the caller has a plan of its own',       [LATER, OK],      { ...GET, tries: 1 }, 1, 'service_unavailable'],
    ['a gateway does not speak for the hub',               [GATEWAY, OK],                POST, 1, 'unintelligible'],
    ['nor does it on a reading, which is asked again',     [GATEWAY, OK],                GET,  2, 'answered'],
    ['a redirect is not followed, whoever it names',       [{ status: 307, headers: { location: 'http://127.0.0.1:1/' } }], SAME, 1, 'too_many_redirects'],
    ['an answer without content is one',                   [{ status: 204 }],            POST, 1, 'answered'],
    ['what is not JSON is not understood',                 [{ status: 200, body: '<p>' }], POST, 1, 'unintelligible'],
  ]
  for (const [rule, steps, call, tries, came] of rows) {
    test(rule, async () => {
      const answer = await calling(steps, call)
      assert.equal(answer.ok ? 'answered' : answer.code, came)
      assert.equal(heard.length, tries)
    })
  }
})

test('the time that the hub names is kept to, and the deadline before it', async () => {
  await calling([LATER, OK], GET)
  assert.equal(slept.length, 1)
  assert.ok((slept[0] ?? 0) >= 2_000)
  const answer = await calling([LATER, OK], { ...GET, deadline: now + 1_000 })
  assert.equal(answer.ok ? 'answered' : answer.code, 'service_unavailable')
  assert.equal(slept.length, 1)
})

test('nothing is begun after the deadline', async () => {
  const answer = await calling([OK], { ...GET, deadline: now })
  assert.equal(answer.ok ? 'answered' : answer.code, 'timeout')
  assert.equal(heard.length, 0)
})

test('each try is signed anew, with one body and one trace', async () => {
  const correlation = '0b6f2ab0-5f0e-4c1e-9f43-0c7a5b9d2e11' as CorrelationId
  const keys = [generateKeyPair(), generateKeyPair()]
  let tries = 0
  const key = () => keys[tries++]
  await calling([LATER, OK], { ...SAME, correlation }, { key, token: () => `token-${tries}` })
  const [first, second] = heard
  assert.ok(first && second)
  assert.equal(first.body, second.body)
  assert.equal(first.headers.traceparent, second.headers.traceparent)
  assert.match(String(first.headers.traceparent), /^00-0b6f2ab05f0e4c1e9f430c7a5b9d2e11-/)
  assert.notEqual(first.headers.signature, second.headers.signature)
  const offered = heard.map(({ headers }) => headers['x-chimera-key'])
  assert.deepEqual(
    offered,
    keys.map(({ publicKey }) => publicKey),
  )
  assert.notEqual(first.headers.authorization, second.headers.authorization)
})

test('a refusal is told in our words where the door has its own', async () => {
  const details = { reason: 'hold_missing', issues: [{ path: '/a', expected: 'b', got: 'c' }, 1] }
  const body = { code: 'policy_violation', message: 'no', retryable: false, details }
  const answer = await calling([{ status: 402, body }], POST)
  assert.ok(!answer.ok && answer.kind === 'refused')
  assert.equal(answer.refusal, 'hold_missing')
  assert.deepEqual(answer.issues, [{ path: '/a', expected: 'b', got: 'c' }])
})

test('whoever gives up is not kept waiting', async () => {
  const stop = new AbortController()
  stop.abort()
  const answer = await calling([OK], { ...GET, signal: stop.signal })
  assert.equal(answer.ok ? 'answered' : answer.code, 'cancelled')
  assert.equal(heard.length, 0)
})

for (const hub of ['127.0.0.1:4600', 'ftp://hub', 'http://me:secret@hub', 'http://hub/?a=1']) {
  test(`${hub} is no address of a hub`, () => {
    const make = () => createHubClient({ hub, clock, chance: createSeededChance(1) })
    assert.throws(make, TypeError)
  })
}
