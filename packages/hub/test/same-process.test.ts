/** A hub on a broker of its own process: nothing to install, and the same as on NATS. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { openBus } from '@chimera/bus/bus'
import { createBroker } from '@chimera/bus/memory/broker'
import { createChance, createSeededChance } from '@chimera/host/chance'
import { createClock } from '@chimera/host/clock'
import { createLog } from '@chimera/host/log'
import { defaultsOf } from '@chimera/host/settings/declare'
import { createStop } from '@chimera/host/stop'
import { createDirectories } from '@chimera/store/testing/embedded'
import { test } from 'vitest'
import { HUB_SETTINGS } from '../src/settings.ts'
import { startHub } from '../src/start.ts'
import { soon } from './cluster.ts'

test('what agents say there is taken in, and what the hub says is heard', async () => {
  const clock = createClock()
  const { dial } = createBroker({ clock })
  const directories = createDirectories()
  const stop = createStop({ clock })
  const data = await directories.newMigrated()
  const { address, hub } = await startHub({
    settings: { ...defaultsOf(HUB_SETTINGS), listen: { host: '127.0.0.1', port: 0 }, data },
    clock,
    chance: createSeededChance(1),
    log: createLog({ clock, name: 'hub', level: 'silent' }),
    stop,
    dial,
  })
  const bus = openBus({ dial, clock, chance: createChance() })
  try {
    const post = (path: string, body: object) =>
      fetch(address + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    const [agent, requester] = [randomUUID(), randomUUID()]
    const registered = await post('/register', {
      agent_id: agent,
      agent_name: 'Counter',
      owner_id: 'ann',
      api_endpoint: 'https://counter.example.org/jobs',
      skills: [{ skill_name: 'count', cost_per_call: 0 }],
    })
    assert.equal(registered.status, 201)
    assert.equal(hub.key, undefined, 'it is open, so a result needs no signature')
    assert.equal(hub.share.broker().type, 'connected')

    const now = new Date(clock.now()).toISOString()
    const result = {
      collaboration_id: randomUUID(),
      request_id: randomUUID(),
      responder_agent_id: agent,
      requester_agent_id: requester,
      result_status: 'completed',
      correlation_id: randomUUID(),
      output_data: { words: 7 },
      timestamp: now,
    }
    const subject = `openclaw.result.${agent}.${requester}`
    bus.publish({ subject, bytes: Buffer.from(JSON.stringify(result)) })
    await soon(async () => {
      const answer = await fetch(`${address}/openclaw/v1/results/${agent}`)
      const { results } = (await answer.json()) as { results: { request_id: string }[] }
      assert.deepEqual(
        results.map(({ request_id }) => request_id),
        [result.request_id],
      )
    })

    const hearing = bus.subscribe(`openclaw.result.${agent}.*`)[Symbol.asyncIterator]()
    await bus.flush()
    const other = { ...result, collaboration_id: randomUUID(), request_id: randomUUID() }
    assert.equal((await post('/openclaw/v1/results', other)).status, 204)
    const { value } = await hearing.next()
    assert.deepEqual(JSON.parse(Buffer.from(value?.bytes ?? []).toString()), other)
  } finally {
    await bus.close()
    await stop.stop('end of the test')
    await directories.removeAll()
  }
}, 60_000)
