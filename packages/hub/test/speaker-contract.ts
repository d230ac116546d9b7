/**
 * Who may speak for whom in the other dialects, on a hub that requires authentication. Run on both
 * engines, beside `auth-contract.ts`.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { encodePresence } from '@chimera/dialects/moltbook'
import type { AgentId, Alias, CorrelationId, InstanceId } from '@chimera/domain/ids'
import { presenceExpiry } from '@chimera/domain/presence/presence'
import { createClock } from '@chimera/host/clock'
import { signDetached } from '@chimera/identity/detached-jws'
import { generateKeyPair, type KeyPair } from '@chimera/identity/keys'
import { signMessage } from '@chimera/identity/message'
import { afterAll, beforeAll, test } from 'vitest'
import { type Asker, createAsker, registration, type Sent } from './asking.ts'
import type { Engine } from './engines.ts'
import type { TestHub } from './running.ts'

export function speakerContract(open: () => Engine): void {
  const clock = createClock()
  let engine: Engine
  let hub: TestHub
  let asker: Asker
  beforeAll(async () => {
    engine = open()
    hub = await engine.start({ auth: 'required', clock })
    asker = createAsker(hub, clock)
  }, 120_000)
  afterAll(async () => {
    await hub.stop()
    await engine.end()
  })

  const nowText = () => new Date(clock.now()).toISOString()

  test('OpenClaw: an agent publishes of itself, its owner for it, and nobody else', async () => {
    const [mine, other] = [await asker.newAgent(), await asker.newAgent()]
    const body = {
      agent_id: mine.id,
      status_update: { status_timestamp: nowText(), current_status: 'idle' },
      correlation_id: randomUUID(),
      timestamp: nowText(),
    }
    const path = '/openclaw/v1/status'
    const status = async (sent: Sent) => (await asker.send(path, { body, ...sent })).status
    assert.equal(await status({}), 401)
    assert.equal(await status({ key: other.key }), 403)
    assert.equal(await status({ token: other.token }), 403)
    assert.equal(await status({ key: mine.key }), 204)
    assert.equal((await asker.send(`${path}/${mine.id}`)).status, 200, 'everybody may read it')
  })

  test('X-10 the feed: a name belongs to whoever first published under it', async () => {
    const [mine, other] = [await asker.newAgent(), await asker.newAgent()]
    const alias = `name ${randomUUID()}`
    const status = async (sent: Sent) => {
      const body = {
        schema_version: 'openclaw-status.v1',
        message_id: randomUUID(),
        agent_id: alias,
        status: 'AVAILABLE',
        last_updated: nowText(),
      }
      return (await asker.send('/ingest/chimera-status', { body, ...sent })).status
    }
    assert.equal(await status({}), 401)
    assert.equal(await status({ key: mine.key }), 202)
    assert.equal(await status({ key: other.key }), 409)
    assert.equal(await status({ key: mine.key }), 202)
  })

  test('X-9 the feed: a JWS that names no key is by the one that claimed the name', async () => {
    const [mine, other] = [await asker.newAgent(), await asker.newAgent()]
    const alias = `name ${randomUUID()}`
    const status = async (by: KeyPair, to: TestHub = hub) => {
      const body = JSON.stringify({
        schema_version: 'openclaw-status.v1',
        message_id: randomUUID(),
        agent_id: alias,
        status: 'AVAILABLE',
        last_updated: nowText(),
      })
      const signature = signDetached(Buffer.from(body), by, {})
      const headers = { 'content-type': 'application/json', 'x-signature': signature }
      return (await to.call('/ingest/chimera-status', { method: 'POST', headers, body })).status
    }
    assert.equal(await status(mine.key), 401, 'nobody has claimed it')
    for (const { directory } of hub.hubs.map((each) => each.hub)) {
      const agent = directory.find(mine.id as string as AgentId)
      assert.ok(agent)
      directory.enter({ ...agent, aliases: [alias as Alias] })
    }
    assert.equal(await status(mine.key), 202)
    assert.equal(await status(other.key), 401)
  })

  test('X-10 the feed: an open hub hears an agent that proves itself under its name', async () => {
    const anybody = await engine.start({ clock }, 'feed')
    const key = generateKeyPair()
    const agent = registration('bolt')
    const signed = { origin: anybody.address }
    const registering = asker.requestOf('/register', { key, body: agent, signed })
    assert.equal((await anybody.call('/register', registering)).status, 201)
    const status = async (by: KeyPair | undefined) => {
      const body = JSON.stringify({
        schema_version: 'openclaw-status.v1',
        message_id: randomUUID(),
        agent_id: 'planner',
        status: 'BUSY',
        last_updated: nowText(),
      })
      const shown = by && { 'x-signature': signDetached(Buffer.from(body), by) }
      const headers = { 'content-type': 'application/json', ...shown }
      return (await anybody.call('/ingest/chimera-status', { method: 'POST', headers, body }))
        .status
    }
    assert.equal(await status(undefined), 202, 'observed')
    assert.equal(await status(key), 202, 'claimed')
    assert.equal(await status(undefined), 401)
    assert.equal(await status(generateKeyPair()), 401)
    assert.equal(await status(key), 202)
    await anybody.stop()
  }, 60_000)

  test('MoltBook: a post proves itself, and its events are not for strangers', async () => {
    const [mine, other] = [await asker.newAgent(), await asker.newAgent()]
    const signedAt = clock.now()
    const announcement = {
      agent: mine.id as string as AgentId,
      instance: randomUUID() as string as InstanceId,
      availability: 'available' as const,
      capabilities: ['x'],
      slotsTotal: 4,
      slotsFree: 3,
      load: { cpu: 0.25, mem: 0.125 },
      signedAt,
      expiresAt: presenceExpiry('available', signedAt),
      correlation: 'trace-1' as CorrelationId,
    }
    const post = async (key: KeyPair) =>
      (await hub.post('/moltbook/v1/presence', signMessage(encodePresence(announcement), key)))
        .status
    assert.equal(await post(other.key), 401)
    assert.equal(await post(mine.key), 204)
    assert.equal((await asker.send('/moltbook/v1/directory')).status, 200)
    assert.equal((await asker.send('/moltbook/v1/presence-events')).status, 401)
    const { token } = await asker.narrower(mine.token, { scopes: ['agents'] })
    assert.equal((await asker.send('/moltbook/v1/presence-events', { token })).status, 403)
    const read = await asker.send('/moltbook/v1/presence-events', { token: mine.token })
    assert.equal(read.status, 200)
  })
}
