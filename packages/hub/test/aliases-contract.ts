/**
 * Names in the status feed: whose they become, who is kept out, and that it lasts. One story
 * in three starts: an open hub hears strangers, one that asks who publishes gives names away, and
 * an open one still knows whose they are.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readFeedState } from '@chimera/dialects/feed'
import { LIMITS } from '@chimera/domain/limits'
import { createVirtualClock } from '@chimera/host/virtual-clock'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { type Asker, createAsker, type Sent } from './asking.ts'
import type { Engine } from './engines.ts'
import type { TestHub } from './running.ts'

export function aliasesContract(engine: Engine): void {
  const clock = createVirtualClock()
  let place: string
  let hub: TestHub
  let asker: Asker

  async function start(auth: 'open' | 'required'): Promise<void> {
    await clock.advanceBy(1_000)
    hub = await engine.start({ auth, clock, seed: clock.now() }, place)
    asker = createAsker(hub, clock)
  }
  const status = (alias: string, more: Record<string, unknown> = {}) => ({
    schema_version: 'openclaw-status.v1',
    message_id: randomUUID(),
    agent_id: alias,
    status: 'AVAILABLE',
    last_updated: new Date(clock.now()).toISOString(),
    ...more,
  })
  /** The result, or the code of the refusal. */
  async function publish(alias: string, by: Sent = {}, more: Record<string, unknown> = {}) {
    const body = status(alias, more)
    const answer = await asker.send('/ingest/chimera-status', { ...by, body })
    return answer.body.result ?? answer.body.code
  }
  /** What it says, and whether the name is somebody's. */
  async function stateOf(alias: string, by: Sent = {}) {
    const { body } = await asker.send(`/ingest/chimera-status/${encodeURIComponent(alias)}`, by)
    const read = readFeedState(body)
    assert.ok(read.ok, JSON.stringify(body))
    return [read.value.report.condition, read.value.claimed]
  }
  const newName = () => `planner ${randomUUID()}`

  const [ofAgent, ofCredential, observed] = [newName(), newName(), newName()]
  type Agent = Awaited<ReturnType<Asker['newAgent']>>
  let agent: Agent
  let rival: Agent

  beforeAll(async () => {
    place = engine.newPlace()
    await start('open')
    // As far ahead as a clock may be: whoever claims the name must not have to wait for it.
    const ahead = new Date(clock.now() + LIMITS.skewMs).toISOString()
    const paused = { status: 'PAUSED', last_updated: ahead }
    for (const name of [ofAgent, observed]) {
      assert.equal(await publish(name, {}, paused), 'observed')
      assert.deepEqual(await stateOf(name), ['paused', false])
    }
    await hub.stop()
    await start('required')
    agent = await asker.newAgent()
    rival = await asker.newAgent()
  }, 60_000)
  afterAll(() => hub.stop())

  describe('on a hub that asks who publishes', () => {
    test('X-10 what was only observed is kept, and is nobody’s', async () => {
      assert.deepEqual(await stateOf(observed, { key: agent.key }), ['paused', false])
    })

    test('X-10 an agent’s key claims a name; what strangers said counts for nothing', async () => {
      const own = { key: agent.key }
      assert.equal(await publish(ofAgent, own, { status: 'BUSY' }), 'observed')
      assert.deepEqual(await stateOf(ofAgent, own), ['working', true])
      assert.equal(await publish(ofAgent, { key: rival.key }), 'agent_id_taken')
      const owner = { token: agent.token }
      assert.equal(await publish(ofAgent, owner), 'agent_id_taken', 'its owner is not the agent')
      assert.deepEqual(hub.hub.directory.find(agent.id as never)?.aliases, [ofAgent])
    })

    test('X-10 a credential claims one for its owner, whichever token comes next', async () => {
      const [one, two] = [await asker.newOwner(), await asker.newOwner()]
      const renewed = await asker.narrower(one.token, { scopes: ['agents'] })
      assert.equal(await publish(ofCredential, { token: one.token }), 'observed')
      assert.equal(await publish(ofCredential, { token: two.token }), 'agent_id_taken')
      assert.equal(await publish(ofCredential, { key: rival.key }), 'agent_id_taken')
      await clock.advanceBy(1_000)
      assert.equal(await publish(ofCredential, { token: renewed.token }), 'observed')
    })

    test('X-10 of many that publish under one name at once, one has it', async () => {
      const owners = await Promise.all(Array.from({ length: 6 }, () => asker.newOwner()))
      const name = newName()
      const answers = await Promise.all(owners.map(({ token }) => publish(name, { token })))
      const gotIt = answers.filter((each) => each === 'observed')
      const tooLate = answers.filter((each) => each === 'agent_id_taken')
      assert.deepEqual([gotIt.length, tooLate.length], [1, 5], answers.join())
    })

    test('A5 an agent has so many names at most, and keeps those that it has', async () => {
      const by = { key: (await asker.newAgent()).key }
      const names = Array.from({ length: LIMITS.aliasesPerAgent }, newName)
      for (const name of names) assert.equal(await publish(name, by), 'observed')
      assert.equal(await publish(newName(), by), 'limit_reached')
      await clock.advanceBy(1_000)
      assert.equal(await publish(names[0] ?? '', by), 'observed')
    })

    // The embedded database is of one process.
    if (engine.shares)
      test('X-10 a name claimed at one hub is taken at the other', {
        timeout: 30_000,
      }, async () => {
        const other = await engine.start({ auth: 'required', clock, seed: 99 }, place)
        try {
          const name = newName()
          assert.equal(await publish(name, { key: agent.key }), 'observed')
          const { body } = await createAsker(other, clock).send('/ingest/chimera-status', {
            key: rival.key,
            body: status(name),
          })
          assert.equal(body.code, 'agent_id_taken')
        } finally {
          await other.stop()
        }
      })
  })

  describe('after a restart, on an open hub', () => {
    beforeAll(async () => {
      await hub.stop()
      await start('open')
    }, 60_000)

    test('X-10 a claimed name is its holder’s, and says what that said last', async () => {
      assert.deepEqual(await stateOf(ofAgent), ['working', true])
      assert.equal(await publish(ofAgent, { key: rival.key }), 'agent_id_taken')
      assert.equal(await publish(ofAgent), 'unauthenticated')
      assert.equal(await publish(ofAgent, { key: agent.key }), 'observed')
      assert.deepEqual(await stateOf(ofAgent), ['idle', true])
    })

    test('X-10 so is one that a credential holds', async () => {
      assert.deepEqual(await stateOf(ofCredential), ['idle', true])
      assert.equal(await publish(ofCredential), 'unauthenticated')
      assert.equal(await publish(ofCredential, { key: rival.key }), 'agent_id_taken')
    })

    test('X-10 one that is nobody’s is heard from anybody', async () => {
      await clock.advanceBy(LIMITS.skewMs)
      assert.equal(await publish(observed), 'observed')
      assert.deepEqual(await stateOf(observed), ['idle', false])
    })
  })
}
