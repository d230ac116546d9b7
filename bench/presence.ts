/** Signed posts over the bus, verified, indexed and stored, against the bare signature check. */
import { verify } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startNats } from '@chimera/bus/testing/nats-server'
import { readVerifyingKey } from '@chimera/identity/keys'
import { takeApart } from '@chimera/identity/message'
import type { Database } from '@chimera/store/engine/database'
import { openDatabase } from '@chimera/store/engine/open'
// @ts-expect-error: the package ships no types.
import sodium from 'sodium-native'
import type { Benchmark } from './frame.ts'
import { openPosters, type Posters } from './load/posters.ts'
import { agentAt, registerAgents } from './stage/agents.ts'
import { createEnds } from './stage/ends.ts'
import { type BenchHub, startBenchHub } from './stage/hub.ts'
import { startServer } from './stage/postgres.ts'
import { signPost } from './stage/posts.ts'

const AGENTS = 2_000
// Together a second or two of work.
const POSTS_EACH = 10
const POSTS = AGENTS * POSTS_EACH
// A third of a second of posts is under way, a tenth of what a hub lets wait.
const WINDOW = 5_000
// The publisher hears of what was taken in so many at a time.
const TELL_EVERY = 1_000
const POLL_MS = 5
const PATIENCE_MS = 60_000
const VERIFICATIONS = 5_000

type Stage = {
  readonly running: BenchHub
  readonly database: Database
  readonly posters: Posters
}

const ends = createEnds()
let stage: Stage | undefined

async function open(): Promise<void> {
  const server = await startServer()
  ends.add(server.stop)
  const broker = await startNats()
  ends.add(broker.stop)
  const home = mkdtempSync(join(tmpdir(), 'chimera-bench-'))
  ends.add(() => rmSync(home, { recursive: true, force: true }))
  const address = server.create('ours')
  const running = await startBenchHub({
    auth: 'required',
    keyFile: join(home, 'hub.json'),
    database: address,
    bus: [broker.address],
  })
  ends.add(running.stop)
  const agents = Array.from({ length: AGENTS }, (_, at) => agentAt(at))
  await registerAgents(running.hub, agents)
  await running.hub.settle()
  server.run('ours', 'VACUUM ANALYZE')
  const database = await openDatabase(address, { connections: 1 })
  ends.add(() => database.close())
  const wanted = { broker: broker.address, agents: AGENTS, window: WINDOW }
  const posters = await openPosters(wanted)
  ends.add(posters.close)
  stage = { running, database, posters }
}

function here(): Stage {
  if (stage === undefined) throw new Error('not open')
  return stage
}

/** Of the posts that were received since, those that were believed and committed. */
async function storedSince(at: number): Promise<number> {
  const [row] = await here().database.query<{ stored: number }>(
    `SELECT count(*) AS stored FROM presence_events
     WHERE received_at >= $1 AND verification = 'verified'`,
    [at],
  )
  return row?.stored ?? 0
}

async function postAll(): Promise<number> {
  const { running, posters } = here()
  const { hub } = running
  await posters.sign(POSTS_EACH, Date.now())
  let heard = 0
  let whenAll = (): void => undefined
  const all = new Promise<void>((resolve) => {
    whenAll = resolve
  })
  const leave = hub.heard.subscribe('presence', () => {
    heard += 1
    if (heard % TELL_EVERY === 0) posters.taken(TELL_EVERY)
    if (heard === POSTS) whenAll()
  })
  const beganAt = Date.now()
  const start = performance.now()
  posters.publish()
  await Promise.race([all, patience()])
  leave()
  let stored = heard === POSTS ? await storedSince(beganAt) : 0
  while (stored < POSTS && performance.now() - start < PATIENCE_MS) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    stored = await storedSince(beganAt)
  }
  const seconds = (performance.now() - start) / 1_000
  const indexed = [...hub.presence.instances()].filter(({ seen }) => seen.seenAt >= beganAt).length
  if (stored !== POSTS || indexed !== AGENTS) {
    const refused = (await running.metrics.text()).match(/^.*bus_messages_refused_total\{.*$/gm)
    throw new Error(
      `${heard} heard, ${stored} stored, ${indexed} indexed; refused: ${refused?.join()}`,
    )
  }
  return POSTS / seconds
}

function patience(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, PATIENCE_MS).unref()
  })
}

const agent = agentAt(0)
const bytes = signPost(agent, Date.UTC(2026, 1, 6, 16))
const apart = takeApart(JSON.parse(bytes.toString()))
const key = readVerifyingKey(agent.key.publicKey)
if (!apart.ok || key === undefined) throw new Error('the post cannot be taken apart')
const { bytes: signed, signature } = apart

const VERIFIERS: Readonly<Record<string, () => boolean>> = {
  'sodium-native': () => sodium.crypto_sign_verify_detached(signature, signed, key.bytes),
  'node:crypto': () => verify(null, signed, key.object, signature),
}

/** The rate of the fastest, each for itself in this thread. */
function verifyBare(): number {
  const rates = Object.values(VERIFIERS).map((isGood) => {
    const start = performance.now()
    for (let at = 0; at < VERIFICATIONS; at += 1) {
      if (!isGood()) throw new Error('the signature was refused')
    }
    return VERIFICATIONS / ((performance.now() - start) / 1_000)
  })
  return Math.max(...rates)
}

export const benchmark: Benchmark = {
  name: 'presence',
  method:
    `${AGENTS} agents with keys post presence (${bytes.length} bytes each, signed beforehand) ` +
    'through a nats-server from a thread of their own to one hub on PostgreSQL with fsync on, ' +
    `${POSTS} posts a round. The clock runs from the first that is published until all are ` +
    'verified, in the directory and committed; a post that is refused or lost ends the run. The ' +
    'peer checks one signature over the canonical bytes again and again, in one thread, alone ' +
    `on the machine, with the faster of ${Object.keys(VERIFIERS).join(' and ')}.`,
  open: ends.orNothing(open),
  close: ends.close,
  ours: { name: 'posts', read: postAll },
  peer: { name: 'bare verification', read: verifyBare },
  target: { direction: 'at least', ratio: 0.6 },
}
