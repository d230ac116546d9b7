/** Work that takes its time, and tells how far it is while it goes on. */
import assert from 'node:assert/strict'
import { connect, createAgent } from '@chimera/agent'
import { readBook } from '../skills.ts'
import { aside, openHub, say, title } from '../stage.ts'

const hub = await openHub()
title('Progress while it works')

const agent = createAgent({
  name: 'chimera-reader',
  owner: 'bolt',
  hub: hub.address,
  skills: [readBook],
  directory: false,
  signals: false,
  log: 'silent',
})
await agent.start()

const network = connect({ hub: hub.address, owner: 'acme' })
const shares: number[] = []
const { output, cost, task } = await network.hire(
  'read_book',
  { chapters: 5 },
  {
    budget: 0.2,
    deadline: '30s',
    onProgress: (step) => {
      if (step.is !== 'progress') return aside(step.is)
      shares.push(step.share)
      say(`${'▓'.repeat(step.share * 20).padEnd(20, '░')} ${step.note ?? ''}`)
    },
  },
)
assert.deepEqual([output, cost], [{ pages: 60 }, 0.2])
assert.ok(shares.length > 0, 'something was heard on the way')
assert.ok(
  shares.every((share, at) => share > (shares[at - 1] ?? 0)),
  'and it only ever rose',
)
say(`read: ${JSON.stringify(output)} for ${cost} credits`)

// The same events, for whoever has only HTTP: server-sent, each with a number to resume from.
const stream = await fetch(`${agent.address()}/openclaw/v1/collaborations/${task}/events`, {
  headers: { 'last-event-id': '1' },
})
const events = (await stream.text()).matchAll(/^id: (\d+)\nevent: (\w+)$/gm)
const places = [...events].map(([, id, name]) => `${id} ${name}`)
assert.ok(places.at(-1)?.endsWith('result'))
assert.ok(!places.some((each) => each.startsWith('1 ')), 'what was seen is not sent again')
aside(`again from event 2 on, by curl or a browser: ${places.join(', ')}`)

await network.close()
await agent.stop()
await hub.stop()
