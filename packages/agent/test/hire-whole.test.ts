/**
 * Hiring agents of ours at a hub that asks for proof: what is told step by step, what is reserved,
 * what is lost on the way, and what it costs in the end.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { createSeededChance } from '@chimera/host/chance'
import { createClock } from '@chimera/host/clock'
import { type Asker, createAsker } from '@chimera/hub/testing/asking'
import { runHub, type TestHub } from '@chimera/hub/testing/running'
import { signMessage } from '@chimera/identity/message'
import { afterAll, beforeAll, describe, test } from 'vitest'
import type { AgentOptions } from '../src/create.ts'
import {
  connect,
  defineSkill,
  HireFailure,
  type HireStep,
  type HireTerms,
  type Network,
  Type,
} from '../src/index.ts'
import { freePort, runCuttingWay } from './cutting.ts'
import { createSlow, startAgent, until } from './serving.ts'
import { runSmallAgent } from './small-agent.ts'
import { runJobsAgent } from './small-jobs.ts'

let hub: TestHub
let ask: Asker
let hirer: { readonly owner: string; readonly token: string }
/** The same account by two ways: an owner with its token, and its agent with its key. */
let byOwner: Network
let byAgent: Network
const running: { readonly stop: () => Promise<unknown> }[] = []

beforeAll(async () => {
  hub = await runHub({ auth: 'required', allowNet: ['127.0.0.1'] })
  ask = createAsker(hub, createClock())
  hirer = await ask.newOwner()
  byOwner = connect({ hub: hub.address, ...hirer })
  const planner = await runSmallAgent({ hub: hub.address, ...hirer, skill: 'plan', price: 1 })
  running.push(planner)
  byAgent = connect({ hub: hub.address, as: { agent: planner.id, key: planner.key } })
  // The first promise of a hub that has just started may take longer than an ack's three seconds.
  const { skill } = counter()
  await serving([skill])
  await byAgent.hire(skill.name, INPUT, TERMS).catch(() => undefined)
})
afterAll(async () => {
  await byOwner?.close()
  await byAgent?.close()
  await Promise.all(running.map((each) => each.stop()))
  await hub.stop()
})

async function balanceOf(owner = hirer.owner): Promise<number> {
  const { body } = await ask.send(`/accounts/${owner}`, { token: ask.operator })
  return Math.round(Number(body.balance) * 100)
}

/** A skill of its own for each test, so that nobody else is found. */
function counter(price = 0.05, more: Partial<Parameters<typeof defineSkill>[0]> = {}) {
  let runs = 0
  const skill = defineSkill({
    name: `count_${randomUUID().slice(0, 8)}`,
    version: '1.0',
    price,
    input: Type.Object({ text: Type.String() }),
    output: Type.Object({ words: Type.Integer() }),
    timeout: '10s',
    ...(more as object),
    run: async ({ text }: { text: string }) => {
      runs += 1
      return { words: text.split(/\s+/).length }
    },
  })
  return { skill, runs: () => runs }
}

async function serving(skills: AgentOptions['skills'], more: Partial<AgentOptions> = {}) {
  const { owner, token } = await ask.newOwner()
  const agent = await startAgent({ hub: hub.address, owner, token, skills, ...more })
  running.push(agent)
  // Reservations are for those who have announced themselves.
  await until(async () => {
    const path = `/moltbook/v1/directory?agent_id=${agent.id()}`
    const { body } = await ask.send(path, { token: hirer.token })
    return (body.instances as { callback_url?: string }[]).some((each) => each.callback_url)
  })
  return { agent, owner }
}

/** An agent of ours that is reached by a way on which answers get lost. */
async function servingFarAway(skills: AgentOptions['skills']) {
  const way = await runCuttingWay()
  const port = await freePort()
  way.leadTo(port)
  running.push(way)
  return { way, ...(await serving(skills, { listen: { port }, publicUrl: way.address })) }
}

const INPUT = { text: 'one two three' }
/** nothing of the inside is shown. */
const SEEN = 'three of [path removed]'
const TERMS = { budget: 0.1, deadline: '20s' } as const

function telling(terms: HireTerms = TERMS) {
  const steps: HireStep[] = []
  return {
    steps,
    names: () => steps.map(({ is }) => is),
    terms: { ...terms, onProgress: (step: HireStep) => void steps.push(step) },
  }
}

describe('what is told', () => {
  test('to an owner, step by step; a listener that throws changes nothing', async () => {
    const { skill } = counter()
    const { agent } = await serving([skill])
    const { steps, names, terms } = telling()
    const loud = {
      ...terms,
      onProgress: (step: HireStep) => {
        terms.onProgress(step)
        throw new Error('nobody hears this')
      },
    }
    const { cost, task } = await byOwner.hire(skill.name, INPUT, loud)
    assert.equal(cost, 0.05)
    assert.deepEqual(names(), ['looking', 'found', 'asked', 'accepted', 'result', 'settled'])
    assert.ok(steps.every((each) => each.task === task))
    const found = steps.find((each) => each.is === 'found')
    assert.ok(found?.is === 'found')
    const [first] = found.candidates
    assert.deepEqual([first?.agent, first?.price, first?.reputation], [agent.id(), 0.05, 50])
    assert.ok((first?.why.length ?? 0) > 0, 'P-6')
  })

  test('of a job with an agent of one’s own choice, and by its key it is found again', async () => {
    const { skill } = counter()
    await serving([skill])
    const [found] = await byOwner.discover(skill.name)
    assert.ok(found)
    const key = randomUUID()
    const { names, terms } = telling({ ...TERMS, key })
    const job = await byOwner.ask(found, INPUT, terms)
    assert.equal(job.task, byOwner.taskOf(key))
    assert.equal((await job.result()).cost, 0.05)
    assert.deepEqual(names(), ['asked', 'accepted', 'result', 'settled'])
    assert.equal((await byOwner.result(byOwner.taskOf(key)))?.end, 'done')
    const cheap = await byOwner.ask(found, INPUT).catch((error) => error)
    assert.match(cheap.message, /budget: at least 0.05/)
  })

  test('P-7 X-5 progress while it runs, also behind a connection that broke', async () => {
    const goOn: (() => void)[] = []
    const skill = defineSkill({
      name: `steps_${randomUUID().slice(0, 8)}`,
      version: '1.0',
      price: 0.05,
      input: Type.Object({}),
      output: Type.Object({}),
      timeout: '20s',
      run: async (_, { progress }) => {
        for (const [share, note] of [
          [0.25, 'one'],
          [0.5, 'two'],
          [0.75, 'three of /home/agent/pages'],
        ] as const) {
          progress(share, note)
          await new Promise<void>((resolve) => goOn.push(resolve))
        }
        return {}
      },
    })
    const { way } = await servingFarAway([skill])
    way.lose(({ path }) => (path.endsWith('/events') ? 'after the first piece' : 'nothing'))
    const { steps, terms } = telling()
    const hire = byOwner.hire(skill.name, {}, terms)
    const heard = () => steps.flatMap((each) => (each.is === 'progress' ? [each.note] : []))
    for (const note of ['one', 'two', SEEN]) {
      await until(async () => heard().includes(note))
      goOn.shift()?.()
    }
    await hire
    assert.deepEqual(heard(), ['one', 'two', SEEN])
    const events = way.seen.filter(({ path }) => path.endsWith('/events'))
    assert.ok(events.length > 1 && events.slice(1).every(({ after }) => after !== undefined))
  })

  test('SK-5 that a version goes, and when', async () => {
    const declaredAt = Date.now() - 1_000
    const removedAt = Math.ceil((declaredAt + 40 * 86_400_000) / 1_000) * 1_000
    const { skill } = counter(0.05, { deprecation: { declaredAt, removedAt } })
    await serving([skill])
    const { steps, terms } = telling()
    const hired = await byOwner.hire(skill.name, INPUT, terms)
    assert.equal(hired.removedAt, removedAt)
    const told = steps.flatMap((each) => (each.is === 'deprecated' ? [each.removedAt] : []))
    assert.deepEqual(told, [removedAt])
  })
})

describe('AV-8 AV-9 slot and price are taken before the ask', () => {
  test('by an agent that hires; what it costs is paid once', async () => {
    const { skill, runs } = counter()
    const { owner } = await serving([skill])
    const [before, earned] = [await balanceOf(), await balanceOf(owner)]
    const { names, terms } = telling()
    await byAgent.hire(skill.name, INPUT, terms)
    const order = ['looking', 'found', 'reserving', 'reserved', 'asked', 'accepted']
    assert.deepEqual(names(), [...order, 'result', 'settled'])
    assert.deepEqual([await balanceOf(), await balanceOf(owner)], [before - 5, earned + 5])
    assert.equal(runs(), 1)
    const { names: plain, terms: without } = telling({ ...TERMS, reserve: false })
    await byAgent.hire(skill.name, INPUT, without)
    assert.ok(!plain().includes('reserving'))
  })

  test('free work too: a slot, and nothing held', async () => {
    const { skill } = counter(0)
    await serving([skill])
    const before = await balanceOf()
    const { names, terms } = telling({ deadline: '20s' })
    assert.equal((await byAgent.hire(skill.name, INPUT, terms)).cost, 0)
    assert.ok(names().includes('reserved'))
    assert.equal(await balanceOf(), before)
  })

  test('an ack that is lost: what it took is given back, and the next one does it', async () => {
    const { skill, runs } = counter()
    const { way, agent } = await servingFarAway([skill])
    way.lose(({ path }) => (path.endsWith('/reserve') ? 'all' : 'nothing'))
    const other = await serving([{ ...skill, priceCents: 6 }])
    const before = await balanceOf()
    const hires = [
      await byAgent.hire(skill.name, INPUT, TERMS),
      await byAgent.hire(skill.name, INPUT, TERMS),
    ]
    // A newcomer's turn may put either first.
    for (const { agent: id } of hires) assert.equal(id, other.agent.id())
    const declined = hires.flatMap((each) => each.declined)
    assert.ok(declined.length > 0)
    for (const each of declined) assert.deepEqual([each.agent, each.how], [agent.id(), 'silent'])
    assert.equal(await balanceOf(), before - 12)
    assert.equal(runs(), 2)
  })
})

describe('P-3 answers that are lost', () => {
  for (const [who, network] of [
    ['an owner', () => byOwner],
    ['an agent', () => byAgent],
  ] as const) {
    test(`${who}: accepted, and never heard; it is found, run once and paid once`, async () => {
      const { skill, runs } = counter()
      const { way, owner } = await servingFarAway([skill])
      way.lose(({ method, path }) =>
        method === 'POST' && path.endsWith('/collaborations') ? 'all' : 'nothing',
      )
      const [before, earned] = [await balanceOf(), await balanceOf(owner)]
      const { names, terms } = telling()
      const { output } = await network().hire(skill.name, INPUT, terms)
      assert.deepEqual(output, { words: 3 })
      assert.equal(runs(), 1)
      assert.deepEqual([await balanceOf(), await balanceOf(owner)], [before - 5, earned + 5])
      assert.ok(names().includes('unknown'))
    })
  }

  test('free work, whose every answer is lost but the last: asked again, run once', async () => {
    const { skill, runs } = counter(0)
    const { way } = await servingFarAway([skill])
    let lost = 0
    way.lose(({ method, path }) => {
      if (method !== 'POST' || !path.endsWith('/collaborations') || lost >= 2) return 'nothing'
      lost += 1
      return 'all'
    })
    assert.deepEqual((await byOwner.hire(skill.name, INPUT, { deadline: '20s' })).output, {
      words: 3,
    })
    assert.equal(runs(), 1)
  })
})

const LOSSY = [
  ['an owner, of agent and hub', true],
  ['an agent, of the agent, its acks too', false],
] as const
test.each(LOSSY)(
  'P-3 CH-5 a fifth of all answers is lost to %s: run and paid once',
  async (_, isOwner) => {
    const { skill, runs } = counter()
    const { way, owner } = await servingFarAway([skill])
    const toHub = await runCuttingWay()
    running.push(toHub)
    toHub.leadTo(Number(new URL(hub.address).port))
    const { fraction } = createSeededChance(20)
    const lossy = () => (fraction() < 0.2 ? 'all' : 'nothing')
    for (const each of [way, toHub]) each.lose(lossy)
    const network = isOwner ? connect({ hub: toHub.address, ...hirer }) : byAgent
    const [before, earned] = [await balanceOf(), await balanceOf(owner)]

    async function untilKnown(key: string): Promise<unknown> {
      for (let tried = 0; tried < 20; tried += 1) {
        try {
          return (await network.hire(skill.name, INPUT, { ...TERMS, key })).output
        } catch (error) {
          const again = ['outcome_unknown', 'hub_unanswered', 'nobody_accepted', 'nobody_found']
          assert.ok(error instanceof HireFailure && again.includes(error.code), String(error))
        }
      }
      return assert.fail('it never came to be known')
    }
    const keys = Array.from({ length: 8 }, () => randomUUID())
    const outputs = await Promise.all(keys.map(untilKnown))
    assert.deepEqual(
      outputs,
      keys.map(() => ({ words: 3 })),
    )
    assert.equal(runs(), 8)
    for (const each of [way, toHub]) each.lose(() => 'nothing')
    await Promise.all(keys.map((key) => network.settle(network.taskOf(key))))
    assert.deepEqual([await balanceOf(), await balanceOf(owner)], [before - 40, earned + 40])
    if (isOwner) await network.close()
  },
)

describe('free work at a hub that asks for proof', () => {
  test('CH-15 an owner vouches for it by a hold of nothing, which ends with the work', async () => {
    const slow = createSlow()
    const skill = { ...slow.skill, name: `echo_${randomUUID().slice(0, 8)}` }
    await serving([{ ...skill, id: `${skill.name}@v1.0` }])
    const before = await balanceOf()
    const { steps, terms } = telling({ deadline: '20s' })
    const hire = byOwner.hire(skill.name, { text: 'x' }, terms)
    await until(async () => steps.some(({ is }) => is === 'progress'))
    const path = `/v1/work/${String(steps[0]?.task)}`
    const during = await ask.send(path, { token: hirer.token })
    assert.deepEqual([during.body.state, during.body.price], ['accepted', 0])
    await slow.letGo()
    assert.deepEqual((await hire).output, { text: 'x' })
    await until(async () => (await ask.send(path, { token: hirer.token })).body.state === 'settled')
    assert.equal(await balanceOf(), before)
  })

  test('OC-18 given up by its signal, the skill is stopped', async () => {
    const slow = createSlow()
    const skill = { ...slow.skill, name: `echo_${randomUUID().slice(0, 8)}` }
    await serving([{ ...skill, id: `${skill.name}@v1.0` }])
    const stop = new AbortController()
    const { steps, terms } = telling({ deadline: '20s', signal: stop.signal })
    const hire = byOwner.hire(skill.name, { text: 'stop me' }, terms).catch((error) => error)
    await until(async () => steps.some(({ is }) => is === 'progress'))
    stop.abort()
    const error = await hire
    assert.ok(error instanceof HireFailure && error.code === 'given_up', String(error))
    await until(async () => slow.stopped.includes('stop me'))
  })

  test('the same key finds the same end: what was given up stays so, at no cost', async () => {
    const slow = createSlow()
    const name = `echo_${randomUUID().slice(0, 8)}`
    await serving([{ ...slow.skill, name, id: `${name}@v1.0`, priceCents: 5 }])
    const before = await balanceOf()
    const stop = new AbortController()
    const key = randomUUID()
    const { steps, terms } = telling({ ...TERMS, key, signal: stop.signal })
    const hire = byOwner.hire(name, { text: 'x' }, terms).catch((error) => error)
    await until(async () => steps.some(({ is }) => is === 'progress'))
    stop.abort()
    assert.equal((await hire).code, 'given_up')
    const again = await byOwner.hire(name, { text: 'x' }, { ...TERMS, key }).catch((error) => error)
    assert.equal(again.code, 'work_cancelled')
    assert.equal(await balanceOf(), before)
  })
})

describe('OC-18 called off at the hub, by whoever pays', () => {
  const cancel = (task: string, token: string) =>
    ask.send(`/v1/work/${task}/cancel`, { body: {}, token })

  async function begun(by: Network) {
    const slow = createSlow()
    const name = `echo_${randomUUID().slice(0, 8)}`
    await serving([{ ...slow.skill, name, id: `${name}@v1.0`, priceCents: 5 }])
    const before = await balanceOf()
    const { steps, terms } = telling()
    const hire = by.hire(name, { text: 'stop me' }, terms).catch((error) => error)
    await until(async () => steps.some(({ is }) => is === 'progress'))
    return { slow, before, hire, task: String(steps[0]?.task) }
  }

  for (const [who, by] of [
    ['an owner', () => byOwner],
    ['its agent, by its key', () => byAgent],
  ] as const) {
    test(`hired by ${who}: the skill is stopped and nothing is paid`, async () => {
      const { slow, before, hire, task } = await begun(by())
      const { status } = await cancel(task, hirer.token)
      assert.equal(status, 202)
      assert.equal((await hire).code, 'work_cancelled')
      assert.deepEqual(slow.stopped, ['stop me'])
      const found = async () => (await ask.send(`/v1/work/${task}`, { token: hirer.token })).body
      await until(async () => (await found()).state === 'settled')
      const { ended } = (await found()) as { ended?: { how: string } }
      assert.equal(ended?.how, 'cancelled')
      assert.equal(await balanceOf(), before)
      const again = await cancel(task, hirer.token)
      assert.deepEqual([again.status, again.body.code], [409, 'work_ended'])
    })
  }
})

describe('CH-4 agents that know jobs and nothing else', () => {
  async function newJobs(price: number) {
    const { owner, token } = await ask.newOwner()
    const skill = `job_${randomUUID().slice(0, 8)}`
    const agent = await runJobsAgent({ hub: hub.address, owner, token, skill, price })
    running.push(agent)
    return { agent, skill, owner }
  }

  test('are hired by a job, and paid by the hirer', async () => {
    const { agent, skill, owner } = await newJobs(0.05)
    const [before, earned] = [await balanceOf(), await balanceOf(owner)]
    const { names, terms } = telling()
    const { output, cost } = await byOwner.hire(skill, INPUT, terms)
    assert.deepEqual([output, cost], [{ words: 3 }, 0.05])
    assert.deepEqual([await balanceOf(), await balanceOf(owner)], [before - 5, earned + 5])
    assert.deepEqual(names(), ['looking', 'found', 'asked', 'result', 'settled'])
    assert.equal(agent.executions(), 1)
  })

  test('CH-5 a result that is lost is asked for by the same job: run and paid once', async () => {
    const { agent, skill, owner } = await newJobs(0.05)
    const [before, earned] = [await balanceOf(), await balanceOf(owner)]
    agent.loseNext(2)
    const key = randomUUID()
    assert.deepEqual((await byOwner.hire(skill, INPUT, { ...TERMS, key })).output, { words: 3 })
    assert.equal(agent.executions(), 1)
    // The same hire again finds it paid.
    assert.equal((await byOwner.hire(skill, INPUT, { ...TERMS, key })).cost, 0.05)
    assert.equal(agent.executions(), 1)
    assert.deepEqual([await balanceOf(), await balanceOf(owner)], [before - 5, earned + 5])
  })

  test('that refuse are passed over, and nothing stays held', async () => {
    const { agent, skill } = await newJobs(0.05)
    agent.refuse(true)
    const before = await balanceOf()
    const error = await byOwner.hire(skill, INPUT, TERMS).catch((thrown) => thrown)
    assert.ok(error instanceof HireFailure && error.code === 'nobody_accepted', String(error))
    assert.equal(await balanceOf(), before)
  })
})

describe('AV-7 chosen from a directory of one’s own', () => {
  test('what the hub never listed; of the budget comes back what it does not cost', async () => {
    const { owner, token } = await ask.newOwner()
    const listed = { hub: hub.address, owner, token, skill: 'listed_otherwise', price: 0.05 }
    const agent = await runSmallAgent(listed)
    running.push(agent)
    const skill = `heard_${randomUUID().slice(0, 8)}`
    const directory = byOwner.directory()
    const said = {
      agent_id: agent.id,
      instance_id: randomUUID(),
      state: 'available',
      capabilities: [skill],
      trace_id: randomUUID(),
      signed_at: new Date().toISOString(),
      expires_at: new Date(Date.now() + 30_000).toISOString(),
    }
    const capacity = { slots_total: 2, slots_free: 2 }
    const presence = { ...said, capacity, load: { cpu: 0.1, mem: 0.1 } }
    const callback = `${agent.address}/moltbook/v1/reserve`
    const declared = { ...said, callback_url: callback, public_key: agent.key.publicKey }
    for (const each of [presence, declared]) {
      assert.equal(await directory.hear(signMessage(each, agent.key)), 'verified')
    }
    assert.equal((await byOwner.discover(skill)).length, 0)
    const before = await balanceOf()
    const { steps, terms } = telling({ ...TERMS, directory })
    const hired = await byOwner.hire(skill, INPUT, terms)
    directory.close()
    assert.deepEqual([hired.output, hired.cost], [{ words: 3 }, 0.05])
    assert.equal(await balanceOf(), before - 5)
    const found = steps.find((each) => each.is === 'found')
    assert.ok(found?.is === 'found' && found.candidates[0]?.agent === agent.id)
  })
})
