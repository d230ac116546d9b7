/** A thousand agents in one process at one hub: what each takes of memory and of a core. */
import type { Benchmark } from './frame.ts'
import type { CrowdStarted } from './load/crowd-process.ts'
import { type BenchProcess, processOf } from './load/process-of.ts'
import { number } from './report.ts'
import { createEnds } from './stage/ends.ts'
import { type BenchNetwork, startNetwork } from './stage/network.ts'

const AGENTS = 1_000
const WATCHED_MS = 30_000
const MOST_KIB = 512

const ends = createEnds()
let started: CrowdStarted | undefined
let hub: BenchNetwork | undefined
let crowd: BenchProcess | undefined
let shares: { readonly crowd: number; readonly hub: number } | undefined

async function open(): Promise<void> {
  hub = await startNetwork(ends)
  crowd = await processOf(new URL('./load/crowd-process.ts', import.meta.url), ['--expose-gc'])
  ends.add(crowd.close)
  const where = { hub: hub.hub, ...(await hub.newOwner()) }
  started = await crowd.ask<CrowdStarted>({ ...where, agents: AGENTS })
}

/** Nothing is asked of them: they say that they are there, every ten seconds and every minute. */
async function watch(): Promise<void> {
  if (hub === undefined || crowd === undefined || shares !== undefined) return
  const seconds = async () => [await crowd?.cpuSeconds(), await hub?.cpuSeconds()]
  const before = await seconds()
  const start = performance.now()
  await new Promise((resolve) => setTimeout(resolve, WATCHED_MS))
  const after = await seconds()
  const tookSeconds = (performance.now() - start) / 1_000
  const share = (at: 0 | 1) => ((after[at] ?? 0) - (before[at] ?? 0)) / tookSeconds
  shares = { crowd: share(0), hub: share(1) }
}

async function kibPerAgent(): Promise<number> {
  await watch()
  return (started?.rssPerAgent ?? Number.NaN) / 1_024
}

const percent = (share = Number.NaN): string => `${number(100 * share)} %`

export const benchmark: Benchmark = {
  name: 'crowd',
  get method() {
    const measured =
      shares === undefined
        ? ''
        : ` The agents took ${percent(shares.crowd)} of a core together, the hub ` +
          `${percent(shares.hub)}; an agent takes ` +
          `${number((started?.heapPerAgent ?? 0) / 1_024)} KiB of the heap.`
    return (
      `${AGENTS} agents with a server, a key and a skill each, in one process, at a hub on the ` +
      'embedded database in another; once all are registered, nothing is asked of them for ' +
      `${WATCHED_MS / 1_000} s of real time, in which each posts its presence every ten seconds. ` +
      `The figure is what the process has grown by, for each.${measured}`
    )
  },
  unit: 'KiB',
  open: ends.orNothing(open),
  close: ends.close,
  ours: { name: 'memory of an agent', read: kibPerAgent },
  peer: { name: 'half a mebibyte', figure: MOST_KIB },
  target: { direction: 'at most', ratio: 1 },
}
