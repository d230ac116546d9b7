/** Hiring from inside a skill (P-9): three agents in a chain, with the books in PostgreSQL. */
import assert from 'node:assert/strict'
import { createClock } from '@chimera/host/clock'
import { type Asker, createAsker } from '@chimera/hub/testing/asking'
import { runHub, type TestHub } from '@chimera/hub/testing/running'
import { type PostgresServer, startPostgres } from '@chimera/store/testing/postgres-server'
import { afterAll, beforeAll, describe, test } from 'vitest'
import type { Agent } from '../src/create.ts'
import {
  connect,
  defineSkill,
  HireFailure,
  type HireStep,
  type Network,
  Type,
} from '../src/index.ts'
import { startAgent, until } from './serving.ts'

let postgres: PostgresServer
let hub: TestHub
let ask: Asker
let hirer: { readonly owner: string; readonly token: string }
let network: Network
const owners = new Map<string, string>()
const running: Agent[] = []
let counted = 0
const stopped: string[] = []

const text = Type.Object({ text: Type.String() })
const words = Type.Object({ words: Type.Integer(), cost: Type.Number() })

/** The last of the chain does the work itself. */
const count = defineSkill({
  name: 'count',
  version: '1.0',
  price: 0.02,
  input: text,
  output: Type.Object({ words: Type.Integer() }),
  timeout: '20s',
  run: async ({ text: all }, { signal }) => {
    counted += 1
    if (all === 'never') {
      await new Promise((_, reject) =>
        signal.addEventListener('abort', () => {
          stopped.push('count')
          reject(signal.reason)
        }),
      )
    }
    return { words: all.split(/\s+/).length }
  },
})

/** Hires the last one, line by line and all at once. */
const lines = defineSkill({
  name: 'lines',
  version: '1.0',
  price: 0.06,
  input: text,
  output: words,
  timeout: '20s',
  run: async ({ text: all }, { hire }) => {
    const parts = all.split('\n').map((line) => hire('count', { text: line }, { budget: 0.02 }))
    const ended = await Promise.allSettled(parts)
    const done = ended.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
    for (const each of ended) {
      if (each.status === 'rejected') refusals.push(each.reason)
      if (each.status === 'rejected' && all === 'never') throw each.reason
    }
    const total = done.reduce((sum, { output }) => sum + Number(output.words), 0)
    return { words: total, cost: Math.round(done.reduce((sum, { cost }) => sum + cost * 100, 0)) }
  },
})
const refusals: unknown[] = []

/** The first of the chain only passes on. */
const report = defineSkill({
  name: 'report',
  version: '1.0',
  price: 0.1,
  input: text,
  output: words,
  timeout: '20s',
  run: async ({ text: all }, { hire }) => {
    const { output, cost } = await hire('lines', { text: all }, { budget: 0.08 })
    return { words: Number(output.words), cost: Math.round(cost * 100) }
  },
})

/** Hires somebody and does not wait for it. */
const careless = defineSkill({
  name: 'careless',
  version: '1.0',
  price: 0.06,
  input: text,
  output: Type.Object({}),
  timeout: '20s',
  run: async ({ text: all }, { hire }) => {
    const before = counted
    hire('count', { text: all }, { budget: 0.02 }).catch(() => undefined)
    await until(async () => counted > before)
    return {}
  },
})

/** Free work has nothing to hire from. */
const gift = defineSkill({
  name: 'gift',
  version: '1.0',
  input: Type.Object({ budget: Type.Number() }),
  output: Type.Object({ said: Type.String() }),
  run: async ({ budget }, { hire }) => {
    const said = await hire('count', { text: 'one' }, { budget }).catch(({ detail }) => detail)
    return { said: String(said) }
  },
})

beforeAll(async () => {
  postgres = await startPostgres()
  const database = await postgres.newAddress()
  hub = await runHub({ auth: 'required', allowNet: ['127.0.0.1'], database })
  ask = createAsker(hub, createClock())
  hirer = await ask.newOwner()
  await ask.send('/accounts', { token: hirer.token, body: { owner_id: hirer.owner } })
  network = connect({ hub: hub.address, ...hirer })
  for (const skill of [count, lines, report, gift, careless]) {
    const { owner, token } = await ask.newOwner()
    owners.set(skill.name, owner)
    const agent = await startAgent({ hub: hub.address, owner, token, skills: [skill] })
    running.push(agent)
  }
})
afterAll(async () => {
  await network?.close()
  await Promise.all(running.map((each) => each.stop()))
  await hub.stop()
  await postgres.stop()
})

async function balances(): Promise<Record<string, number>> {
  const all: Record<string, number> = {}
  for (const [name, owner] of [['hirer', hirer.owner] as const, ...owners]) {
    const { body } = await ask.send(`/accounts/${owner}`, { token: ask.operator })
    all[name] = Math.round(Number(body.balance) * 100)
  }
  return all
}

async function moved(run: () => Promise<unknown>): Promise<Record<string, number>> {
  const before = await balances()
  await run()
  const after = await balances()
  return Object.fromEntries(
    Object.entries(after).map(([name, n]) => [name, n - (before[name] ?? 0)]),
  )
}

const TERMS = { budget: 0.2, deadline: '20s' } as const

describe('P-9 a chain of hires', () => {
  test('costs its first payer the price, and each link keeps what it did not pay on', async () => {
    const steps: HireStep[] = []
    const books = await moved(async () => {
      const onProgress = (step: HireStep) => steps.push(step)
      const hired = await network.hire('report', { text: 'a b\nc d e' }, { ...TERMS, onProgress })
      assert.deepEqual(hired.output, { words: 5, cost: 6 })
      assert.equal(hired.cost, 0.1)
    })
    assert.deepEqual(books, { hirer: -10, report: 4, lines: 2, count: 4, gift: 0, careless: 0 })
    const [first] = steps
    const told = await ask.send(`/v1/work/${String(first?.task)}`, { token: hirer.token })
    assert.equal(told.body.state, 'settled')
  })

  test('never spends more than the parent has, however many are hired at once', async () => {
    refusals.length = 0
    const before = counted
    const books = await moved(async () => {
      const { output } = await network.hire('lines', { text: 'a\nb\nc\nd\ne\nf' }, TERMS)
      assert.deepEqual(output, { words: 3, cost: 6 })
    })
    assert.deepEqual(books, { hirer: -6, report: 0, lines: 0, count: 6, gift: 0, careless: 0 })
    assert.equal(counted - before, 3)
    const codes = refusals.map((each) => (each instanceof HireFailure ? each.refusal : each))
    assert.deepEqual(codes, ['hold_exceeded', 'hold_exceeded', 'hold_exceeded'])
  })

  test('that is given up at its head stops at its end, and everything goes back', async () => {
    const stop = new AbortController()
    const books = await moved(async () => {
      const terms = { ...TERMS, signal: stop.signal }
      const hire = network.hire('report', { text: 'never' }, terms).catch((error: unknown) => error)
      const before = counted
      await until(async () => counted > before)
      stop.abort()
      const error = await hire
      assert.ok(error instanceof HireFailure && error.code === 'given_up', String(error))
      await until(async () => stopped.includes('count'))
      // Each link gives back by itself.
      await until(async () => (await balances()).hirer === 10_000 - 16)
    })
    assert.deepEqual(books, { hirer: 0, report: 0, lines: 0, count: 0, gift: 0, careless: 0 })
  })

  test('a part that nobody awaits ends with the whole, and is not paid', async () => {
    stopped.length = 0
    const books = await moved(async () => {
      await network.hire('careless', { text: 'never' }, TERMS)
      await until(async () => stopped.includes('count'))
      await until(async () => {
        const { body } = await ask.send('/v1/holds', { token: hirer.token })
        const holds = body.holds as { state: string }[]
        return holds.every(({ state }) => state !== 'placed' && state !== 'confirmed')
      })
    })
    // What the part did not cost goes back to whoever paid for the whole.
    assert.equal(books.count, 0)
    assert.equal(Number(books.hirer) + Number(books.careless), 0)
  })

  test('work that is not paid hires nobody who is', async () => {
    const { output } = await network.hire('gift', { budget: 0.02 }, { deadline: '20s' })
    assert.match(String(output.said), /not paid/)
  })

  test('one that nobody handed a network says so', async () => {
    const { createRunner } = await import('@chimera/skill/runner')
    const alone = createRunner({ skills: [report] })
    const outcome = await alone.run(report, { text: 'x' })
    assert.equal(outcome.ok, false)
    await alone.close()
  })
})
