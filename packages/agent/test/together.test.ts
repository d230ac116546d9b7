/** Both sides as an author writes them: an agent with one skill, and whoever hires it. */
import assert from 'node:assert/strict'
import { runHub, type TestHub } from '@chimera/hub/testing/running'
import { afterAll, beforeAll, test } from 'vitest'
import { type Agent, connect, createAgent, defineSkill, Type } from '../src/index.ts'
import { runSmallAgent, type SmallAgent } from './small-agent.ts'

let hub: TestHub
let agent: Agent
let planner: SmallAgent
let runs = 0

const wordCount = defineSkill({
  name: 'word_count',
  version: '1.0',
  price: 0.05,
  input: Type.Object({ text: Type.String({ maxLength: 100_000 }) }),
  output: Type.Object({ words: Type.Integer() }),
  timeout: '5s',
  run: async ({ text }) => {
    runs += 1
    return { words: text.split(/\s+/).length }
  },
})
const TERMS = { budget: 0.1, deadline: '30s' } as const

beforeAll(async () => {
  hub = await runHub({ allowNet: ['127.0.0.1'] })
  const more = { directory: false, signals: false, log: 'silent' } as const
  const named = { name: 'chimera-counter', owner: 'acme', hub: hub.address }
  agent = createAgent({ ...named, skills: [wordCount], ...more })
  await agent.start()
  const planning = { owner: 'planners', token: '', skill: 'plan', price: 0.05 }
  planner = await runSmallAgent({ hub: hub.address, ...planning })
})
afterAll(async () => {
  await agent?.stop()
  await planner?.stop()
  await hub.stop()
})

test('hired by its own owner, as the first example has it', async () => {
  const network = connect({ hub: hub.address, owner: 'acme' })
  const { output, cost } = await network.hire('word_count', { text: 'one two' }, TERMS)
  assert.deepEqual([output, cost], [{ words: 2 }, 0.05])
  await network.close()
})

test('hired by somebody else, twice under one key: one run, one payment, one receipt', async () => {
  const network = connect({ hub: hub.address, owner: 'umbrella' })
  const before = runs
  const terms = { ...TERMS, key: 'the same' }
  const first = await network.hire('word_count', { text: 'one two three' }, terms)
  const again = await network.hire('word_count', { text: 'one two three' }, terms)
  assert.deepEqual([first.output, again.output], [{ words: 3 }, { words: 3 }])
  assert.equal(runs, before + 1)
  assert.ok(first.receipt)
  const { body } = await hub.get('/accounts/umbrella')
  assert.equal(body.balance, 99.95)
  await network.close()
})

test('an input that does not fit is refused with a reason, and costs nothing', async () => {
  const network = connect({ hub: hub.address, owner: 'hooli' })
  await assert.rejects(network.hire('word_count', { text: 7 }, TERMS), {
    code: 'nobody_accepted',
    declined: [
      {
        agent: agent.id(),
        name: 'chimera-counter',
        how: 'refused',
        code: 'input_invalid',
        sentence: 'The input does not match the schema of the skill. Each issue names the field.',
      },
    ],
  })
  const { body } = await hub.get('/accounts/hooli')
  assert.equal(body.balance, 100)
  await network.close()
})

test('AV-8: reserved by an agent, then asked for and paid', async () => {
  const as = { agent: planner.id, key: planner.key }
  const network = connect({ hub: hub.address, as })
  const reserved = await network.reserve('word_count', { ...TERMS, deadline: '5m' })
  assert.equal(reserved.agent, agent.id())
  const job = await reserved.ask({ text: 'one two three four' })
  const { output, cost } = await job.result()
  assert.deepEqual([output, cost], [{ words: 4 }, 0.05])
  await network.close()
})
