/** What a cluster does while its broker, its database or a line to one of them is away. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { openLine } from '@chimera/bus/testing/line'
import type { Availability } from '@chimera/domain/presence/presence'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { type Cluster, openCluster, soon } from './cluster.ts'
import { createShiftedClock } from './holding.ts'
import { createPoster, type Poster } from './posting.ts'
import type { TestHub } from './running.ts'

const { clock, pass } = createShiftedClock()
let cluster: Cluster
let a: TestHub
let b: TestHub

beforeAll(async () => {
  cluster = await openCluster({ clock })
  ;[a, b] = await Promise.all([cluster.start(), cluster.start()])
}, 120_000)
afterAll(() => cluster.end(), 60_000)

async function listed(hub: TestHub, { skill, instance }: Poster): Promise<string | undefined> {
  const { body } = await hub.get(`/moltbook/v1/directory?capabilities=${skill}`)
  const found = body.instances as { instance_id: string; state: Availability }[]
  return found.find((each) => each.instance_id === instance)?.state
}

describe('the broker', () => {
  test('is away: hubs serve, say so, hear each other through the database', async () => {
    const [before, during] = [await createPoster(a, clock), await createPoster(b, clock)]
    assert.equal((await before.post()).status, 204)
    await soon(async () => assert.equal(await listed(b, before), 'available'))
    await cluster.broker.kill()
    await soon(async () => {
      const { status, body } = await b.get('/ready')
      assert.equal(status, 200)
      assert.match(String(body.broker), /^away since 20/)
    }, 5_000)
    await soon(async () => {
      const { body } = await b.get('/v1/alerts?kind=broker_away')
      assert.equal((body.alerts as object[]).length, 1)
    })
    assert.match(await b.metrics.text(), /^broker_connected 0$/m)

    assert.equal((await during.post()).status, 204)
    assert.equal(
      (await before.post({ availability: 'busy', signedAt: clock.now() + 1 })).status,
      204,
    )
    await soon(async () => assert.equal(await listed(a, during), 'available'), 5_000)
    await soon(async () => assert.equal(await listed(b, before), 'busy'), 5_000)

    await cluster.broker.start()
    await soon(async () => {
      for (const hub of [a, b]) {
        assert.match(String((await hub.get('/ready')).body.broker), /^connected since 20/)
      }
    }, 10_000)
    await soon(() => assert.deepEqual(b.hub.alerts.standing(), []))
    assert.equal((await before.post({ signedAt: clock.now() + 2 })).status, 204)
    await soon(async () => assert.equal(await listed(b, before), 'available'))
    const { body } = await a.get(`/moltbook/v1/presence-events?agent_id=${before.id}`)
    const verdicts = (body.events as { verification: string }[]).map((each) => each.verification)
    assert.deepEqual(verdicts, ['verified', 'verified', 'verified'])
    await Promise.all([before, during].map((each) => each.leave()))
  }, 60_000)

  test('P-13 a hub that is cut off from it lets nobody go, and agrees again', async () => {
    const line = await openLine(cluster.broker.port)
    const cutOff = await cluster.start({ bus: [line.address] })
    const posters = await Promise.all(Array.from({ length: 12 }, () => createPoster(a, clock)))
    const post = () =>
      Promise.all(posters.map(async (each) => assert.equal((await each.post()).status, 204)))
    await post()
    for (const each of posters) {
      await soon(async () => assert.equal(await listed(cutOff, each), 'available'))
    }
    line.cut()
    for (const _ of [1, 2, 3, 4]) {
      pass(10_000)
      await post()
      cutOff.hub.directory.sweep(clock.now())
    }
    const states = await Promise.all(posters.map((each) => listed(cutOff, each)))
    assert.deepEqual(new Set(states), new Set(['available']), 'nobody was let go')
    assert.ok(cutOff.hub.presence.brake().on)
    line.mend()
    await soon(() => assert.equal(cutOff.hub.share.broker().type, 'connected'), 10_000)
    await post()
    for (const each of posters) {
      await soon(async () => assert.equal(await listed(cutOff, each), 'available'))
    }
    await soon(() => {
      cutOff.hub.directory.sweep(clock.now())
      assert.ok(!cutOff.hub.presence.brake().on, 'the brake holds still')
    }, 5_000)
    await Promise.all(posters.map((each) => each.leave()))
    await cutOff.stop()
    await line.close()
  }, 60_000)
})

describe('the database', () => {
  test('P-3 is away: 503 with a time to come back, nothing half done, and on it goes', async () => {
    const [payer, payee] = [randomUUID(), randomUUID()]
    for (const owner_id of [payer, payee]) await a.post('/accounts', { owner_id })
    const order = (amount: number) => ({
      transfer_id: randomUUID(),
      from_owner: payer,
      to_owner: payee,
      amount,
      job_id: randomUUID(),
    })
    const poster = await createPoster(a, clock)
    await cluster.postgres.halt()
    const lost = order(1)
    const calls: [string, unknown][] = [
      ['/transfer', lost],
      ['/accounts', { owner_id: randomUUID() }],
      ['/moltbook/v1/presence', poster.signed()],
    ]
    for (const hub of [a, b]) {
      for (const [path, body] of calls) {
        const answer = await fetch(hub.address + path, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        })
        assert.equal(answer.status, 503, `${path} ${await answer.text()}`)
        assert.ok(Number(answer.headers.get('retry-after')) >= 1, path)
      }
      const ready = await hub.get('/ready')
      assert.deepEqual([ready.status, ready.body.waiting_for], [503, 'database'])
      assert.equal((await hub.get(`/discover?skill=${poster.skill}`)).status, 200, 'from memory')
    }
    await cluster.postgres.resume()
    for (const hub of [a, b]) {
      await soon(async () => assert.equal((await hub.get('/ready')).status, 200), 10_000)
    }
    const [paid, again] = [await a.post('/transfer', lost), await b.post('/transfer', lost)]
    assert.deepEqual([paid.status, again.status], [200, 200])
    assert.deepEqual(paid.body.transfer, again.body.transfer)
    assert.equal((await b.get(`/accounts/${payee}`)).body.balance, 101)
    assert.equal((await poster.post({ signedAt: clock.now() + 5 })).status, 204)
    await soon(async () => assert.equal(await listed(b, poster), 'available'))
    await poster.leave()
  }, 60_000)
})
