/**
 * A network of one process for a campaign: the real skills behind `hire`, a desk in memory, and a
 * point before and after everything that leaves the campaign, at which it can be cut.
 *
 *   T1  What is hired under a key was done once and is answered again, as agents and hub do it.
 *   T2  From a cut on nothing answers: what was under way is as dead as its process.
 */
import type { ReviewSeen, ReviewWanted } from '@chimera/dialects/chimera'
import type { TrendData } from '@chimera/dialects/skills/trend'
import { writeInstant } from '@chimera/dialects/wire'
import type { CallOutcome } from '@chimera/skill/calls'
import { createClock } from '@chimera/skill/clock'
import type { Skill, SkillContext } from '@chimera/skill/contract'
import { defineSkill, Type } from '@chimera/skill/define'
import { createRunner } from '@chimera/skill/runner'
import { fetchTrends } from '@chimera/skills/fetch-trends'
import { generateContent } from '@chimera/skills/generate-content'
import { semanticFilter } from '@chimera/skills/semantic-filter'
import { createSamples } from '@chimera/skills/trends/samples'
import { validateContent } from '@chimera/skills/validate-content'
import { approveSpend } from '../src/approve-spend.ts'
import type { CampaignDesk } from '../src/campaign/desk.ts'
import type { CampaignRecord } from '../src/campaign/record.ts'
import type { RunHands } from '../src/campaign/run.ts'
import { PRICES } from '../src/roles.ts'

export class Cut extends Error {
  override readonly name = 'Cut'
}

/** What the person says of a review; undefined: nothing, this time. */
export type Person = (review: ReviewWanted, looks: number) => Partial<ReviewSeen> | undefined

export type Town = {
  readonly hands: (cutAt?: number) => RunHands & { readonly points: () => number }
  readonly record: () => CampaignRecord | undefined
  /** How often each skill really ran, by the name it was hired under. */
  readonly ran: () => ReadonlyMap<string, number>
  readonly posts: () => readonly string[]
  readonly wish: (wish: 'pause' | 'resume' | undefined) => void
  readonly awaited: () => readonly boolean[]
  readonly reviews: () => readonly ReviewWanted[]
  readonly close: () => Promise<void>
}

const WRITERS = [generateContent(), validateContent(), approveSpend()]
const COMPUTED = new Map<string, Promise<CallOutcome>>()
const NOON = Date.UTC(2026, 0, 1, 12)

export function createTown(person: Person, more: readonly Skill[] = []): Town {
  let now = NOON
  let record: CampaignRecord | undefined
  let wish: 'pause' | 'resume' | undefined
  const answers = new Map<string, { output: Readonly<Record<string, unknown>>; cost: number }>()
  const ran = new Map<string, number>()
  const posts: string[] = []
  const reviews = new Map<string, ReviewWanted>()
  const looks = new Map<string, number>()
  const awaited: boolean[] = []

  const samples = createSamples({ now: () => now })
  const sources = { news: [samples], twitter: [samples] }
  // By words: what the campaign makes of scores is the matter here, not how good they are.
  const embedded = {
    name: 'words',
    score: async (trends: readonly TrendData[]) =>
      trends.map(({ topic }) => ({ score: 0.8 + (topic.length % 10) / 100, reasoning: 'words' })),
  }
  const publish = defineSkill({
    name: 'publish_content',
    version: '1.0',
    input: Type.Object({}),
    output: Type.Object({ success: Type.Boolean() }, { additionalProperties: true }),
    run: (asked) => {
      const { content, platform } = asked as { content: { content_id: string }; platform: string }
      posts.push(`${content.content_id} ${platform}`)
      const post_url = `https://posts.example/${posts.length}`
      return { success: true, post_id: `p${posts.length}`, post_url }
    },
  })
  const usual = [fetchTrends({ sources }), semanticFilter({ embedded }), ...WRITERS, publish]
  const skills = [...more, ...usual.filter(({ name }) => more.every((each) => each.name !== name))]
  const runner = createRunner({
    skills,
    agent: 'town',
    clock: { ...createClock(), now: () => now },
  })

  /** The same asked of the same skill gives the same, so that hundreds of runs need one of each. */
  async function run(skill: string, input: object) {
    const own = skill === 'publish_content' || more.some(({ name }) => name === skill)
    if (own) return runner.run(skill, input)
    const name = `${skill} ${JSON.stringify(input)}`
    const known = COMPUTED.get(name) ?? runner.run(skill, input)
    COMPUTED.set(name, known)
    return known
  }

  function handsFor(cutAt: number) {
    let count = 0
    const dead = new AbortController()
    const point = (): void => {
      count += 1
      if (count >= cutAt) dead.abort(new Cut())
      dead.signal.throwIfAborted()
    }
    const around = async <Result>(run: () => Promise<Result> | Result): Promise<Result> => {
      point()
      const result = await run()
      point()
      return result
    }

    const hire: SkillContext['hire'] = (skill, input, terms = {}) =>
      around(async () => {
        const key = terms.key ?? `${skill} ${JSON.stringify(input)}`
        const before = answers.get(key)
        if (before !== undefined) return before
        ran.set(key, (ran.get(key) ?? 0) + 1)
        const outcome = await run(skill, input)
        if (!outcome.ok) throw new Error(outcome.error.message)
        const cost = PRICES[skill] ?? 0
        if (cost > (terms.budget ?? 0)) throw new Error(`${skill} costs ${cost}`)
        const answer = { output: { ...Object(outcome.output) }, cost }
        answers.set(key, answer)
        return answer
      })
    const desk: CampaignDesk = {
      load: () => around(() => record && { record, ...(wish && { wish }) }),
      save: (next) =>
        around(() => {
          if (record !== undefined && next.version !== record.version + 1) throw new Error('behind')
          record = next
        }),
      open: (review) =>
        around(() => {
          if (!reviews.has(review.review_id)) reviews.set(review.review_id, review)
        }),
      review: (id) =>
        around(() => {
          const review = reviews.get(id)
          if (review === undefined) return undefined
          looks.set(id, (looks.get(id) ?? 0) + 1)
          return seenOf(review, person(review, looks.get(id) ?? 0))
        }),
    }
    return {
      desk,
      hire,
      now: () => now,
      sleep: async (ms: number) => {
        point()
        now += ms
      },
      signal: dead.signal,
      until: NOON + 24 * 60 * 60_000,
      progress: () => undefined,
      awaiting: (does: boolean) => void awaited.push(does),
      most: (skill: string) => PRICES[skill] ?? 0,
      points: () => count,
    }
  }

  return {
    hands: (cutAt = Number.POSITIVE_INFINITY) => handsFor(cutAt),
    record: () => record,
    ran: () => ran,
    posts: () => posts,
    wish: (next) => {
      wish = next
    },
    awaited: () => awaited,
    reviews: () => [...reviews.values()],
    close: () => runner.close(),
  }
}

function seenOf(review: ReviewWanted, said: Partial<ReviewSeen> | undefined): ReviewSeen {
  return {
    ...review,
    agent_id: review.review_id,
    owner_id: 'acme',
    content_hash: 'a'.repeat(64),
    opened_at: writeInstant(NOON),
    state: 'pending',
    ...said,
  }
}
