/** The way to the feed, against real servers on this machine: proofs, rotation, other hosts. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import type { PublicKey } from '@chimera/domain/ids'
import { createClock } from '@chimera/host/clock'
import { type Certified, createAuthority } from '@chimera/host/testing/certificates'
import { createVirtualClock } from '@chimera/host/virtual-clock'
import { verifyDetached } from '@chimera/identity/detached-jws'
import { createKeyring } from '@chimera/identity/keyring'
import { generateKeyPair } from '@chimera/identity/keys'
import { afterAll, afterEach, describe, test } from 'vitest'
import {
  type FeedAuth,
  type FeedDoor,
  openFeedDoor,
  secretFromFile,
  tlsFromFiles,
} from './feed-door.ts'

const clock = createClock()
const BODY = '{"status":"x"}'
const never = () => new AbortController().signal
const ownPair = generateKeyPair()
const own = () => ownPair
const home = mkdtempSync(join(tmpdir(), 'chimera-feed-'))
const open: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
})
afterAll(() => rmSync(home, { recursive: true, force: true }))

type Heard = { readonly request: IncomingMessage; readonly body: string }

/** Writes down what it is asked and answers as the test wants. */
async function listen(make: (listener: RequestListener) => Server, scheme: string) {
  const heard: Heard[] = []
  const world: { status: number; headers: Record<string, string>; hangs: boolean } = {
    status: 202,
    headers: {},
    hangs: false,
  }
  const server = make((request, reply) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => void parts.push(part))
    request.on('end', () => {
      heard.push({ request, body: Buffer.concat(parts).toString() })
      server.emit('heard')
      if (!world.hangs) reply.writeHead(world.status, world.headers).end('{"code":"why_not"}')
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  open.push(async () => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { server, heard, world, url: `${scheme}://127.0.0.1:${port}/ingest/chimera-status` }
}
const plain = () => listen((listener) => createServer(listener), 'http')

function doorTo(
  url: string,
  auth: FeedAuth,
  more: Partial<Parameters<typeof openFeedDoor>[0]> = {},
) {
  const door = openFeedDoor({ url, auth, clock, key: own, ...more })
  open.push(() => door.close(AbortSignal.abort()))
  return door
}
const statusOf = async (door: FeedDoor) => {
  const { outcome, error } = await door.post(BODY, never())
  return `${outcome.type === 'answered' ? outcome.status : outcome.type} ${error ?? ''}`.trim()
}

describe('SF-6 who publishes', () => {
  test('a bearer token is that of its file, whenever it is written anew', async () => {
    const { url, heard } = await plain()
    const path = join(home, 'token')
    const door = doorTo(url, { by: 'bearer', token: secretFromFile(path) })
    for (const token of ['first', 'second']) {
      writeFileSync(path, `${token}\n`)
      assert.equal(await statusOf(door), '202')
      assert.equal(heard.at(-1)?.request.headers.authorization, `Bearer ${token}`)
    }
    assert.equal(heard.at(-1)?.body, BODY)
    assert.equal(heard.at(-1)?.request.headers['content-type'], 'application/json')
    rmSync(path)
    await assert.rejects(door.post(BODY, never()))
  })

  test('a signature is over the body’s bytes, by the key of that moment', async () => {
    const { url, heard } = await plain()
    let pair = generateKeyPair()
    const door = doorTo(url, { by: 'jws', key: () => pair })
    const keyring = createKeyring()
    for (const next of [pair, generateKeyPair()]) {
      pair = next
      assert.equal(await statusOf(door), '202')
      const { request, body } = heard.at(-1) ?? {}
      const keyOf = (): PublicKey => next.publicKey
      const text = String(request?.headers['x-signature'])
      const verdict = await verifyDetached(text, Buffer.from(body ?? ''), { keyOf, keyring })
      assert.deepEqual(verdict, { ok: true, key: next.id })
      const other = await verifyDetached(text, Buffer.from('{}'), { keyOf, keyring })
      assert.equal(other.ok, false)
    }
    assert.equal(await statusOf(doorTo(url, { by: 'jws' })), '202')
    const text = String(heard.at(-1)?.request.headers['x-signature'])
    const keyOf = (): PublicKey => ownPair.publicKey
    const verdict = await verifyDetached(text, Buffer.from(BODY), { keyOf, keyring })
    assert.deepEqual(verdict, { ok: true, key: ownPair.id }, 'the agent’s own unless given')
  })

  test('mTLS: both sides show a certificate, and ours rotates without a restart', async () => {
    const authority = createAuthority('feed authority')
    const callers = createAuthority('caller authority')
    const names: string[] = []
    const serve = (shown: Certified) =>
      listen(
        (listener) =>
          createTlsServer(
            { ...shown, ca: callers.cert, requestCert: true, rejectUnauthorized: true },
            (request, reply) => {
              names.push(String((request.socket as TLSSocket).getPeerCertificate().subject.CN))
              listener(request, reply)
            },
          ),
        'https',
      )
    const files = { cert: join(home, 'cert'), key: join(home, 'key'), ca: join(home, 'ca') }
    const write = ({ cert, key }: Certified) => {
      writeFileSync(files.cert, cert)
      writeFileSync(files.key, key)
      writeFileSync(files.ca, authority.cert)
    }
    const { url } = await serve(authority.certify('feed', ['127.0.0.1']))
    write(callers.certify('agent-one'))
    const tls = tlsFromFiles(files)
    const door = doorTo(url, { by: 'mtls', tls })
    assert.equal(await statusOf(door), '202')
    assert.equal(tls(), tls(), 'the same object while the files are the same')
    write(callers.certify('agent-two, renewed'))
    assert.equal(await statusOf(door), '202')
    assert.deepEqual(names, ['agent-one', 'agent-two, renewed'])

    const ca = () => ({ ca: authority.cert })
    const nameless = doorTo(url, { by: 'bearer', token: () => 'x' }, { tls: ca })
    assert.match(await statusOf(nameless), /^unanswered (tls|network)$/)
    const other = await serve(authority.certify('feed', ['192.0.2.1']))
    assert.equal(await statusOf(doorTo(other.url, { by: 'mtls', tls })), 'unanswered tls')
    const unknown = await serve(createAuthority('nobody').certify('feed', ['127.0.0.1']))
    assert.equal(await statusOf(doorTo(unknown.url, { by: 'mtls', tls })), 'unanswered tls')
    assert.equal(names.length, 2)
  })
})

describe('what came of it', () => {
  test('the status, and of an error its code alone', async () => {
    const { url, world } = await plain()
    const door = doorTo(url, { by: 'nobody' })
    for (const status of [400, 401, 429, 503]) {
      world.status = status
      assert.equal(await statusOf(door), `${status} why_not`)
    }
  })

  test('SF-6 a redirect is an answer and leads nowhere', async () => {
    const elsewhere = await plain()
    const { url, world } = await plain()
    Object.assign(world, { status: 307, headers: { location: elsewhere.url } })
    assert.equal(await statusOf(doorTo(url, { by: 'bearer', token: () => 'x' })), '302 redirect')
    assert.equal(elsewhere.heard.length, 0)
  })

  test('SF-12 who hangs or cuts has not answered', async () => {
    const { url, world, server } = await plain()
    const virtual = createVirtualClock()
    const door = doorTo(url, { by: 'nobody' }, { clock: virtual })
    world.hangs = true
    const hung = statusOf(door)
    await once(server, 'heard')
    await virtual.advanceBy(5_000)
    assert.equal(await hung, 'unanswered timeout')
    const cut = statusOf(door)
    await once(server, 'heard')
    server.closeAllConnections()
    assert.equal(await cut, 'unanswered network')
  })
})

describe('settings that cannot work are said at once', () => {
  const tls = () => ({})
  const token = () => 'x'
  // biome-ignore format: a table is read by its columns
  const rows: [url: string, auth: FeedAuth, says: RegExp | undefined][] = [
    ['https://feed.example.org/ingest', { by: 'mtls', tls },     undefined],
    ['https://feed.example.org/ingest', { by: 'bearer', token }, undefined],
    ['http://localhost:4600/ingest',    { by: 'bearer', token }, undefined],
    ['http://[::1]:4600/ingest',        { by: 'nobody' },        undefined],
    ['http://feed.example.org/ingest',  { by: 'bearer', token }, /https/],
    ['http://127.0.0.1/ingest',         { by: 'mtls', tls },     /https/],
    ['https://feed.example.org/ingest', { by: 'nobody' },        /this machine/],
    ['https://a:b@feed.example.org/',   { by: 'bearer', token }, /password/],
    ['ftp://feed.example.org/',         { by: 'bearer', token }, /https/],
    ['feed',                            { by: 'bearer', token }, /address/],
  ]
  for (const [url, auth, says] of rows) {
    test(`${url} by ${auth.by}`, async () => {
      if (says === undefined) doorTo(url, auth)
      else assert.throws(() => openFeedDoor({ url, auth, clock, key: own }), says)
    })
  }
})
