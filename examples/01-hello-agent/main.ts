/** Hello: a skill, an agent around it, and what the network knows of it a moment later. */
import assert from 'node:assert/strict'
import { createAgent, defineSkill, Type } from '@chimera/agent'
import { aside, openHub, say, title } from '../stage.ts'

const hub = await openHub()
title('An agent in twenty lines')

const greet = defineSkill({
  name: 'greet',
  version: '1.0',
  description: 'Greets somebody by name.',
  input: Type.Object({ name: Type.String({ minLength: 1, maxLength: 100 }) }),
  output: Type.Object({ greeting: Type.String() }),
  timeout: '5s',
  run: async ({ name }) => ({ greeting: `Hello, ${name}!` }),
})

const agent = createAgent({
  name: 'chimera-greeter',
  owner: 'bolt',
  hub: hub.address,
  skills: [greet],
  // For an example only: without these two it keeps its key in .chimera and stops on Ctrl-C.
  directory: false,
  signals: false,
  log: 'silent',
})
await agent.start()
say(`it is at ${agent.address()}, and calls itself ${agent.id()}`)

const found = await hub.get('/discover?skill=greet')
const [entry] = found.agents as { agent_id: string; why: string[] }[]
assert.equal(entry?.agent_id, agent.id())
say('the hub has found it, and says why it is where it is:')
for (const why of entry?.why ?? []) aside(why)

const asked = await fetch(`${agent.address()}/jobs`, {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({
    job_id: crypto.randomUUID(),
    orchestrator_id: 'anybody',
    skill_name: 'greet',
    input_data: { name: 'world' },
    budget: 0,
    currency: 'chorus_credits_v1',
  }),
})
const { status, output_data } = (await asked.json()) as Record<string, unknown>
assert.deepEqual([status, output_data], ['SUCCESS', { greeting: 'Hello, world!' }])
say(`asked by anybody who speaks HTTP: ${JSON.stringify(output_data)}`)

await agent.stop()
const after = await hub.get('/discover?skill=greet')
assert.deepEqual(after.agents, [])
say('it said goodbye, and nobody finds it any more')
await hub.stop()
