/** A whole hire, from finding somebody to having paid, at a real hub. */
import { connect, type Network } from '@chimera/agent'
import type { Benchmark } from './frame.ts'
import { percentile } from './load/client.ts'
import { processOf } from './load/process-of.ts'
import { number } from './report.ts'
import { createEnds } from './stage/ends.ts'
import { startNetwork } from './stage/network.ts'

const AT_ONCE = 8
const HIRES = 200
// The protocol gives one response ten seconds (OC-11); a tenth of that for all of it.
const MOST_MS = 1_000
const TERMS = { budget: 0.1, deadline: '30s' } as const
const INPUT = { text: 'one two three' }
const LEGS = ['discover', 'reserve', 'ask', 'result'] as const

const ends = createEnds()
let network: Network | undefined
let rate = 0
let median = 0
let legs = ''

async function open(): Promise<void> {
  const { hub, newOwner, newCaller } = await startNetwork(ends)
  const agent = await processOf(new URL('./load/agent-process.ts', import.meta.url))
  ends.add(agent.close)
  await agent.ask({ hub, ...(await newOwner()), slots: 100, price: 0.05 })
  const { agent: id, key } = await newCaller()
  network = connect({ hub, as: { agent: id, key } })
  ends.add(network.close)
  for (let warm = 0; warm < 20; warm += 1) await hire(network)
  legs = await timeLegs(network)
}

async function hire(by: Network): Promise<void> {
  const { output } = await by.hire('word_count', INPUT, TERMS)
  if (output.words !== 3) throw new Error('it counted otherwise')
}

/** One leg after the other, nothing else going on: slot and hold are one leg, capture the last. */
async function timeLegs(by: Network): Promise<string> {
  const tookMs = LEGS.map(() => new Float64Array(50))
  for (let at = 0; at < 50; at += 1) {
    const times = [performance.now()]
    await by.discover('word_count', { limit: 5 })
    times.push(performance.now())
    const reserved = await by.reserve('word_count', TERMS)
    times.push(performance.now())
    const job = await reserved.ask(INPUT)
    times.push(performance.now())
    await job.result()
    times.push(performance.now())
    for (const [leg, took] of tookMs.entries()) {
      took[at] = (times[leg + 1] ?? 0) - (times[leg] ?? 0)
    }
  }
  return LEGS.map((leg, at) => {
    const took = tookMs[at] ?? new Float64Array()
    return `${leg} ${number(percentile(took, 0.5))} (p99 ${number(percentile(took, 0.99))})`
  }).join(', ')
}

async function slowest(): Promise<number> {
  const by = network
  if (by === undefined) throw new Error('not open')
  const tookMs: number[] = []
  const start = performance.now()
  const lane = async (): Promise<void> => {
    for (let at = 0; at < HIRES / AT_ONCE; at += 1) {
      const begun = performance.now()
      await hire(by)
      tookMs.push(performance.now() - begun)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, lane))
  rate = HIRES / ((performance.now() - start) / 1_000)
  const all = Float64Array.from(tookMs)
  median = percentile(all, 0.5)
  return percentile(all, 0.99)
}

export const benchmark: Benchmark = {
  name: 'hire',
  get method() {
    const measured = network === undefined ? '' : ` ${figures()}`
    return (
      `hire() of a skill at 0.05, ${AT_ONCE} at once from one agent, at an agent and a hub on ` +
      'the embedded database in processes of their own, over HTTP, with signatures: found, held, ' +
      'asked, done, signed, reported and paid. The figure is the 99th percentile of ' +
      `${HIRES}.${measured}`
    )
  },
  unit: 'ms',
  open: ends.orNothing(open),
  close: ends.close,
  ours: { name: 'p99 of a hire', read: slowest },
  peer: { name: 'a tenth of one response', figure: MOST_MS },
  target: { direction: 'at most', ratio: 1 },
}

const figures = (): string =>
  `The last round: ${number(rate)} hires a second, median ${number(median)} ms. The legs one by ` +
  `one in ms, with reserve for slot and hold together: ${legs}.`
