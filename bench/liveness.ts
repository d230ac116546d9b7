/** From an agent's first post at one hub until another hub finds it. */
import { subjectFor } from '@chimera/dialects/topics'
import type { Benchmark } from './frame.ts'
import { percentile } from './load/client.ts'
import { openWire, type Wire } from './load/wire.ts'
import { agentAt, registerAgents } from './stage/agents.ts'
import { connectBus } from './stage/bus.ts'
import { startCluster } from './stage/cluster.ts'
import { createEnds } from './stage/ends.ts'
import { startBenchHub } from './stage/hub.ts'
import { signPost } from './stage/posts.ts'

// The 99th percentile of a round is its third slowest.
const SAMPLES = 200
// Enough for every round to have agents that were never heard.
const AGENTS = 18 * SAMPLES
// Often enough to be exact, and not so often that the hub is kept busy with being asked.
const LOOK_MS = 1
const MOST_MS = 100
const PATIENCE_MS = 10_000

type Stage = {
  readonly near: Wire
  readonly far: Wire
  readonly publish: (bytes: Buffer) => void
}

const ends = createEnds()
let stage: Stage | undefined
let next = 0

async function open(): Promise<void> {
  const cluster = await startCluster(ends)
  // A hub that starts lists nobody who has not spoken since, so they register before.
  const first = await startBenchHub({ ...cluster.settings, bus: [] })
  await registerAgents(
    first.hub,
    Array.from({ length: AGENTS }, (_, at) => agentAt(at)),
  )
  await first.hub.settle()
  await first.stop()
  const [near, far] = [await cluster.startHub(), await cluster.startHub()]
  const bus = await connectBus(cluster.broker)
  ends.add(() => bus.close())
  stage = {
    near: openWire(near.port),
    far: openWire(far.port),
    publish: (bytes) => void bus.publish({ subject: subjectFor('presence', '*'), bytes }),
  }
  ends.add(stage.near.close)
  ends.add(stage.far.close)
}

/** By turns over HTTP to the near hub, and over the bus to whichever takes it. */
async function timeUntilFound({ near, far, publish }: Stage): Promise<number> {
  const agent = agentAt(next)
  next += 1
  const path = `/discover?skill=${agent.skill}`
  const isThere = async () => (await far.ask(path)).body.includes(agent.id)
  if (await isThere()) throw new Error('it was found before it was heard')
  const bytes = signPost(agent, Date.now())
  const start = performance.now()
  const posted = next % 2 === 0 ? near.ask('/moltbook/v1/presence', bytes) : publish(bytes)
  while (!(await isThere())) {
    if (performance.now() - start > PATIENCE_MS) throw new Error('it was never found')
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
  const tookMs = performance.now() - start
  const answer = await posted
  if (answer !== undefined && answer.status !== 204) throw new Error(answer.body)
  return tookMs
}

async function slowest(): Promise<number> {
  if (stage === undefined) throw new Error('not open')
  const tookMs = new Float64Array(SAMPLES)
  for (let at = 0; at < SAMPLES; at += 1) tookMs[at] = await timeUntilFound(stage)
  return percentile(tookMs, 0.99)
}

export const benchmark: Benchmark = {
  name: 'liveness',
  method:
    'Two hubs in processes of their own on one PostgreSQL with fsync on and one nats-server, ' +
    `with ${AGENTS} agents registered and silent. An agent's first presence post is sent, by ` +
    'turns over HTTP to one hub and over the bus, and GET /discover is asked of the other hub ' +
    `over one connection every ${LOOK_MS} ms until it finds the agent. The figure is the 99th ` +
    `percentile of ${SAMPLES} such waits, one after another.`,
  unit: 'ms',
  open: ends.orNothing(open),
  close: ends.close,
  ours: { name: 'p99 until found', read: slowest },
  peer: { name: 'what is asked for', figure: MOST_MS },
  target: { direction: 'at most', ratio: 1 },
}
