/** Hiring with one call: found, held, asked, done, paid. And again under the same key: nothing. */
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, createAgent } from '@chimera/agent'
import { wordCount } from '../skills.ts'
import { aside, openHub, say, title } from '../stage.ts'

const hub = await openHub()
title('One hire, end to end')

const agent = createAgent({
  name: 'chimera-counter',
  owner: 'bolt',
  hub: hub.address,
  skills: [wordCount],
  directory: false,
  signals: false,
  log: 'silent',
})
await agent.start()

const network = connect({ hub: hub.address, owner: 'acme' })
const [best] = await network.discover('word_count', { maxCost: 0.1 })
assert.equal(best?.id, agent.id())
say(`${best?.name} does it for ${(best?.skill.priceCents ?? 0) / 100}`)

const text = 'the quick brown fox jumps over the lazy dog'
const terms = { budget: 0.1, deadline: '30s', key: crypto.randomUUID() } as const
const { output, cost, task } = await network.hire('word_count', { text }, terms)
assert.deepEqual([output, cost], [{ words: 9 }, 0.05])
say(`${JSON.stringify(output)} for ${cost} credits`)
aside(`the work is known as ${task}, to both sides and to the hub`)

const again = await network.hire('word_count', { text }, terms)
assert.deepEqual([again.output, again.task], [output, task])
const { transactions } = await hub.get(`/audit?job_id=${task}`)
assert.equal((transactions as unknown[]).length, 1)
say('asked again under the same key: the same answer, and no second payment')

const work = await network.result(task)
assert.equal(work?.end, 'done')
const score = async () => Number((await hub.get(`/reputation/${agent.id()}`)).reputation_score)
for (let tries = 0; (await score()) === 50 && tries < 200; tries += 1) await sleep(25)
assert.equal(await score(), 51)
say('settled work between strangers moves a score: the counter has 51, and began with 50')

await network.close()
await agent.stop()
await hub.stop()
