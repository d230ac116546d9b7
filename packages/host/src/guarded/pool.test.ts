/** TLS of the guarded client: whom it believes, how it proves itself, and rotation (SF-6). */
import assert from 'node:assert/strict'
import type { TLSSocket } from 'node:tls'
import { afterEach, describe, test } from 'vitest'
import { createAuthority } from '../../test/certificates.ts'
import { type Listening, listen, listenSecurely } from '../../test/servers.ts'
import { createVirtualClock } from '../virtual-clock.ts'
import { createGuardedClient, type GuardedClientOptions, type Outcome } from './client.ts'

const authority = createAuthority('test authority')
const stranger = createAuthority('another authority')
const server = authority.certify('server', ['agent.example', '127.0.0.1'])
const trusting = { ca: authority.cert }

let closers: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closers.reverse()) await close()
  closers = []
})

function client(options: Partial<GuardedClientOptions>) {
  const made = createGuardedClient({
    clock: createVirtualClock(),
    allowNet: ['127.0.0.1'],
    resolve: async () => ['127.0.0.1'],
    ...options,
  })
  closers.push(() => made.close(AbortSignal.abort()))
  return made
}

/** Answers with the name that was indicated and with that of the caller's certificate. */
async function serve(options: Parameters<typeof listenSecurely>[0] = {}): Promise<Listening> {
  const listening = await listenSecurely({ ...server, ...options }, ({ socket }, response) => {
    const secure = socket as TLSSocket
    const peer = secure.getPeerCertificate()
    response.end(JSON.stringify([secure.servername || null, peer.subject?.CN ?? null]))
  })
  closers.push(listening.close)
  return listening
}

const shown = ({ ...outcome }: Outcome): unknown =>
  outcome.ok ? JSON.parse(Buffer.from(outcome.body).toString()) : outcome.failure.code

describe('SF-6 the server’s certificate is checked', () => {
  test('that of the name is taken, and the name is indicated', async () => {
    const { port } = await serve()
    const outcome = await client({ tls: () => trusting }).request({
      url: `https://agent.example:${port}/`,
    })
    assert.deepEqual(shown(outcome), ['agent.example', null])
  })

  test('that of the address is taken if that was asked, and no name is indicated', async () => {
    const { url } = await serve()
    const outcome = await client({ tls: () => trusting }).request({ url })
    assert.deepEqual(shown(outcome), [null, null])
  })

  test('that of another name is refused, though the address is right', async () => {
    const { port } = await serve()
    const guarded = client({ tls: () => trusting })
    const outcome = await guarded.request({ url: `https://other.example:${port}/` })
    assert.equal(shown(outcome), 'tls')
  })

  test('that of an unknown authority is refused', async () => {
    const { url, seen } = await serve()
    for (const tls of [{}, { ca: stranger.cert }]) {
      assert.equal(shown(await client({ tls: () => tls }).request({ url })), 'tls')
    }
    assert.equal(seen.length, 0)
  })

  test('an old version of TLS is refused', async () => {
    const { url } = await serve({
      minVersion: 'TLSv1',
      maxVersion: 'TLSv1.1',
      ciphers: 'ALL@SECLEVEL=0',
    })
    assert.equal(shown(await client({ tls: () => trusting }).request({ url })), 'tls')
  })

  test('a peer that speaks plainly is refused', async () => {
    const plain = await listen((_, response) => response.end())
    closers.push(plain.close)
    const outcome = await client({ tls: () => trusting }).request({
      url: `https://127.0.0.1:${plain.port}/`,
    })
    assert.equal(shown(outcome), 'tls')
  })

  test('P-8 a redirect to less is not followed', async () => {
    const plain = await listen((_, response) => response.end())
    const secure = await listenSecurely(server, (_, response) => {
      response.writeHead(302, { location: plain.url }).end()
    })
    closers.push(plain.close, secure.close)
    const outcome = await client({ tls: () => trusting }).request({ url: secure.url })
    assert.equal(shown(outcome), 'refused_address')
    assert.equal(plain.connections(), 0)
  })
})

describe('SF-6 mutual TLS', () => {
  const mutual = { requestCert: true, rejectUnauthorized: true, ca: authority.cert }

  test('our certificate is shown', async () => {
    const { url } = await serve(mutual)
    const tls = { ...trusting, ...authority.certify('agent-1') }
    assert.deepEqual(shown(await client({ tls: () => tls }).request({ url })), [null, 'agent-1'])
  })

  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
    test(`none, or that of a stranger, is refused by the peer (${maxVersion})`, async () => {
      const { url, seen } = await serve({ ...mutual, maxVersion })
      for (const own of [{}, stranger.certify('agent-1')]) {
        const guarded = client({ tls: () => ({ ...trusting, ...own }) })
        assert.ok(['tls', 'network'].includes(String(shown(await guarded.request({ url })))))
      }
      assert.equal(seen.length, 0)
    })
  }

  test('a rotated one is used from the next request on, without a restart', async () => {
    const listening = await serve(mutual)
    let tls = { ...trusting, ...authority.certify('old') }
    const guarded = client({ tls: () => tls })
    const ask = async () => shown(await guarded.request({ url: listening.url }))
    for (let round = 0; round < 5; round += 1) assert.deepEqual(await ask(), [null, 'old'])
    assert.ok(listening.connections() <= 2)
    tls = { ...trusting, ...authority.certify('new') }
    for (let round = 0; round < 5; round += 1) assert.deepEqual(await ask(), [null, 'new'])
  })
})
