/** Three hubs, the same slots, the same keys, at once: the database decides, so they agree. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { AgentId } from '@chimera/domain/ids'
import { createClock } from '@chimera/host/clock'
import { generateKeyPair } from '@chimera/identity/keys'
import { signRotation } from '@chimera/identity/rotation'
import { afterAll, beforeAll, test, vi } from 'vitest'
import { createAsker } from './asking.ts'
import { type Cluster, openCluster, soon } from './cluster.ts'
import { createHolding, type Holding } from './holding.ts'
import type { TestHub } from './running.ts'

vi.setConfig({ testTimeout: 60_000 })

const clock = createClock()
let cluster: Cluster
let hubs: readonly TestHub[] = []
let on: Holding

beforeAll(async () => {
  cluster = await openCluster({ auth: 'required' })
  const first = await cluster.start()
  hubs = [first, ...(await Promise.all([cluster.start(), cluster.start()]))]
  on = createHolding(first, clock)
}, 120_000)
afterAll(() => cluster.end(), 60_000)

const hubAt = (place: number): TestHub => hubs[place % hubs.length] ?? assert.fail('no hub')

test('AV-8 200 offers at once through three hubs: exactly the slots that are free', async () => {
  const { hirer: planner, agent } = await on.newPair()
  const { instance, post } = on.instanceOf(agent, 10)
  assert.equal((await post()).status, 204)
  for (const { hub } of hubs) {
    await soon(() => assert.equal([...hub.presence.instances()].length, 1))
  }
  const senders = hubs.map((hub) => createAsker(hub, clock).send)
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, at) => {
      const offer = on.signed(on.offer(planner, instance, { max_cost: 1 }), planner.key)
      return on.present({ key: agent.key }, offer, senders[at % senders.length])
    }),
  )
  const codes = answers.map(({ status, body }) => (status === 201 ? 'taken' : body.code))
  const count = (code: string) => codes.filter((each) => each === code).length
  assert.equal(count('taken'), 10, JSON.stringify(codes))
  assert.equal(count('slots_exhausted'), 190, JSON.stringify([...new Set(codes)]))
  assert.equal(await on.balance(planner), 90)
})

test('P-3 one transfer asked for a hundred times at three hubs is paid once', async () => {
  const { hirer, agent } = await on.newPair()
  const body = {
    transfer_id: randomUUID(),
    from_owner: hirer.owner,
    to_owner: agent.owner,
    amount: 2,
    job_id: randomUUID(),
  }
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, at) =>
      createAsker(hubAt(at), clock).send('/transfer', { token: hirer.token, body }),
    ),
  )
  for (const each of answers) {
    assert.equal(each.status, 200, JSON.stringify(each.body))
    assert.deepEqual(each.body.transfer, answers[0]?.body.transfer)
  }
  assert.equal(await on.balance(hirer), 98)
})

test('a token that is revoked at one hub is refused at the others', async () => {
  const { token, id } = await on.newOwner()
  const ask = (place: number) => createAsker(hubAt(place), clock).send('/v1/tokens', { token })
  assert.equal((await ask(1)).status, 200)
  const revoked = await on.send(`/v1/tokens/${id}`, { method: 'DELETE', token: on.operator })
  assert.equal(revoked.status, 204)
  assert.equal((await ask(1)).status, 401)
  assert.equal((await ask(2)).status, 401)
})

test('AV-12 a key that was replaced at one hub is the key at all', async () => {
  const { agent } = await on.newPair()
  const next = generateKeyPair()
  const [old, renewed] = [on.instanceOf(agent), on.instanceOf({ ...agent, key: next })]
  assert.equal((await old.post({}, hubAt(1))).status, 204)
  const id = agent.id as string as AgentId
  const body = signRotation(id, { old: agent.key, next }, clock.now())
  assert.equal((await on.send(`/v1/keys/${id}/rotate`, { body })).status, 200)
  for (const place of [1, 2]) assert.equal((await renewed.post({}, hubAt(place))).status, 204)
  for (const place of [1, 2]) assert.equal((await old.post({}, hubAt(place))).status, 401)
})
