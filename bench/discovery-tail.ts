/** How much longer the slowest hundredth of searches takes with a hundred times as many agents. */
import type { Benchmark } from './frame.ts'
import { type Load, openLoad, percentile, requestText } from './load/client.ts'
import { COMMON, openTown, TOWN, type Town } from './load/town.ts'

const MANY = 100_000
const FEW = 1_000
const CONNECTIONS = 4
// Twenty of them are slower than the 99th percentile: few enough to be quick, enough to mean it.
const REQUESTS = 2_000
const PATHS = ['', '&min_reputation=52', '&max_cost=0.5', '&min_reputation=52&max_cost=0.5'].map(
  (bounds) => `/discover?skill=${COMMON}&limit=20${bounds}`,
)

type Side = { readonly town: Town; readonly load: Load }
const sides = new Map<number, Side>()

async function open(agents: number): Promise<void> {
  const town = await openTown({ agents })
  const requests = PATHS.map((path) => requestText('GET', path))
  const asked = { port: town.port, connections: CONNECTIONS, status: 200, requests }
  sides.set(agents, { town, load: await openLoad(asked) })
}

async function slowest(agents: number): Promise<number> {
  const side = sides.get(agents)
  if (side === undefined) throw new Error('not open')
  const { latenciesMs } = await side.load.run(REQUESTS)
  return percentile(latenciesMs, 0.99)
}

export const benchmark: Benchmark = {
  name: 'discovery-tail',
  method:
    `The 99th percentile of ${REQUESTS} GET /discover for 20 agents by a skill that all offer, ` +
    `with and without a least score and a highest cost, over ${CONNECTIONS} connections: with ` +
    `${MANY} agents and with ${FEW}, each hub in a thread with its own heap. ${TOWN}`,
  unit: 'ms',
  open: async () => {
    await open(MANY)
    await open(FEW)
  },
  close: async () => {
    for (const { load, town } of sides.values()) {
      await load.close()
      await town.close()
    }
  },
  ours: { name: `${MANY} agents`, read: () => slowest(MANY) },
  peer: { name: `${FEW} agents`, read: () => slowest(FEW) },
  target: { direction: 'at most', ratio: 1.5 },
}
