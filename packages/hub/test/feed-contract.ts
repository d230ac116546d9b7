/** The status feed against a real hub: repeats, order and silence. Run on both engines. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readAccepted, readFeedState } from '@chimera/dialects/feed'
import { createVirtualClock } from '@chimera/host/virtual-clock'
import { afterAll, beforeAll, describe, test } from 'vitest'
import type { Engine } from './engines.ts'
import type { TestHub } from './running.ts'
import { testVectors } from './vectors.ts'

export function feedContract(engine: Engine): void {
  // Later than every time in the vectors, so that none of them is ahead.
  const clock = createVirtualClock({ startAt: Date.UTC(2027, 0, 1) })
  let hub: TestHub
  beforeAll(async () => {
    hub = await engine.start({ clock }, engine.newPlace())
  }, 60_000)
  afterAll(() => hub.stop())

  const status = (more: Record<string, unknown> = {}) => ({
    schema_version: 'openclaw-status.v1',
    message_id: randomUUID(),
    agent_id: `name ${randomUUID()}`,
    status: 'AVAILABLE',
    last_updated: new Date(clock.now()).toISOString(),
    ...more,
  })
  const send = (message: unknown) => hub.post('/ingest/chimera-status', message)
  const resultOf = async (message: unknown) => {
    const answer = await send(message)
    assert.equal(answer.status, 202)
    const read = readAccepted(answer.body)
    assert.ok(read.ok)
    return read.value.how
  }
  const stateOf = async (alias: string) => {
    const answer = await hub.get(`/ingest/chimera-status/${encodeURIComponent(alias)}`)
    assert.equal(answer.status, 200)
    const read = readFeedState(answer.body)
    assert.ok(read.ok, JSON.stringify(read))
    return read.value
  }

  describe('messages', () => {
    testVectors({ dialect: 'feed', code: 'schema_violation', routes: { status: send } })
  })

  describe('SF-7 the receiver', () => {
    test('SF-7 takes a message once, and the newest by its sender’s time', async () => {
      const first = status()
      const { agent_id } = first
      assert.equal(await resultOf(first), 'observed')
      assert.equal(await resultOf(first), 'duplicate')
      await clock.advanceBy(2_000)
      const newer = status({ agent_id, status: 'BUSY' })
      assert.equal(await resultOf(newer), 'observed')
      const older = new Date(clock.now() - 1_000).toISOString()
      assert.equal(await resultOf(status({ agent_id, last_updated: older })), 'outdated')
      const { report, claimed } = await stateOf(agent_id)
      assert.deepEqual(
        [report.message, report.condition, claimed],
        [newer.message_id, 'working', false],
      )
    })

    test('SF-7 errors are JSON: unknown fields, a clock ahead, a name never heard', async () => {
      const extra = await send(status({ colour: 'red' }))
      assert.deepEqual([extra.status, extra.body.code], [400, 'schema_violation'])
      const ahead = new Date(clock.now() + 31_000).toISOString()
      const early = await send(status({ last_updated: ahead }))
      assert.deepEqual(
        [early.status, early.body.code, early.body.retryable],
        [425, 'clock_ahead', true],
      )
      const never = await hub.get('/ingest/chimera-status/never-heard')
      assert.deepEqual([never.status, never.body.code], [404, 'unknown_agent'])
      const none = await hub.call('/ingest/chimera-status', { method: 'POST', body: 'x' })
      assert.deepEqual([none.status, none.body.code], [400, 'schema_violation'])
    })

    test('SF-3 silence ages what is repeated, and not what is not', async () => {
      const [busy, paused] = [status({ status: 'BUSY' }), status({ status: 'PAUSED' })]
      await send(busy)
      await send(paused)
      const stale = async () => [
        (await stateOf(busy.agent_id)).stale,
        (await stateOf(paused.agent_id)).stale,
      ]
      await clock.advanceBy(3 * 65_000 - 1)
      assert.deepEqual(await stale(), [false, false])
      await clock.advanceBy(1)
      assert.deepEqual(await stale(), [true, false])
    })

    test('a name of 128 characters outside the alphabet is heard and found', async () => {
      const agent_id = '🜁'.repeat(128)
      assert.equal(await resultOf(status({ agent_id })), 'observed')
      assert.equal((await stateOf(agent_id)).report.alias, agent_id)
    })
  })

  describe('names', () => {
    test('X-10 who is only observed has no account and is not discovered', async () => {
      const message = status({ agent_id: randomUUID(), capabilities: ['draw_clouds'] })
      await send(message)
      assert.equal((await hub.get(`/agents/${message.agent_id}`)).status, 404)
      assert.equal((await hub.get(`/accounts/${message.agent_id}`)).status, 404)
      assert.equal((await hub.get('/discover?skill=draw_clouds')).body.total, 0)
      assert.equal((await hub.get('/moltbook/v1/directory?capability=draw_clouds')).body.total, 0)
    })
  })
}
