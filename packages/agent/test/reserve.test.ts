/** The handshake from the planner's side, against a real hub (AV-8, AV-9, P-1). */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { createClock } from '@chimera/host/clock'
import { type Asker, createAsker } from '@chimera/hub/testing/asking'
import { runHub, type TestHub } from '@chimera/hub/testing/running'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { connect, type Network } from '../src/hire/connect.ts'
import { HireFailure } from '../src/hire/failure.ts'
import { runSmallAgent, type SmallAgent } from './small-agent.ts'
import { type Handshake, runSmallInstance } from './small-instance.ts'

let hub: TestHub
let ask: Asker
let planner: { readonly owner: string; readonly network: Network }
const running: { readonly stop: () => Promise<void> }[] = []

beforeAll(async () => {
  hub = await runHub({ auth: 'required', allowNet: ['127.0.0.1'] })
  ask = createAsker(hub, createClock())
  const { agent, owner } = await newAgent('plan')
  const as = { agent: agent.id, key: agent.key }
  planner = { owner, network: connect({ hub: hub.address, as }) }
  // The first promise of a hub that has just started may take longer than an ack's three seconds.
  await newInstance('warm', 'promises', 1)
  const first = await planner.network.reserve('warm', TERMS).catch(() => undefined)
  await first?.release()
})

afterAll(async () => {
  await planner?.network.close()
  await Promise.all(running.map((each) => each.stop()))
  await hub.stop()
})

async function newAgent(skill: string): Promise<{ agent: SmallAgent; owner: string }> {
  const { owner, token } = await ask.newOwner()
  const agent = await runSmallAgent({ hub: hub.address, owner, token, skill, price: 0.05 })
  running.push(agent)
  return { agent, owner }
}

/** The more slots, the earlier it is offered the work (AV-7). */
async function newInstance(skill: string, handshake: Handshake, slots: number) {
  const { agent } = await newAgent(skill)
  const instance = await runSmallInstance({ hub: hub.address, agent, skill, slots, handshake })
  running.push(instance)
  return { agent, instance }
}

const newSkill = () => `count_${randomUUID().slice(0, 8)}`
const TERMS = { budget: 0.1, deadline: '5m' } as const

async function balance(): Promise<number> {
  const { body } = await ask.send(`/accounts/${planner.owner}`, { token: ask.operator })
  return Math.round(Number(body.balance) * 100)
}

test('AV-8: slot and money are taken together, and used by the same task', async () => {
  const skill = newSkill()
  const { agent, instance } = await newInstance(skill, 'promises', 2)
  const before = await balance()
  const reserved = await planner.network.reserve(skill, TERMS)
  assert.equal(reserved.instance, instance.instance)
  assert.ok(reserved.lapsesAt <= Date.now() + 30_000)
  assert.equal(await balance(), before - 10)
  const job = await reserved.ask({ text: 'one two' })
  assert.equal(job.task, reserved.task)
  const { output, cost } = await job.result()
  assert.deepEqual([output, cost], [{ words: 2 }, 0.05])
  assert.equal(agent.asks[0]?.request_id, reserved.task)
  assert.equal(await balance(), before - 5)
})

test('P-1: what is given back is given back whole', async () => {
  const skill = newSkill()
  await newInstance(skill, 'promises', 2)
  const before = await balance()
  const reserved = await planner.network.reserve(skill, TERMS)
  await reserved.release()
  assert.equal(await balance(), before)
  await reserved.release()
})

describe('AV-9: the next instance is offered the work', () => {
  // biome-ignore format: a table is read by its columns
  const rows: [handshake: Handshake, how: 'refused' | 'silent'][] = [
    ['declines',              'refused'],
    ['hangs up',              'silent'],
    ['promises and hangs up', 'silent'],
    ['is impersonated',       'silent'],
  ]
  for (const [handshake, how] of rows) {
    test(`where one ${handshake}`, async () => {
      const skill = newSkill()
      const first = await newInstance(skill, handshake, 50)
      const next = await newInstance(skill, 'promises', 1)
      const before = await balance()
      const reserved = await planner.network.reserve(skill, TERMS)
      assert.equal(reserved.instance, next.instance.instance)
      assert.deepEqual(
        reserved.declined.map((each) => [each.agent, each.how]),
        [[first.agent.id, how]],
      )
      assert.equal(await balance(), before - 10, 'one hold, and not two')
    })
  }
})

describe('who cannot', () => {
  const codeOf = async (reserving: () => Promise<unknown>): Promise<string> => {
    try {
      await reserving()
    } catch (error) {
      if (error instanceof HireFailure) return error.code
      throw error
    }
    return 'reserved'
  }

  test('an owner without an agent reserves nothing', async () => {
    const { owner, token } = await ask.newOwner()
    const network = connect({ hub: hub.address, owner, token })
    assert.equal(await codeOf(() => network.reserve('any', TERMS)), 'terms_invalid')
    await network.close()
  })

  test('where nobody has room nobody is offered anything', async () => {
    const skill = newSkill()
    const { instance } = await newInstance(skill, 'promises', 1)
    const wanted = { ...TERMS, slots: 2 }
    assert.equal(await codeOf(() => planner.network.reserve(skill, wanted)), 'nobody_found')
    assert.equal(instance.offers.length, 0)
  })

  test('where everybody declines, each is named', async () => {
    const skill = newSkill()
    await newInstance(skill, 'declines', 1)
    assert.equal(await codeOf(() => planner.network.reserve(skill, TERMS)), 'nobody_accepted')
  })
})
