/** How long a hub takes to start with 100 000 agents behind it. */

import type { AgentId, OwnerId } from '@chimera/domain/ids'
import { register } from '@chimera/hub/act/agents'
import { ANYBODY } from '@chimera/hub/act/caller'
import type { Benchmark } from './frame.ts'
import { startBenchHub } from './stage/hub.ts'
import { type Server, startServer } from './stage/postgres.ts'

const AGENTS = 100_000
// "In seconds": whoever upgrades hubs one by one waits for each.
const MOST_SECONDS = 10

let server: Server | undefined
let database = ''

/** One is registered as anybody is; the others are copies of its row, with ids of their own. */
async function fill(filled: Server): Promise<void> {
  const first = await startBenchHub({ database })
  const outcome = await register(first.hub, ANYBODY, {
    type: 'register_agent',
    id: '550e8400-e29b-41d4-a716-446655440000' as AgentId,
    owner: 'many' as OwnerId,
    profile: {
      name: 'One of many',
      endpoint: 'https://agent.example.org/jobs',
      skills: ['summarize', 'translate', 'classify'].map((name, at) => ({
        name,
        version: { major: 1, minor: 0 },
        description: 'Does what its name says, in about a second',
        priceCents: 5 + at,
      })),
    },
  })
  if (!outcome.ok) throw new Error(`not registered: ${outcome.refusal}`)
  await first.stop()
  filled.run(
    'ours',
    `INSERT INTO agents (id, owner, agent)
     SELECT id, owner, (jsonb_set(agent::jsonb, '{id}', to_jsonb(id)))::json
     FROM (SELECT owner, agent, '550e8400-e29b-41d4-a716-' || lpad(n::text, 12, '0') AS id
           FROM agents, generate_series(1, ${AGENTS - 1}) n) AS many;
     ANALYZE agents`,
  )
}

export const benchmark: Benchmark = {
  name: 'start',
  method:
    `From nothing to an open door, on a PostgreSQL that holds ${AGENTS} agents with three skills ` +
    'each: the seconds until the hub has its directory and listens.',
  unit: 's',
  open: async () => {
    server = await startServer()
    database = server.create('ours')
    await fill(server)
  },
  close: async () => {
    await server?.stop()
  },
  ours: {
    name: `with ${AGENTS} agents`,
    async read() {
      const begun = performance.now()
      const hub = await startBenchHub({ database })
      const tookMs = performance.now() - begun
      if (hub.hub.directory.size() !== AGENTS) throw new Error('the directory is not whole')
      await hub.stop()
      return tookMs / 1_000
    },
  },
  peer: { name: 'at most', figure: MOST_SECONDS },
  target: { direction: 'at most', ratio: 1 },
}
