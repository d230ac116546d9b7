/** A thousand trends held against a campaign's goals by the embedded model, on two threads. */
import { randomUUID } from 'node:crypto'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { createRunner } from '@chimera/skill/runner'
import { createEmbeddedScorer } from '@chimera/skills/relevance/embedded'
import { createEmbedder, type Embedder } from '@chimera/skills/relevance/embedder'
import { semanticFilter } from '@chimera/skills/semantic-filter'
import type { Benchmark } from './frame.ts'
import { number } from './report.ts'

const TRENDS = 1_000
const LIMIT_SECONDS = 10
const MOST_DELAY_MS = 20
const GOALS = ['sustainable fashion', 'public transport', 'open software']
const WHAT = ['Night trains', 'A city library', 'Second-hand shops', 'Heat pumps', 'Small caps']
const DOES = ['are booked out', 'opens at night', 'report queues', 'overtake boilers', 'catch up']
const WHERE = ['in Lisbon', 'in Addis Ababa', 'on the coast', 'after ten years', 'in the suburbs']

let embedder: Embedder | undefined
let made = 0
let seconds = Number.NaN
let onCore = Number.NaN
let delayMs = Number.NaN

const pick = (words: readonly string[], at: number): string => words[at % words.length] ?? ''

/** No two alike, and longer than what is read of one. */
const trend = (at: number) => ({
  trend_id: randomUUID(),
  topic:
    `${pick(WHAT, at)} ${pick(DOES, Math.floor(at / 5))} ${pick(WHERE, Math.floor(at / 25))} ` +
    `(${made + at}), and what that means for those who live, work and shop there, explained in a ` +
    'few words that anybody can read on the way home',
  platform: 'news',
  sentiment: 'neutral',
  timestamp: new Date(0).toISOString(),
  engagement: { likes: 1, comments: 1, shares: 1, impressions: 10, engagement_score: 6 },
  trend_velocity: 1,
  decay_score: 1,
})

/** The threads and the model are there before the clock runs; no trend is known before. */
async function filterAll(): Promise<number> {
  embedder ??= createEmbedder()
  const skill = semanticFilter({ embedded: createEmbeddedScorer(embedder) })
  const runner = createRunner({ skills: [skill], agent: 'bench' })
  const ask = async (trends: readonly object[]) => {
    const asked = { trends, campaign_goals: GOALS, relevance_threshold: 0 }
    const outcome = await runner.run('semantic_filter', asked)
    if (!outcome.ok) throw new Error(JSON.stringify(outcome.error))
    const { filtered_trends: scored } = outcome.output as { readonly filtered_trends: unknown[] }
    return scored.length
  }
  await ask(Array.from({ length: 40 }, (_, at) => trend(at)))
  made += TRENDS
  const trends = Array.from({ length: TRENDS }, (_, at) => trend(at))
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  const before = process.cpuUsage()
  const start = performance.now()
  const scored = await ask(trends)
  // Where its time was over before, as long as all would have taken.
  seconds = ((performance.now() - start) / 1_000) * (TRENDS / Math.max(1, scored))
  const { user, system } = process.cpuUsage(before)
  onCore = (user + system) / 1e6
  delay.disable()
  delayMs = delay.percentile(99) / 1e6
  await runner.close()
  // Whichever of the two is nearer to its limit.
  return Math.max(seconds / LIMIT_SECONDS, delayMs / MOST_DELAY_MS)
}

export const benchmark: Benchmark = {
  name: 'semantic-filter',
  get method() {
    const measured = Number.isNaN(seconds)
      ? ''
      : ` The last round: ${number(seconds)} s of ${LIMIT_SECONDS}, ${number(onCore)} s on a ` +
        `core; the event loop's delay had a 99th percentile of ${number(delayMs)} ms, of ` +
        `${MOST_DELAY_MS}.`
    return (
      `semantic_filter through the runner on ${TRENDS} trends with topics of 150 characters, all ` +
      'new, by the embedded model in two threads that have loaded it. The figure is the larger ' +
      `of two shares: of the skill's time, and of the event loop's delay.${measured}`
    )
  },
  unit: 'of the limit',
  close: async () => embedder?.close(),
  ours: { name: 'time, or delay', read: filterAll },
  peer: { name: 'all of it', figure: 1 },
  target: { direction: 'at most', ratio: 1 },
}
