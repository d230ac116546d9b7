/** A small network for the page to show: a real hub, and agents that really work for each other. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createAgent, defineSkill, type Network, Type } from '@chimera/agent'
import { type HubWanted, runHub, type TestHub } from '@chimera/hub/testing/running'
import { vi } from 'vitest'

const WAITED = { timeout: 30_000, interval: 20 }
const Text = Type.Object({ text: Type.String({ maxLength: 10_000 }) })

export const countWords = defineSkill({
  name: 'word_count',
  version: '1.0',
  description: 'Counts the words of a text.',
  price: 0.05,
  input: Text,
  output: Type.Object({ words: Type.Integer() }),
  timeout: '5s',
  run: async ({ text }) => ({ words: text.split(/\s+/).length }),
})

/** What nobody finishes reading. */
export const FOR_EVER = 'for ever'

export const shorten = defineSkill({
  name: 'summarise',
  version: '1.2',
  description: 'The first sentence of a text; fails on an empty one, and on “for ever” never ends.',
  price: 0.4,
  input: Text,
  output: Type.Object({ summary: Type.String() }),
  timeout: '60s',
  run: async ({ text }, { signal }) => {
    if (text === FOR_EVER) await once(signal, 'abort')
    const [summary = ''] = text.split('.')
    if (summary.trim() === '') throw new Error('there is nothing to summarise')
    return { summary }
  },
})

export type World = {
  readonly hub: TestHub
  readonly agents: ReadonlyMap<string, string>
  readonly network: (owner: string) => Network
  readonly stop: () => Promise<void>
}

type Citizen = {
  readonly name: string
  readonly owner: string
  readonly skills: readonly [
    typeof countWords | typeof shorten,
    ...(typeof countWords | typeof shorten)[],
  ]
}

/** Open, so that owners need no tokens. */
export async function openWorld(
  citizens: readonly Citizen[],
  wanted: HubWanted = {},
): Promise<World> {
  const hub = await runHub({ allowNet: ['127.0.0.1'], ...wanted })
  const agents = citizens.map(({ name, owner, skills }) =>
    createAgent({
      name,
      owner,
      hub: hub.address,
      skills: [...skills],
      directory: false,
      signals: false,
      log: 'silent',
    }),
  )
  await Promise.all(agents.map((agent) => agent.start()))
  // On a machine that is busy with other tests the first sign of life may be late.
  await vi.waitFor(async () => {
    const { body } = await hub.get('/v1/agents')
    const known = body.agents as readonly { readonly liveness: string }[]
    assert.ok(known.length === agents.length && known.every((each) => each.liveness === 'online'))
  }, WAITED)
  const networks = new Map<string, Network>()
  return {
    hub,
    agents: new Map(agents.map((agent, at) => [citizens[at]?.name ?? '', agent.id()])),
    network(owner) {
      const known = networks.get(owner) ?? connect({ hub: hub.address, owner })
      networks.set(owner, known)
      return known
    },
    async stop() {
      await Promise.all([...networks.values()].map((each) => each.close()))
      await Promise.all(agents.map((agent) => agent.stop()))
      await hub.stop()
    },
  }
}
