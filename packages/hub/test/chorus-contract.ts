/**
 * Chorus against a real hub: the document's calls, every vector over HTTP, money under load, and a
 * restart. Run on both engines by the two test files beside this one.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { loadVectors } from '@chimera/conformance/vectors'
import { afterAll, beforeAll, describe, test } from 'vitest'
import type { Engine } from './engines.ts'
import type { TestHub } from './running.ts'

const registration = (more: Record<string, unknown> = {}) => ({
  agent_id: randomUUID(),
  agent_name: 'Counter',
  owner_id: 'bolt',
  api_endpoint: 'https://counter.example.org/jobs',
  skills: [{ skill_name: `skill_${randomUUID().slice(0, 8)}`, cost_per_call: 0.05 }],
  ...more,
})
const skillOf = ({ skills }: { skills: readonly { skill_name: string }[] }) =>
  skills[0]?.skill_name ?? ''

export function chorusContract(open: () => Engine): void {
  let hub: TestHub
  let engine: Engine
  beforeAll(async () => {
    engine = open()
    hub = await engine.start({ seed: 1 })
  }, 120_000)
  afterAll(async () => {
    await hub.stop()
    await engine.end()
  })

  describe('the registry', () => {
    test('CH-1 registering answers 201 with 50.0, and again updates the entry', async () => {
      const agent = registration()
      const first = await hub.post('/register', agent)
      assert.deepEqual(first, {
        status: 201,
        body: { status: 'registered', agent_id: agent.agent_id, reputation_score: 50 },
      })
      await hub.post('/register', { ...agent, agent_name: 'Better Counter' })
      const { body } = await hub.get(`/agents/${agent.agent_id}`)
      assert.deepEqual([body.agent_name, body.status], ['Better Counter', 'online'])
    })

    test('X-10 an id cannot be taken over by another owner', async () => {
      const agent = registration()
      await hub.post('/register', agent)
      const thief = await hub.post('/register', { ...agent, owner_id: 'thief' })
      assert.deepEqual([thief.status, thief.body.code], [403, 'FORBIDDEN'])
    })

    test('CH-2 P-6 discovery finds by skill and price, cheapest first, and says why', async () => {
      const skill = `skill_${randomUUID().slice(0, 8)}`
      const offer = (cost: number) =>
        registration({ skills: [{ skill_name: skill, cost_per_call: cost }] })
      const [dear, cheap, costly] = [offer(0.2), offer(0.1), offer(0.9)]
      for (const each of [dear, cheap, costly]) await hub.post('/register', each)
      const { body } = await hub.get(`/discover?skill=${skill}&max_cost=0.5&min_reputation=50`)
      const agents = body.agents as { agent_id: string; why: string[]; status: string }[]
      assert.deepEqual(
        agents.map((each) => each.agent_id),
        [cheap.agent_id, dear.agent_id],
      )
      assert.equal(body.total, 2)
      assert.ok(agents[1]?.why.some((each) => each.includes('costs less')))
    })

    test('CH-14 skills on offer are counted, and a removed agent is gone', async () => {
      const agent = registration()
      await hub.post('/register', agent)
      const counted = async () => {
        const { body } = await hub.get('/skills')
        const skills = body.skills as { skill_name: string; agents: number }[]
        return skills.find((each) => each.skill_name === skillOf(agent))?.agents
      }
      assert.equal(await counted(), 1)
      const gone = await hub.call(`/agents/${agent.agent_id}`, { method: 'DELETE' })
      assert.equal(gone.status, 204)
      assert.equal(await counted(), undefined)
      assert.equal((await hub.get(`/agents/${agent.agent_id}`)).status, 404)
      const { body } = await hub.get(`/discover?skill=${skillOf(agent)}`)
      assert.deepEqual(body, { agents: [], total: 0 })
    })

    test('CH-3 a heartbeat of somebody unknown is 404', async () => {
      const agent = registration()
      assert.equal((await hub.post('/heartbeat', { agent_id: agent.agent_id })).status, 404)
      await hub.post('/register', agent)
      const { status, body } = await hub.post('/heartbeat', { agent_id: agent.agent_id })
      assert.deepEqual([status, body.status], [200, 'ok'])
    })
  })

  describe('money', () => {
    const open = async (cents = 100) => {
      const owner = `owner-${randomUUID()}`
      await hub.post('/accounts', { owner_id: owner, initial_balance: cents })
      return owner
    }
    const pay = (from: string, to: string, amount: number, more = {}) =>
      hub.post('/transfer', {
        transfer_id: randomUUID(),
        from_owner: from,
        to_owner: to,
        amount,
        ...more,
      })
    const balance = async (owner: string) => (await hub.get(`/accounts/${owner}`)).body.balance

    test('CH-8 the same transfer again moves nothing; other content is a conflict', async () => {
      const [from, to] = [await open(), await open(0)]
      const once = { transfer_id: randomUUID() }
      const [first, again] = [await pay(from, to, 0.1, once), await pay(from, to, 0.1, once)]
      assert.deepEqual(first, again)
      assert.deepEqual(first.body.status, 'completed')
      assert.equal((await pay(from, to, 0.2, once)).status, 409)
      assert.deepEqual([await balance(from), await balance(to)], [99.9, 0.1])
    })

    test('CH-8 a job settles once: another transfer for it answers with the first', async () => {
      const [from, to] = [await open(), await open(0)]
      const job = { job_id: randomUUID() }
      const first = await pay(from, to, 0.1, job)
      const second = await pay(from, to, 0.1, job)
      assert.equal(second.status, 200)
      assert.deepEqual(second.body.transfer, first.body.transfer)
      assert.equal(await balance(to), 0.1)
    })

    test('CH-11 short of credits, unknown sender, nothing to pay', async () => {
      const [from, to] = [await open(1), await open(0)]
      const short = await pay(from, to, 1.01)
      assert.deepEqual([short.status, short.body.code], [402, 'TRANSFER_FAILED'])
      assert.equal((await pay('nobody-at-all', to, 1)).status, 404)
      assert.equal((await pay(from, to, 0)).status, 422)
      assert.equal((await pay(from, to, 0.005)).status, 422)
      assert.deepEqual([await balance(from), await balance(to)], [1, 0])
    })

    test('CH-14 an account that exists keeps its balance', async () => {
      const owner = await open(5)
      const again = await hub.post('/accounts', { owner_id: owner, initial_balance: 500 })
      assert.deepEqual(again, { status: 201, body: { owner_id: owner, balance: 5 } })
    })

    test('CH-9 200 transfers at once: sums exact, no account below zero', async () => {
      const owners = await Promise.all(Array.from({ length: 5 }, () => open(1)))
      const answers = await Promise.all(
        Array.from({ length: 200 }, (_, index) => {
          const [from, to] = [owners[index % 5] ?? '', owners[(index * 3 + 1) % 5] ?? '']
          return from === to ? Promise.resolve(undefined) : pay(from, to, 0.07)
        }),
      )
      for (const answer of answers) assert.ok(!answer || [200, 402].includes(answer.status))
      const balances = await Promise.all(owners.map(balance))
      const cents = balances.map((each) => Math.round(Number(each) * 100))
      assert.equal(
        cents.reduce((sum, each) => sum + each, 0),
        500,
      )
      assert.ok(cents.every((each) => each >= 0))
    })

    test('P-4 the same key 100 times at once: one effect, one answer', async () => {
      const [from, to] = [await open(), await open(0)]
      const once = { transfer_id: randomUUID(), job_id: randomUUID() }
      const answers = await Promise.all(Array.from({ length: 100 }, () => pay(from, to, 0.1, once)))
      assert.ok(answers.every(({ status }) => status === 200))
      assert.equal(await balance(to), 0.1)
    })
  })

  describe('reputation', () => {
    test('CH-14 a report counts once, for a paid job; claims are not believed', async () => {
      const agent = registration({ owner_id: `owner-${randomUUID()}` })
      await hub.post('/register', agent)
      const hirer = `owner-${randomUUID()}`
      await hub.post('/accounts', { owner_id: hirer })
      const job = randomUUID()
      const report = (word: string) =>
        hub.post(`/reputation/${agent.agent_id}/${word}?job_id=${job}&contractor_reputation=100`)
      assert.equal((await report('success')).body.reputation_score, 50, 'not settled yet')
      await hub.post('/transfer', {
        transfer_id: randomUUID(),
        from_owner: hirer,
        to_owner: agent.owner_id,
        amount: 0.05,
        job_id: job,
      })
      const reports = await Promise.all(Array.from({ length: 20 }, () => report('success')))
      assert.ok(reports.every(({ status }) => status === 200))
      assert.equal((await hub.get(`/reputation/${agent.agent_id}`)).body.reputation_score, 51)
      assert.equal((await report('failure')).body.reputation_score, 51)
    })
  })

  describe('X-3 every Chorus vector over HTTP', () => {
    const paths: Record<string, string> = {
      registration: '/register',
      heartbeat: '/heartbeat',
      transfer: '/transfer',
      'account-opening': '/accounts',
    }
    const vectors = loadVectors().filter(
      ({ dialect, message }) => dialect === 'chorus' && paths[message],
    )
    for (const { message, verdict, name, wire, expect } of vectors) {
      test(`${message} ${verdict}s ${name}`, async () => {
        const { status, body } = await hub.post(paths[message] ?? '', wire)
        if (verdict === 'accept') return assert.notEqual(body.code, 'INVALID_REQUEST')
        assert.equal(status, 422)
        const { issues } = body.details as { issues: { path: string }[] }
        for (const path of (expect as { paths: string[] }).paths) {
          assert.ok(
            issues.some((issue) => issue.path === path),
            path,
          )
        }
      })
    }
  })

  describe('what is not a message', () => {
    const send = (body: string, type = 'application/json') =>
      hub.call('/transfer', { method: 'POST', headers: { 'content-type': type }, body })
    // biome-ignore format: a table is read by its columns
    const rows: [what: string, body: string, type: string, status: number][] = [
    ['half a document',          '{"a":',                      'application/json', 422],
    ['nothing',                  '',                           'application/json', 422],
    ['another type',             '<a/>',                       'text/xml',         422],
    ['a poisoned prototype',     '{"__proto__":{"x":1}}',      'application/json', 422],
    ['more than the limit',      `"${'x'.repeat(300_000)}"`,   'application/json', 413],
  ]
    for (const [what, body, type, status] of rows) {
      test(`${what} is refused with ${status} and the one error`, async () => {
        const answer = await send(body, type)
        assert.equal(answer.status, status)
        assert.equal(typeof answer.body.message, 'string')
      })
    }
    test('an unknown path is 404', async () => {
      assert.equal((await hub.get('/nowhere')).body.code, 'path_unknown')
    })
  })

  test('X-4 an answer carries the id of its request', async () => {
    const answer = await fetch(`${hub.address}/health`)
    assert.match(answer.headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/)
  })

  test('operators can ask whether it lives, whether it can work, and how it is', async () => {
    assert.deepEqual((await hub.get('/health')).body, { service: 'chimera-hub', status: 'healthy' })
    assert.equal((await hub.get('/ready')).body.ready, true)
    const page = await (await fetch(`${hub.address}/metrics`)).text()
    assert.match(page, /http_requests_total\{[^}]*route="\/health"/)
  })

  test('what was acknowledged is there after a restart; signs of life are not', {
    timeout: 60_000,
  }, async () => {
    await hub.stop()
    const before = await engine.start({ seed: 2 })
    const agent = registration({ owner_id: 'owner-r' })
    await before.post('/register', agent)
    await before.post('/accounts', { owner_id: 'hirer-r' })
    const job = randomUUID()
    await before.post('/transfer', {
      transfer_id: randomUUID(),
      from_owner: 'hirer-r',
      to_owner: 'owner-r',
      amount: 12.34,
      job_id: job,
    })
    await before.post(`/reputation/${agent.agent_id}/success?job_id=${job}`)
    await before.stop()

    const after = await engine.start({ seed: 3 })
    assert.equal((await after.get('/accounts/hirer-r')).body.balance, 87.66)
    const { body } = await after.get(`/agents/${agent.agent_id}`)
    assert.deepEqual([body.reputation_score, body.status], [51, 'offline'])
    await after.post('/heartbeat', { agent_id: agent.agent_id })
    assert.equal((await after.get(`/agents/${agent.agent_id}`)).body.status, 'online')
    await after.stop()
    hub = await engine.start({ seed: 4 })
  })
}
