/**
 * `semantic_filter` (SK-7): which trends matter to a campaign, and why.
 *
 *   F1  A trend is scored once for the same goals within half an hour, by whoever it was asked.
 *   F2  When time runs out, what was scored until then is the answer, and says so.
 *   F3  Trends come back in the order in which they matter; equal ones as they came.
 *   F4  A batch that is late is left out and the others go on. Where none came in time, the model
 *       counts as failed, and the next one is asked.
 *   F5  Who asks the same at once shares one run, so that no model is paid twice for it.
 */
import { SKILLS } from '@chimera/dialects/skills/contracts'
import type { SemanticFilterInput, SemanticFilterOutput } from '@chimera/dialects/skills/schema'
import type { TrendData } from '@chimera/dialects/skills/trend'
import { defineSkill } from '@chimera/skill/define'
import { contracted, type Priced } from './contracted.ts'
import { detailOf, isLate } from './models/model.ts'
import { createRemembered, scoreKey } from './relevance/remembered.ts'
import type { Scored, Scorer } from './relevance/scorer.ts'

export type SemanticFilterOptions = Priced & {
  /**
   * Language models by name, the best first. The input chooses by name; where there is none of that
   * name the first is asked, and where one fails the next.
   */
  readonly models?: Readonly<Record<string, Scorer>>
  /** Where no model is configured, or none answers. */
  readonly embedded: Scorer
}

const { semantic_filter: CONTRACT } = SKILLS
const BATCH = CONTRACT.batch ?? 100
const DEFAULT_MODEL = 'gemini-3-flash'
// Enough to keep a model busy, few enough that the first ones come back while there is time.
const BATCHES_AT_ONCE = 4

type Found = { readonly trend: TrendData; readonly scored: Scored }

export function semanticFilter(options: SemanticFilterOptions) {
  const { models = {}, embedded } = options
  const { cache } = CONTRACT
  const remembered = createRemembered(cache?.ttlMs ?? 0)

  const all = Object.entries(models)
  /** Who is asked at this try: the one asked for, the others, and the embeddings in the end. */
  function scorerAt(attempt: number, model: string = DEFAULT_MODEL): Scorer {
    const named = all.filter(([name]) => name === model)
    const others = all.filter(([name]) => name !== model)
    return [...named, ...others].map(([, scorer]) => scorer)[attempt - 1] ?? embedded
  }

  return defineSkill({
    ...contracted(CONTRACT, options),
    shared: true,
    // A model that is down is not waited for; the embeddings are on this machine.
    provider: ({ model }, fallback) => {
      const first = scorerAt(1, model)
      return fallback === undefined && first !== embedded ? first.name : undefined
    },
    run: async (asked, { signal, keep, progress, now, failure, fallback, attempt }) => {
      const { trends, campaign_goals: goals, model } = asked
      const scorer = scorerAt(fallback === 'model' ? attempt : 1, model)
      const found = new Map<TrendData, Scored>()
      const open: TrendData[] = []
      for (const trend of trends) {
        const known = remembered.find(scoreKey(trend, goals, scorer.name), now())
        if (known === undefined) open.push(trend)
        else found.set(trend, known)
      }
      const listed = (): readonly Found[] =>
        trends.flatMap((trend) => {
          const scored = found.get(trend)
          return scored === undefined ? [] : [{ trend, scored }]
        })
      const kept = (): void => {
        // What a try before this one had done is better than nothing.
        if (found.size > 0) keep(listed())
      }
      kept()
      let late = 0
      await inTurn(batchesOf(open), signal, async (batch, still) => {
        const scores = await scorer.score(batch, goals, still).catch((cause: unknown) => {
          if (signal.aborted) throw cause
          if (isLate(cause)) return undefined
          throw failure('LLM_ERROR', { cause, ...detailOf(cause) })
        })
        if (scores === undefined) {
          late += 1
          return
        }
        if (scores.length !== batch.length) throw failure('LLM_ERROR', { detail: 'too few scores' })
        for (const [at, trend] of batch.entries()) {
          const scored = scores[at]
          if (scored === undefined) continue
          found.set(trend, scored)
          remembered.put(scoreKey(trend, goals, scorer.name), scored, now())
        }
        kept()
        progress(found.size / trends.length, `${found.size} of ${trends.length} trends`)
      })
      if (late > 0) {
        const detail = `${late} batches were not scored in time by ${scorer.name}`
        throw failure(found.size === 0 ? 'LLM_ERROR' : 'FILTER_TIMEOUT', { detail })
      }
      return answerOf(asked, listed(), new Date(now()).toISOString())
    },
    recover: ({ ending, partial }, asked): SemanticFilterOutput | undefined => {
      if (ending !== 'partial') return undefined
      const done = isFound(partial) ? partial : []
      return { ...answerOf(asked, done), partial: true }
    },
  })
}

function answerOf(
  { trends, relevance_threshold: threshold = 0.75 }: SemanticFilterInput,
  done: readonly Found[],
  at?: string,
): SemanticFilterOutput {
  const filtered = done
    .filter(({ scored }) => scored.score >= threshold)
    .toSorted((one, other) => other.scored.score - one.scored.score)
    .map(({ trend, scored: { score, reasoning } }) => ({
      trend,
      relevance_score: score,
      reasoning,
    }))
  return {
    filtered_trends: filtered,
    total_input: trends.length,
    total_output: filtered.length,
    ...(at !== undefined && { filtered_at: at }),
  }
}

const batchesOf = (trends: readonly TrendData[]): readonly (readonly TrendData[])[] =>
  Array.from({ length: Math.ceil(trends.length / BATCH) }, (_, at) =>
    trends.slice(at * BATCH, (at + 1) * BATCH),
  )

/** A few at once, each taking the next; the first failure ends all. */
async function inTurn<Each>(
  all: readonly Each[],
  signal: AbortSignal,
  run: (each: Each, still: AbortSignal) => Promise<void>,
): Promise<void> {
  const rest = [...all]
  const stop = new AbortController()
  const still = AbortSignal.any([signal, stop.signal])
  const lane = async (): Promise<void> => {
    try {
      for (let next = rest.shift(); next !== undefined; next = rest.shift()) {
        still.throwIfAborted()
        await run(next, still)
      }
    } catch (error) {
      stop.abort(error)
      throw error
    }
  }
  await Promise.all(Array.from({ length: BATCHES_AT_ONCE }, lane))
}

function isFound(partial: unknown): partial is readonly Found[] {
  return Array.isArray(partial)
}
