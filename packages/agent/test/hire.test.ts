/**
 * Hiring against a real hub, by small agents that keep to the protocol or break it at one step. The
 * table is the specification: one manner, one outcome, and in every case nobody is paid twice.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { createClock } from '@chimera/host/clock'
import { type Asker, createAsker } from '@chimera/hub/testing/asking'
import { runHub, type TestHub } from '@chimera/hub/testing/running'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { connect, type Network } from '../src/hire/connect.ts'
import { HireFailure } from '../src/hire/failure.ts'
import { type Manner, runSmallAgent, type SmallAgent } from './small-agent.ts'

const clock = createClock()
let hub: TestHub
let ask: Asker
let hirer: { readonly owner: string; readonly token: string }
let network: Network
const running: SmallAgent[] = []

beforeAll(async () => {
  hub = await runHub({ auth: 'required', allowNet: ['127.0.0.1'] })
  ask = createAsker(hub, clock)
  hirer = await ask.newOwner()
  await ask.send('/accounts', { token: hirer.token, body: { owner_id: hirer.owner } })
  network = connect({ hub: hub.address, ...hirer })
})

afterAll(async () => {
  await network?.close()
  await Promise.all(running.map((each) => each.stop()))
  await hub.stop()
})

/** A skill of its own for each test, so that nobody else is found. */
async function agentWith(manner: Manner, { skill = newSkill(), price = 0.05 } = {}) {
  const { owner, token } = await ask.newOwner()
  const agent = await runSmallAgent({ hub: hub.address, owner, token, skill, price, manner })
  running.push(agent)
  return { agent, skill, owner, token }
}
const newSkill = () => `count_${randomUUID().slice(0, 8)}`
const INPUT = { text: 'one two three' }

async function balanceOf(owner: string): Promise<number> {
  const { body } = await ask.send(`/accounts/${owner}`, { token: ask.operator })
  return Math.round(Number(body.balance) * 100)
}

async function failing(hire: Promise<unknown>): Promise<HireFailure> {
  const error = await hire.then(
    () => assert.fail('it was done'),
    (thrown: unknown) => thrown,
  )
  assert.ok(error instanceof HireFailure, String(error))
  return error
}

describe('one call', () => {
  test('finds, asks, waits, pays', async () => {
    const { agent, skill, owner } = await agentWith('works')
    const [before, earned] = [await balanceOf(hirer.owner), await balanceOf(owner)]
    const hired = await network.hire(skill, INPUT, { budget: 0.1, deadline: '30s' })
    assert.deepEqual(hired.output, { words: 3 })
    assert.equal(hired.cost, 0.05)
    assert.equal(hired.agent, agent.id)
    assert.equal(await balanceOf(hirer.owner), before - 5)
    assert.equal(await balanceOf(owner), earned + 5)
    assert.deepEqual([...new Set(agent.seen.authorization)], [undefined], 'the token stays here')
  })
})

describe('who refuses or is silent is passed over (AV-9)', () => {
  // biome-ignore format: a table is read by its columns
  const rows: [manner: Manner, how: 'refused' | 'silent'][] = [
    ['refuses',  'refused'],
    ['is full',  'refused'],
    ['hangs up', 'silent'],
  ]
  for (const [manner, how] of rows) {
    test(`one that ${manner}: the next one does it, and is paid alone`, async () => {
      const { agent, skill } = await agentWith(manner, { price: 0.05 })
      // The dearer of two with one score comes second, but for a newcomer's turn.
      const other = await agentWith('works', { skill, price: 0.06 })
      const before = await balanceOf(hirer.owner)
      const terms = { budget: 0.1, deadline: '30s' } as const
      const hires = [
        await network.hire(skill, INPUT, terms),
        await network.hire(skill, INPUT, terms),
      ]
      for (const { agent: id } of hires) assert.equal(id, other.agent.id)
      assert.equal(await balanceOf(hirer.owner), before - 12)
      assert.equal(agent.executions(), 0)
      const declined = hires.flatMap((each) => each.declined)
      assert.ok(declined.length > 0)
      for (const each of declined) assert.deepEqual([each.agent, each.how], [agent.id, how])
    })
  }

  test('one that is full for now is asked again, within the deadline', async () => {
    const { agent, skill } = await agentWith('is full once')
    const hired = await network.hire(skill, INPUT, { budget: 0.1, deadline: '30s' })
    assert.deepEqual(hired.output, { words: 3 })
    assert.equal(agent.asks.length, 2)
    assert.equal(agent.executions(), 1)
  })

  test('everybody refuses: each is named, and nothing is held', async () => {
    const { agent, skill } = await agentWith('refuses')
    const before = await balanceOf(hirer.owner)
    const error = await failing(network.hire(skill, INPUT, { budget: 0.1, deadline: '5s' }))
    assert.equal(error.code, 'nobody_accepted')
    assert.deepEqual(
      error.declined.map(({ agent: id }) => id),
      [agent.id],
    )
    assert.equal(await balanceOf(hirer.owner), before)
  })
})

describe('an unknown outcome is reconciled before anybody else is asked (P-3)', () => {
  test('accepted, and the answer lost: the work is found, and done once', async () => {
    const { agent, skill } = await agentWith('accepts and hangs up')
    const before = await balanceOf(hirer.owner)
    const hired = await network.hire(skill, INPUT, { budget: 0.1, deadline: '30s' })
    assert.equal(hired.agent, agent.id)
    assert.deepEqual(hired.output, { words: 3 })
    assert.equal(agent.executions(), 1)
    assert.equal(await balanceOf(hirer.owner), before - 5)
  })

  test('accepted, and never heard of again: nobody else is asked, and that is said', async () => {
    const { agent, skill } = await agentWith('goes quiet')
    const other = await agentWith('goes quiet', { skill })
    const error = await failing(network.hire(skill, INPUT, { budget: 0.1, deadline: '1s' }))
    assert.equal(error.code, 'outcome_unknown')
    const task = error.task ?? ''
    const [asked, spared] = agent.asks.length > 0 ? [agent, other.agent] : [other.agent, agent]
    assert.equal(error.agent, asked.id)
    assert.equal(spared.asks.length, 0)
    assert.equal((await network.result(task))?.state, 'unknown')
    assert.equal((await failing(network.settle(task))).code, 'outcome_unknown')
    // It did it after all: by its key the hirer finds out.
    asked.behave('works')
    await asked.finish(task)
    assert.deepEqual((await network.result(task))?.output, { words: 3 })
    assert.equal(await network.settle(task), 0.05)
  })

  test('the agent cannot be reached, and the hub tells how it ended', async () => {
    const { skill } = await agentWith('tells only the hub')
    const hired = await network.hire(skill, INPUT, { budget: 0.1, deadline: '30s' })
    assert.deepEqual(hired.output, { words: 3 })
    assert.equal(hired.receipt, undefined)
  })

  test('a result that the agent has not signed is not believed', async () => {
    const { skill } = await agentWith('is impersonated')
    const hired = await network.hire(skill, INPUT, { budget: 0.1, deadline: '30s' })
    assert.deepEqual(hired.output, { words: 3 })
  })
})

describe('a hire that its hirer names', () => {
  test('is found again by another process, and neither run nor paid twice', async () => {
    const { agent, skill } = await agentWith('works')
    const terms = { budget: 0.1, deadline: '30s', key: randomUUID() } as const
    const first = await network.hire(skill, INPUT, terms)
    const before = await balanceOf(hirer.owner)
    const another = connect({ hub: hub.address, ...hirer })
    const again = await another.hire(skill, INPUT, terms)
    await another.close()
    assert.deepEqual(again.output, first.output)
    assert.deepEqual([again.task, again.cost], [first.task, first.cost])
    assert.equal(agent.executions(), 1)
    assert.equal(await balanceOf(hirer.owner), before)
  })

  test('by two at once: one execution, one payment', async () => {
    const { agent, skill } = await agentWith('works')
    const terms = { budget: 0.1, deadline: '30s', key: randomUUID() } as const
    const before = await balanceOf(hirer.owner)
    const both = await Promise.all([
      network.hire(skill, INPUT, terms),
      network.hire(skill, INPUT, terms),
    ])
    for (const { output } of both) assert.deepEqual(output, { words: 3 })
    assert.equal(agent.executions(), 1)
    assert.equal(await balanceOf(hirer.owner), before - 5)
  })

  test('that was accepted before a crash is waited for, not asked of anybody else', async () => {
    const { agent, skill } = await agentWith('is slow')
    const terms = { budget: 0.1, deadline: '30s', key: randomUUID() } as const
    const crashed = connect({ hub: hub.address, ...hirer })
    const [found] = await crashed.discover(skill)
    assert.ok(found)
    const { task } = await crashed.ask(found, INPUT, terms)
    await crashed.close()
    const again = network.hire(skill, INPUT, terms)
    agent.behave('works')
    await agent.finish(task)
    assert.deepEqual((await again).output, { words: 3 })
    assert.equal(agent.asks.length, 1)
  })
})

describe('ends that are no success', () => {
  test('a failure is told with its code, and costs nothing', async () => {
    const { skill } = await agentWith('fails')
    const before = await balanceOf(hirer.owner)
    const error = await failing(network.hire(skill, INPUT, { budget: 0.1 }))
    assert.deepEqual([error.code, error.fault?.code], ['work_failed', 'BROKEN'])
    assert.equal(await balanceOf(hirer.owner), before)
  })

  test('what is not done by the deadline is called off, and costs nothing', async () => {
    const { skill } = await agentWith('is slow')
    const before = await balanceOf(hirer.owner)
    const error = await failing(network.hire(skill, INPUT, { budget: 0.1, deadline: '800ms' }))
    assert.equal(error.code, 'deadline_passed')
    assert.equal(await balanceOf(hirer.owner), before)
  })

  test('whoever gives up calls it off (OC-18)', async () => {
    const { agent, skill } = await agentWith('is slow')
    const before = await balanceOf(hirer.owner)
    const stop = new AbortController()
    const hire = network.hire(skill, INPUT, { budget: 0.1, signal: stop.signal })
    const failed = failing(hire)
    while (agent.asks.length === 0) await clock.sleep(5)
    await clock.sleep(50)
    stop.abort()
    assert.equal((await failed).code, 'given_up')
    assert.equal(await balanceOf(hirer.owner), before)
  })

  test('work is called off by its key alone', async () => {
    const { skill } = await agentWith('is slow')
    const [found] = await network.discover(skill)
    assert.ok(found)
    const { task } = await network.ask(found, INPUT, { budget: 0.1 })
    await network.cancel(task)
    assert.equal((await network.result(task))?.end, 'cancelled')
  })
})

describe('what is asked for', () => {
  test('nobody within the budget is nobody at all', async () => {
    const { agent, skill } = await agentWith('works', { price: 0.2 })
    assert.equal((await failing(network.hire(skill, INPUT, { budget: 0.1 }))).code, 'nobody_found')
    assert.equal(agent.asks.length, 0)
  })

  // biome-ignore format: a table is read by its columns
  const rows: [why: string, terms: object][] = [
    ['a third decimal (CH-7)', { budget: 0.105 }],
    ['less than nothing',      { budget: -1 }],
    ['no span of time',        { deadline: 'soon' }],
    ['no time at all',         { deadline: 0 }],
    ['an empty key',           { key: '' }],
    ['half a priority',        { priority: 1.5 }],
    ['a parent that is none',  { parent: 'mine' }],
  ]
  for (const [why, terms] of rows) {
    test(`${why} is refused before anybody is asked`, async () => {
      assert.equal((await failing(network.hire('any', INPUT, terms))).code, 'terms_invalid')
    })
  }

  test('a token that may not spend: the hub says no, and nobody is asked', async () => {
    const { agent, skill } = await agentWith('works')
    const { token } = await ask.narrower(hirer.token, { scopes: ['read'] })
    const poor = connect({ hub: hub.address, owner: hirer.owner, token })
    const error = await failing(poor.hire(skill, INPUT, { budget: 0.1 }))
    await poor.close()
    assert.deepEqual([error.code, error.refusal], ['hub_refused', 'caller_forbidden'])
    assert.equal(agent.asks.length, 0)
  })
})

describe('hired out of what one is hired for (P-9)', () => {
  test('the cost is cut from the parent and rolls up to whoever paid first', async () => {
    const middle = await agentWith('is slow', { price: 0.1 })
    const { skill } = await agentWith('works', { price: 0.04 })
    const [found] = await network.discover(middle.skill)
    assert.ok(found)
    const before = await balanceOf(hirer.owner)
    const job = await network.ask(found, INPUT, { budget: 0.1, deadline: '30s' })
    const { agent } = middle
    const within = connect({ hub: hub.address, as: { agent: agent.id, key: agent.key } })
    const terms = { budget: 0.05, deadline: '10s', parent: job.hold ?? '' } as const
    const sub = await within.hire(skill, INPUT, terms)
    assert.equal(sub.cost, 0.04)
    const dear = within.hire(skill, INPUT, { ...terms, budget: 0.05, parent: randomUUID() })
    assert.equal((await failing(dear)).refusal, 'hold_unknown')
    agent.behave('works')
    await agent.finish(job.task)
    assert.equal((await job.result()).cost, 0.1)
    assert.equal(await balanceOf(hirer.owner), before - 10)
    await within.close()
  })
})

test('an open hub knows the payer by its name alone, and opens its account', async () => {
  const open = await runHub({ seed: 2, allowNet: ['127.0.0.1'] })
  const skill = newSkill()
  const agent = await runSmallAgent({
    hub: open.address,
    owner: 'them',
    token: '',
    skill,
    price: 0.05,
  })
  running.push(agent)
  const anybody = connect({ hub: open.address, owner: 'acme' })
  const { output, cost } = await anybody.hire(skill, INPUT, { budget: 0.1, deadline: '30s' })
  assert.deepEqual([output, cost], [{ words: 3 }, 0.05])
  const { body } = await open.get('/accounts/acme')
  assert.equal(body.balance, 99.95)
  await anybody.close()
  await open.stop()
})
