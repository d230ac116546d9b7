/** Three hubs on one PostgreSQL: how often a caller is let in is exact over all of them. */
import assert from 'node:assert/strict'
import type { AgentId } from '@chimera/domain/ids'
import { afterAll, beforeAll, describe, test, vi } from 'vitest'
import { type Asker, createAsker } from './asking.ts'
import { type Cluster, openCluster, soon } from './cluster.ts'
import { createHolding, createShiftedClock, idOf } from './holding.ts'
import { callsTo, type TestHub } from './running.ts'

vi.setConfig({ testTimeout: 60_000 })

const PER_MINUTE = 60
const PAIR_SUCCESSES = 4
const MINUTE_MS = 61_000

const { clock, pass } = createShiftedClock()
let cluster: Cluster
let hubs: readonly TestHub[] = []
let first: Asker

beforeAll(async () => {
  cluster = await openCluster({
    auth: 'required',
    clock,
    bus: [],
    requestsPerMinute: PER_MINUTE,
    strangersPerMinute: PER_MINUTE,
    pairSuccesses: PAIR_SUCCESSES,
  })
  const one = await cluster.start()
  hubs = [one, ...(await Promise.all([cluster.start(), cluster.start()]))]
  first = createAsker(one, clock)
}, 120_000)
afterAll(() => cluster.end(), 60_000)

const hubAt = (place: number): TestHub => hubs[place % hubs.length] ?? assert.fail('no hub')

type Change = { readonly running: { readonly counted: boolean; readonly reasons: string[] } }
type Heard = { readonly status: number; readonly retry: number }

async function get(hub: TestHub, path: string, token?: string): Promise<Heard> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const answer = await fetch(hub.address + path, { headers })
  await answer.text()
  return { status: answer.status, retry: Number(answer.headers.get('retry-after')) }
}
const together = (count: number, token?: string, among = hubs.length) =>
  Promise.all(Array.from({ length: count }, (_, at) => get(hubAt(at % among), '/economy', token)))
const count = (heard: readonly Heard[], status: number) =>
  heard.filter((each) => each.status === status).length

describe('a caller', () => {
  test('of 300 requests at once over three hubs, exactly the limit pass, each minute', async () => {
    const [{ token }, other] = [await first.newOwner(), await first.newOwner()]
    for (const _ of [1, 2]) {
      const heard = await together(300, token)
      assert.deepEqual([count(heard, 200), count(heard, 429)], [PER_MINUTE, 240])
      for (const { status, retry } of heard) {
        if (status === 429) assert.ok(retry >= 1 && retry <= 61, `${retry}`)
      }
      pass(55_000)
      assert.equal(count(await together(6, token), 429), 6, 'not before the minute is over')
      pass(6_000)
    }
    assert.equal(count(await together(30, other.token), 200), 30, 'by itself')
  })

  test('that goes from one hub to the next is let in as often', async () => {
    const { token } = await first.newOwner()
    let letIn = 0
    for (let at = 0; at < 100; at += 1) {
      if ((await get(hubAt(at), '/economy', token)).status === 200) letIn += 1
    }
    assert.equal(letIn, PER_MINUTE)
  })

  test('L2 what a killed hub had in hand is never let in twice, and lapses', async () => {
    pass(MINUTE_MS)
    const { token } = await first.newOwner()
    const limit = { requestsPerMinute: 192 }
    const [doomed, left] = [await cluster.start(limit), await cluster.start(limit)]
    const letIn = async () => {
      const all = Array.from({ length: 250 }, () => get(left, '/economy', token))
      return count(await Promise.all(all), 200)
    }
    assert.equal((await get(doomed, '/economy', token)).status, 200)
    const { allowances } = doomed.hub.keep
    assert.ok(allowances !== undefined)
    // Nothing that it has leaves it any more: three are in its hand, a 64th.
    Object.assign(allowances, { ask: async () => 'away' })
    await doomed.stop()
    assert.equal(await letIn(), 192 - 1 - 3)
    pass(MINUTE_MS)
    assert.equal(await letIn(), 192 - 3)
    pass(MINUTE_MS)
    assert.equal(await letIn(), 192)
    await left.stop()
  })

  test('leaves nothing behind when its minute is over', async () => {
    const { allowances } = hubAt(0).hub.keep
    pass(3 * MINUTE_MS)
    assert.ok(((await allowances?.purge(clock.now())) ?? 0) > 0)
    assert.equal(await allowances?.purge(clock.now()), 0)
  })
})

describe('a stranger', () => {
  test('is heard so often, whether it shows nothing or what is wrong, at any hub', async () => {
    pass(MINUTE_MS)
    const [none, wrong] = await Promise.all([together(100), together(100, 'nonsense')])
    const heard = [...none, ...wrong]
    assert.deepEqual([count(heard, 401), count(heard, 429)], [PER_MINUTE, 140])
    pass(MINUTE_MS)
    assert.equal(count(await together(90, 'nonsense'), 401), PER_MINUTE)
  })
})

describe('a pair of owners', () => {
  test('CH-12 counts so often, whichever hubs settle, and all hubs say the same', async () => {
    pass(MINUTE_MS)
    const on = hubs.map((hub) =>
      createHolding({ ...hub, firstOperatorToken: hubAt(0).firstOperatorToken ?? '' }, clock),
    )
    const at = (place: number) => on[place % on.length] ?? assert.fail('no hub')
    const { hirer, agent } = await at(0).newPair()
    const settle = async (place: number) => {
      const placed = await at(place).place(
        { token: hirer.token },
        at(place).holdFor(agent, { amount: 1 }),
      )
      assert.equal(placed.status, 201, JSON.stringify(placed.body))
      const id = idOf(placed)
      assert.equal((await at(place + 1).confirm(agent, id, 1)).status, 200)
      const captured = await at(place + 2).capture(agent, id, at(0).success(1))
      assert.equal(captured.status, 200, JSON.stringify(captured.body))
    }
    await Promise.all(Array.from({ length: 10 }, (_, place) => settle(place)))
    const shown = await Promise.all(
      hubs.map(async (hub) => {
        const { scores } = hub.hub
        // Not asked over HTTP, where a stranger that asks again and again is turned away.
        await soon(() => assert.equal(scores.changesOf(agent.id as AgentId).length, 10))
        const { body } = await hub.get(`/v1/trust/${agent.id}`)
        return { running: body.running, changes: body.changes as Change[] }
      }),
    )
    for (const each of shown) assert.deepEqual(each, shown[0])
    const counted = shown[0]?.changes.filter(({ running }) => running.counted) ?? []
    assert.equal(counted.length, PAIR_SUCCESSES)
    const others = shown[0]?.changes.filter(({ running }) => !running.counted) ?? []
    for (const { running } of others) assert.deepEqual(running.reasons, ['pair_limit'])
    const { body } = await hubAt(1).get('/v1/trust/ring-cost')
    assert.equal(body.pair_successes, PAIR_SUCCESSES)
  })
})

describe('the database', () => {
  test('H3 is away: each hub counts by itself, and what it knows by heart is served', async () => {
    pass(MINUTE_MS)
    const skills = (hub: TestHub) =>
      Promise.all(Array.from({ length: 80 }, () => get(hub, '/skills')))
    await cluster.postgres.halt()
    for (const hub of hubs) {
      const heard = await skills(hub)
      assert.deepEqual([count(heard, 200), count(heard, 429)], [PER_MINUTE, 20])
    }
    await cluster.postgres.resume()
    await soon(async () => {
      for (const hub of hubs) assert.equal((await callsTo(hub.address).get('/ready')).status, 200)
    }, 10_000)
    pass(2_000)
    for (const hub of hubs) await get(hub, '/skills')
    pass(MINUTE_MS + 30_000)
    const heard = (await Promise.all(hubs.map(skills))).flat()
    assert.equal(count(heard, 200), PER_MINUTE)
  })
})
