/**
 * `semantic_filter` (SK-7): which trends matter to a campaign, and why.
 *
 *   F1  A trend is scored once for the same goals within half an hour, by whoever it was asked.
 *   F2  When time runs out, what was scored until then is the answer, and says so.
 *   F3  Trends come back in the order in which they matter; equal ones as they came.
 */
import { SKILLS } from '@chimera/dialects/skills/contracts'
import type { SemanticFilterInput, SemanticFilterOutput } from '@chimera/dialects/skills/schema'
import type { TrendData } from '@chimera/dialects/skills/trend'
import { defineSkill } from '@chimera/skill/define'
import { contracted, type Priced } from './contracted.ts'
import { createRemembered, scoreKey } from './relevance/remembered.ts'
import type { Scored, Scorer } from './relevance/scorer.ts'

export type SemanticFilterOptions = Priced & {
  /** Language models by the name that the input chooses by; the other one is the fallback. */
  readonly models?: Readonly<Partial<Record<SemanticFilterInput['model'] & string, Scorer>>>
  /** Where no model is configured, or none answers. */
  readonly embedded: Scorer
}

const { semantic_filter: CONTRACT } = SKILLS
const BATCH = CONTRACT.batch ?? 100
// Enough to keep a model busy, few enough that the first ones come back while there is time.
const BATCHES_AT_ONCE = 4

type Found = { readonly trend: TrendData; readonly scored: Scored }

export function semanticFilter(options: SemanticFilterOptions) {
  const { models = {}, embedded } = options
  const { cache } = CONTRACT
  const remembered = createRemembered(cache?.ttlMs ?? 0)

  function scorerFor(model: string, isFallback: boolean): Scorer {
    const asked = Object.entries(models).find(([each]) => each === model)?.[1]
    const other = Object.entries(models).find(([each]) => each !== model)?.[1]
    if (isFallback) return (asked === undefined ? undefined : other) ?? embedded
    return asked ?? other ?? embedded
  }

  return defineSkill({
    ...contracted(CONTRACT, options),
    run: async (asked, { signal, keep, progress, now, failure, fallback }) => {
      const { trends, campaign_goals: goals, model = 'gemini-3-flash' } = asked
      const scorer = scorerFor(model, fallback === 'model')
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
      keep(listed())
      await inTurn(batchesOf(open), async (batch) => {
        signal.throwIfAborted()
        const scores = await scorer.score(batch, goals, signal).catch((cause: unknown) => {
          throw signal.aborted ? cause : failure('LLM_ERROR', { cause })
        })
        if (scores.length !== batch.length) throw failure('LLM_ERROR', { detail: 'too few scores' })
        for (const [at, trend] of batch.entries()) {
          const scored = scores[at]
          if (scored === undefined) continue
          found.set(trend, scored)
          remembered.put(scoreKey(trend, goals, scorer.name), scored, now())
        }
        keep(listed())
        progress(found.size / trends.length, `${found.size} of ${trends.length} trends`)
      })
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
  run: (each: Each) => Promise<void>,
): Promise<void> {
  const rest = [...all]
  const lane = async (): Promise<void> => {
    for (let next = rest.shift(); next !== undefined; next = rest.shift()) await run(next)
  }
  await Promise.all(Array.from({ length: BATCHES_AT_ONCE }, lane))
}

function isFound(partial: unknown): partial is readonly Found[] {
  return Array.isArray(partial)
}
