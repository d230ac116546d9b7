/** How often, how many, how large and how slow: every bound of the door, on real sockets. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { encodePresence } from '@chimera/dialects/moltbook'
import { refuse } from '@chimera/domain/decision'
import type { AgentId, CorrelationId, InstanceId } from '@chimera/domain/ids'
import { presenceExpiry } from '@chimera/domain/presence/presence'
import { createVirtualClock } from '@chimera/host/virtual-clock'
import { generateKeyPair } from '@chimera/identity/keys'
import { signMessage } from '@chimera/identity/message'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { createAsker } from './asking.ts'
import { type HubWanted, runHub, type TestHub } from './running.ts'

// Opening a database takes a while, so each group of tests has one hub.
function hubWith(wanted: HubWanted): () => TestHub {
  let hub: TestHub | undefined
  beforeAll(async () => {
    hub = await runHub(wanted)
  }, 120_000)
  afterAll(() => hub?.stop())
  return () => {
    assert.ok(hub)
    return hub
  }
}
const ask = async (hub: TestHub, path: string, headers: Record<string, string> = {}) => {
  const answer = await fetch(hub.address + path, { headers })
  const text = await answer.text()
  const body = text.startsWith('{') ? JSON.parse(text) : {}
  return { status: answer.status, retry: answer.headers.get('retry-after'), body, text }
}

/** A connection that says what it is told to, and remembers what it hears. */
async function dial(hub: TestHub): Promise<{
  readonly say: (text: string) => void
  readonly heard: () => string
  readonly ended: Promise<void>
  readonly hears: (pattern: RegExp) => Promise<void>
  readonly socket: Socket
}> {
  const { hostname, port } = new URL(hub.address)
  const socket = connect(Number(port), hostname)
  await new Promise((resolve, reject) => {
    socket.once('connect', resolve)
    socket.once('error', reject)
  })
  let heard = ''
  const waiting = new Set<() => void>()
  socket.setEncoding('utf8').on('data', (text: string) => {
    heard += text
    for (const look of waiting) look()
  })
  socket.on('error', () => undefined)
  const ended = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  const hears = (pattern: RegExp) =>
    new Promise<void>((resolve, reject) => {
      const look = () => {
        if (!pattern.test(heard)) return
        waiting.delete(look)
        resolve()
      }
      waiting.add(look)
      void ended.then(() => reject(new Error(`ended after ${heard}`)))
      look()
    })
  return { say: (text) => socket.write(text), heard: () => heard, ended, hears, socket }
}
const head = (method: string, path: string, ...fields: readonly string[]) =>
  `${[`${method} ${path} HTTP/1.1`, 'host: hub', ...fields].join('\r\n')}\r\n\r\n`

describe('strangers', () => {
  const clock = createVirtualClock({ startAt: Date.UTC(2026, 5, 1) })
  const get = hubWith({
    auth: 'required',
    clock,
    strangersPerMinute: 5,
    proxies: ['127.0.0.1'],
  })
  /** Each test comes from an address of its own. */
  const from = (address: string) => ({ 'x-forwarded-for': address })
  const spend = async (address: string, path = '/economy') => {
    const answers: number[] = []
    for (let each = 0; each < 6; each += 1) {
      answers.push((await ask(get(), path, from(address))).status)
    }
    return answers
  }

  test('are heard so often in a minute, and told when to come back', async () => {
    assert.deepEqual(await spend('192.0.2.1'), [401, 401, 401, 401, 401, 429])
    const { retry, body } = await ask(get(), '/economy', from('192.0.2.1'))
    assert.deepEqual([retry, body.code, body.retryable], ['61', 'RATE_LIMITED', true])
    assert.equal(body.retry_after_seconds, 61)
    assert.equal((await ask(get(), '/economy', from('192.0.2.2'))).status, 401, 'others are not')
    await clock.advanceBy(60_000)
    assert.equal((await ask(get(), '/economy', from('192.0.2.1'))).status, 429)
    await clock.advanceBy(1_000)
    assert.equal((await ask(get(), '/economy', from('192.0.2.1'))).status, 401)
  })

  test('are also counted where anybody may ask, and where nothing is', async () => {
    assert.deepEqual(await spend('192.0.2.3', '/skills'), [200, 200, 200, 200, 200, 429])
    assert.equal((await ask(get(), '/nowhere', from('192.0.2.3'))).status, 429)
  })

  test('X-6 are told in the words of the dialect', async () => {
    await spend('192.0.2.4')
    // biome-ignore format: a table is read by its columns
    const rows: [path: string, code: string][] = [
      ['/economy',                        'RATE_LIMITED'],
      ['/ingest/chimera-status/x',        'rate_limited'],
      ['/moltbook/v1/presence-events',    'rate_limited'],
      [`/openclaw/v1/status/${randomUUID()}`, 'resource_exhausted'],
      ['/v1/tokens',                      'rate_exceeded'],
      ['/schemas',                        'rate_exceeded'],
    ]
    for (const [path, code] of rows) {
      const { status, body, retry } = await ask(get(), path, from('192.0.2.4'))
      assert.deepEqual([status, body.code], [429, code], path)
      assert.ok(Number(retry) > 0, path)
    }
  })

  test('do not keep operators and load balancers from looking', async () => {
    await spend('192.0.2.5')
    const token = get().firstOperatorToken ?? ''
    assert.equal((await ask(get(), '/health', from('192.0.2.5'))).status, 200)
    assert.equal((await ask(get(), '/ready', from('192.0.2.5'))).status, 200)
    const authorization = `Bearer ${token}`
    const { status, text } = await ask(get(), '/metrics', { ...from('192.0.2.5'), authorization })
    assert.equal(status, 200)
    assert.match(text, /http_rate_refused_total\{who="stranger"\} [1-9]/)
  })

  test('whose proof fails are strangers, and are then not even verified', async () => {
    const { key, id } = await createAsker(get(), clock).newAgent()
    const asker = createAsker(get(), clock)
    const signed = (by: typeof key) => {
      const { headers } = asker.requestOf(`/accounts/${id}`, { key: by, offer: false })
      return ask(get(), `/accounts/${id}`, { ...headers, ...from('192.0.2.6') })
    }
    assert.notEqual((await signed(key)).status, 429)
    for (let each = 0; each < 5; each += 1) {
      assert.equal((await signed(generateKeyPair())).status, 401)
    }
    assert.equal((await signed(generateKeyPair())).status, 429)
    // A signature that holds costs as much to verify as one that does not.
    assert.equal((await signed(key)).status, 429)
    await clock.advanceBy(61_000)
    assert.notEqual((await signed(key)).status, 429)
  })

  test('who show a token are no strangers where anybody may ask', async () => {
    await spend('192.0.2.7', '/skills')
    const { token } = await createAsker(get(), clock).newOwner()
    const shown = async (text: string) => {
      const authorization = `Bearer ${text}`
      return (await ask(get(), '/skills', { ...from('192.0.2.7'), authorization })).status
    }
    assert.equal(await shown(token), 200)
    assert.equal(await shown('nonsense'), 429)
  })

  test('whose message proves itself is none; whose does not is', async () => {
    const { key, id } = await createAsker(get(), clock).newAgent()
    const post = async (by: typeof key, at: number) => {
      const announcement = {
        agent: id as string as AgentId,
        instance: id as string as InstanceId,
        availability: 'available' as const,
        capabilities: [],
        slotsTotal: 1,
        slotsFree: 1,
        load: { cpu: 0, mem: 0 },
        signedAt: clock.now() - at,
        expiresAt: presenceExpiry('available', clock.now() - at),
        correlation: 'trace-1' as CorrelationId,
      }
      const answer = await fetch(`${get().address}/moltbook/v1/presence`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...from('192.0.2.8') },
        body: JSON.stringify(signMessage(encodePresence(announcement), by)),
      })
      await answer.text()
      return answer.status
    }
    for (let at = 1_000; at > 990; at -= 1) assert.equal(await post(key, at), 204)
    for (let at = 0; at < 5; at += 1) assert.equal(await post(generateKeyPair(), at), 401)
    assert.equal(await post(generateKeyPair(), 0), 429)
  })
})

describe('established callers', () => {
  const clock = createVirtualClock({ startAt: Date.UTC(2026, 5, 1) })
  const get = hubWith({ auth: 'required', clock, requestsPerMinute: 8, strangersPerMinute: 2 })

  test('have a rate each, by token and by agent', async () => {
    const asker = createAsker(get(), clock)
    const [mine, theirs] = [await asker.newOwner(), await asker.newOwner()]
    const economy = async (token: string) => (await asker.send('/economy', { token })).status
    for (let each = 0; each < 8; each += 1) assert.equal(await economy(mine.token), 200)
    assert.equal(await economy(mine.token), 429)
    assert.equal(await economy(theirs.token), 200)
    const { key, id } = await asker.newAgent()
    const beat = async () =>
      (await asker.send('/heartbeat', { key, body: { agent_id: id } })).status
    for (let each = 0; each < 8; each += 1) assert.equal(await beat(), 200)
    assert.equal(await beat(), 429)
    await clock.advanceBy(61_000)
    assert.deepEqual([await economy(mine.token), await beat()], [200, 200])
  })

  test('that name any address they like are still counted by their name', async () => {
    await clock.advanceBy(61_000)
    const asker = createAsker(get(), clock)
    const { token } = await asker.newOwner()
    const authorization = `Bearer ${token}`
    for (let each = 0; each < 8; each += 1) {
      const claimed = { authorization, 'x-forwarded-for': `192.0.2.${each}` }
      assert.equal((await ask(get(), '/economy', claimed)).status, 200)
    }
    assert.equal((await ask(get(), '/economy', { authorization })).status, 429)
  })

  test('of whom nobody trusts the proxy come from where they are', async () => {
    await clock.advanceBy(61_000)
    const claiming = async (address: string) =>
      (await ask(get(), '/economy', { 'x-forwarded-for': address })).status
    const heard = [await claiming('192.0.2.1'), await claiming('192.0.2.2')]
    assert.deepEqual([...heard, await claiming('192.0.2.3')], [401, 401, 429])
  })
})

describe('an open hub', () => {
  const clock = createVirtualClock({ startAt: Date.UTC(2026, 5, 1) })
  const get = hubWith({ clock, requestsPerMinute: 4, strangersPerMinute: 1 })

  test('counts everybody by the address, as callers', async () => {
    const answers: number[] = []
    for (let each = 0; each < 5; each += 1) answers.push((await ask(get(), '/economy')).status)
    assert.deepEqual(answers, [200, 200, 200, 200, 429])
    assert.equal((await ask(get(), '/health')).status, 200)
    assert.equal((await ask(get(), '/metrics')).status, 200)
  })
})

describe('overload', { timeout: 30_000 }, () => {
  const get = hubWith({ maxInFlight: 2, maxDelay: 200, requestTimeout: 60_000 })
  const slow = head('POST', '/heartbeat', 'content-type: application/json', 'content-length: 50')
  /** Until the hub has taken it up, which nobody tells the sender. */
  const settled = async (isThere: () => Promise<boolean>) => {
    while (!(await isThere())) await new Promise((resolve) => setImmediate(resolve))
  }
  const isOver = async () => (await ask(get(), '/ready')).status === 503

  test('is answered at once with 503, and is over when there is room', async () => {
    await settled(async () => !(await isOver()))
    const two = [await dial(get()), await dial(get())]
    for (const each of two) each.say(slow)
    await settled(isOver)
    const refused = await ask(get(), '/economy')
    assert.deepEqual([refused.status, refused.body.code], [503, 'UNAVAILABLE'])
    assert.deepEqual([refused.retry, refused.body.retry_after_seconds], ['1', 1])
    assert.equal((await ask(get(), '/v1/tokens')).body.code, 'service_unavailable')
    assert.equal((await ask(get(), '/health')).status, 200)
    const ready = await ask(get(), '/ready')
    assert.deepEqual([ready.status, ready.body.waiting_for], [503, 'load'])
    assert.match((await ask(get(), '/metrics')).text, /http_overload_refused_total [1-9]/)
    // One goes away, and the other says the rest.
    two[0]?.socket.destroy()
    await settled(async () => !(await isOver()))
    assert.equal((await ask(get(), '/economy')).status, 200)
    two[1]?.say(' '.repeat(50))
    await two[1]?.hears(/^HTTP\/1.1 4/)
    two[1]?.socket.destroy()
  })

  test('is also when the process is late for everything', async () => {
    await settled(async () => !(await isOver()))
    // Nothing else runs in this process for so long.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3_000)
    const [economy, health] = [await ask(get(), '/economy'), await ask(get(), '/health')]
    assert.deepEqual([economy.status, economy.retry, health.status], [503, '1', 200])
    await settled(async () => (await ask(get(), '/economy')).status === 200)
  })

  test('of what stands behind is said with the time to come back', async () => {
    await settled(async () => !(await isOver()))
    const { money } = get().hub.keep
    const { submit } = money
    Object.assign(money, { submit: async () => refuse('service_unavailable') })
    const { status, headers } = await fetch(`${get().address}/accounts`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"owner_id":"bolt"}',
    })
    Object.assign(money, { submit })
    assert.deepEqual([status, headers.get('retry-after')], [503, '2'])
  })
})

describe('a connection', { timeout: 30_000 }, () => {
  const get = hubWith({ maxConnections: 3, requestTimeout: 400, idleTimeout: 300 })
  const json = (heard: string) => JSON.parse(heard.slice(heard.indexOf('\r\n\r\n') + 4))

  // biome-ignore format: a table is read by its columns
  const rows: [rule: string, said: string, status: number, code: string][] = [
    ['with a head that is too large is 431',      head('GET', '/health', `x: ${'x'.repeat(17_000)}`),                                             431, 'headers_oversized'],
    ['with too many fields is 431',               head('GET', '/health', ...Array.from({ length: 101 }, (_, at) => `x-${at}: x`)),                431, 'headers_oversized'],
    ['with far too many fields is 431',           head('GET', '/health', ...Array.from({ length: 900 }, (_, at) => `x-${at}: x`)),                431, 'headers_oversized'],
    ['whose head does not end is 408',            'GET /health HTTP/1.1\r\nhost: hub\r\n',                                                       408, 'request_slow'],
    ['whose body does not come is 408',           `${head('POST', '/heartbeat', 'content-type: application/json', 'content-length: 9')}{`,        408, 'request_slow'],
    ['that speaks no HTTP is 400',                'HELLO\r\n\r\n',                                                                               400, 'request_malformed'],
    ['with two lengths is 400',                   head('POST', '/heartbeat', 'content-length: 1', 'content-length: 2'),                          400, 'request_malformed'],
  ]
  for (const [rule, said, status, code] of rows) {
    test(rule, async () => {
      const caller = await dial(get())
      caller.say(said)
      await caller.hears(/\r\n\r\n\{.*\}$/s)
      assert.match(caller.heard(), new RegExp(`^HTTP/1.1 ${status} `))
      assert.equal(json(caller.heard()).code, code)
      assert.doesNotMatch(caller.heard(), /node|HPE|ERR_|\bat /i)
      caller.socket.destroy()
      await caller.ended
    })
  }

  test('with a hundred fields is heard', async () => {
    const caller = await dial(get())
    caller.say(head('GET', '/health', ...Array.from({ length: 99 }, (_, at) => `x-${at}: x`)))
    await caller.hears(/200 OK/)
    caller.socket.destroy()
    await caller.ended
  })

  test('with a body of more than 256 KiB is 413, before it is read', async () => {
    const caller = await dial(get())
    const length = `content-length: ${256 * 1_024 + 1}`
    caller.say(head('POST', '/register', 'content-type: application/json', length))
    await caller.hears(/^HTTP\/1.1 413 .*"INVALID_REQUEST"/s)
    caller.socket.destroy()
    await caller.ended
  })

  test('that is silent between two requests ends', async () => {
    const caller = await dial(get())
    caller.say(head('GET', '/health'))
    await caller.hears(/200 OK/)
    await caller.ended
  })

  test('is closed at once when there are too many', async () => {
    const three = [await dial(get()), await dial(get()), await dial(get())]
    const fourth = await dial(get())
    fourth.say(head('GET', '/health'))
    await fourth.ended
    assert.equal(fourth.heard(), '')
    three[0]?.say(head('GET', '/health'))
    await three[0]?.hears(/200 OK/)
    for (const each of three) each.socket.destroy()
    await Promise.all(three.map((each) => each.ended))
  })
})
