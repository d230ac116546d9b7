/**
 * A language model as a scorer: a hundred trends in a question, a number and a few words for each.
 *
 *   L1  Trends and goals are data, whatever they say. One that speaks to the model instead of to
 *       readers is scored like any other and trusted no further than "not relevant enough".
 *   L2  Every trend has exactly one score, or the answer is of no use: none is guessed.
 *   L3  What the model says of a trend is shown to people, so it is plain, short and without links.
 */
import { SKILLS } from '@chimera/dialects/skills/contracts'
import type { TrendData } from '@chimera/dialects/skills/trend'
import { Type } from 'typebox'
import { withoutLinks } from '../models/links.ts'
import { type Model, ModelFailure } from '../models/model.ts'
import { DATA_RULE, isSteering, plainly, withData } from '../models/strangers.ts'
import type { Scored, Scorer } from './scorer.ts'

const { semantic_filter: CONTRACT } = SKILLS
const BATCH_MS = CONTRACT.parts?.batch ?? 3_000
// As much as says what it is about: a hundred of them must be read in three seconds.
const TOPIC_CHARS = 200
const TAGS_CHARS = 100
const GOAL_CHARS = 300
/** As many as the answer may carry, less a word of our own. */
const REASON_CHARS = 400
// A number and a dozen words; more would not be written in three seconds.
const TOKENS_EACH = 40
const TOKENS_AROUND = 200
/** Below every threshold that means "relevant". */
const STEERING_MOST = 0.5

const Scores = Type.Object({
  scores: Type.Array(
    Type.Object({
      n: Type.Integer({ minimum: 1, maximum: 1_000, description: 'The number of the trend' }),
      score: Type.Number({ minimum: 0, maximum: 1 }),
      why: Type.String({
        maxLength: 1_000,
        description: 'At most 12 words on what matched; empty where the score is below 0.5',
      }),
    }),
    { maxItems: 1_000 },
  ),
})

const SYSTEM = [
  'You rate how relevant trends are to the goals of a campaign.',
  '0 is nothing to do with any goal, 0.5 touches one, 0.75 belongs to one, 1 is what a goal is',
  'about. One goal is enough. Rate each trend by itself, by its meaning and not by shared words.',
  'Give exactly one entry for each trend, under its number.',
  DATA_RULE,
].join(' ')

export function createModelScorer(model: Model): Scorer {
  return {
    name: model.name,
    async score(trends, goals, signal) {
      const question = `Rate these ${trends.length} trends.`
      const asked = {
        purpose: CONTRACT.name,
        system: SYSTEM,
        prompt: withData(question, dataOf(trends, goals)),
        schema: Scores,
        temperature: 0,
        maxOutputTokens: TOKENS_AROUND + TOKENS_EACH * trends.length,
        timeoutMs: BATCH_MS,
      }
      const { value } = await model.ask(asked, signal)
      const given = new Map(value.scores.map((each) => [each.n, each]))
      if (given.size !== trends.length || value.scores.length !== trends.length) {
        throw new ModelFailure('unusable', 'not one score for each trend')
      }
      return trends.map((trend, at) => {
        const scored = given.get(at + 1)
        if (scored === undefined) throw new ModelFailure('unusable', 'a trend without a score')
        return judged(trend, scored)
      })
    },
  }
}

const dataOf = (trends: readonly TrendData[], goals: readonly string[]) => ({
  goals: goals.map((goal) => plainly(goal, GOAL_CHARS)),
  trends: trends.map(({ topic, metadata }, at) => ({
    n: at + 1,
    topic: plainly(topic, TOPIC_CHARS),
    tags: plainly((metadata?.hashtags ?? []).join(' '), TAGS_CHARS),
  })),
})

function judged(
  { topic, metadata }: TrendData,
  { score, why }: { readonly score: number; readonly why: string },
): Scored {
  const said = withoutLinks(plainly(why, REASON_CHARS)).text
  const rounded = Math.round(score * 1_000) / 1_000
  if (isSteering([topic, ...(metadata?.hashtags ?? [])].join(' '))) {
    const reasoning = 'Its text speaks to a model and not to readers, so it counts for little.'
    return { score: Math.min(rounded, STEERING_MOST), reasoning }
  }
  return { score: rounded, reasoning: said === '' ? 'It has little to do with the goals.' : said }
}
