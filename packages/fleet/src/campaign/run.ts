/**
 * A whole campaign (SK-16): trends, filtered, written about, judged, approved by a person,
 * published; everybody hired over the network and paid out of what the campaign itself is paid.
 *
 *   M1  It may be cut at any point and run again: each step is found under its name, and each state
 *       of a piece is passed once.
 *   M2  Everything is made up to the person's desk first, one piece after the other; then all wait,
 *       and each is published when its own approval comes.
 *   M3  Asked for again after it was put away, it is taken up where it was.
 */
import type { FetchTrendsOutput, SemanticFilterOutput } from '@chimera/dialects/skills/schema'
import type { Instant } from '@chimera/domain/ids'
import type { SkillContext } from '@chimera/skill/contract'
import type { RunCampaignInput, RunCampaignOutput } from './asked.ts'
import { type Book, createBook } from './book.ts'
import { chooseTrends } from './choose.ts'
import type { CampaignDesk } from './desk.ts'
import { createPeople } from './people.ts'
import { createPieces, type Plan, planOf } from './piece.ts'
import { beginRecord, pieceState, touched } from './record.ts'
import { createSteps, StepFailure, type Steps } from './steps.ts'

export type RunHands = {
  readonly desk: CampaignDesk
  readonly hire: SkillContext['hire']
  readonly now: () => Instant
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  readonly signal: AbortSignal
  /** When it must have ended. */
  readonly until: Instant
  readonly progress: SkillContext['progress']
  readonly awaiting: (does: boolean) => void
  readonly most: (skill: string) => number
}

const PAUSED_LOOK_MS = 2_000
const DEFAULT_PLATFORMS = ['news'] as const
const FILTER_TIMES = 3
/** More than are written about, so that the filter has a choice. */
const TRENDS = 50
/** On the board beside what was taken, so that a person sees what was passed over. */
const SHOWN_LEFT = 5

export async function runCampaign(
  asked: RunCampaignInput,
  hands: RunHands,
): Promise<RunCampaignOutput> {
  const { desk, now, sleep, signal, progress } = hands
  const { campaign_id: id } = asked.campaign
  const kept = await desk.load(id, signal)
  const book = createBook(kept?.record ?? beginRecord(asked, now()), { desk, now, signal })
  if (kept === undefined) await desk.save(book.record(), signal)
  if (kept?.record.status === 'archived') {
    await book.change((record, at) => touched(record, { status: 'active' }, at))
  }
  const unpaused = pauses(book, hands, id)
  const steps = createSteps({ ...hands, book, unpaused })
  const people = createPeople({ ...hands, sleep })
  const pieces = createPieces({ ...hands, asked, book, steps, people })

  const plans = await plan(asked, steps, pieces.begin)
  const made = []
  for (const [at, each] of plans.entries()) {
    progress((at + 1) / (plans.length + 2), each.scored.trend.topic)
    const judged = await pieces.make(each)
    if (judged !== undefined) made.push({ plan: each, judged })
  }
  progress(0.9, made.length > 0 ? 'a person has to agree' : 'nothing to publish')
  await Promise.all(made.map(({ plan: each, judged }) => pieces.finish(each, judged)))
  await book.change((record, at) => touched(record, { status: 'completed' }, at))
  return answerOf(book)
}

/** Which trends, for which platforms; those that were passed over are on the board too. */
async function plan(
  asked: RunCampaignInput,
  steps: Steps,
  begin: (plan: Plan, refused?: string) => Promise<void>,
): Promise<readonly Plan[]> {
  const { campaign, publish_to, trends: count = 1 } = asked
  const { trend_filters: filters = {} } = campaign
  const fetched = (await steps.take({
    step: 'trends',
    skill: 'fetch_trends',
    input: {
      platform: filters.platforms?.length ? filters.platforms : [...DEFAULT_PLATFORMS],
      limit: TRENDS,
      ...(filters.min_engagement !== undefined && { minEngagement: filters.min_engagement }),
      ...(filters.excluded_topics?.length && { excludeTopics: filters.excluded_topics }),
    },
  })) as FetchTrendsOutput
  if (fetched.trends.length === 0) return []
  const filtered = await filter(asked, steps, fetched)
  const { taken, left } = chooseTrends(filtered, campaign, count)
  const [first] = publish_to
  for (const { scored, words } of left.slice(0, SHOWN_LEFT)) {
    if (first !== undefined) await begin(planOf(asked, scored, first), words)
  }
  const plans = taken.flatMap((scored) =>
    publish_to.map((platform) => planOf(asked, scored, platform)),
  )
  for (const each of plans) await begin(each)
  return plans
}

/** What did not end in time has not said that nothing matters: it is asked again, some times. */
async function filter(
  { campaign }: RunCampaignInput,
  steps: Steps,
  { trends }: FetchTrendsOutput,
): Promise<SemanticFilterOutput['filtered_trends']> {
  for (let time = 1; ; time += 1) {
    const step = time === 1 ? 'filter' : `filter ${time}`
    const { filtered_trends: found, partial } = (await steps.take({
      step,
      skill: 'semantic_filter',
      input: { trends, campaign_goals: campaign.goals },
    })) as SemanticFilterOutput
    if (found.length > 0 || partial !== true) return found
    if (time === FILTER_TIMES) throw new StepFailure(step, 'no trend could be scored in time')
  }
}

/** Waits while somebody wants it paused, and says that it does. */
function pauses(book: Book, { desk, sleep, signal }: RunHands, id: string): () => Promise<void> {
  const tell = (status: 'active' | 'paused') =>
    book.change((record, at) => touched(record, { status }, at))
  return async () => {
    while ((await desk.load(id, signal))?.wish === 'pause') {
      if (book.record().status !== 'paused') await tell('paused')
      await sleep(PAUSED_LOOK_MS, signal)
    }
    if (book.record().status === 'paused') await tell('active')
  }
}

function answerOf(book: Book): RunCampaignOutput {
  const { campaign_id, budget, pieces } = book.record()
  return {
    campaign_id,
    spent: budget.spent,
    pieces: pieces.map((piece) => {
      const { piece_id, content_id, topic, platform, post_url } = piece
      const words = piece.moments.at(-1)?.words
      return {
        piece_id,
        ...(content_id !== undefined && { content_id }),
        topic,
        platform,
        state: pieceState(piece),
        ...(post_url !== undefined && { post_url }),
        ...(words !== undefined && { words }),
      }
    }),
  }
}
