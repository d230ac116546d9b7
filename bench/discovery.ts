/** Twenty hits among 100 000 agents over HTTP, against the same bytes from memory. */

import type { Benchmark } from './frame.ts'
import { type Load, openLoad, requestText } from './load/client.ts'
import { COMMON, openTown, samePath, TOWN, type Town } from './load/town.ts'

const AGENTS = 100_000
const CONNECTIONS = 16
const PATHS = ['', '&min_reputation=52', '&max_cost=0.5', '&min_reputation=52&max_cost=0.5'].map(
  (bounds) => `/discover?skill=${COMMON}&limit=20${bounds}`,
)

let town: Town | undefined
let searching: Load | undefined
let repeating: Load | undefined

export const benchmark: Benchmark = {
  name: 'discovery',
  get method() {
    const measured =
      town === undefined
        ? ''
        : ` An agent takes ${Math.round(town.bytesPerAgent)} bytes of the heap.`
    return (
      `GET /discover for 20 of ${AGENTS} agents by a skill that all of them offer, the hardest ` +
      `case: plain, with a least score, with a highest cost, and with both. ${TOWN} ` +
      `${CONNECTIONS} connections from a thread of their own. The peer is a route of the same ` +
      `server that sends the same bytes from memory.${measured}`
    )
  },
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
