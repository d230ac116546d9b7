/**
 * An agent's own door for whoever looks after it: found by the hub, or said, and opened by the
 * agent's key alone.
 */
import { createHubClient, type HubAnswer } from '@chimera/agent/hub/client'
import { checker } from '@chimera/dialects/check'
import { schema } from '@chimera/dialects/chorus'
import { createChance } from '@chimera/host/chance'
import { createClock } from '@chimera/host/clock'
import type { Acting } from './acting.ts'
import { askHub, understand } from './ask.ts'
import { plain } from './show.ts'
import { Trouble } from './trouble.ts'

export type AgentDoor = {
  readonly address: string
  readonly get: (path: string) => Promise<unknown>
  readonly post: (path: string) => Promise<void>
  readonly close: () => Promise<void>
}

export async function openAgentDoor(
  { agent, key }: Acting,
  { hub, at }: { readonly hub: string; readonly at: string | undefined },
): Promise<AgentDoor> {
  const address = at ?? (await addressOf(agent, hub))
  // It speaks to whoever keeps to our error shape, which an agent does as a hub does.
  const client = createHubClient({
    hub: address,
    key,
    clock: createClock(),
    chance: createChance(),
    tries: 1,
  })
  const valueIn = (answer: HubAnswer): unknown => {
    if (answer.ok) return answer.body
    if (answer.kind === 'unanswered') {
      throw new Trouble([
        `No agent answers on ${address}.`,
        'Is it running? `chimera agent <file>` starts it; --at says where it is reached.',
      ])
    }
    throw new Trouble([
      plain(answer.sentence),
      ...(answer.refusal === 'caller_forbidden'
        ? ['That is another agent than the key is of.']
        : []),
    ])
  }
  return {
    address,
    get: async (path) => valueIn(await client.get(path)),
    post: async (path) => void valueIn(await client.post(path, {})),
    close: () => client.close(AbortSignal.abort()),
  }
}

async function addressOf(agent: string, hub: string): Promise<string> {
  const answer = await askHub(hub, `/agents/${agent}`)
  const { api_endpoint } = understand(answer, { check: checker(schema.AgentEntry), hub })
  if (api_endpoint === undefined) {
    throw new Trouble('The hub knows no address of this agent: say it with --at.')
  }
  return api_endpoint.replace(/\/jobs\/?$/, '')
}
