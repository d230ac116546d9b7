/** TLS and client certificates: what is served, to whom, and how files change while it runs. */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { Agent } from 'node:https'
import { join } from 'node:path'
import { createAuthority } from '@chimera/host/testing/certificates'
import { createVirtualClock } from '@chimera/host/virtual-clock'
import { generateKeyPair } from '@chimera/identity/keys'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { type Asker, createAsker, registration } from './asking.ts'
import { runHub, type TestHub } from './running.ts'
import { createSecure } from './secure.ts'

const virtual = createVirtualClock({ startAt: Date.UTC(2026, 5, 1) })
let aheadMs = 0
// A leap over months, without all that a hub does in them.
const clock = { ...virtual, now: () => virtual.now() + aheadMs }
const secure = createSecure()
let hub: TestHub
let asker: Asker
beforeAll(async () => {
  hub = await runHub({ auth: 'required', clock, extraPorts: [0], ...secure.files })
  asker = createAsker(secure.speaking(hub), clock)
}, 60_000)
afterAll(async () => {
  await hub.stop()
  secure.end()
})

/** Until a look at the files has had its effect. */
async function untilLooked<T>(look: () => Promise<T>, isThere: (found: T) => boolean): Promise<T> {
  await clock.advanceBy(30_000)
  for (;;) {
    const found = await look()
    if (isThere(found)) return found
    await new Promise((resolve) => setImmediate(resolve))
  }
}

describe('a hub with a certificate', () => {
  test('serves https:// on every port, and http:// on none', async () => {
    assert.match(hub.address, /^https:/)
    for (const address of [hub.address, ...hub.also]) {
      assert.equal((await secure.call(`${address}/health`)).status, 200)
      await assert.rejects(fetch(`${address.replace('https', 'http')}/health`))
      await assert.rejects(fetch(`${address}/health`), 'its authority is not known to everybody')
    }
  })

  test('X-9 counts signatures for https:// and not for http://', async () => {
    const { key, id } = await asker.newAgent()
    const body = { agent_id: id }
    assert.equal((await asker.send('/heartbeat', { key, body })).status, 200)
    const origin = hub.address.replace('https', 'http')
    assert.equal((await asker.send('/heartbeat', { key, body, signed: { origin } })).status, 401)
  })

  test('still has to ask for authentication where others can reach it', async () => {
    const { tlsCert, tlsKey } = secure.files
    await assert.rejects(runHub({ host: '0.0.0.0', tlsCert, tlsKey }), { code: 'open_address' })
  })
})

describe('a certificate of a caller', () => {
  test('X-10 binds its key beside the owner’s token, and then is the agent', async () => {
    const { owner, token } = await asker.newOwner()
    const key = generateKeyPair()
    const certificate = secure.certificateOf(key)
    const agent = registration(owner)
    const register = (more: Record<string, string>) =>
      secure.call(`${hub.address}/register`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...more },
        body: JSON.stringify(agent),
        certificate,
      })
    const unknown = await register({})
    assert.deepEqual([unknown.status, unknown.body.code], [401, 'UNAUTHENTICATED'])
    assert.equal((await register({ authorization: `Bearer ${token}` })).status, 201)
    assert.equal((await register({})).status, 201, 'by its key alone')
    const economy = () => secure.call(`${hub.address}/economy`, { certificate })
    assert.equal((await economy()).status, 200)
    const thief = secure.certificateOf(generateKeyPair())
    const taken = await secure.call(`${hub.address}/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify(agent),
      certificate: thief,
    })
    assert.equal(taken.status, 409)
  })

  test('gives a session that ends with its key', async () => {
    const { key, id } = await asker.newAgent()
    const certificate = secure.certificateOf(key)
    const headers = { 'content-type': 'application/json' }
    const given = await secure.call(`${hub.address}/v1/tokens/session`, {
      method: 'POST',
      headers,
      body: '{}',
      certificate,
    })
    assert.equal(given.status, 201)
    const token = String(given.body.token)
    assert.equal((await asker.send('/heartbeat', { token, body: { agent_id: id } })).status, 200)
  })

  test('for another kind of key names nobody, and hinders nobody', async () => {
    const { token } = await asker.newOwner()
    const certificate = secure.callers.certify('a machine')
    const status = async (headers: Record<string, string> = {}) =>
      (await secure.call(`${hub.address}/economy`, { certificate, headers })).status
    assert.equal(await status(), 401)
    assert.equal(await status({ authorization: `Bearer ${token}` }), 200)
  })

  test('that does not hold is refused, also beside what does', async () => {
    const { key, token } = await asker.newAgent()
    const stranger = createAuthority('stranger')
    const certificate = stranger.certify('agent', [], { key: key.privateKey })
    const authorization = `Bearer ${token}`
    const asked = await secure.call(`${hub.address}/v1/tokens`, {
      certificate,
      headers: { authorization },
    })
    assert.deepEqual([asked.status, asked.body.code], [401, 'certificate_invalid'])
    assert.equal((await secure.call(`${hub.address}/health`, { certificate })).status, 200)
  })

  test('and the signature of another key are not one caller', async () => {
    const [mine, other] = [await asker.newAgent(), await asker.newAgent()]
    const init = asker.requestOf('/heartbeat', { key: mine.key, body: { agent_id: mine.id } })
    const status = async (certificate: ReturnType<typeof secure.certificateOf>) =>
      (await secure.call(`${hub.address}/heartbeat`, { ...init, certificate })).status
    assert.equal(await status(secure.certificateOf(other.key)), 401)
  })

  test('ends when its time is over by the hub’s own clock, on an open connection too', async () => {
    const { key } = await asker.newAgent()
    const agent = new Agent({ keepAlive: true })
    // Valid for the machine’s clock; the hub’s stands where the test has put it.
    const day = (at: number) =>
      new Date(at).toISOString().replace(/[-:T]/g, '').replace(/\.\d+/, '')
    const until = Date.now() + 365 * 86_400_000
    const certificate = secure.certificateOf(key, ['20200101000000Z', day(until)])
    const status = async () =>
      (await secure.call(`${hub.address}/economy`, { certificate, agent })).status
    assert.equal(await status(), 200)
    aheadMs = until - virtual.now()
    assert.equal(await status(), 401)
    aheadMs = 0
    agent.destroy()
  })
})

describe('SF-6 changed files', { timeout: 60_000 }, () => {
  test('are in use for new connections without a restart', async () => {
    const next = createAuthority('the next hub authority')
    secure.write(next.certify('hub', ['127.0.0.1']))
    const trusting = (ca: string) =>
      secure.call(`${hub.address}/health`, { ca }).then(
        ({ status }) => status,
        () => 0,
      )
    assert.equal(await trusting(next.cert), 0, 'not before it looks')
    assert.equal(await untilLooked(() => trusting(next.cert), Boolean), 200)
    assert.equal(await trusting(secure.authority.cert), 0)
    secure.write(secure.authority.certify('hub', ['127.0.0.1']))
    assert.equal(await untilLooked(() => trusting(secure.authority.cert), Boolean), 200)
  })

  test('that do not fit together change nothing', async () => {
    const { tlsCert } = secure.files
    const good = readFileSync(tlsCert, 'utf8')
    for (const bad of ['', 'nonsense', secure.authority.certify('hub', ['127.0.0.1']).cert]) {
      writeFileSync(tlsCert, bad)
      await clock.advanceBy(30_000)
      assert.equal((await secure.call(`${hub.address}/health`)).status, 200)
    }
    writeFileSync(tlsCert, good)
    await clock.advanceBy(30_000)
  })

  test('end the connections that the old authority of callers vouched for', async () => {
    const { key } = await asker.newAgent()
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const old = secure.callers.certify('agent', [], { key: key.privateKey })
    const economy = (certificate: typeof old) =>
      secure.call(`${hub.address}/economy`, { certificate }).then(({ status }) => status)
    const kept = () => secure.call(`${hub.address}/economy`, { certificate: old, agent })
    assert.equal((await kept()).status, 200)

    const next = createAuthority('the next caller authority')
    const renewed = next.certify('agent', [], { key: key.privateKey })
    assert.equal(await economy(renewed), 401)
    secure.write(secure.authority.certify('hub', ['127.0.0.1']), next.cert)
    assert.equal(
      await untilLooked(
        () => economy(renewed),
        (status) => status === 200,
      ),
      200,
    )
    assert.equal((await kept()).status, 401, 'on a new connection, since the old one has ended')
    agent.destroy()
  })
})

describe('a hub that was told half of it does not start', () => {
  const { tlsCert, tlsKey, clientCa } = secure.files
  const stray = join(secure.home, 'stray')
  const none = join(secure.home, 'none')
  writeFileSync(stray, createAuthority('stray').key)

  // biome-ignore format: a table is read by its columns
  const rows: [what: string, wanted: Parameters<typeof runHub>[0]][] = [
    ['a certificate without a key',        { tlsCert }],
    ['a key without a certificate',        { tlsKey }],
    ['an authority without a certificate', { clientCa }],
    ['a key of another certificate',       { tlsCert, tlsKey: stray }],
    ['a file that is not there',           { tlsCert: none, tlsKey }],
    ['an authority that is none',          { tlsCert, tlsKey, clientCa: stray }],
    ['a public address without TLS',       { tlsCert, tlsKey, publicUrl: 'http://hub.example.org' }],
  ]
  for (const [what, wanted] of rows) {
    test(what, { timeout: 60_000 }, () => assert.rejects(runHub(wanted), { code: 'tls_unusable' }))
  }
})
