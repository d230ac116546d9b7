/** What reaches the followers of the live feed for a second of a core, against a bare loop. */
import { ANYBODY } from '@chimera/hub/act/caller'
import { transfer } from '@chimera/hub/act/money'
import type { Benchmark } from './frame.ts'
import type { BareTold } from './load/bare-process.ts'
import { type Followers, openFollowers } from './load/followers.ts'
import { type BenchProcess, processOf } from './load/process-of.ts'
import { startCluster } from './stage/cluster.ts'
import { createEnds } from './stage/ends.ts'
import { type BenchHub, startBenchHub } from './stage/hub.ts'
import { openAccounts, randomTransfer } from './stage/owners.ts'

const FOLLOWERS = 200
// A busy network: some twenty transfers in what the feed reads at once, for a second and a half.
const TOGETHER = 20
const EVERY_MS = 25
const TIMES = 60
const EVENTS = TOGETHER * TIMES
const MARK = '\nevent: ledger\n'
const PATH = '/v1/live?topics=ledger'

type Side = { readonly process: BenchProcess; readonly followers: Followers }

const ends = createEnds()
let source: BenchHub | undefined
let ours: Side | undefined
let bare: Side | undefined
/** What a follower of the hub has heard last, as it came. */
let said: readonly Buffer[] = []

async function open(): Promise<void> {
  const cluster = await startCluster(ends)
  const settings = { ...cluster.settings, auth: 'open' } as const
  source = await startBenchHub(settings)
  ends.add(source.stop)
  await openAccounts(source.hub)
  await source.hub.settle()
  cluster.server.run('ours', 'VACUUM ANALYZE')
  const { process, port } = await cluster.startHub({ auth: 'open' })
  ours = { process, followers: await followersOf(port) }
  const loop = await processOf(new URL('./load/bare-process.ts', import.meta.url))
  ends.add(loop.close)
  const listen: BareTold = 'listen'
  bare = { process: loop, followers: await followersOf(await loop.ask<number>(listen)) }
  // The bare loop has nothing to say before the hub has said it.
  await followHub()
}

async function followersOf(port: number): Promise<Followers> {
  const wanted = { port, path: PATH, followers: FOLLOWERS, mark: MARK }
  const followers = await openFollowers(wanted)
  ends.add(followers.close)
  return followers
}

/** Deliveries for each second that the process was on a core while they were made. */
async function delivered(side: Side | undefined, speak: () => Promise<unknown>): Promise<number> {
  if (side === undefined) throw new Error('not open')
  const before = await side.process.cpuSeconds()
  const heard = side.followers.hear(EVENTS)
  await speak()
  const { chunks } = await heard
  if (side === ours) said = chunks
  return (EVENTS * FOLLOWERS) / ((await side.process.cpuSeconds()) - before)
}

function followHub(): Promise<number> {
  return delivered(ours, async () => {
    if (source === undefined) throw new Error('not open')
    const { hub } = source
    for (let time = 0; time < TIMES; time += 1) {
      const paused = new Promise((resolve) => setTimeout(resolve, EVERY_MS))
      const transfers = Array.from({ length: TOGETHER }, () =>
        transfer(hub, ANYBODY, randomTransfer()),
      )
      for (const outcome of await Promise.all(transfers)) {
        if (!outcome.ok) throw new Error(`a transfer was refused: ${outcome.refusal}`)
      }
      await hub.settle()
      await paused
    }
  })
}

function followBare(): Promise<number> {
  const events = eventsIn(Buffer.concat(said).toString())
  if (events.length !== EVENTS) throw new Error(`the hub said ${events.length} events`)
  const bursts = Array.from({ length: TIMES }, (_, at) =>
    events.slice(at * TOGETHER, (at + 1) * TOGETHER),
  )
  const told: BareTold = { bursts, everyMs: EVERY_MS }
  return delivered(bare, async () => bare?.process.ask(told))
}

/** Without what HTTP has put between them. */
function eventsIn(text: string): Buffer[] {
  const whole = /id: [^\n]*\nevent: ledger\ndata: [^\n]*\n\n/g
  return [...text.matchAll(whole)].map(([event]) => Buffer.from(event))
}

export const benchmark: Benchmark = {
  name: 'live-feed',
  method:
    `${FOLLOWERS} followers of ${PATH} in a thread of their own, at a hub in a process of its ` +
    `own. Another hub on the same PostgreSQL and nats-server makes ${EVENTS} transfers, ` +
    `${TOGETHER} every ${EVERY_MS} ms; each is an event for everybody. Deliveries are divided by ` +
    'the seconds that the process of the measured hub was on a core meanwhile, all its threads ' +
    'together: hearing of the facts, reading and encoding them is in it. The peer is a plain ' +
    'server of Node in a process of its own, which writes the same events at the same pace to ' +
    'as many connections, each as it comes, and is measured in the same way.',
  unit: 'per second of a core',
  open: ends.orNothing(open),
  close: ends.close,
  ours: { name: 'live feed', read: followHub },
  peer: { name: 'bare loop', read: followBare },
  target: { direction: 'at least', ratio: 0.5 },
}
