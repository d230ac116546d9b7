/**
 * One agent, two instances: one id and one key, slots of each, one memory of what was done. Work
 * goes to who has room, and whoever is asked again remembers what the other did.
 */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, createAgent, defineSkill, Type } from '@chimera/agent'
import { generateKeyPair } from '@chimera/identity/keys'
import { openAgentStore } from '@chimera/store/agents'
import { aside, openHub, say, title } from '../stage.ts'

const hub = await openHub()
title('Several instances of one agent')
const home = await mkdtemp(join(tmpdir(), 'chimera-instances-'))
const quiet = { hub: hub.address, signals: false, log: 'silent' } as const

// On several machines: CHIMERA_DATABASE=postgres://…, and each opens it for itself.
const store = await openAgentStore({ database: process.env.CHIMERA_DATABASE || ':memory:' })
let runs = 0
const wordCount = defineSkill({
  name: 'word_count',
  version: '1.0',
  price: 0.05,
  input: Type.Object({ text: Type.String() }),
  output: Type.Object({ words: Type.Integer() }),
  run: async ({ text }) => {
    runs += 1
    return { words: text.split(/\s+/).length }
  },
})

/** Copies of one agent share the directory with its id and key, and the store with its work. */
const start = async () => {
  const instance = createAgent({
    ...quiet,
    name: 'chimera-counter',
    owner: 'bolt',
    skills: [wordCount],
    slots: 2,
    directory: home,
    keep: store.keep,
    answers: store.answers,
  })
  await instance.start()
  return instance
}
const [first, second] = [await start(), await start()]
assert.equal(first.id(), second.id())
const listed = async () => {
  const { instances } = await hub.get(`/moltbook/v1/directory?agent_id=${first.id()}`)
  return instances as { instance_id: string; state: string }[]
}
assert.equal((await listed()).length, 2)
say(`${first.id()} runs twice, with two slots each`)

const job = JSON.stringify({
  job_id: crypto.randomUUID(),
  orchestrator_id: 'acme',
  skill_name: 'word_count',
  input_data: { text: 'asked at both doors' },
  budget: 0.05,
  currency: 'chorus_credits_v1',
})
const headers = { 'content-type': 'application/json' }
const outputs: unknown[] = []
for (const { address } of [first, second]) {
  const answer = await fetch(`${address()}/jobs`, { method: 'POST', headers, body: job })
  const { output_data } = (await answer.json()) as { output_data: unknown }
  outputs.push(output_data)
}
assert.deepEqual([outputs, runs], [[{ words: 4 }, { words: 4 }], 1])
say('one job, asked at both: two answers, one run')

const key = generateKeyPair()
const plan = defineSkill({
  name: 'plan',
  version: '1.0',
  input: Type.Object({}),
  output: Type.Object({}),
  run: async () => ({}),
})
const planner = createAgent({
  ...quiet,
  directory: false,
  key,
  name: 'chimera-planner',
  owner: 'acme',
  skills: [plan],
})
await planner.start()
const network = connect({ hub: hub.address, as: { agent: planner.id(), key } })

const terms = { budget: 0.05, deadline: '5m' } as const
const byInstance = new Map<string, number>()
for (let each = 1; each <= 4; each += 1) {
  const { instance, ask } = await network.reserve('word_count', terms)
  byInstance.set(instance, (byInstance.get(instance) ?? 0) + 1)
  if (each === 4)
    assert.deepEqual((await (await ask({ text: 'yes' })).result()).output, { words: 1 })
}
assert.deepEqual([...byInstance.values()], [2, 2])
say('four reservations: two at each, for who is full says so before it is asked')

await first.stop()
assert.equal((await listed()).length, 1)
const { output } = await network.hire('word_count', { text: 'one is left' }, terms)
assert.deepEqual(output, { words: 3 })
say('one said goodbye; the other goes on')
aside('what is reserved and not used gives its slot and its credits back in half a minute')

await network.close()
await planner.stop()
await second.stop()
await store.close()
await rm(home, { recursive: true, force: true })
await hub.stop()
