/** Slot and money in one handshake: promised together, used by the same task, or given back. */
import assert from 'node:assert/strict'
import { connect, createAgent, defineSkill, Type } from '@chimera/agent'
import { generateKeyPair } from '@chimera/identity/keys'
import { wordCount } from '../skills.ts'
import { aside, openHub, say, title } from '../stage.ts'

const hub = await openHub()
title('Reserve first, ask later')
const quiet = { hub: hub.address, directory: false, signals: false, log: 'silent' } as const

const counter = createAgent({
  ...quiet,
  name: 'chimera-counter',
  owner: 'bolt',
  skills: [wordCount],
  slots: 2,
})
await counter.start()

/** Only an agent reserves: the offer that it signs is its owner's mandate to hold the money. */
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
  key,
  name: 'chimera-planner',
  owner: 'acme',
  skills: [plan],
})
await planner.start()
const network = connect({ hub: hub.address, as: { agent: planner.id(), key } })

const balance = async () => Number((await hub.get('/accounts/acme')).balance)
const before = await balance()
const terms = { budget: 0.1, deadline: '5m' } as const
const used = await network.reserve('word_count', terms)
const spare = await network.reserve('word_count', terms)
say(`two slots are ours until ${new Date(used.lapsesAt).toISOString()}`)
aside(`and ${(before - (await balance())).toFixed(2)} credits are put aside`)

await assert.rejects(network.reserve('word_count', { ...terms, deadline: '2s' }))
say('a third is refused: it has two, and both are promised')

const job = await used.ask({ text: 'slots and money in one decision' })
const { output, cost } = await job.result()
assert.deepEqual([output, cost], [{ words: 6 }, 0.05])
await spare.release()
const spent = before - (await balance())
assert.equal(spent.toFixed(2), '0.05')
say(`one was used and cost ${cost}; the other was given back, with its money`)

await network.close()
await planner.stop()
await counter.stop()
await hub.stop()
