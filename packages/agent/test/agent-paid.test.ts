/** An agent at a hub that asks for proof: who may ask, holds, reservations, and being paid. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { PublicKey } from '@chimera/domain/ids'
import { createClock } from '@chimera/host/clock'
import type { Party } from '@chimera/hub/testing/hiring'
import { createHolding, type Holding } from '@chimera/hub/testing/holding'
import { runHub, type TestHub } from '@chimera/hub/testing/running'
import { createKeyring } from '@chimera/identity/keyring'
import { generateKeyPair } from '@chimera/identity/keys'
import { verifyMessage } from '@chimera/identity/message'
import { afterAll, beforeAll, describe, test } from 'vitest'
import type { Agent } from '../src/create.ts'
import { AgentError } from '../src/create.ts'
import { connect } from '../src/hire/connect.ts'
import {
  type Body,
  call,
  createSlow,
  job,
  request,
  startAgent,
  until,
  wordCount,
} from './serving.ts'

let hub: TestHub
let on: Holding
let agent: Agent
let owner: string
let instance: string
let hirer: Party
const slow = createSlow()
const at = (path: string) => agent.address() + path
const COLLABORATIONS = '/openclaw/v1/collaborations'

beforeAll(async () => {
  hub = await runHub({ auth: 'required', allowNet: ['127.0.0.1'] })
  on = createHolding(hub, createClock())
  hirer = await on.newParty()
  const { owner: payee, token } = await on.newOwner()
  owner = payee
  const skills = [wordCount, slow.skill]
  agent = await startAgent({ hub: hub.address, owner, token, skills, slots: 2 })
  await until(async () => {
    const { body } = await on.send(`/moltbook/v1/directory?agent_id=${agent.id()}`, {
      token: hirer.token,
    })
    const [found] = body.instances as { instance_id: string }[]
    instance = found?.instance_id ?? ''
    return instance !== ''
  })
})
afterAll(async () => {
  await agent?.stop()
  await hub.stop()
})

const balanceOf = async (name: string): Promise<number> => {
  const { body } = await on.send(`/accounts/${name}`, { token: on.operator })
  return Number(body.balance)
}
const hold = (task: string, amount = 0.05) =>
  on.place(
    { token: hirer.token },
    { agent_id: agent.id(), task_id: task, amount, expires_at: on.at(60_000) },
  )

test('an agent whose owner has no token is told so, and does not start', async () => {
  await assert.rejects(
    startAgent({ hub: hub.address, owner: 'nobody' }),
    (error: unknown) => error instanceof AgentError && error.code === 'hub_refused',
  )
})

describe('CH-15 who may ask', () => {
  test('nobody who neither signs nor has put credits aside', async () => {
    assert.equal((await call(at(COLLABORATIONS), { body: request() })).status, 401)
    const { status, body } = await call(at('/jobs'), { body: job() })
    assert.deepEqual([status, body.error_code], [401, 'UNAUTHENTICATED'])
  })

  test('not by a key that is not the named agent’s', async () => {
    const body = request({ requester_agent_id: hirer.id, capability_id: 'slow_echo' })
    const answer = await call(at(COLLABORATIONS), { body, key: generateKeyPair() })
    assert.equal(answer.status, 401)
  })

  test('an agent by its signature, and only it sees its work', async () => {
    const input_data = { text: 'mine' }
    const asked = request({ requester_agent_id: hirer.id, capability_id: 'slow_echo', input_data })
    const answer = await call(at(COLLABORATIONS), { body: asked, key: hirer.key })
    assert.equal(answer.status, 202, JSON.stringify(answer.body))
    const path = `${at(COLLABORATIONS)}/${String(asked.request_id)}`
    const other = await on.newParty()
    assert.equal((await call(path)).status, 401)
    assert.equal((await call(path, { key: other.key })).status, 403)
    assert.equal((await call(`${path}/cancel`, { body: {}, key: other.key })).status, 403)
    await slow.letGo()
    const { body } = await call(path, { key: hirer.key, headers: { prefer: 'wait=10' } })
    assert.deepEqual(body.output_data, input_data)
  })

  test('a request that was signed once is not taken twice', async () => {
    const url = at(COLLABORATIONS)
    const body = request({ requester_agent_id: hirer.id, input_data: { text: 7 } })
    const { requestOf } = on
    const sent = requestOf('', { key: hirer.key, body, signed: { origin: url } })
    const send = async () => (await fetch(url, sent)).status
    assert.deepEqual([await send(), await send()], [422, 409])
  })
})

describe('a pass in the place of a signature', () => {
  const passFor = async (at_: string, by = hirer, more: Body = {}) => {
    const { status, body } = await on.send('/v1/passes', {
      key: by.key,
      body: { agent_id: at_, ...more },
    })
    assert.equal(status, 201, JSON.stringify(body))
    return { authorization: `Bearer ${String(body.token)}` }
  }
  const asking = () =>
    request({ requester_agent_id: hirer.id, capability_id: 'slow_echo', input_data: { text: '' } })
  const statusWith = async (headers: Record<string, string>, body = asking()) =>
    (await call(at(COLLABORATIONS), { body, headers })).status

  test('asks, waits for the signed result, and sees its work', async () => {
    const headers = { ...(await passFor(agent.id())), prefer: 'wait=10' }
    const body = asking()
    const told = call(at(COLLABORATIONS), { body, headers })
    await slow.letGo()
    const { status, body: result } = await told
    assert.deepEqual([status, result.result_status], [200, 'completed'])
    const { body: keys } = await on.send(`/v1/keys/${agent.id()}`)
    const [key] = keys.keys as { public_key: PublicKey }[]
    assert.ok(key !== undefined && verifyMessage(result, key.public_key, createKeyring()).ok)
    const path = `${at(COLLABORATIONS)}/${String(body.request_id)}`
    assert.deepEqual((await call(path, { headers })).body, result)
    assert.equal(
      (await call(path, { headers: await passFor(agent.id(), await on.newParty()) })).status,
      403,
    )
    // Who does not wait hears the same answer as the first time (OC-12).
    const { prefer: _, ...pass } = headers
    const again = await call(at(COLLABORATIONS), { body, headers: pass })
    assert.deepEqual([again.status, again.body.response_status], [202, 'accepted'])
  })

  test('opens one door, for the key that it was given for, and nothing else', async () => {
    const other = await on.newParty()
    const session = await on.send('/v1/tokens/session', { key: hirer.key, body: {} })
    assert.equal(await statusWith(await passFor(other.id)), 401, 'another agent’s')
    assert.equal(await statusWith(await passFor(agent.id(), other)), 401, 'another caller’s')
    assert.equal(await statusWith({ authorization: `Bearer ${String(session.body.token)}` }), 401)
    assert.equal(await statusWith({ authorization: 'Bearer nonsense' }), 401)
    const pass = await passFor(agent.id())
    assert.equal((await call(at('/v1/work'), { headers: pass })).status, 401, 'the keeper’s')
    const { status } = await call(`${hub.address}/v1/tokens`, { headers: pass })
    assert.equal(status, 401, 'the hub’s')
  })

  test('is given for a signature of an agent, and for a door that is there', async () => {
    const ask = async (sent: Parameters<typeof on.send>[1]) =>
      (await on.send('/v1/passes', { body: { agent_id: agent.id() }, ...sent })).status
    assert.equal(await ask({ token: hirer.token }), 403)
    assert.equal(await ask({ key: generateKeyPair() }), 401)
    assert.equal(await ask({ key: hirer.key, body: { agent_id: randomUUID() } }), 404)
  })
})

describe('being paid', () => {
  test('CH-9 P-1 the hold is confirmed before the work and captured by its result', async () => {
    const asked = job()
    const before = await balanceOf(owner)
    assert.equal((await hold(String(asked.job_id))).status, 201)
    const { status, body } = await call(at('/jobs'), { body: asked })
    assert.deepEqual([status, body.status, body.execution_cost], [200, 'SUCCESS', 0.05])
    await until(async () => (await balanceOf(owner)) === Math.round((before + 0.05) * 100) / 100)
    const again = await call(at('/jobs'), { body: asked })
    assert.deepEqual(again.body, body)
    const work = await on.send(`/v1/work/${String(asked.job_id)}`, { token: hirer.token })
    assert.equal(work.body.state, 'settled')
  })

  test('CH-15 a hold below the price is none', async () => {
    const asked = job()
    await hold(String(asked.job_id), 0.04)
    const { status, body } = await call(at('/jobs'), { body: asked })
    assert.deepEqual([status, body.error_code], [402, 'BUDGET_INSUFFICIENT'])
  })

  test('CH-9 cancelled work gives the credits back', async () => {
    const priced = createSlow()
    const { owner: payee, token } = await on.newOwner()
    const skill = { ...priced.skill, priceCents: 5 }
    const other = await startAgent({ hub: hub.address, owner: payee, token, skills: [skill] })
    const asked = request({ capability_id: 'slow_echo', input_data: { text: 'x' } })
    const task = String(asked.request_id)
    const terms = { agent_id: other.id(), task_id: task, amount: 0.05, expires_at: on.at(60_000) }
    assert.equal((await on.place({ token: hirer.token }, terms)).status, 201)
    const doors = `${other.address()}${COLLABORATIONS}`
    assert.equal((await call(doors, { body: asked })).status, 202)
    assert.equal((await call(`${doors}/${task}/cancel`, { body: {} })).status, 200)
    await until(async () => {
      const { body } = await on.send(`/v1/work/${task}`, { token: hirer.token })
      return (body.hold as Body).state === 'released'
    })
    await other.stop()
  })

  test('one call hires it', async () => {
    const network = connect({ hub: hub.address, owner: hirer.owner, token: hirer.token })
    const text = 'one two three four'
    const { output, cost } = await network.hire(
      'word_count',
      { text },
      { budget: 0.1, deadline: '30s' },
    )
    assert.deepEqual([output, cost], [{ words: 4 }, 0.05])
    await network.close()
  })
})

describe('AV-8 a reserve offer', () => {
  const offered = (more: Body = {}) => on.offer(hirer, instance, { max_cost: 0.05, ...more })
  const reserve = (message: object) => call(at('/moltbook/v1/reserve'), { body: message })

  test('takes slot and credits, gets the same ack again, and its work runs on it', async () => {
    const message = on.signed(offered(), hirer.key)
    const [first, again] = await Promise.all([reserve(message), reserve(message)])
    assert.equal(first.body.accepted, true, JSON.stringify(first.body))
    assert.deepEqual(again.body, first.body)
    assert.deepEqual((await reserve(message)).body, first.body)
    const request_id = (message as Body).task_id
    const asked = request({ request_id, requester_agent_id: hirer.id })
    const answer = await call(at(COLLABORATIONS), { body: asked, key: hirer.key })
    assert.equal(answer.status, 202, JSON.stringify(answer.body))
    await until(async () => {
      const { body } = await on.send(`/v1/work/${String(request_id)}`, { token: hirer.token })
      return body.state === 'settled'
    })
  })

  const rejects: readonly { why: string; more: Body; key?: 'other'; reason: string }[] = [
    { why: 'more slots than there are', more: { requested_slots: 3 }, reason: 'no_slot' },
    { why: 'another instance', more: { instance_id: randomUUID() }, reason: 'conflict' },
    { why: 'another key', more: {}, key: 'other', reason: 'bad_signature' },
    { why: 'more credits than the planner has', more: { max_cost: 5_000 }, reason: 'no_credit' },
    {
      why: 'an offer that has expired',
      more: { expires_at: '2026-01-01T00:00:00Z' },
      reason: 'expired',
    },
    { why: 'an unknown planner', more: { planner_id: randomUUID() }, reason: 'unknown_planner' },
  ]
  for (const { why, more, key, reason } of rejects) {
    test(`with ${why} is declined: ${reason}`, async () => {
      const by = key === 'other' ? generateKeyPair() : hirer.key
      const { status, body } = await reserve(on.signed(offered(more), by))
      assert.deepEqual([status, body.accepted, body.reason], [200, false, reason])
    })
  }
})
