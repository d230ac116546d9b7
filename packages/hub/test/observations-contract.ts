/**
 * What others have said of themselves outlives the hub that heard it (A3), and nothing older takes
 * the place of something newer, whichever hub hears it (A4).
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readFeedState } from '@chimera/dialects/feed'
import { readDirectory } from '@chimera/dialects/moltbook'
import { readStatusUpdate } from '@chimera/dialects/openclaw'
import { createVirtualClock } from '@chimera/host/virtual-clock'
import { afterAll, beforeAll, describe, test } from 'vitest'
import type { Engine } from './engines.ts'
import { createPoster, type Poster } from './posting.ts'
import type { TestHub } from './running.ts'

const SLOW = { timeout: 30_000 }

export function observationsContract(engine: Engine): void {
  const clock = createVirtualClock()
  let place: string
  let hub: TestHub
  beforeAll(async () => {
    place = engine.newPlace()
    hub = await engine.start({ clock }, place)
  }, 60_000)
  afterAll(() => hub.stop())

  async function restart(): Promise<void> {
    await hub.stop()
    await clock.advanceBy(2_000)
    hub = await engine.start({ clock, seed: clock.now() }, place)
  }
  const at = (ms: number) => new Date(ms).toISOString()

  const stating = (agent: Poster, tasks: number, when = clock.now()) => ({
    agent_id: agent.id,
    status_update: {
      status_timestamp: at(when),
      current_status: 'busy',
      status_details: { active_tasks: tasks },
    },
    correlation_id: randomUUID(),
    timestamp: at(when),
  })
  const state = async (message: object, to = hub) =>
    (await to.post('/openclaw/v1/status', message)).status
  async function statedBy(agent: Poster, from = hub) {
    const read = readStatusUpdate((await from.get(`/openclaw/v1/status/${agent.id}`)).body)
    assert.ok(read.ok, JSON.stringify(read))
    return read.value
  }
  const status = (alias: string, when = clock.now(), more: Record<string, unknown> = {}) => ({
    schema_version: 'openclaw-status.v1',
    message_id: randomUUID(),
    agent_id: alias,
    status: 'BUSY',
    last_updated: at(when),
    ...more,
  })
  const publish = async (message: object, to = hub) => {
    const { status, body } = await to.post('/ingest/chimera-status', message)
    assert.equal(status, 202)
    return body.result
  }
  async function heardOf(alias: string, from = hub) {
    const { body } = await from.get(`/ingest/chimera-status/${alias}`)
    const read = readFeedState(body)
    assert.ok(read.ok, JSON.stringify(body))
    return read.value
  }
  async function callbackOf(agent: Poster, from = hub) {
    const { body } = await from.get(`/moltbook/v1/directory?agent_id=${agent.id}`)
    const read = readDirectory(body)
    assert.ok(read.ok)
    return read.value.instances[0]?.callback
  }

  describe('after a restart', () => {
    const [first, second] = ['https://a.example.org/1', 'https://a.example.org/2']
    const name = `name-${randomUUID()}`
    let message: ReturnType<typeof status>
    let heard: Awaited<ReturnType<typeof heardOf>>
    let [posting, stated, told, gone]: Poster[] = []
    let earlyAt: number
    let saidAt: number
    let said: object

    const tell = async ({ id }: Poster) => {
      const identity = (await hub.get(`/openclaw/v1/identities/${id}`)).body
      assert.equal((await hub.post('/openclaw/v1/identities', identity)).status, 204)
      const score = (await hub.get(`/openclaw/v1/reputation/${id}`)).body
      assert.equal((await hub.post('/openclaw/v1/reputation', score)).status, 204)
      // Whichever hub took it in, all know it before the next request is answered.
      assert.equal((await hub.get('/health')).status, 200)
      const known = hub.hub.observed.of(id)
      assert.deepEqual(Object.keys(known).sort(), ['condition', 'identity', 'score'])
      return known
    }

    beforeAll(async () => {
      posting = await createPoster(hub, clock)
      stated = await createPoster(hub, clock, { bound: false })
      told = await createPoster(hub, clock, { bound: false })
      gone = await createPoster(hub, clock)
      earlyAt = clock.now() + 1
      await clock.advanceBy(1_000)
      saidAt = clock.now()
      assert.equal((await posting.declare({ callback: second })).status, 204)
      await posting.post()
      assert.equal(await state(stating(stated, 2)), 204)
      said = await tell(told)
      await tell(gone)
      await gone.leave()
      message = status(name)
      assert.equal(await publish(message), 'observed')
      heard = await heardOf(name)
      await restart()
    }, 60_000)

    test('A3 AV-2 an instance has the address that it declared, and no older one', async () => {
      assert.ok(posting)
      assert.equal(await callbackOf(posting), second)
      const older = await posting.declare({ callback: first, at: earlyAt }, hub)
      assert.deepEqual([older.status, older.body.code], [409, 'outdated'])
      const same = await posting.declare({ callback: first, at: saidAt }, hub)
      assert.deepEqual([same.status, same.body.code], [409, 'replayed'])
      assert.equal(await callbackOf(posting), second)
    })

    test('A3 OC-23 identity and claimed score are known as they were', () => {
      assert.ok(told && gone)
      assert.deepEqual(hub.hub.observed.of(told.id), said)
      assert.deepEqual(hub.hub.observed.of(gone.id), {}, 'of who left, nothing is')
    })

    test('A3 what an agent stated is known, an older one changes nothing', async () => {
      assert.ok(stated)
      await hub.post('/heartbeat', { agent_id: stated.id })
      assert.deepEqual((await statedBy(stated)).details, { tasks: 2 })
      assert.equal(await state(stating(stated, 9, earlyAt)), 204)
      assert.deepEqual((await statedBy(stated)).details, { tasks: 2 })
    })

    test('A3 SF-7 the feed goes on: order and repeats', async () => {
      assert.deepEqual(await heardOf(name), heard)
      assert.equal(await publish(message), 'duplicate')
      assert.equal(await publish(status(name, earlyAt)), 'outdated')
      assert.deepEqual(await heardOf(name), heard)
    })

    test('A3 SF-3 silence is counted from when it was heard, not from the restart', async () => {
      assert.ok(stated)
      const agesAt = saidAt + 3 * 65_000
      while (clock.now() < agesAt - 1) {
        await clock.advanceTo(Math.min(clock.now() + 60_000, agesAt - 1))
        await hub.post('/heartbeat', { agent_id: stated.id })
      }
      const known = async () => [
        (await heardOf(name)).stale,
        stated && (await statedBy(stated)).stated,
      ]
      assert.deepEqual(await known(), [false, 'working'])
      await clock.advanceBy(1)
      assert.deepEqual(await known(), [true, 'idle'])
    })
  })

  // The embedded database is of one process.
  if (engine.shares)
    test('A4 of two hubs none undoes what the other knows', SLOW, async () => {
      const agent = await createPoster(hub, clock)
      const name = `name-${randomUUID()}`
      const early = clock.now() + 1
      await clock.advanceBy(1_000)
      const other = await engine.start({ clock, seed: 77 }, place)
      try {
        const newer = status(name)
        assert.equal(await publish(newer), 'observed')
        assert.equal(await publish(status(name, early), other), 'outdated')
        assert.equal((await heardOf(name, other)).report.message, newer.message_id)

        assert.equal(await state(stating(agent, 2)), 204)
        assert.equal(await state(stating(agent, 9, early), other), 204)
        assert.deepEqual(other.hub.observed.of(agent.id).condition?.details, { tasks: 2 })

        assert.equal(
          (await agent.declare({ callback: 'https://a.example.org/2' }, hub)).status,
          204,
        )
        const at = { callback: 'https://a.example.org/1', at: early }
        const older = await agent.declare(at, other)
        assert.deepEqual([older.status, older.body.code], [409, 'outdated'])
        await clock.advanceBy(1_000)
        await agent.post({}, other)
        assert.equal(await callbackOf(agent, other), 'https://a.example.org/2')
      } finally {
        await other.stop()
      }
      await agent.leave(hub)
    })
}
