/**
 * on the wire: secrets planted in everything that can be sent to a hub, and in what it
 * already keeps; no answer, log line, published message or page shows one.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { Writable } from 'node:stream'
import { createLog } from '@chimera/host/log'
import { createVirtualClock } from '@chimera/host/virtual-clock'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { Unsendable } from '../src/http/outgoing.ts'
import type { Topic } from '../src/ports/bus.ts'
import { createPoster } from './posting.ts'
import { runHub, type TestHub } from './running.ts'

// Put together from harmless parts, so that no scanner takes this file for a leak.
const random = 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6'
const planted = {
  'a token of ours': `chm_${random}`,
  'a JWT': ['eyJhbGciOiJFZERTQSJ9', 'eyJzdWIiOiJ0ZXN0In0', random].join('.'),
  'a model key': `sk-${random}`,
  'a telling name': `api_key=${random}`,
}

const clock = createVirtualClock({ startAt: Date.UTC(2027, 0, 1) })
const lines: string[] = []
const destination = new Writable({
  write(chunk, _, done) {
    lines.push(String(chunk))
    done()
  },
})
let hub: TestHub
const shown: string[] = []
beforeAll(async () => {
  const log = createLog({ clock, name: 'hub', level: 'debug', destination })
  hub = await runHub({ clock, log, leaks: true })
  for (const topic of ['identity', 'status', 'reputation', 'presence', 'capability'] as const) {
    hub.hub.heard.subscribe(topic, (message) => shown.push(JSON.stringify(message)))
  }
}, 60_000)
afterAll(() => hub.stop())

const isoNow = () => new Date(clock.now()).toISOString()
const refusedTotal = async () =>
  [...(await hub.metrics.text()).matchAll(/^outgoing_refused_total\{.*\} (\d+)$/gm)].reduce(
    (sum, [, count]) => sum + Number(count),
    0,
  )

const registration = (more: object) => ({
  agent_id: randomUUID(),
  agent_name: 'Counter',
  owner_id: 'ann',
  api_endpoint: 'https://counter.example.org/jobs',
  skills: [{ skill_name: 'count', cost_per_call: 0.05 }],
  ...more,
})
const skill = (more: object) => ({
  skills: [{ skill_name: 'count', cost_per_call: 0.05, ...more }],
})
const status = (agent_id: string, update: object) => ({
  agent_id,
  status_update: { status_timestamp: isoNow(), ...update },
  correlation_id: randomUUID(),
  timestamp: isoNow(),
})
const fault = { error_code: 'E1', error_type: 'temporary', error_message: 'broken' }

/** Where a text can stand that others are shown. */
// biome-ignore format: a table is read by its columns
const places: [place: string, path: string, body: (secret: string, agent: string) => object][] = [
  ['an agent\'s name',        '/register',               (it) => registration({ agent_name: `Counter ${it}` })],
  ['its owner',               '/register',               (it) => registration({ owner_id: it })],
  ['its version',             '/register',               (it) => registration({ version: it })],
  ['its address',             '/register',               (it) => registration({ api_endpoint: `https://x.example.org/?k=${it}` })],
  ['a skill\'s name',         '/register',               (it) => registration(skill({ skill_name: it }))],
  ['a skill\'s description',  '/register',               (it) => registration(skill({ description: `use ${it}` }))],
  ['a schema\'s default',     '/register',               (it) => registration(skill({ input_schema: { type: 'object', properties: { a: { default: it } } } }))],
  ['a name within a schema',  '/register',               (it) => registration(skill({ input_schema: { type: 'object', properties: { [it]: {} } } }))],
  ['a field nobody knows',    '/register',               (it) => registration({ extra: [{ deep: it }] })],
  ['an account\'s owner',     '/accounts',               (it) => ({ owner_id: it })],
  ['a payer',                 '/transfer',               (it) => ({ transfer_id: randomUUID(), from_owner: it, to_owner: 'ann', amount: 1, timestamp_utc: isoNow() })],
  ['a feed\'s notes',         '/ingest/chimera-status',  (it) => ({ schema_version: 'openclaw-status.v1', message_id: randomUUID(), agent_id: 'x', status: 'AVAILABLE', capabilities: [], last_updated: isoNow(), uptime_s: 1, notes: it })],
  ['a feed\'s name',          '/ingest/chimera-status',  (it) => ({ schema_version: 'openclaw-status.v1', message_id: randomUUID(), agent_id: it, status: 'AVAILABLE', capabilities: [], last_updated: isoNow(), uptime_s: 1 })],
  ['an error\'s words',       '/openclaw/v1/status',     (it, id) => status(id, { current_status: 'error', status_details: { ...fault, error_message: it } })],
  ['an error\'s code',        '/openclaw/v1/status',     (it, id) => status(id, { current_status: 'error', status_details: { ...fault, error_code: it } })],
  ['a maintenance\'s reason', '/openclaw/v1/status',     (it, id) => status(id, { current_status: 'maintenance', status_details: { maintenance_until: isoNow(), maintenance_reason: it } })],
  ['a presence\'s trace',     '/moltbook/v1/presence',   (it, id) => ({ agent_id: id, trace_id: it })],
  ['a declared capability',   '/moltbook/v1/capability', (it, id) => ({ agent_id: id, capabilities: [it] })],
]

async function everyAnswer(agent: string): Promise<string> {
  // biome-ignore format: a list is read by its lines
  const paths = [
    `/agents/${agent}`, '/discover?skill=count', '/skills', '/economy', '/audit?limit=50',
    `/openclaw/v1/identities/${agent}`, `/openclaw/v1/status/${agent}`,
    `/openclaw/v1/reputation/${agent}`, '/moltbook/v1/directory', '/moltbook/v1/presence-events',
    `/v1/trust/${agent}`, '/ready', '/docs', '/openapi.json',
  ]
  const texts = paths.map(async (path) => (await fetch(hub.address + path)).text())
  return [...(await Promise.all(texts)), await hub.metrics.text()].join('\n')
}

// A name of an agent is written in small letters elsewhere.
const sees = (text: string) => text.toLowerCase().includes(random.toLowerCase())

describe('X-5 a secret is refused at every door, and shown nowhere', () => {
  for (const [place, path, body] of places) {
    test(`in ${place}`, async () => {
      const { id } = await createPoster(hub, clock, { bound: false })
      for (const [what, secret] of Object.entries(planted)) {
        const answer = await hub.post(path, body(secret, id))
        assert.ok(answer.status === 400 || answer.status === 422, `${what}: ${answer.status}`)
        const { details, message, retryable } = answer.body
        const { issues } = details as { issues: { path: string; got: string }[] }
        assert.ok(issues.length > 0 && message !== undefined && retryable === false)
        assert.ok(!sees(JSON.stringify(answer.body)), `${what} in the answer itself`)
      }
      assert.ok(!sees(await everyAnswer(id)))
    })
  }

  test('and in no log line, label or published message', () => {
    assert.ok(lines.length > 50, 'every request has a line')
    assert.ok(!sees(lines.join('')))
    assert.ok(!sees(shown.join('')))
  })

  test('nothing was stopped on its way out: it had not come in', async () => {
    assert.equal(await refusedTotal(), 0)
  })
})

describe('X-5 what was kept before is not shown either', () => {
  const tainted = async () => {
    const { id, skill: name } = await createPoster(hub, clock, { bound: false })
    const agent = hub.hub.directory.find(id)
    assert.ok(agent)
    const skills = agent.skills.map((each) => ({ ...each, description: `use chm_${random}` }))
    const spoiled = { ...agent, name: `Counter sk-${random}`, skills }
    hub.hub.directory.enter(spoiled, clock.now())
    return { id, name, spoiled }
  }

  test('a list loses it and is sent: one bad entry does not close a directory', async () => {
    const { id, name } = await tainted()
    const { status: code, body } = await hub.get(`/discover?skill=${name}`)
    assert.equal(code, 200)
    const [hit] = body.agents as { agent_name: string; skills: { description: string }[] }[]
    assert.equal(hit?.agent_name, 'Counter [secret removed]')
    assert.equal(hit?.skills[0]?.description, 'use [secret removed]')
    assert.equal((await hub.get(`/agents/${id}`)).status, 200)
    assert.ok(!sees(await everyAnswer(id)))
    assert.match(
      await hub.metrics.text(),
      /outgoing_blackened_total\{message="chorus\/discovered"\}/,
    )
  })

  test('what a hole would make malformed is not sent, and is said to be our fault', async () => {
    const { id, spoiled } = await tainted()
    const endpoint = `https://x.example.org/?token=${random}`
    hub.hub.directory.enter({ ...spoiled, endpoint }, clock.now())
    const before = await refusedTotal()
    const { status: code, body } = await hub.get(`/agents/${id}`)
    assert.deepEqual([code, body.code, body.retryable], [503, 'UNAVAILABLE', true])
    assert.ok(!sees(JSON.stringify(body)))
    assert.equal(await refusedTotal(), before + 1)
    const logged = lines.findLast((line) => line.includes('a message did not leave'))
    assert.ok(
      logged?.includes('chorus/agent-entry') && logged.includes('reqId') && !sees(logged),
      logged,
    )
    hub.hub.directory.enter({ ...spoiled, removedAt: clock.now() })
  })
})

describe('X-3 an answer that is not what its schema says does not leave', () => {
  // biome-ignore format: a table is read by its columns
  const doors: [door: string, path: (id: string) => string, code: string, own: string][] = [
    ['Chorus',   (id) => `/reputation/${id}`,             'UNAVAILABLE',         'message'],
    ['OpenClaw', (id) => `/openclaw/v1/reputation/${id}`, 'unavailable',         'protocol_version'],
    ['Chimera',  (id) => `/v1/trust/${id}`,               'service_unavailable', 'message'],
  ]
  for (const [door, path, code, own] of doors) {
    test(`${door} hears of it in its own words`, async () => {
      const { id } = await createPoster(hub, clock, { bound: false })
      const { scores } = hub.hub
      const { standingOf } = scores
      // A score that no rule of ours could make.
      const wrong = { window: { doneCount: -1, failedCount: 0, recent: [] } }
      const running = { scoreMicro: 999_000_000, successes: 0, failures: 0 }
      Object.assign(scores, { standingOf: () => ({ ...wrong, running }) })
      try {
        const { status: status_, body } = await hub.get(path(id))
        assert.deepEqual([status_, body.code], [503, code])
        assert.ok(own in body)
      } finally {
        Object.assign(scores, { standingOf })
      }
    })
  }

  test('and says nothing of what it was', () => {
    assert.equal(new Unsendable().message, 'an answer did not leave')
  })
})

describe('OC-23 what is accepted over HTTP is published, the same JSON', () => {
  const listen = (topic: Topic) => {
    const heard: object[] = []
    const stop = hub.hub.heard.subscribe(topic, (message) => heard.push(message))
    return { heard, stop }
  }

  test('capabilities and presence as they were signed; what is not believed is not', async () => {
    const [capability, presence] = [listen('capability'), listen('presence')]
    const agent = await createPoster(hub, clock)
    const post = agent.signed()
    assert.equal((await hub.post('/moltbook/v1/presence', post)).status, 204)
    assert.notEqual((await hub.post('/moltbook/v1/presence', post)).status, 204)
    assert.deepEqual(presence.heard, [post])
    assert.deepEqual(
      (capability.heard as { agent_id: string }[]).map((each) => each.agent_id),
      [agent.id],
    )
    for (const { stop } of [capability, presence]) stop()
    await agent.leave()
  })

  test('a status, and nothing of one that is refused', async () => {
    const { heard, stop } = listen('status')
    const { id } = await createPoster(hub, clock, { bound: false })
    const idle = status(id, { current_status: 'idle' })
    assert.equal((await hub.post('/openclaw/v1/status', idle)).status, 204)
    const unknown = status(randomUUID(), { current_status: 'idle' })
    assert.equal((await hub.post('/openclaw/v1/status', unknown)).status, 404)
    assert.deepEqual(heard, [idle])
    stop()
    assert.equal((await hub.post('/openclaw/v1/status', idle)).status < 500, true)
    assert.equal(heard.length, 1, 'who no longer listens hears nothing')
  })

  test('a listener that fails disturbs neither the hub nor the others', async () => {
    const broken = hub.hub.heard.subscribe('status', () => {
      throw new Error('broken')
    })
    const { heard, stop } = listen('status')
    const { id } = await createPoster(hub, clock, { bound: false })
    const idle = status(id, { current_status: 'idle' })
    assert.equal((await hub.post('/openclaw/v1/status', idle)).status, 204)
    assert.equal(heard.length, 1)
    broken()
    stop()
  })

  test('X-3 a message that is not what its schema says is heard by nobody', async () => {
    const { heard, stop } = listen('reputation')
    const before = await refusedTotal()
    hub.hub.publish('reputation', { agent_id: 'nobody' })
    assert.deepEqual(heard, [])
    assert.equal(await refusedTotal(), before + 1)
    stop()
  })
})
