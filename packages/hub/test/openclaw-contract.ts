/**
 * OpenClaw against a real hub: what agents publish is noted, and what the hub says is its own.
 * Run on both engines.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readIdentity, readReputationUpdate, readStatusUpdate } from '@chimera/dialects/openclaw'
import { createVirtualClock } from '@chimera/host/virtual-clock'
import { afterAll, beforeAll, describe, test } from 'vitest'
import type { Engine } from './engines.ts'
import { createPoster, type Poster } from './posting.ts'
import type { TestHub } from './running.ts'
import { testVectors } from './vectors.ts'

export function openclawContract(engine: Engine): void {
  // Later than every time in the vectors, so that none of them is ahead.
  const clock = createVirtualClock({ startAt: Date.UTC(2027, 0, 1) })
  let hub: TestHub
  beforeAll(async () => {
    hub = await engine.start({ clock }, engine.newPlace())
  }, 60_000)
  afterAll(() => hub.stop())

  const to = (path: string) => (wire: unknown) => hub.post(`/openclaw/v1/${path}`, wire)

  async function conditionOf({ id }: Poster) {
    const read = readStatusUpdate((await hub.get(`/openclaw/v1/status/${id}`)).body)
    assert.ok(read.ok, JSON.stringify(read))
    return read.value
  }
  const stating = (agent: Poster, status: Record<string, unknown>) => ({
    agent_id: agent.id,
    status_update: { status_timestamp: new Date(clock.now()).toISOString(), ...status },
    correlation_id: randomUUID(),
    timestamp: new Date(clock.now()).toISOString(),
  })

  describe('messages', () => {
    testVectors({
      dialect: 'openclaw',
      code: 'validation_error',
      routes: {
        identity: to('identities'),
        'status-update': to('status'),
        'reputation-update': to('reputation'),
      },
    })

    test('OC-21 another major version is refused with those that are spoken', async () => {
      for (const path of ['identities', 'status', 'reputation']) {
        const { status, body } = await to(path)({ protocol_version: '2.0.0' })
        assert.deepEqual([status, body.code], [400, 'version_unsupported'])
        assert.deepEqual((body.details as { supported_versions: unknown }).supported_versions, [
          '1.0.0',
        ])
      }
    })

    test('an unknown agent is not noted, and its message is named in the answer', async () => {
      const agent = await createPoster(hub, clock, { bound: false })
      const message = { ...stating(agent, { current_status: 'idle' }), agent_id: randomUUID() }
      const { status, body } = await to('status')(message)
      assert.deepEqual([status, body.code], [404, 'not_found'])
      assert.equal(body.correlation_id, message.correlation_id)
      for (const path of ['identities', 'status', 'reputation']) {
        assert.equal((await hub.get(`/openclaw/v1/${path}/${message.agent_id}`)).status, 404)
        assert.equal((await hub.get(`/openclaw/v1/${path}/no-uuid`)).status, 404)
      }
    })
  })

  describe('what the hub says', () => {
    test('OC-1 X-10 the identity of a Chorus agent: its name and what it offers', async () => {
      const agent = await createPoster(hub, clock)
      await agent.post({ slotsFree: 3 })
      const read = readIdentity((await hub.get(`/openclaw/v1/identities/${agent.id}`)).body)
      assert.ok(read.ok, JSON.stringify(read))
      const { name, skills, limits, condition } = read.value
      assert.equal(name, `chimera-poster-${agent.id.slice(0, 8)}`)
      assert.deepEqual(
        skills.map((each) => [each.name, each.category]),
        [[agent.skill, 'content_generation']],
      )
      assert.deepEqual([limits, condition.stated], [{ slotsTotal: 4, tasks: 1 }, 'working'])
      await agent.leave()
    })

    test('X-2 the status follows from posts, whatever the agent states', async () => {
      const agent = await createPoster(hub, clock)
      await agent.post({ slotsFree: 4 })
      await to('status')(
        stating(agent, { current_status: 'busy', status_details: { active_tasks: 9 } }),
      )
      assert.equal((await conditionOf(agent)).stated, 'idle')
      await clock.advanceBy(1_000)
      await agent.post({ availability: 'draining', slotsFree: 3 })
      assert.deepEqual((await conditionOf(agent)).details, { tasks: 1 })
      await clock.advanceBy(1_000)
      await agent.post({ availability: 'offline' })
      assert.equal((await conditionOf(agent)).stated, 'maintenance')
    })

    test('what an agent without presence states is shown while it is fresh', async () => {
      const agent = await createPoster(hub, clock, { bound: false })
      assert.equal((await conditionOf(agent)).stated, 'idle')
      const busy = stating(agent, { current_status: 'busy', status_details: { active_tasks: 2 } })
      assert.equal((await to('status')(busy)).status, 204)
      const older = new Date(clock.now() - 5_000).toISOString()
      await to('status')(stating(agent, { current_status: 'idle', status_timestamp: older }))
      const { stated, details } = await conditionOf(agent)
      assert.deepEqual([stated, details], ['working', { tasks: 2 }])
      for (let minute = 0; minute < 4; minute += 1) {
        await clock.advanceBy(60_000)
        await hub.post('/heartbeat', { agent_id: agent.id })
      }
      assert.equal((await conditionOf(agent)).stated, 'idle')
      const ahead = new Date(clock.now() + 30_001).toISOString()
      const early = await to('status')(
        stating(agent, { current_status: 'idle', status_timestamp: ahead }),
      )
      assert.deepEqual([early.status, early.body.code], [425, 'not_yet_valid'])
    })

    test('OC-7 without history the score is 0.5, whatever the agent claims', async () => {
      const agent = await createPoster(hub, clock, { bound: false })
      const claim = {
        agent_id: agent.id,
        reputation_update: {
          update_type: 'periodic_update',
          reputation_score: 1,
          update_timestamp: new Date(clock.now()).toISOString(),
          metrics: { total_collaborations: 1_000 },
        },
        correlation_id: randomUUID(),
        timestamp: new Date(clock.now()).toISOString(),
      }
      assert.equal((await to('reputation')(claim)).status, 204)
      const read = readReputationUpdate((await hub.get(`/openclaw/v1/reputation/${agent.id}`)).body)
      assert.ok(read.ok, JSON.stringify(read))
      const { scoreMicro, totalCount } = read.value.claimed
      assert.deepEqual([scoreMicro, totalCount, read.value.update], [500_000, 0, 'periodic'])
    })
  })
}
