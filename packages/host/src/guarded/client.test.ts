/** The guarded client against real servers on loopback; time is moved, never waited for. */
import assert from 'node:assert/strict'
import type { RequestListener } from 'node:http'
import { afterEach, beforeEach, describe, test } from 'vitest'
import { bodyOf, closed, type Listening, listen, listenRaw } from '../../test/servers.ts'
import { createVirtualClock, type VirtualClock } from '../virtual-clock.ts'
import {
  createGuardedClient,
  type GuardedClient,
  type GuardedClientOptions,
  type Outcome,
} from './client.ts'

const LOCAL = ['127.0.0.1']

let clock: VirtualClock
let closers: (() => Promise<void>)[]
beforeEach(() => {
  clock = createVirtualClock()
  closers = []
})
afterEach(async () => {
  for (const close of closers.reverse()) await close()
  assert.deepEqual(clock.pending(), [], 'no timer is left')
})

function client(options: Partial<GuardedClientOptions> = {}): GuardedClient {
  const made = createGuardedClient({ clock, allowNet: LOCAL, ...options })
  closers.push(() => made.close(AbortSignal.abort()))
  return made
}

async function serve(answer: RequestListener): Promise<Listening> {
  const server = await listen(answer)
  closers.push(server.close)
  return server
}

async function serveRaw(answer: Parameters<typeof listenRaw>[0]): Promise<Listening> {
  const server = await listenRaw(answer)
  closers.push(server.close)
  return server
}

const failureOf = (outcome: Outcome): string =>
  outcome.ok ? `answered ${outcome.status}` : outcome.failure.code
const textOf = (outcome: Outcome): string =>
  outcome.ok ? Buffer.from(outcome.body).toString() : ''

/** Answers by turns; the last one for ever. */
function resolver(...answers: readonly (readonly string[])[]) {
  const asked: string[] = []
  const resolve = async (host: string): Promise<readonly string[]> => {
    asked.push(host)
    return answers[Math.min(asked.length, answers.length) - 1] ?? []
  }
  return { resolve, asked }
}

describe('asking', () => {
  test('an answer has its status, headers, body and place', async () => {
    const server = await serve((_, response) => {
      response.writeHead(201, { 'x-one': ['a', 'b'] }).end('made')
    })
    const outcome = await client().request({ url: `${server.url}/x?y=1#z` })
    assert.ok(outcome.ok)
    assert.equal(outcome.status, 201)
    assert.equal(outcome.headers['x-one'], 'a,b')
    assert.equal(textOf(outcome), 'made')
    assert.equal(outcome.url, `${server.url}/x?y=1`)
    assert.equal(server.seen[0]?.url, '/x?y=1')
    assert.equal(server.seen[0]?.headers['accept-encoding'], 'identity')
  })

  test('method, headers and body arrive', async () => {
    const server = await serve((request, response) => {
      void bodyOf(request).then((body) => response.end(body))
    })
    const outcome = await client().request({
      url: server.url,
      method: 'POST',
      headers: { 'content-type': 'text/plain', 'x-trace': '7' },
      body: 'hello',
    })
    assert.equal(textOf(outcome), 'hello')
    assert.equal(server.seen[0]?.method, 'POST')
    assert.equal(server.seen[0]?.headers['x-trace'], '7')
  })

  test('an error of the peer is an answer', async () => {
    const server = await serve((_, response) => response.writeHead(503).end())
    assert.equal(failureOf(await client().request({ url: server.url })), 'answered 503')
  })

  test('the Host header is the name, though an address is dialled', async () => {
    const server = await serve((_, response) => response.end())
    const { resolve } = resolver(['127.0.0.1'])
    await client({ resolve }).request({ url: `http://agent.example.:${server.port}/` })
    assert.equal(server.seen[0]?.headers.host, `agent.example:${server.port}`)
  })

  test('connections are used again', async () => {
    const server = await serve((_, response) => response.end('x'))
    const guarded = client()
    for (let round = 0; round < 9; round += 1) await guarded.request({ url: server.url })
    // One rests for a turn of the event loop after each answer, so two take turns.
    assert.ok(server.connections() <= 2, String(server.connections()))
  })

  test('the system resolves names, and an address without an answer is passed over', async () => {
    const server = await serve((_, response) => response.end())
    const guarded = client({ allowNet: ['localhost'] })
    const url = `http://localhost:${server.port}/`
    assert.equal(failureOf(await guarded.request({ url })), 'answered 200')
    // Nothing listens at the first address on this port, the second is the server's.
    const { resolve } = resolver(['::1', '127.0.0.1'])
    const other = client({ allowNet: ['localhost'], resolve })
    const named = { url: `http://agent.example:${server.port}/` }
    assert.equal(failureOf(await other.request(named)), 'answered 200')
  })
})

describe('P-8 the address that is dialled is judged', () => {
  test('no disguise of this machine is dialled', async () => {
    const server = await serve((_, response) => response.end())
    const guarded = client({ allowNet: [] })
    for (const host of [
      '127.0.0.1',
      '127.1',
      '2130706433',
      '0x7f000001',
      '0177.0.0.1',
      '0',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '[::127.0.0.1]',
      'localhost',
      'localhost.',
    ]) {
      const outcome = await guarded.request({ url: `http://${host}:${server.port}/` })
      assert.equal(failureOf(outcome), 'refused_address', host)
    }
    assert.equal(server.connections(), 0)
  })

  // biome-ignore format: a table is read by its columns
  const answers: readonly (readonly [what: string, addresses: readonly string[], code: string])[] = [
    ['a private address',               ['10.0.0.1'],               'refused_address'],
    ['the metadata address',            ['169.254.169.254'],        'refused_address'],
    ['a mapped private address',        ['::ffff:10.0.0.1'],        'refused_address'],
    ['an allowed and a private one',    ['127.0.0.1', '10.0.0.1'],  'refused_address'],
    ['one that ends in a private one',  ['127.0.0.1', '127.0.0.1', '127.0.0.1', '127.0.0.1', '127.0.0.1', '::1'], 'refused_address'],
    ['an address with a zone',          ['fe80::1%lo'],             'refused_address'],
    ['no address',                      [],                         'network'],
    ['no address, but a name',          ['localhost'],              'refused_address'],
  ]
  for (const [what, addresses, code] of answers) {
    test(`a name that resolves to ${what}`, async () => {
      const server = await serve((_, response) => response.end())
      const { resolve } = resolver(addresses)
      const outcome = await client({ resolve }).request({ url: `http://a.example:${server.port}/` })
      assert.equal(failureOf(outcome), code)
      assert.equal(server.connections(), 0)
    })
  }

  test('a name that changes its answer: the judged one is dialled, the next judged', async () => {
    const server = await serve((_, response) =>
      response.writeHead(200, { connection: 'close' }).end(),
    )
    const { resolve, asked } = resolver(['127.0.0.1'], ['10.0.0.1'])
    const guarded = client({ resolve })
    const url = `http://rebind.example:${server.port}/`
    assert.equal(failureOf(await guarded.request({ url })), 'answered 200')
    assert.deepEqual(asked, ['rebind.example'], 'resolved once')
    assert.equal(failureOf(await guarded.request({ url })), 'refused_address')
    assert.equal(asked.length, 2)
  })

  test('a name that turns to this machine after it was judged is not followed there', async () => {
    const inside = await serve((_, response) => response.end('secrets'))
    const { resolve, asked } = resolver(['::1'], ['127.0.0.1'])
    const guarded = client({ allowNet: ['::1'], resolve })
    const outcome = await guarded.request({ url: `http://rebind.example:${inside.port}/` })
    assert.equal(failureOf(outcome), 'network')
    assert.equal(asked.length, 1)
    assert.equal(inside.connections(), 0)
  })

  test('a port that is not for the web, unless the operator listed the address', async () => {
    const { resolve } = resolver(['93.184.216.34'])
    const guarded = client({ resolve })
    const outcome = await guarded.request({ url: 'http://mail.example:25/' })
    assert.equal(failureOf(outcome), 'refused_address')
    // Listed: it is dialled, and nobody is there.
    const listed = await guarded.request({ url: 'http://127.0.0.1:1/' })
    assert.equal(failureOf(listed), 'network')
  })

  test('a resolver that fails is the network failing', async () => {
    const guarded = client({ resolve: () => Promise.reject(new Error('no')) })
    assert.equal(failureOf(await guarded.request({ url: 'http://a.example/' })), 'network')
  })

  test('SF-6 with known hosts listed, others are not even resolved', async () => {
    const { resolve, asked } = resolver(['127.0.0.1'])
    const guarded = client({ resolve, onlyHosts: ['known.example'] })
    const outcome = await guarded.request({ url: 'http://other.example/' })
    assert.equal(failureOf(outcome), 'refused_address')
    assert.deepEqual(asked, [])
  })
})

describe('P-8 every redirect is judged anew', () => {
  const pointing = (location: string, status = 302): RequestListener => {
    return (_, response) => response.writeHead(status, { location }).end('elsewhere')
  }

  for (const place of [
    'http://169.254.169.254/latest/meta-data/',
    'http://[::1]/',
    'http://2852039166/',
    'http://inside.example/',
    'file:///etc/passwd',
    'http://user:pw@127.0.0.1/',
    'http://',
  ]) {
    test(`to ${place}`, async () => {
      const server = await serve(pointing(place))
      const { resolve } = resolver(['10.0.0.1'])
      const outcome = await client({ resolve }).request({ url: server.url })
      assert.equal(failureOf(outcome), 'refused_address')
    })
  }

  test('a good one is followed, and the answer says where it came from', async () => {
    const server = await serve((request, response) => {
      if (request.url === '/end') response.end('here')
      else response.writeHead(307, { location: '/end' }).end('x'.repeat(100_000))
    })
    const outcome = await client().request({ url: `${server.url}/`, method: 'POST', body: 'b' })
    assert.equal(textOf(outcome), 'here')
    assert.equal(outcome.ok && outcome.url, `${server.url}/end`)
    assert.equal(server.seen[1]?.method, 'POST')
  })

  test('one that would change the method is handed back', async () => {
    const server = await serve(pointing('/x', 303))
    const outcome = await client().request({ url: server.url, method: 'POST', body: 'b' })
    assert.equal(failureOf(outcome), 'answered 303')
    assert.equal(server.seen.length, 1)
  })

  test('too many end it, a loop too', async () => {
    const server = await serve(pointing('/again'))
    const limits = { redirects: 2 }
    const outcome = await client({ limits }).request({ url: server.url })
    assert.equal(failureOf(outcome), 'too_many_redirects')
    assert.equal(server.seen.length, 3)
    const none = await client().request({ url: server.url, limits: { redirects: 0 } })
    assert.equal(failureOf(none), 'too_many_redirects')
  })

  test('credentials stay with their origin', async () => {
    const other = await serve((_, response) => response.end())
    const server = await serve(pointing(`${other.url}/there`))
    const headers = { authorization: 'Bearer x', 'x-message-id': '1' }
    const outcome = await client().request({ url: server.url, headers })
    assert.equal(failureOf(outcome), 'answered 200')
    assert.equal(server.seen[0]?.headers.authorization, 'Bearer x')
    assert.equal(other.seen[0]?.headers.authorization, undefined)
    assert.equal(other.seen[0]?.headers['x-message-id'], '1')
  })
})

describe('X-8 P-8 time is bounded', () => {
  test('for a name that is not resolved', async () => {
    const guarded = client({ resolve: () => new Promise(() => {}) })
    const outcome = guarded.request({ url: 'http://slow.example/' })
    await clock.advanceBy(4_999)
    assert.equal(clock.pending().length, 3, 'connect, headers and total are running')
    await clock.advanceBy(1)
    assert.equal(failureOf(await outcome), 'timeout')
  })

  test('for a peer that accepts and does not secure the connection', async () => {
    const server = await serveRaw(() => {})
    const connected = server.connected()
    const outcome = client().request({ url: `https://127.0.0.1:${server.port}/` })
    const socket = await connected
    const gone = closed(socket)
    socket.resume()
    await clock.advanceBy(5_000)
    assert.equal(failureOf(await outcome), 'timeout')
    await gone
  })

  test('for a peer that does not answer', async () => {
    let asked: () => void = () => {}
    const arrived = new Promise<void>((resolve) => {
      asked = resolve
    })
    const server = await serve(() => asked())
    const outcome = client().request({ url: server.url })
    await arrived
    await clock.advanceBy(15_000)
    assert.equal(failureOf(await outcome), 'timeout')
  })

  test('for a body that stops, or drips for ever', async () => {
    let write: (piece: string) => void = () => {}
    const server = await serve((_, response) => {
      response.flushHeaders()
      write = (piece) => void response.write(piece)
    })
    for (const [name, limits] of [
      ['stops', { pauseMs: 10_000, totalMs: 1_000_000 }],
      ['drips', { pauseMs: 1_000_000, totalMs: 10_000 }],
    ] as const) {
      const request = client().request({ url: server.url, limits })
      let ended = false
      void request.finally(() => {
        ended = true
      })
      // Headers have come as soon as the timer of the pause stands beside that of the total.
      while (clock.pending().length !== 2 || clock.pending().includes(clock.now() + 15_000)) {
        await new Promise((resolve) => setImmediate(resolve))
      }
      write('x')
      await clock.advanceBy(9_999)
      assert.equal(ended, false, name)
      await clock.advanceBy(10_000)
      assert.equal(failureOf(await request), 'timeout', name)
    }
  })
})

describe('P-8 size is bounded', () => {
  const limits = { bodyBytes: 1_000 }

  // biome-ignore format: a table is read by its columns
  const rows: readonly (readonly [what: string, answer: RequestListener, outcome: string])[] = [
    ['what fits exactly',          (_, response) => response.end('x'.repeat(1_000)),                      'answered 200'],
    ['one byte more',              (_, response) => response.end('x'.repeat(1_001)),                      'too_large'],
    ['one more, without a length', (_, response) => { response.write('x'); response.end('x'.repeat(1_000)) }, 'too_large'],
    ['a length that is not kept',  (_, response) => { response.writeHead(200, { 'content-length': 5_000 }).write('x') }, 'too_large'],
    ['headers without end',        (_, response) => response.writeHead(200, { 'x-long': 'x'.repeat(20_000) }).end(), 'too_large'],
  ]
  for (const [what, answer, expected] of rows) {
    test(what, async () => {
      const server = await serve(answer)
      assert.equal(failureOf(await client({ limits }).request({ url: server.url })), expected)
    })
  }

  test('an endless body is cut, and its connection closed', async () => {
    const server = await serve((_, response) => {
      const more = (): void => {
        while (response.write('x'.repeat(1_000))) {}
      }
      response.on('drain', more)
      more()
    })
    const connected = server.connected()
    const outcome = await client({ limits }).request({ url: server.url })
    assert.equal(failureOf(outcome), 'too_large')
    const socket = await connected
    await closed(socket)
  })

  test('B4 what is heard piece by piece is not held, and bounded all the same', async () => {
    for (const [length, expected] of [
      [1_000, 'answered 200'],
      [1_001, 'too_large'],
    ] as const) {
      const server = await serve((_, response) => {
        response.write('x')
        response.end('x'.repeat(length - 1))
      })
      let heard = 0
      const onPiece = (piece: Uint8Array): void => {
        heard += piece.length
      }
      const outcome = await client({ limits }).request({ url: server.url, onPiece })
      assert.equal(failureOf(outcome), expected)
      if (outcome.ok) assert.deepEqual([heard, outcome.body.length], [1_000, 0])
    }
  })

  test('what a HEAD announces is not a body', async () => {
    const server = await serve((_, response) =>
      response.writeHead(200, { 'content-length': 5_000 }).end(),
    )
    const outcome = await client({ limits }).request({ url: server.url, method: 'HEAD' })
    assert.equal(failureOf(outcome), 'answered 200')
  })
})

describe('C3 the world not answering is a value', () => {
  test('nobody listens', async () => {
    const server = await listen(() => {})
    await server.close()
    assert.equal(failureOf(await client().request({ url: server.url })), 'network')
  })

  for (const [what, answer] of [
    ['hangs up', ''],
    ['speaks something else', 'SSH-2.0-x\r\n\r\n'],
    ['breaks off', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf'],
  ] as const) {
    test(`a peer that ${what}`, async () => {
      const server = await serveRaw((socket) => socket.once('data', () => socket.end(answer)))
      assert.equal(failureOf(await client().request({ url: server.url })), 'network')
    })
  }

  test('the caller gives up, before, during or after', async () => {
    const server = await serveRaw(() => {})
    const guarded = client()
    const before = await guarded.request({ url: server.url, signal: AbortSignal.abort() })
    assert.equal(failureOf(before), 'cancelled')
    const stop = new AbortController()
    const connected = server.connected()
    const during = guarded.request({ url: server.url, signal: stop.signal })
    await connected
    stop.abort()
    assert.equal(failureOf(await during), 'cancelled')
  })

  test('a mistake of the caller is thrown', async () => {
    const guarded = client()
    for (const headers of [
      { host: 'x' },
      { 'Content-Length': '5' },
      { 'x-a': 'b\r\nc: d' },
      { 'x y': 'z' },
    ]) {
      await assert.rejects(guarded.request({ url: 'http://127.0.0.1:9/', headers }), TypeError)
    }
    assert.throws(() => createGuardedClient({ clock, allowNet: ['intranet'] }), TypeError)
  })
})

describe('closing', () => {
  test('waits for what is under way, and takes nothing new', async () => {
    let answer: () => void = () => {}
    const arrived = new Promise<void>((resolve) => {
      void serve((_, response) => {
        answer = () => response.end('done')
        resolve()
      }).then(({ url }) => begin(url))
    })
    let under: Promise<Outcome> | undefined
    const guarded = client()
    const begin = (url: string): void => {
      under = guarded.request({ url })
    }
    await arrived
    const closing = guarded.close()
    assert.equal(failureOf(await guarded.request({ url: 'http://127.0.0.1:9/' })), 'cancelled')
    answer()
    assert.equal(failureOf((await under) ?? assert.fail()), 'answered 200')
    await closing
  })

  test('gives it up when told to, and leaves no connection', async () => {
    const server = await serveRaw((socket) => socket.resume())
    const guarded = client()
    const connected = server.connected()
    const under = guarded.request({ url: server.url })
    const socket = await connected
    const gone = closed(socket)
    const stop = new AbortController()
    const closing = guarded.close(stop.signal)
    stop.abort()
    assert.equal(failureOf(await under), 'cancelled')
    await closing
    await gone
  })
})
