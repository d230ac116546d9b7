/**
 * The lane beside the server that it is a short way into: every answer by both ways, byte for byte,
 * and whatever is not plain handed on whole (E1 … E5).
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { encodeReserveOffer } from '@chimera/dialects/moltbook'
import type { AgentId, CorrelationId, OwnerId, TaskId } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import { createChance } from '@chimera/host/chance'
import { createLog } from '@chimera/host/log'
import { generateKeyPair } from '@chimera/identity/keys'
import { signMessage } from '@chimera/identity/message'
import { defineSkill, Type } from '@chimera/skill/define'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { createHubStub, createStage } from '../../test/working.ts'
import { createReserving } from '../work/reserving.ts'
import type { Workshop } from '../work/workshop.ts'
import { createServer } from './server.ts'

const ID = randomUUID()
const ASKS = '/openclaw/v1/collaborations'
const planner = generateKeyPair()

const skills = [
  defineSkill({
    name: 'count',
    version: '1.0',
    input: Type.Object({ text: Type.String() }),
    output: Type.Object({ words: Type.Integer() }),
    timeout: '5s',
    run: async ({ text }) => ({ words: text.split(/\s+/).length }),
  }),
  defineSkill({
    name: 'fail',
    version: '1.0',
    input: Type.Object({}),
    output: Type.Object({}),
    timeout: '5s',
    deprecation: { declaredAt: '2026-01-01T00:00:00Z', removedAt: '2099-01-01T00:00:00Z' },
    run: () => Promise.reject(new Error('at /home/agent/secret.ts')),
  }),
  defineSkill({
    name: 'echo',
    version: '1.0',
    input: Type.Object({ text: Type.String() }),
    output: Type.Object({ text: Type.String() }),
    timeout: '5s',
    run: async ({ text }) => ({ text }),
  }),
]

function createTown() {
  const stub = createHubStub()
  const network = {
    ...stub.network,
    agent: async () => ({ owner: 'ann' as OwnerId, publicKey: planner.publicKey }),
  }
  const stage = createStage({ skills, slots: 20, hub: { ...stub, network } })
  const { clock, self, desk } = stage
  const chance = createChance()
  const log = createLog({ clock, name: 'agent', level: 'silent' })
  const workshop: Workshop = {
    ...stage.workshop,
    ask: (asked) => {
      if (asked.asked.skill === 'boom') throw new Error('broken inside')
      return stage.workshop.ask(asked)
    },
  }
  const accepting = () => true
  const shared = { self, network, desk, clock, chance, accepting }
  const server = createServer({
    ...shared,
    workshop,
    reserving: createReserving({ ...shared, changed: () => undefined }),
    skills,
    log,
    publicUrl: () => undefined,
    state: () => 'ready',
    metrics: { text: async () => '', contentType: 'text/plain' },
  })
  return { server, self, clock }
}

const town = createTown()
let port = 0
let slowly = 0
town.server.server.on('request', () => {
  slowly += 1
})
beforeAll(async () => {
  port = Number(new URL(await town.server.listen({ host: '127.0.0.1', port: 0 })).port)
})
afterAll(() => town.server.close())

type Sent = {
  readonly path?: string
  readonly body?: unknown
  readonly fields?: Readonly<Record<string, string>>
}

function requestOf({ path = ASKS, body = {}, fields = {} }: Sent): string {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const all = {
    host: `127.0.0.1:${port}`,
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(text)),
    ...fields,
  }
  const head = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `POST ${path} HTTP/1.1\r\n${head.join('')}\r\n${text}`
}

async function open(): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  return socket
}

/** The next whole answers on a connection, or what there is at its end. */
function answersOn(socket: Socket, count = 1): Promise<string[]> {
  return new Promise((resolve) => {
    const answers: string[] = []
    let rest = Buffer.alloc(0)
    socket.on('data', (more: Buffer) => {
      rest = Buffer.concat([rest, more])
      for (let end = endOf(rest); end <= rest.length; end = endOf(rest)) {
        answers.push(rest.toString('utf8', 0, end))
        rest = rest.subarray(end)
      }
      if (answers.length >= count) resolve(answers)
    })
    socket.on('end', () => resolve([...answers, rest.toString()]))
  })
}

function endOf(bytes: Buffer): number {
  const head = bytes.indexOf('\r\n\r\n')
  const [, length] = /content-length: (\d+)/i.exec(bytes.toString('latin1', 0, head)) ?? []
  return head < 0 || length === undefined ? Number.POSITIVE_INFINITY : head + 4 + Number(length)
}

async function send(text: string): Promise<{ readonly answer: string; readonly slow: boolean }> {
  const before = slowly
  const socket = await open()
  const answering = answersOn(socket)
  socket.write(text)
  const [answer = ''] = await answering
  socket.destroy()
  return { answer, slow: slowly > before }
}

/** The date is the machine's, and the id is new for each. */
const bare = (answer: string): string =>
  answer.replace(/^(x-request-id|date): .*\r\n/gim, '$1: …\r\n')
const statusOf = (answer: string): number => Number(answer.slice(9, 12))

const ask = (more: object = {}) => ({
  protocol_version: '1.0.0',
  request_id: ID,
  requester_agent_id: ID,
  capability_id: 'count',
  input_data: { text: 'one two three' },
  correlation_id: ID,
  timestamp: new Date(town.clock.now()).toISOString(),
  idempotency_key: `key ${JSON.stringify(more).length}`,
  ...more,
})
const job = (more: object = {}) => ({
  job_id: randomUUID(),
  orchestrator_id: 'ann',
  skill_name: 'count',
  input_data: { text: 'ein Wört — 三' },
  budget: 1,
  currency: 'chorus_credits_v1',
  ...more,
})
const offer = (more: object = {}) =>
  signMessage(
    {
      ...encodeReserveOffer({
        type: 'reserve_slots',
        planner: ID as AgentId,
        task: randomUUID() as TaskId,
        instance: town.self.instance,
        slots: 1,
        deadline: town.clock.now() + 600_000,
        maxCostCents: 5,
        correlation: 'trace' as CorrelationId,
        signedAt: town.clock.now(),
        expiresAt: town.clock.now() + 30_000,
      }),
      ...more,
    },
    planner,
  )
const WAIT = { prefer: 'wait=5' }
const CALL = '/skills/count@v1'
const called = { 'idempotency-key': randomUUID() }

describe('E1 an answer by the lane is the answer by the server', () => {
  // biome-ignore format: a table is read by its columns
  const rows: [what: string, status: number, sent: Sent][] = [
    ['a result',                200, { body: ask(), fields: WAIT }],
    ['a taken ask',             202, { body: ask({ priority: 3 }) }],
    ['a failed piece of work',  200, { body: ask({ capability_id: 'fail', input_data: {} }), fields: WAIT }],
    ['an unknown skill',        404, { body: ask({ capability_id: 'sing' }) }],
    ['an input that is none',   422, { body: ask({ input_data: { text: 3 } }) }],
    ['another version',         400, { body: ask({ protocol_version: '9.0.0' }) }],
    ['no message at all',       400, { body: { hello: 'world' } }],
    ['a list',                  400, { body: [1, 2] }],
    ['a key used otherwise',    409, { body: ask({ input_data: { text: 'other' }, idempotency_key: 'key 2' }) }],
    ['a signature of nothing',  401, { body: ask(), fields: { signature: 'a=:AA==:' } }],
    ['a fault inside',          503, { body: ask({ capability_id: 'boom' }) }],
    ['a job',                   200, { path: '/jobs', body: job() }],
    ['a job that is none',      422, { path: '/jobs', body: { job_id: ID } }],
    ['a fault inside a job',    503, { path: '/jobs', body: job({ skill_name: 'boom' }) }],
    ['a skill call',            200, { path: CALL, body: { text: 'one' }, fields: called }],
    ['letters of any kind',     200, { path: '/skills/echo', body: { text: 'Wört — 三 \u{1f980}' }, fields: { 'idempotency-key': 'any' } }],
    ['letters of one byte',     200, { path: '/skills/echo', body: { text: 'Wört' }, fields: { 'idempotency-key': 'one' } }],
    ['a call of a wrong input', 400, { path: CALL, body: { text: 1 } }],
    ['a call that fails',       500, { path: '/skills/fail', body: {}, fields: { 'idempotency-key': 'f' } }],
    ['a call of nothing',       404, { path: '/skills/sing', body: {} }],
    ['a call with a list',      400, { path: CALL, body: [] }],
    ['an offer',                200, { path: '/moltbook/v1/reserve', body: offer() }],
    ['an offer changed after',  200, { path: '/moltbook/v1/reserve', body: { ...offer(), slots: 2 } }],
    ['an offer that is none',   400, { path: '/moltbook/v1/reserve', body: { slots: 1 } }],
  ]
  for (const [what, status, sent] of rows) {
    test(what, async () => {
      // Once before: what is repeated has one answer (OC-12), and the work is done.
      await send(requestOf(sent))
      const fast = await send(requestOf(sent))
      const slow = await send(requestOf({ ...sent, fields: { ...sent.fields, te: 'trailers' } }))
      assert.deepEqual([fast.slow, slow.slow], [false, true], 'each by its own way')
      assert.equal(bare(fast.answer), bare(slow.answer))
      assert.equal(statusOf(fast.answer), status, fast.answer)
      const ids = [fast, slow].map(({ answer }) => /^x-request-id: (\S+)/m.exec(answer)?.[1])
      assert.match(String(ids[0]), /^[0-9a-f-]{36}$/)
      assert.notEqual(ids[0], ids[1])
      assert.doesNotMatch(fast.answer, /home\/agent|broken inside/)
    })
  }
})

describe('E2 what is not plain goes to the server', () => {
  const good = { body: ask(), fields: WAIT }
  // biome-ignore format: a table is read by its columns
  const rows: [what: string, status: number, text: () => string][] = [
    ['another path',            404, () => requestOf({ path: '/openclaw/v1/nothing' })],
    ['another method',          200, () => `GET /health HTTP/1.1\r\nhost: a\r\n\r\n`],
    ['bad JSON',                400, () => requestOf({ body: '{"a":' })],
    ['no JSON',                 400, () => requestOf({ body: ' ' })],
    ['a prototype',             400, () => requestOf({ body: '{"__proto__":{"a":1}}' })],
    ['a body that is too long', 413, () => requestOf({ body: 'x'.repeat(LIMITS.bodyBytes + 1) })],
    ['another type',            400, () => requestOf({ ...good, fields: { 'content-type': 'text/plain' } })],
    ['a query',                 200, () => requestOf({ ...good, path: `${ASKS}?a=1` })],
    ['no host',                 400, () => requestOf(good).replace(/host: .*\r\n/, '')],
    ['two lengths',             400, () => requestOf(good).replace('content-length', 'content-length: 3\r\ncontent-length')],
    ['a length and chunks',     400, () => requestOf({ ...good, fields: { 'transfer-encoding': 'chunked' } })],
    ['a folded field',          400, () => requestOf({ ...good, fields: { a: 'b\r\n c' } })],
    ['a field of no name',      400, () => requestOf({ ...good, fields: { 'a b': 'c' } })],
    ['a field twice',           200, () => requestOf({ ...good, fields: { ...WAIT, 'x-a': '1', 'X-A': '2' } })],
    ['the last of all',         200, () => requestOf({ ...good, fields: { ...WAIT, connection: 'close' } })],
    ['letters of another kind', 200, () => requestOf({ ...good, fields: { ...WAIT, 'x-a': 'é' } })],
  ]
  for (const [what, status, text] of rows) {
    test(what, async () => {
      const { answer } = await send(text())
      assert.equal(statusOf(answer), status, answer)
    })
  }
})

describe('a connection', () => {
  test('E3 answers one after the other, however they come', async () => {
    const socket = await open()
    const before = slowly
    const one = requestOf({ body: ask(), fields: WAIT })
    const other = requestOf({ path: CALL, body: { text: 'a b' } })
    const answering = answersOn(socket, 4)
    socket.write(one)
    socket.write(`${one}${other}${one}`)
    const answers = await answering
    assert.deepEqual(answers.map(statusOf), [200, 200, 200, 200])
    assert.ok(answers[2]?.endsWith('{"words":2}'))
    assert.ok(slowly > before, 'several at once are for the server')
    socket.destroy()
  })

  test('E5 is answered like many others that ask at once, each with its own', async () => {
    const sockets = await Promise.all(Array.from({ length: 100 }, open))
    const answering = Promise.all(sockets.map((socket) => answersOn(socket)))
    for (const [at, socket] of sockets.entries()) {
      socket.write(requestOf({ path: '/skills/echo', body: { text: `I am ${at}` } }))
    }
    const bodies = (await answering).map(([answer = '']) => answer.split('\r\n\r\n')[1])
    const wanted = sockets.map((_, at) => JSON.stringify({ text: `I am ${at}` }))
    assert.deepEqual(bodies, wanted)
    for (const socket of sockets) socket.destroy()
  })

  test('E2 that sends in pieces is served, and stays with the server', async () => {
    const socket = await open()
    const text = requestOf({ body: ask(), fields: WAIT })
    for (let round = 0; round < 2; round += 1) {
      const answering = answersOn(socket)
      for (const piece of [text.slice(0, 30), text.slice(30, 200), text.slice(200)]) {
        socket.write(piece)
        await new Promise((resolve) => setImmediate(resolve))
      }
      const [answer = ''] = await answering
      assert.equal(statusOf(answer), 200)
    }
    socket.destroy()
  })

  test('E4 that has said all is ended after its answer', async () => {
    const socket = await open()
    const answering = answersOn(socket)
    socket.end(requestOf({ body: ask(), fields: WAIT }))
    const [answer = ''] = await answering
    assert.equal(statusOf(answer), 200)
    if (!socket.readableEnded) await once(socket, 'end')
  })

  test('E4 that is open ends with the server', async () => {
    const other = createTown()
    const address = await other.server.listen({ host: '127.0.0.1', port: 0 })
    const socket = connect(Number(new URL(address).port), '127.0.0.1')
    await once(socket, 'connect')
    const answering = answersOn(socket)
    socket.write(requestOf({ path: CALL, body: { text: 'a' } }))
    await answering
    socket.on('error', () => undefined)
    await Promise.all([once(socket, 'close'), other.server.close()])
  })
})
