/** The judge's look at a content package of five thousand characters. */
import { createRunner, type Runner } from '@chimera/skill/runner'
import { validateContent } from '@chimera/skills/validate-content'
import type { Benchmark } from './frame.ts'
import { percentile } from './load/client.ts'
import { number } from './report.ts'

const LIMIT_MS = 5_000
const CHARS = 5_000
const LOOKS = 100

let runner: Runner | undefined
let p99 = Number.NaN
let median = Number.NaN
let looked = 0

const SENTENCES = [
  'The old harbour hall opens as a public library, and the first readers were there at six.',
  'Nobody had thought that so many would come on a rainy Tuesday in the middle of the week.',
  'There are tables for those who work, a corner for children, and a roof to see the ships from.',
  'What was a warehouse for coffee smells of paper now; a little of the coffee has stayed.',
]

/** No two alike: the judge remembers what it has seen. */
function contentOf(serial: number) {
  let script = `Look number ${serial}.`
  for (let at = 0; script.length < CHARS; at += 1) {
    script += ` ${SENTENCES[at % SENTENCES.length]} (${serial + at})`
  }
  return {
    content_id: '6f1d3f5c-2f0a-4b8e-9d67-1f2e3d4c5b6a',
    task_id: '7a2e4f6d-3f1b-4c9f-8e78-2a3f4e5d6c7b',
    trend_ref: '8b3f5a7e-4a2c-4daf-9f89-3b4a5f6e7d8c',
    script: script.slice(0, CHARS),
    captions: 'A free place to meet is open in the old warehouses.',
    media_urls: [],
    hashtags: ['#harbour', '#library', '#reading'],
    confidence_score: 0.9,
    requires_review: false,
  }
}

async function slowest(): Promise<number> {
  runner ??= createRunner({ skills: [validateContent({ brands: ['Acme Cola'] })], agent: 'bench' })
  const tookMs = new Float64Array(LOOKS)
  for (let at = 0; at < LOOKS; at += 1) {
    const content = contentOf(looked)
    looked += 1
    const start = performance.now()
    const outcome = await runner.run('validate_content', { content })
    tookMs[at] = performance.now() - start
    if (!outcome.ok) throw new Error(JSON.stringify(outcome.error))
  }
  median = percentile(tookMs, 0.5)
  p99 = percentile(tookMs, 0.99)
  return p99
}

export const benchmark: Benchmark = {
  name: 'validate-content',
  get method() {
    const measured = Number.isNaN(p99)
      ? ''
      : ` The last round: median ${number(median)} ms, p99 ${number(p99)} ms, ` +
        `${number((100 * p99) / LIMIT_MS)} % of the limit.`
    return (
      `validate_content through the runner on ${LOOKS} packages with a script of ${CHARS} ` +
      'characters, all different, by all checks that need no model. The figure is the 99th ' +
      `percentile of a round, the limit the skill's own.${measured}`
    )
  },
  unit: 'ms',
  close: async () => runner?.close(),
  ours: { name: 'p99 of a look', read: slowest },
  peer: { name: 'the skill’s limit', figure: LIMIT_MS },
  target: { direction: 'at most', ratio: 1 },
}
