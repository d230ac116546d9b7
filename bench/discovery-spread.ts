/** Twenty hits among the 1 500 of 100 000 agents that offer a skill, against the same bytes. */
import type { Benchmark } from './frame.ts'
import { type Load, openLoad, requestText } from './load/client.ts'
import { openTown, SKILLS, samePath, skillNamed, TOWN, type Town } from './load/town.ts'

const AGENTS = 100_000
const CONNECTIONS = 16
const PATHS = Array.from(
  { length: SKILLS },
  (_, at) => `/discover?skill=${skillNamed(at)}&limit=20`,
)

let town: Town | undefined
let searching: Load | undefined
let repeating: Load | undefined

export const benchmark: Benchmark = {
  name: 'discovery-spread',
  method:
    `GET /discover for 20 of ${AGENTS} agents, by each of ${SKILLS} skills in turn, which some ` +
    `1 500 agents offer each. ${TOWN} ${CONNECTIONS} connections from a thread of their own. The ` +
    'peer is a route of the same server that sends the same bytes from memory.',
  open: async () => {
    town = await openTown({ agents: AGENTS, paths: PATHS })
    const asked = { port: town.port, connections: CONNECTIONS, status: 200 }
    const requests = PATHS.map((path) => requestText('GET', path))
    searching = await openLoad({ ...asked, requests })
    const same = PATHS.map((_, at) => requestText('GET', samePath(at)))
    repeating = await openLoad({ ...asked, requests: same })
  },
  close: async () => {
    await searching?.close()
    await repeating?.close()
    await town?.close()
  },
  ours: { name: 'discover', run: async (times) => void (await searching?.run(times)) },
  peer: { name: 'the same bytes', run: async (times) => void (await repeating?.run(times)) },
  target: { direction: 'at least', ratio: 0.5 },
}
