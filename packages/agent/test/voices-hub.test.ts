/** The voices against a real hub that requires authentication, over HTTP. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { OwnerId, PublicKey } from '@chimera/domain/ids'
import { createChance } from '@chimera/host/chance'
import { createClock } from '@chimera/host/clock'
import { createLog } from '@chimera/host/log'
import { createMetrics } from '@chimera/host/metrics'
import { type Asker, createAsker } from '@chimera/hub/testing/asking'
import { runHub, type TestHub } from '@chimera/hub/testing/running'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { createHubClient } from '../src/hub/client.ts'
import { openSelf } from '../src/self/self.ts'
import { createLifecycle } from '../src/voice/lifecycle.ts'
import { createVoices } from '../src/voice/voices.ts'
import { skill, type Wire } from './voicing.ts'

const clock = createClock()
const chance = createChance()
const log = createLog({ clock, name: 'agent', level: 'silent' })
const within = (ms = 5_000) => AbortSignal.timeout(ms)
let hub: TestHub
let asker: Asker
let directory: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'chimera-voices-'))
  hub = await runHub({ auth: 'required' })
  asker = createAsker(hub, clock)
}, 120_000)
afterAll(async () => {
  await hub?.stop()
  await rm(directory, { recursive: true, force: true })
}, 60_000)

async function newVoices(name: string, options: { readonly hubKey?: PublicKey } = {}) {
  const { owner, token } = await asker.newOwner()
  const self = await openSelf({ directory: join(directory, name), chance })
  const client = createHubClient({ hub: hub.address, token, key: self.keys.pair, clock, chance })
  const lifecycle = createLifecycle({ clock, log, slots: 2 })
  const endpoint = 'https://counter.example.org'
  const voices = createVoices({
    self,
    owner: owner as OwnerId,
    lifecycle,
    offered: () => ({
      name,
      endpoint,
      callback: `${endpoint}/moltbook/v1/reserve`,
      skills: [skill(`skill_${name}`)],
    }),
    hub: client,
    feed: { url: `${hub.address}/ingest/chimera-status`, auth: { by: 'jws' } },
    clock,
    chance,
    log,
    metrics: createMetrics(),
    ...options,
  })
  const instance = async (): Promise<Wire | undefined> => {
    const { body } = await hub.get(`/moltbook/v1/directory?agent_id=${self.agent}`)
    return (body.instances as Wire[])[0]
  }
  const end = async () => {
    await voices.stop(within())
    await client.close()
  }
  return { self, client, lifecycle, voices, instance, token, owner, end }
}

describe('an agent at its hub', () => {
  test('AV-11 OC-1 is found as soon as it has started, and gone as soon as it stops', async () => {
    const agent = await newVoices('finder')
    assert.deepEqual(await agent.voices.start(), { is: 'registered' })
    const found = await agent.instance()
    assert.deepEqual([found?.state, found?.liveness], ['available', 'online'])
    assert.equal(await agent.voices.said(within()), true)
    const offers = await hub.get('/discover?skill=skill_finder')
    assert.deepEqual(
      (offers.body.agents as Wire[]).map(({ agent_id }) => agent_id),
      [agent.self.agent],
    )
    const identity = await hub.get(`/openclaw/v1/identities/${agent.self.agent}`)
    assert.equal(identity.status, 200)
    const { body: heard } = await asker.send('/ingest/chimera-status/finder', {
      token: agent.token,
    })
    assert.deepEqual([heard.status, heard.claimed], ['AVAILABLE', true])

    await agent.end()
    assert.deepEqual(await agent.instance(), undefined)
    const after = await asker.send('/ingest/chimera-status/finder', { token: agent.token })
    assert.equal(after.body.status, 'PAUSED')
  })

  test('AV-12 a rotated key speaks from then on, and after a restart', async () => {
    const agent = await newVoices('turner')
    await agent.voices.start()
    assert.equal(await agent.voices.said(within()), true)
    const before = agent.self.keys.pair().id
    const rotated = await agent.voices.rotate()
    assert.equal(rotated.is, 'rotated')
    assert.notEqual(agent.self.keys.pair().id, before)
    agent.lifecycle.order({ type: 'drain' })
    assert.equal(await agent.voices.said(within()), true)
    assert.equal((await agent.client.get(`/v1/control/${agent.self.agent}`)).ok, true)
    await agent.end()
    const again = await openSelf({ directory: join(directory, 'turner'), chance })
    assert.deepEqual(
      [again.agent, again.keys.pair().id],
      [agent.self.agent, agent.self.keys.pair().id],
    )
    assert.notEqual(again.instance, agent.self.instance)
  })

  test('SF-11 an order of the hub is obeyed, told and acknowledged', async () => {
    const hubKey = (await hub.get('/v1/keys/hub')).body.public_key as PublicKey
    const agent = await newVoices('soldier', { hubKey })
    await agent.voices.start()
    await agent.voices.said(within())
    const give = (body: Wire) => asker.send('/v1/control', { token: asker.operator, body })
    const toIt = { to: 'agent', agent_id: agent.self.agent }
    const { body: order } = await give({ ...toIt, action: 'pause' })
    await give({ to: 'owner', owner_id: agent.owner, action: 'publishing', enabled: false })
    await agent.voices.orders?.ask()
    assert.equal(agent.lifecycle.standing().condition.name, 'paused')
    assert.equal(agent.voices.feed?.speaks(), false)
    const seen = await asker.send(`/v1/control/${String(order.control_id)}/seen`, {
      token: asker.operator,
    })
    assert.deepEqual(
      (seen.body.seen as Wire[]).map(({ agent_id }) => agent_id),
      [agent.self.agent],
    )
    assert.equal(await agent.voices.said(within()), true)
    assert.equal(await agent.instance(), undefined, 'paused without work, it is away')
    await give({ ...toIt, action: 'resume' })
    await agent.voices.orders?.ask()
    assert.equal(agent.lifecycle.standing().condition.name, 'idle')
    await agent.end()
  })

  test('a key that is not the agent’s is refused at the start', async () => {
    const first = await newVoices('first')
    await first.voices.start()
    const self = await openSelf({ chance, id: first.self.agent })
    const { token, owner } = first
    const client = createHubClient({ hub: hub.address, token, key: self.keys.pair, clock, chance })
    const voices = createVoices({
      self,
      owner: owner as OwnerId,
      lifecycle: createLifecycle({ clock, log, slots: 1 }),
      offered: () => ({ name: 'thief', endpoint: 'https://x.example.org', skills: [skill('s')] }),
      hub: client,
      clock,
      chance,
      log,
      metrics: createMetrics(),
    })
    const started = await voices.start()
    assert.equal(started.is, 'refused')
    await voices.stop(within())
    await client.close()
    await first.end()
  })
})
