/**
 * Relevance without a model's key: sentence embeddings, calibrated. It knows what texts are alike
 * and nothing of the world, and says so in its reasoning.
 *
 *   E1  The same texts get the same scores, in any order and company.
 */
import type { TrendData } from '@chimera/dialects/skills/trend'
import { cosine, relevanceOf, type Vector } from './calibration.ts'
import type { Embedder } from './embedder.ts'
import type { Scored, Scorer } from './scorer.ts'
import { SUBJECTS, saidAs } from './subjects.ts'

type Subject = { readonly name: string; readonly said: readonly Vector[] }

// A subject as near as this to the goal is the goal in other words, and nothing to hold it against.
const SAME_SUBJECT = 0.5
/** As many as the answer may carry. */
const REASONING_CHARS = 500
/** Of the goals that were asked for last. */
const MOST_GOALS = 1_000

export function createEmbeddedScorer(embedder: Embedder): Scorer {
  const known = new Map<string, Promise<Subject>>()

  function subjectOf(name: string): Promise<Subject> {
    const before = known.get(name)
    if (before !== undefined) return before
    const made = embedder.embed(saidAs(name)).then((said) => ({ name, said }))
    known.set(name, made)
    made.catch(() => known.delete(name))
    const [oldest] = known.keys()
    if (known.size > MOST_GOALS && oldest !== undefined) known.delete(oldest)
    return made
  }

  return {
    name: 'embedded sentence embeddings',
    async score(trends, goals, signal) {
      const [wanted, general, texts] = await Promise.all([
        Promise.all(goals.map(subjectOf)),
        Promise.all(SUBJECTS.map(subjectOf)),
        embedder.embed(trends.map(textOf)),
      ])
      signal.throwIfAborted()
      return texts.map((vector) => best(vector, wanted, general))
    },
    close: embedder.close,
  }
}

/** One goal is enough. */
function best(vector: Vector, goals: readonly Subject[], general: readonly Subject[]) {
  const likeness = new Map(general.map((each) => [each.name, likenessOf(vector, each)]))
  const scored = goals.map((goal) => {
    const others = general
      .filter((each) => cosine(first(each), first(goal)) < SAME_SUBJECT)
      .map(({ name }) => likeness.get(name) ?? 0)
    return { goal: goal.name, score: relevanceOf(likenessOf(vector, goal), others) }
  })
  const [top] = scored.toSorted((one, other) => other.score - one.score)
  const [nearest = 'nothing'] = [...likeness].toSorted(([, one], [, other]) => other - one)[0] ?? []
  return top === undefined ? { score: 0, reasoning: 'There is no goal.' } : say(top, nearest)
}

function say(top: { readonly goal: string; readonly score: number }, nearest: string): Scored {
  const score = Math.round(top.score * 1_000) / 1_000
  const how =
    score >= 0.9
      ? 'is close to'
      : score >= 0.75
        ? 'has to do with'
        : score >= 0.5
          ? 'touches'
          : 'is far from'
  const reasoning = [
    `By its wording it ${how} the goal “${top.goal}”;`,
    `of subjects in general it is nearest to ${nearest}.`,
  ].join(' ')
  return { score, reasoning: reasoning.slice(0, REASONING_CHARS) }
}

const first = ({ said }: Subject): ArrayLike<number> => said[0] ?? []

const likenessOf = (vector: Vector, { said }: Subject): number =>
  said.reduce((sum, each) => sum + cosine(vector, each), 0) / Math.max(1, said.length)

/** The topic, and the words of its hashtags where it is short. */
function textOf({ topic, metadata }: TrendData): string {
  const tags = (metadata?.hashtags ?? []).map((tag) => tag.replace(/^#/, '').replaceAll('_', ' '))
  return topic.length < 60 && tags.length > 0 ? `${topic} ${tags.slice(0, 5).join(' ')}` : topic
}
