/** Three hubs on one PostgreSQL and one NATS behave as one. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { HUB_NOTICES } from '@chimera/dialects/topics'
import type { AgentId, Alias, MessageId } from '@chimera/domain/ids'
import { createClock } from '@chimera/host/clock'
import { generateKeyPair, type KeyPair } from '@chimera/identity/keys'
import { afterAll, beforeAll, describe, test, vi } from 'vitest'
import { encodeNotice } from '../src/notice.ts'
import { createAsker } from './asking.ts'
import { type Cluster, openCluster, soon } from './cluster.ts'
import { createPoster, type Poster } from './posting.ts'
import type { TestHub } from './running.ts'

// Three hubs, a database and a broker take turns on one machine.
vi.setConfig({ testTimeout: 30_000 })

const clock = createClock()
let cluster: Cluster
let hubs: readonly TestHub[] = []
let [a, b, c]: TestHub[] = []

beforeAll(async () => {
  cluster = await openCluster()
  hubs = await Promise.all([1, 2, 3].map(() => cluster.start()))
  ;[a, b, c] = hubs
}, 120_000)
afterAll(() => cluster.end(), 60_000)

const at = (hub: TestHub | undefined): TestHub => hub ?? assert.fail('no hub')

async function listed(hub: TestHub, { skill, instance }: Poster): Promise<string | undefined> {
  const { body } = await hub.get(`/moltbook/v1/directory?capabilities=${skill}`)
  const found = body.instances as { instance_id: string; state: string }[]
  return found.find((each) => each.instance_id === instance)?.state
}

async function discovered(hub: TestHub, { skill }: { readonly skill: string }): Promise<string[]> {
  const { body } = await hub.get(`/discover?skill=${skill}`)
  return (body.agents as { agent_id: string }[]).map((each) => each.agent_id)
}

async function events(hub: TestHub, { id }: Poster): Promise<string[]> {
  const { body } = await hub.get(`/moltbook/v1/presence-events?agent_id=${id}`)
  return (body.events as { verification: string }[]).map(({ verification }) => verification)
}

const everywhere = (holds: (hub: TestHub) => Promise<void>, timeout?: number) =>
  Promise.all(hubs.map((hub) => soon(() => holds(hub), timeout)))

describe('what one hub takes in, all know', () => {
  test('AV-11 a post at one is listed at the others, and is kept once', async () => {
    const poster = await createPoster(at(a), clock)
    assert.equal((await poster.post()).status, 204)
    await everywhere(async (hub) => assert.equal(await listed(hub, poster), 'available'))
    await everywhere(async (hub) => assert.deepEqual(await discovered(hub, poster), [poster.id]))
    assert.deepEqual(await events(at(b), poster), ['verified'], 'nobody heard it twice')
    await poster.leave()
    await everywhere(async (hub) => assert.equal(await listed(hub, poster), undefined))
  })

  test('AV-3 what was posted at one cannot be played again at another', async () => {
    const poster = await createPoster(at(a), clock)
    const signed = poster.signed()
    assert.equal((await at(a).post('/moltbook/v1/presence', signed)).status, 204)
    await soon(async () => assert.equal(await listed(at(b), poster), 'available'))
    const again = await at(b).post('/moltbook/v1/presence', signed)
    assert.deepEqual([again.status, again.body.code], [409, 'replayed'])
    const offline = { availability: 'offline', signedAt: clock.now() + 1 } as const
    assert.equal((await poster.post(offline, at(b))).status, 204)
    await soon(async () => assert.equal(await listed(at(c), poster), undefined))
    await poster.leave()
  })

  test('an agent that registers at one can speak to another at once', async () => {
    const poster = await createPoster(at(a), clock, { bound: false })
    assert.equal((await at(b).post('/heartbeat', { agent_id: poster.id })).status, 200)
    assert.equal((await poster.declare({}, at(c))).status, 204)
    assert.equal((await poster.post({}, at(b))).status, 204)
    await poster.leave()
  })

  test('CH-3 it is found everywhere, and gone everywhere when it leaves', async () => {
    const poster = await createPoster(at(a), clock)
    await everywhere(async (hub) => assert.deepEqual(await discovered(hub, poster), [poster.id]))
    await at(b).call(`/agents/${poster.id}`, { method: 'DELETE' })
    await everywhere(async (hub) => assert.deepEqual(await discovered(hub, poster), []))
  })

  test('CH-3 a heartbeat at one counts at all', async () => {
    const poster = await createPoster(at(a), clock)
    await everywhere(async (hub) => assert.ok(hub.hub.directory.find(poster.id)))
    const before = clock.now()
    await soon(() => assert.ok(clock.now() > before))
    assert.equal((await at(a).post('/heartbeat', { agent_id: poster.id })).status, 200)
    await everywhere(async ({ hub }) =>
      assert.ok((hub.directory.heardAt(poster.id) ?? 0) > before, 'not heard yet'),
    )
    await poster.leave()
  })

  test('SF-7 what the status feed says at one is known at all', async () => {
    const name = `name-${randomUUID()}`
    const message = {
      schema_version: 'openclaw-status.v1',
      message_id: randomUUID(),
      agent_id: name,
      status: 'BUSY',
      last_updated: new Date(clock.now()).toISOString(),
    }
    assert.equal((await at(a).post('/ingest/chimera-status', message)).status, 202)
    await everywhere(async ({ hub }) =>
      assert.equal(hub.feed.of(name as Alias).last?.report.message, message.message_id),
    )
    const repeated = await at(b).post('/ingest/chimera-status', message)
    assert.deepEqual([repeated.status, repeated.body.result], [202, 'duplicate'])
  })

  test('a score that an agent claims at one is known at all', async () => {
    const poster = await createPoster(at(a), clock)
    const now = new Date(clock.now()).toISOString()
    const metrics = {
      total_collaborations: 150,
      successful_collaborations: 144,
      failed_collaborations: 6,
      success_rate: 1,
      average_response_time_ms: 3500,
      on_time_completion_rate: 0.93,
    }
    const claim = {
      agent_id: poster.id,
      reputation_update: {
        update_type: 'periodic_update',
        reputation_score: 0.5,
        update_timestamp: now,
        metrics,
      },
      correlation_id: randomUUID(),
      timestamp: now,
    }
    assert.equal((await at(a).post('/openclaw/v1/reputation', claim)).status, 204)
    await everywhere(async ({ hub }) => assert.ok(hub.observed.of(poster.id).score))
    await poster.leave()
  })

  test('what was ordered of an agent at one holds at all', async () => {
    const poster = await createPoster(at(a), clock)
    await poster.post()
    const ordered = await at(a).call(`/v1/profiles/${poster.id}`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ status: 'paused' }),
    })
    assert.equal(ordered.status, 200, JSON.stringify(ordered.body))
    await everywhere(async ({ hub }) => assert.ok(hub.records.isClosed(poster.id)))
    await poster.leave()
  })
})

describe('what agents say on the bus', () => {
  const PRESENCE = 'moltbook.presence.openswarm'
  const bytesOf = (message: object): Uint8Array => Buffer.from(JSON.stringify(message))

  test('AV-1 a post is taken in once, and listed at every hub', async () => {
    const bus = await cluster.speaker()
    const posters = await Promise.all([1, 2, 3, 4, 5].map(() => createPoster(at(a), clock)))
    for (const each of posters) bus.publish({ subject: PRESENCE, bytes: bytesOf(each.signed()) })
    for (const each of posters) {
      await everywhere(async (hub) => assert.equal(await listed(hub, each), 'available'))
      await soon(async () => assert.deepEqual(await events(at(b), each), ['verified']))
    }
    await Promise.all(posters.map((each) => each.leave()))
  })

  test('AV-2 so is a declaration', async () => {
    const bus = await cluster.speaker()
    const heard: string[] = []
    const poster = await createPoster(at(a), clock)
    const hearing = bus.subscribe('moltbook.capability.chimera')
    await bus.flush()
    const listening = (async () => {
      for await (const { bytes } of hearing) heard.push(Buffer.from(bytes).toString())
    })()
    const callback = 'https://poster.example.org/offers'
    // The one by which it was bound may still be on its way when we begin to listen.
    const said = () => heard.filter((each) => each.includes(callback)).length
    assert.equal((await poster.declare({ callback })).status, 204)
    await soon(() => assert.equal(said(), 1, 'said on the bus'))
    await poster.post()
    await everywhere(async ({ hub }) => {
      const [instance] = hub.presence.instancesOf(poster.id)
      assert.equal(instance?.declared?.callback, callback)
    })
    hearing.close()
    await listening
    assert.equal(said(), 1, 'and once')
    await poster.leave()
  })

  test('AV-3 a forged, a changed and a repeated post are dropped and counted', async () => {
    const bus = await cluster.speaker()
    const poster = await createPoster(at(a), clock)
    const good = poster.signed()
    const bad = [
      poster.signed({}, generateKeyPair()),
      { ...poster.signed({ signedAt: clock.now() + 2 }), slots_free: 4 },
      { nothing: 'at all' },
    ]
    bus.publish({ subject: PRESENCE, bytes: bytesOf(good) })
    await everywhere(async (hub) => assert.equal(await listed(hub, poster), 'available'))
    for (const each of [...bad, good]) bus.publish({ subject: PRESENCE, bytes: bytesOf(each) })
    await soon(async () =>
      assert.deepEqual((await events(at(b), poster)).toSorted(), [
        'bad_signature',
        'bad_signature',
        'replayed',
        'verified',
      ]),
    )
    const pages = await Promise.all(hubs.map(({ metrics }) => metrics.text()))
    const counted = [...pages.join('\n').matchAll(/^bus_messages_refused_total.* (\d+)$/gm)]
    assert.equal(
      counted.reduce((sum, [, count]) => sum + Number(count), 0),
      4,
    )
    await poster.leave()
  })

  test('C1 what a hub says itself is not taken in again, nor what bears its mark', async () => {
    const bus = await cluster.speaker()
    const poster = await createPoster(at(a), clock)
    const headers = { id: 'hub:somebody' as MessageId }
    bus.publish({ subject: PRESENCE, bytes: bytesOf(poster.signed()), headers })
    await bus.flush()
    assert.equal((await poster.post({ signedAt: clock.now() + 1 })).status, 204)
    await everywhere(async (hub) => assert.equal(await listed(hub, poster), 'available'))
    assert.deepEqual(await events(at(a), poster), ['verified'])
    await poster.leave()
  })

  test('OC-23 status said under its own subject is known at every hub', async () => {
    const bus = await cluster.speaker()
    const poster = await createPoster(at(a), clock)
    const now = new Date(clock.now()).toISOString()
    const status = {
      agent_id: poster.id,
      status_update: {
        current_status: 'busy',
        status_timestamp: now,
        status_details: { active_tasks: 3 },
        previous_status: 'idle',
      },
      correlation_id: '00000000-0000-4000-8000-000000000001',
      timestamp: now,
    }
    const other = await createPoster(at(a), clock)
    bus.publish({ subject: `openclaw.status.${other.id}`, bytes: bytesOf(status) })
    await bus.flush()
    bus.publish({ subject: `openclaw.status.${poster.id}`, bytes: bytesOf(status) })
    await everywhere(async ({ hub }) =>
      assert.equal(hub.observed.of(poster.id).condition?.stated, 'working'),
    )
    assert.equal(at(a).hub.observed.of(other.id).condition, undefined)
    await Promise.all([poster, other].map((each) => each.leave()))
  })
})

test('the score that a hub has counted is kept on the bus, for those who come late', async () => {
  const poster = await createPoster(at(a), clock)
  const { body } = await at(a).get(`/openclaw/v1/reputation/${poster.id}`)
  at(a).hub.publish('reputation', body)
  const bus = await cluster.speaker()
  for await (const each of bus.follow('chimera-kept', { after: 'first' })) {
    if (each.type !== 'message') continue
    assert.equal(each.message.subject, `chimera.reputation.${poster.id}`)
    assert.deepEqual(JSON.parse(Buffer.from(each.message.bytes).toString()), body)
    break
  }
  await poster.leave()
})

test('X-7 the topics are described, and the broker is named as there', async () => {
  const document = await at(a).get('/asyncapi.json')
  assert.equal(document.body.asyncapi, '3.0.0')
  const ready = await at(a).get('/ready')
  assert.match(String(ready.body.broker), /^connected since 20/)
})

test('N1 a notice of somebody else is not believed where hubs have a key', async () => {
  const guarded = await openCluster({ auth: 'required' })
  try {
    const one = await guarded.start()
    const { hub } = await guarded.start()
    const asker = createAsker(one, clock)
    const [victim, other] = [await asker.newAgent(), await asker.newAgent()]
    const heardAt = ({ id }: { readonly id: string }) => hub.directory.heardAt(id as AgentId)
    await soon(() => assert.ok(heardAt(victim) !== undefined && heardAt(other) !== undefined))
    const before = heardAt(victim) ?? 0
    await soon(() => assert.ok(clock.now() > (heardAt(other) ?? 0)))

    const bus = await guarded.speaker()
    const told = (id: string, key: KeyPair | undefined) => {
      const beats = [[id as AgentId, clock.now()]] as const
      const draft = { by: 'somebody', told: [], beats, noted: [], sealed: 0, changed: false }
      bus.publish({ subject: HUB_NOTICES, bytes: encodeNotice(draft, key) })
      return beats[0][1]
    }
    told(victim.id, undefined)
    told(victim.id, generateKeyPair())
    // What comes after them under the hubs' own key is heard, so they were heard too.
    const at = told(other.id, one.hub.key)
    await soon(() => assert.equal(heardAt(other), at))
    assert.equal(heardAt(victim), before)
  } finally {
    await guarded.end()
  }
}, 120_000)
