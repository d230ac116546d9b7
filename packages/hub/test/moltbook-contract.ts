/**
 * MoltBook against a real hub on a virtual clock: what is believed, who is listed, in which order,
 * and until when. Run on both engines.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readDirectory, readEvents } from '@chimera/dialects/moltbook'
import type { AgentId, InstanceId } from '@chimera/domain/ids'
import { createVirtualClock } from '@chimera/host/virtual-clock'
import { generateKeyPair } from '@chimera/identity/keys'
import { signMessage } from '@chimera/identity/message'
import { afterAll, afterEach, beforeAll, describe, test } from 'vitest'
import type { Engine } from './engines.ts'
import { createPoster, type Poster, type PosterWish } from './posting.ts'
import { counted, type TestHub } from './running.ts'
import { queryOf, testVectors } from './vectors.ts'

export function moltbookContract(engine: Engine): void {
  const clock = createVirtualClock()
  let hub: TestHub
  let place: string
  const posters: Poster[] = []

  beforeAll(async () => {
    place = engine.newPlace()
    hub = await engine.start({ clock }, place)
  }, 60_000)
  afterAll(() => hub.stop())
  // Silent leftovers of one test would look like a cut to the next.
  afterEach(async () => {
    await clock.advanceBy(1_000)
    for (const poster of posters.splice(0)) await poster.leave(hub)
  })

  async function poster(wish?: PosterWish): Promise<Poster> {
    const made = await createPoster(hub, clock, wish)
    posters.push(made)
    return made
  }

  async function listed(query: string) {
    const { status, body } = await hub.get(`/moltbook/v1/directory?${query}`)
    assert.equal(status, 200)
    const read = readDirectory(body)
    assert.ok(read.ok, JSON.stringify(read))
    return read.value
  }
  const statesOf = async (agent: Poster) => {
    const { instances } = await listed(`agent_id=${agent.id}`)
    return instances.map(({ availability, liveness }) => `${availability} ${liveness}`)
  }
  const isDiscovered = async ({ skill, id }: Poster) => {
    const { body } = await hub.get(`/discover?skill=${skill}`)
    return (body.agents as { agent_id: string }[]).some(({ agent_id }) => agent_id === id)
  }
  async function events(query: string) {
    const { status, body } = await hub.get(`/moltbook/v1/presence-events?${query}`)
    assert.equal(status, 200)
    const read = readEvents(body)
    assert.ok(read.ok, JSON.stringify(read))
    return read.value
  }
  const droppedFor = (reason: string): Promise<number> =>
    counted(hub, `presence_posts_dropped_total{reason="${reason}"}`)

  describe('messages', () => {
    testVectors({
      dialect: 'moltbook',
      code: 'invalid_message',
      routes: {
        presence: (wire) => hub.post('/moltbook/v1/presence', wire),
        capability: (wire) => hub.post('/moltbook/v1/capability', wire),
        'directory-query': (wire) => hub.get(`/moltbook/v1/directory?${queryOf(wire)}`),
        'presence-events-query': (wire) => hub.get(`/moltbook/v1/presence-events?${queryOf(wire)}`),
      },
    })

    test('no JSON, a name twice and too much are refused in MoltBook words', async () => {
      const send = (body: string, type = 'application/json') =>
        hub.call('/moltbook/v1/presence', {
          method: 'POST',
          headers: { 'content-type': type },
          body,
        })
      for (const body of ['{"a":1,"a":2}', '{', '[]', 'null', '']) {
        const answer = await send(body)
        assert.deepEqual([answer.status, answer.body.code], [400, 'invalid_message'], body)
      }
      assert.equal((await send('{}', 'text/plain')).status, 400)
      assert.equal((await send(JSON.stringify({ a: 'x'.repeat(256 * 1024) }))).status, 413)
    })
  })

  describe('keys', () => {
    test('X-10 the first declaration that proves its key binds it for good', async () => {
      const agent = await poster({ bound: false })
      assert.equal((await agent.post()).body.code, 'bad_signature')
      const thief = generateKeyPair()
      const forged = { ...signMessage({ a: 1 }, thief), ...(await declarationBy(agent)) }
      assert.equal((await hub.post('/moltbook/v1/capability', forged)).body.code, 'bad_signature')

      assert.equal((await agent.declare()).status, 204)
      await clock.advanceBy(10)
      assert.equal((await agent.post()).status, 204)
      const other = await agent.declare({ by: thief })
      assert.deepEqual([other.status, other.body.code], [409, 'wrong_key'])
      assert.equal(
        (await listed(`agent_id=${agent.id}`)).instances[0]?.publicKey,
        agent.key.publicKey,
      )
    })

    /** Everything right but the signature, which is another message's. */
    const declarationBy = async (agent: Poster) => ({
      agent_id: agent.id,
      instance_id: agent.instance,
      state: 'available',
      capabilities: [agent.skill],
      public_key: agent.key.publicKey,
      trace_id: 't',
      signed_at: new Date(clock.now()).toISOString(),
      expires_at: new Date(clock.now() + 30_000).toISOString(),
    })

    test('AV-2 a declaration that has expired binds nothing', async () => {
      const agent = await poster({ bound: false })
      const late = await agent.declare({ at: clock.now() - 30_000 })
      assert.deepEqual([late.status, late.body.code], [401, 'expired'])
      assert.equal((await agent.post()).body.code, 'bad_signature')
      assert.equal((await agent.declare({ by: generateKeyPair() })).status, 204)
    })

    test('one key speaks for one agent', async () => {
      const [first, second] = [await poster(), await poster({ bound: false })]
      const answer = await second.declare({ by: first.key })
      assert.deepEqual([answer.status, answer.body.code], [409, 'wrong_key'])
    })
  })

  describe('posts', () => {
    type Attempt = (agent: Poster, other: Poster) => object
    const now = () => clock.now()
    // biome-ignore format: a table is read by its columns
    const rows: readonly (readonly [string, number, string, Attempt])[] = [
    ['signed by another key',    401, 'bad_signature',    (agent) => agent.signed({}, generateKeyPair())],
    ['changed after signing',    401, 'bad_signature',    (agent) => ({ ...agent.signed(), state: 'busy' })],
    ['with a field added',       401, 'bad_signature',    (agent) => ({ ...agent.signed(), colour: 'red' })],
    ['of an unknown agent',      404, 'unknown_agent',    (agent) => agent.signed({ agent: randomUUID() as string as AgentId })],
    ['expired',                  401, 'expired',          (agent) => agent.signed({ signedAt: now() - 30_000 })],
    ['from the future',          425, 'not_yet_valid',    (agent) => agent.signed({ signedAt: now() + 30_001 })],
    ['valid for too long',       400, 'expiry_too_far',   (agent) => agent.signed({ expiresAt: now() + 120_001 })],
    ['of somebody’s instance',   403, 'foreign_instance', (agent, other) => agent.signed({ instance: other.instance })],
    ['posted before',            409, 'replayed',         (agent) => agent.signed({ signedAt: now() - 1_000 })],
    ['older than what is known', 409, 'outdated',         (agent) => agent.signed({ signedAt: now() - 1_001 })],
  ]
    for (const [title, status, verification, attempt] of rows) {
      test(`AV-3 ${title}: dropped, counted, kept as ${verification}, not listed`, async () => {
        const [agent, other] = [await poster(), await poster()]
        await agent.post({ slotsFree: 2 })
        await other.post()
        await clock.advanceBy(1_000)
        const before = await listed(`agent_id=${agent.id}`)
        const posted = attempt(agent, other)

        const answer = await hub.post('/moltbook/v1/presence', posted)
        const code = verification === 'foreign_instance' ? 'forbidden' : verification
        assert.deepEqual([answer.status, answer.body.code], [status, code])
        const counted = await droppedFor(code)
        await hub.post('/moltbook/v1/presence', posted)
        assert.equal(await droppedFor(code), counted + 1)

        const { why: _, ...entry } = (await listed(`agent_id=${agent.id}`)).instances[0] ?? {
          why: 0,
        }
        const { why: __, ...entryBefore } = before.instances[0] ?? { why: 0 }
        assert.deepEqual(entry, entryBefore)
        const kept = await hub.get(`/moltbook/v1/presence-events?agent_id=${idIn(posted)}`)
        const all = kept.body.events as { verification: string; raw_message: object }[]
        assert.equal(all.at(-1)?.verification, verification)
        assert.deepEqual(all.at(-1)?.raw_message, posted)
      })
    }
    const idIn = (message: object) => (message as { agent_id: string }).agent_id

    test('X-9 a field that nobody knows is verified under the signature', async () => {
      const agent = await poster()
      const { signature: _, ...message } = agent.signed() as Record<string, unknown>
      const signed = signMessage({ ...message, colour: 'red' }, agent.key)
      const painted = await hub.post('/moltbook/v1/presence', { ...signed, colour: 'blue' })
      assert.equal(painted.status, 401)
      assert.equal((await hub.post('/moltbook/v1/presence', signed)).status, 204)
    })

    test('text that no database keeps is refused and named', async () => {
      const agent = await poster()
      const answer = await agent.post({ capabilities: ['fine', 'no\0ne'] })
      assert.equal(answer.status, 400)
      assert.match(JSON.stringify(answer.body), /"path":"\/capabilities\/1"/)
    })
  })

  describe('the directory', () => {
    test('AV-11 an instance is found from its first post on, with its room and load', async () => {
      const agent = await poster()
      assert.deepEqual(await statesOf(agent), [])
      assert.equal((await agent.post({ slotsFree: 2 })).status, 204)
      const { instances, total } = await listed(`capability=${agent.skill}`)
      assert.equal(total, 1)
      const { instance, slotsFree, slotsTotal, load, verdict } = instances[0] ?? assert.fail()
      assert.deepEqual(
        { instance, slotsFree, slotsTotal, load, verdict },
        {
          instance: agent.instance,
          slotsFree: 2,
          slotsTotal: 4,
          load: { cpu: 0.25, mem: 0.125 },
          verdict: 'verified',
        },
      )
      const { body } = await hub.get(`/discover?skill=${agent.skill}`)
      const [hit] = body.agents as { why: string[] }[]
      assert.ok(
        hit?.why.some((each) => /2 of 4/.test(each)),
        JSON.stringify(hit?.why),
      )
    })

    test('AV-6 three cadences silent it is offline; back, its second post counts', async () => {
      const agent = await poster()
      await agent.post()
      await clock.advanceBy(29_999)
      assert.deepEqual(await statesOf(agent), ['available online'])
      await clock.advanceBy(1)
      assert.deepEqual(await statesOf(agent), [])
      assert.equal(await isDiscovered(agent), false)

      await clock.advanceBy(5_000)
      assert.equal((await agent.post()).status, 204)
      assert.deepEqual([await statesOf(agent), await isDiscovered(agent)], [[], false])
      await clock.advanceBy(10_000)
      await agent.post()
      assert.deepEqual(
        [await statesOf(agent), await isDiscovered(agent)],
        [['available online'], true],
      )
    })

    test('AV-3 an offline post revokes at once, and nothing signed before undoes it', async () => {
      const agent = await poster()
      await agent.post()
      await clock.advanceBy(2_000)
      await agent.post({ availability: 'offline' })
      assert.deepEqual([await statesOf(agent), await isDiscovered(agent)], [[], false])
      assert.equal((await agent.post({ signedAt: clock.now() - 1_000 })).body.code, 'outdated')
      const { instances } = await listed(`agent_id=${agent.id}&state=offline`)
      assert.deepEqual(
        instances.map(({ instance }) => instance),
        [agent.instance],
      )
    })

    test('CH-3 who only beats is there for 90 s; who posts goes by its posts', async () => {
      const [beating, posting] = [await poster(), await poster()]
      await posting.post()
      await clock.advanceBy(89_999)
      await hub.post('/heartbeat', { agent_id: posting.id })
      assert.deepEqual([await isDiscovered(beating), await isDiscovered(posting)], [true, false])
      await clock.advanceBy(1)
      assert.equal(await isDiscovered(beating), false)
      await hub.post('/heartbeat', { agent_id: beating.id })
      assert.equal(await isDiscovered(beating), true)
    })

    test('AV-5 draining counts with the declaration, and keeps its instance listed', async () => {
      const agent = await poster()
      await agent.post()
      await clock.advanceBy(1_000)
      const answer = await agent.declare({ state: 'draining', callback: 'https://a.example.org/r' })
      assert.equal(answer.status, 204)
      assert.equal(await isDiscovered(agent), false)
      const { instances } = await listed(`capability=${agent.skill}&state=draining`)
      assert.equal(instances[0]?.callback, 'https://a.example.org/r')
      assert.ok(instances[0]?.why.some((each) => each.includes('no new work')))
    })

    test('AV-7 P-6 ranks by match, room and load, says why, filters and pages', async () => {
      const skill = `skill_${randomUUID().slice(0, 8)}`
      const [roomy, full, loaded] = [
        await poster({ skill }),
        await poster({ skill }),
        await poster({ skill }),
      ]
      await roomy.post({ slotsFree: 4 })
      await full.post({ slotsFree: 1 })
      await loaded.post({ slotsFree: 4, load: { cpu: 0.5, mem: 0.1 } })
      const order = (found: Awaited<ReturnType<typeof listed>>) =>
        found.instances.map(({ agent }) => agent)
      const all = await listed(`capability=${skill}`)
      assert.deepEqual(order(all), [roomy.id, loaded.id, full.id])
      assert.ok(all.instances[1]?.why.some((each) => each.includes(`behind ${roomy.instance}`)))
      assert.deepEqual(order(await listed(`capability=${skill}&min_slots_free=2`)), [
        roomy.id,
        loaded.id,
      ])
      const page = await listed(`capability=${skill}&limit=1&offset=1`)
      assert.deepEqual([order(page), page.total], [[loaded.id], 3])
      assert.equal((await listed(`capability=${skill}&capability=other`)).total, 0)
    })

    test('several instances of an agent count together in discovery', async () => {
      const agent = await poster()
      const second = randomUUID() as string as InstanceId
      await agent.post({ slotsFree: 1 })
      await agent.post({ slotsFree: 2, instance: second, load: { cpu: 0, mem: 0 } })
      const { body } = await hub.get(`/discover?skill=${agent.skill}`)
      const [hit] = body.agents as { why: string[] }[]
      assert.ok(
        hit?.why.some((each) => /3 of 8/.test(each)),
        JSON.stringify(hit?.why),
      )
      await agent.post({ instance: second, availability: 'offline', signedAt: clock.now() + 1 })
    })

    test('P-13 when all fall silent at once nobody is let go until they are heard', async () => {
      const skill = `skill_${randomUUID().slice(0, 8)}`
      const all: Poster[] = []
      for (let count = 0; count < 7; count += 1) all.push(await poster({ skill }))
      for (const each of all) await each.post()
      await clock.advanceBy(40_000)
      const { instances, total } = await listed(`capability=${skill}`)
      assert.equal(total, 7)
      assert.ok(instances.every(({ liveness }) => liveness === 'suspect'))
      const { body } = await hub.get(`/discover?skill=${skill}`)
      assert.equal(body.total, 7)

      const [dead, ...alive] = all
      for (let round = 0; round < 4; round += 1) {
        await clock.advanceBy(10_000)
        for (const each of alive) await each.post()
      }
      assert.deepEqual(dead && (await statesOf(dead)), [])
      assert.equal((await listed(`capability=${skill}`)).total, 6)
    })
  })

  describe('presence events', () => {
    test('AV-10 are found by agent, instance and state, oldest first, page by page', async () => {
      const agent = await poster()
      const second = randomUUID() as string as InstanceId
      const begun = clock.now()
      for (const availability of ['available', 'busy', 'draining'] as const) {
        await agent.post({ availability })
        await clock.advanceBy(1_000)
      }
      await agent.post({ instance: second })
      const query = `agent_id=${agent.id}`
      const all = (await events(query)).events
      assert.deepEqual(
        all.map(({ announcement }) => announcement.availability),
        ['available', 'busy', 'draining', 'available'],
      )
      assert.equal(all[0]?.receivedAt, begun)
      const only = async (filter: string) => (await events(`${query}&${filter}`)).events.length
      assert.equal(await only(`instance_id=${second}`), 1)
      assert.equal(await only('state=available'), 2)
      assert.equal(await only(`since=${new Date(begun + 1).toISOString()}`), 3)
      assert.equal(await only(`until=${new Date(begun + 1_000).toISOString()}`), 1)

      const pages: string[] = []
      for (let after: string | undefined = ''; after !== undefined; ) {
        const page = await events(`${query}&limit=3${after && `&after=${after}`}`)
        pages.push(...page.events.map(({ id }) => id))
        after = page.nextAfter
      }
      assert.deepEqual(
        pages,
        all.map(({ id }) => id),
      )
      await agent.post({ instance: second, availability: 'offline', signedAt: clock.now() + 1 })
    })

    test('AV-10 a post is there for 24 hours, also over a restart', {
      timeout: 30_000,
    }, async () => {
      const agent = await poster()
      await agent.post()
      await hub.stop()
      await clock.advanceBy(24 * 3_600_000)
      hub = await engine.start({ clock, seed: 2 }, place)
      assert.equal((await events(`agent_id=${agent.id}`)).events.length, 1)
      await clock.advanceBy(1)
      assert.equal((await events(`agent_id=${agent.id}`)).events.length, 0)
    })

    test('AV-3 a restart undoes no revocation, and who still counts is still listed', {
      timeout: 30_000,
    }, async () => {
      const [staying, leaving] = [await poster(), await poster()]
      const recorded = leaving.signed()
      assert.equal((await hub.post('/moltbook/v1/presence', recorded)).status, 204)
      await staying.post()
      await clock.advanceBy(1_000)
      await leaving.post({ availability: 'offline' })
      await hub.stop()

      await clock.advanceBy(5_000)
      hub = await engine.start({ clock, seed: 3 }, place)
      const replayed = await hub.post('/moltbook/v1/presence', recorded)
      assert.deepEqual([replayed.status, replayed.body.code], [409, 'outdated'])
      const { instances } = await listed('')
      assert.deepEqual(
        instances.map(({ agent }) => agent),
        [staying.id],
      )
    })
  })
}
