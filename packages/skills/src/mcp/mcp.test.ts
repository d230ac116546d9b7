/** The MCP provider against real servers: processes over stdio, and HTTP on loopback. */
import assert from 'node:assert/strict'
import { fileURLToPath } from 'node:url'
import { createGuardedClient } from '@chimera/host/guarded/client'
import { createVirtualClock } from '@chimera/host/virtual-clock'
import {
  createMcpHandler,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { afterAll, afterEach, describe, test } from 'vitest'
import { counterpart } from '../../test/mcp-counterpart.js'
import { listenHere } from '../feeds/loopback.ts'
import { connectMcp, type McpConnection, type McpHands } from './connection.ts'
import { McpFailure, type McpFailureCode } from './failure.ts'
import type { McpAddress } from './server.ts'

const SCRIPT = fileURLToPath(new URL('../../test/mcp-counterpart.js', import.meta.url))
const SECRET = 'sk-very-secret-0815'
const environment = { NEWS_KEY: SECRET, OTHER: 'not for you' }
const HOSTILE = 'Calm\u202E\u0007 \u001B[31mred\u{E0041} 👩‍👩‍👧 ಠ\nend'

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()))
})

function closed(connection: McpConnection): McpConnection {
  closing.push(connection.close)
  return connection
}

function command(script: object = {}, hands: Partial<McpHands> = {}): McpConnection {
  const args = [SCRIPT, JSON.stringify(script)]
  const server = { is: 'command', name: 'town', command: process.execPath, args } as const
  const env = { env: ['NEWS_KEY'] }
  return closed(
    connectMcp({ ...server, ...env }, { clock: createVirtualClock(), environment, ...hands }),
  )
}

type Answering = Response | undefined | Promise<Response>
type Served = { readonly before?: (request: Request) => Answering }

async function address(script = {}, { before }: Served = {}, more: Partial<McpAddress> = {}) {
  const handler = createMcpHandler(() => counterpart(script))
  const heard: Request[] = []
  const door = await listenHere(async (request) => {
    heard.push(request)
    return (await before?.(request)) ?? handler.fetch(request)
  })
  const clock = createVirtualClock()
  const guard = createGuardedClient({ clock, allowNet: ['127.0.0.1'] })
  closing.push(async () => {
    await guard.close(AbortSignal.abort())
    await door.close()
  })
  const server = { is: 'address', name: 'town', url: door.url, ...more } as const
  return { connection: closed(connectMcp(server, { clock, guard, environment })), heard, door }
}

async function failureOf(running: Promise<unknown>): Promise<McpFailure> {
  const failure = await running.then(
    (value) => assert.fail(`it answered ${JSON.stringify(value)}`),
    (error: unknown) => error,
  )
  assert.ok(failure instanceof McpFailure, String(failure))
  assert.doesNotMatch(`${failure.message} ${failure.detail}`, new RegExp(SECRET))
  return failure
}

const pidOf = async (connection: McpConnection): Promise<unknown> =>
  Object(await connection.call('process', {})).data.pid

describe('a server that is started', () => {
  const script = JSON.stringify({ resources: { 'news://trends': '[1]' } })
  const town = connectMcp(
    {
      is: 'command',
      name: 'town',
      command: process.execPath,
      args: [SCRIPT, script],
      env: ['NEWS_KEY'],
    },
    { clock: createVirtualClock(), environment, limits: { answerBytes: 100_000 } },
  )
  afterAll(town.close)

  test('resources, tools and what it offers', async () => {
    assert.deepEqual((await town.read('news://trends')).texts, ['[1]'])
    assert.deepEqual((await town.call('data', { data: { a: 1 } })).data, { a: 1 })
    const { server, tools, resources } = await town.look()
    assert.equal(server, 'counterpart 1.0.0')
    assert.ok(tools.includes('say'))
    assert.deepEqual(resources, ['news://trends'])
  })

  test('N1 many callers share one', async () => {
    const pids = await Promise.all([pidOf(town), pidOf(town), pidOf(town)])
    assert.equal(new Set(pids).size, 1)
  })

  test('S1 it gets the variables that are named, and no others', async () => {
    const { data } = await town.call('process', {})
    const { names } = Object(data)
    assert.ok(names.includes('NEWS_KEY'))
    assert.ok(!names.includes('OTHER'))
  })

  test('S2 what it says of a secret is said without it', async () => {
    const failure = await failureOf(town.call('secret', { name: 'NEWS_KEY' }))
    assert.equal(failure.code, 'refused')
    assert.match(failure.detail, /key \[secret\] is wrong/)
  })

  test('N1 one that dies is started again; N3 a tool is not repeated', async () => {
    const before = await pidOf(town)
    const failure = await failureOf(town.call('die', {}))
    assert.deepEqual([failure.code, failure.sent], ['unreachable', true])
    assert.notEqual(await pidOf(town), before)
  })

  test('it reads its diagnostics and keeps none of the flood', async () => {
    const { texts } = await town.call('noise', { bytes: 3_000_000 })
    assert.deepEqual(texts, ['heard'])
  })

  test('rubbish between messages is passed over', async () => {
    assert.deepEqual((await town.call('rubbish', {})).texts, ['after rubbish'])
  })

  const rows: readonly (readonly [
    rule: string,
    tool: string,
    input: Readonly<Record<string, unknown>>,
    code: McpFailureCode,
  ])[] = [
    ['more bytes than are read', 'large', { bytes: 200_000 }, 'too_large'],
    ['more parts than are read', 'many', { count: 101 }, 'too_large'],
    ['data that is too deep', 'deep', { depth: 40 }, 'too_large'],
    ['a flood that nobody asked for', 'flood', { count: 1_500 }, 'rubbish'],
    ['an answer that is none', 'nonsense', {}, 'rubbish'],
    ['no such tool', 'no_such', {}, 'refused'],
    ['a tool that says no', 'refuse', { text: 'not today' }, 'refused'],
    ['a tool that has enough', 'refuse', { text: 'Rate limit reached' }, 'rate_limited'],
  ]
  for (const [rule, tool, input, code] of rows) {
    test(`N5 ${rule}: ${code}, and the next question is answered`, async () => {
      const failure = await failureOf(town.call(tool, input))
      assert.equal(failure.code, code, failure.detail)
      assert.deepEqual((await town.call('say', { text: 'yes' })).texts, ['yes'])
    })
  }

  test('N5 data comes without what steers or hides', async () => {
    const { data } = await town.call('data', { data: { text: HOSTILE, __proto__x: 1 } })
    assert.deepEqual(data, { text: 'Calm [31mred 👩‍👩‍👧 ಠ end', __proto__x: 1 })
  })
})

describe('time', () => {
  test('N2 a question has its time; N4 three silences end the server', async () => {
    const clock = createVirtualClock({ startAt: 0 })
    const town = command({}, { clock })
    const before = await pidOf(town)
    for (let at = 0; at < 3; at += 1) {
      const running = failureOf(town.call('hang', {}, { limitMs: 5_000 }))
      await settled()
      await clock.advanceBy(5_000)
      const failure = await running
      assert.deepEqual([failure.code, failure.sent], ['timeout', true])
    }
    assert.notEqual(await pidOf(town), before)
  })

  test('N2 a signal ends it, and the connection stays', async () => {
    const town = command()
    const before = await pidOf(town)
    const stop = new AbortController()
    const running = failureOf(town.call('hang', {}, { signal: stop.signal }))
    await settled()
    stop.abort()
    assert.equal((await running).code, 'cancelled')
    assert.equal(await pidOf(town), before)
  })

  test('a server that does not greet is given up', async () => {
    const clock = createVirtualClock({ startAt: 0 })
    const town = command({ mute: true }, { clock })
    const running = failureOf(town.read('news://trends'))
    await settled()
    await clock.advanceBy(10_000)
    const failure = await running
    assert.deepEqual([failure.code, failure.sent], ['timeout', false])
  })

  test('N1 pauses grow between failures, and what cannot be waited for fails at once', async () => {
    const clock = createVirtualClock({ startAt: 0 })
    const server = { is: 'command', name: 'none', command: './no-such-command' } as const
    const town = closed(connectMcp(server, { clock }))
    const waits: number[] = []
    for (let at = 0; at < 5; at += 1) {
      const from = clock.now()
      const ended = new AbortController()
      const running = failureOf(town.read('x://y', { limitMs: 60_000 })).finally(() =>
        ended.abort(),
      )
      for (await settled(); !ended.signal.aborted; await settled()) await clock.advanceBy(250)
      await running
      waits.push(clock.now() - from)
    }
    assert.deepEqual(waits, [0, 0, 250, 500, 1_000])
    const failure = await failureOf(town.read('x://y', { limitMs: 1_000 }))
    assert.deepEqual([failure.code, failure.sent], ['unreachable', false])
    assert.match(failure.detail, /failed 5 times; again in 2000 ms/)
  })
})

describe('settings', () => {
  test('a variable that is not set is named', async () => {
    const failure = await failureOf(command({}, { environment: {} }).read('x://y'))
    assert.deepEqual([failure.code, failure.detail], ['misconfigured', 'not set: NEWS_KEY'])
  })

  test('a command that is not there', async () => {
    const server = { is: 'command', name: 'none', command: './no-such-command' } as const
    const failure = await failureOf(
      connectMcp(server, { clock: createVirtualClock() }).read('x://y'),
    )
    assert.equal(failure.code, 'misconfigured')
  })

  test('after close nothing is asked', async () => {
    const town = command()
    await pidOf(town)
    await town.close()
    assert.equal((await failureOf(town.read('x://y'))).code, 'closed')
  })
})

describe('a server at an address', () => {
  test('resources and tools, with a key from the environment', async () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it stands for a variable
    const headers = { authorization: 'Bearer ${NEWS_KEY}' }
    const { connection, heard } = await address(
      { resources: { 'news://trends': '[1]' } },
      {},
      { headers },
    )
    assert.deepEqual((await connection.read('news://trends')).texts, ['[1]'])
    assert.deepEqual((await connection.call('say', { text: 'hi' })).texts, ['hi'])
    assert.ok(heard.every((each) => each.headers.get('authorization') === `Bearer ${SECRET}`))
  })

  test('P-8 an address of the inside is not dialled unless it is allowed', async () => {
    const clock = createVirtualClock()
    const guard = createGuardedClient({ clock })
    const server = { is: 'address', name: 'inside', url: 'http://127.0.0.1:9/mcp' } as const
    const failure = await failureOf(closed(connectMcp(server, { clock, guard })).read('x://y'))
    assert.equal(failure.code, 'misconfigured')
    await guard.close()
  })

  const rows: readonly (readonly [status: number, code: McpFailureCode])[] = [
    [401, 'denied'],
    [403, 'denied'],
    [429, 'rate_limited'],
    [500, 'unreachable'],
    [302, 'misconfigured'],
  ]
  for (const [status, code] of rows) {
    test(`${status} is ${code}, and no secret that is echoed is told`, async () => {
      const before = () =>
        new Response(`your key is ${SECRET}`, { status, headers: { location: '/elsewhere' } })
      // biome-ignore lint/suspicious/noTemplateCurlyInString: it stands for a variable
      const headers = { 'x-api-key': '${NEWS_KEY}' }
      const { connection } = await address({}, { before }, { headers })
      assert.equal((await failureOf(connection.call('say', {}))).code, code)
    })
  }

  test('it comes back after it was away', async () => {
    let away = false
    const before = () => (away ? new Response(null, { status: 503 }) : undefined)
    const { connection } = await address({}, { before })
    const say = () => connection.call('say', { text: 'hi' })
    await say()
    away = true
    assert.equal((await failureOf(say())).code, 'unreachable')
    away = false
    assert.deepEqual((await say()).texts, ['hi'])
  })

  test('N3 a server that has forgotten us is greeted anew', async () => {
    let forget = false
    const before = () => {
      const answer = forget ? new Response(null, { status: 404 }) : undefined
      forget = false
      return answer
    }
    const { connection } = await address({}, { before })
    const say = () => connection.call('say', { text: 'hi' })
    await say()
    forget = true
    assert.deepEqual((await say()).texts, ['hi'])
  })

  test('one of the older kind, with a session that is ended at the end', async () => {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => 'session-1',
    })
    await counterpart({}).connect(transport)
    const asked: (string | null)[][] = []
    const before = async (request: Request) => {
      asked.push([request.method, request.headers.get('mcp-session-id')])
      return transport.handleRequest(request)
    }
    const { connection } = await address({}, { before })
    assert.deepEqual((await connection.call('say', { text: 'hi' })).texts, ['hi'])
    await connection.close()
    assert.deepEqual(asked.at(-1), ['DELETE', 'session-1'])
  })

  test('N5 more bytes than are read', async () => {
    const { connection } = await address()
    const failure = await failureOf(connection.call('large', { bytes: 3_000_000 }))
    assert.equal(failure.code, 'too_large', failure.detail)
  })

  test('what is no MCP is rubbish', async () => {
    const before = () =>
      new Response('<html>welcome</html>', { headers: { 'content-type': 'text/html' } })
    const { connection } = await address({}, { before })
    const failure = await failureOf(connection.read('x://y'))
    assert.equal(failure.code, 'rubbish', failure.detail)
  })
})

/** Lets real I/O with the other process come through; no test waits for a time. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}
