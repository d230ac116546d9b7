/**
 * One piece of content from its trend to its post: written, judged, shown to a person, published.
 *
 *   E1  It is made up to the person's desk first, and published when the person has agreed: the two
 *       halves may lie hours and a restart apart.
 *   E2  What a person sends back is written again with the person's words, and judged again.
 *   E3  What is published is what was approved, to the byte: an edited text is the reviewer's.
 *   E4  A piece that fails ends alone, with words for whoever looks at the board.
 *   E5  What is for later is handed over at once, as long as its approval lasts, and stays approved
 *       until its time comes; then it is seen to be out. A time after the end of the run is left to
 *       whoever publishes.
 */
import type { ReviewSeen, ReviewWanted } from '@chimera/dialects/chimera'
import type { ContentPackage } from '@chimera/dialects/skills/content'
import type { PublishContentOutput, ValidateContentOutput } from '@chimera/dialects/skills/schema'
import type { ScoredTrend } from '@chimera/dialects/skills/trend'
import type { PublishPlatform } from '@chimera/dialects/skills/words'
import { instantOf, writeInstant } from '@chimera/dialects/wire'
import type { ContentState } from '@chimera/domain/campaign/content'
import type { Instant } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import { namedUuid } from '@chimera/skills/named-uuid'
import type { RunCampaignInput } from './asked.ts'
import type { Book } from './book.ts'
import type { People } from './people.ts'
import {
  type CampaignPiece,
  isPieceOver,
  movedTo,
  pieceOf,
  pieceState,
  withPiece,
} from './record.ts'
import { StepFailure, type Steps } from './steps.ts'

export type Plan = {
  readonly id: string
  readonly scored: ScoredTrend
  readonly platform: PublishPlatform
}

export type PieceHands = {
  readonly asked: RunCampaignInput
  readonly book: Book
  readonly steps: Steps
  readonly people: People
  readonly now: () => Instant
  readonly signal: AbortSignal
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  /** When the run must have ended. */
  readonly until: Instant
}

type Judged = { readonly content: ContentPackage; readonly verdict: ValidateContentOutput }

export const planOf = (
  asked: RunCampaignInput,
  scored: ScoredTrend,
  platform: PublishPlatform,
): Plan => ({
  id: namedUuid('piece', asked.campaign.campaign_id, scored.trend.trend_id, platform),
  scored,
  platform,
})

export type Pieces = {
  /** Puts it on the board, where it is not yet. */
  readonly begin: (plan: Plan, refused?: string) => Promise<void>
  /** Up to a person's desk (E1); undefined: it has come to its end. */
  readonly make: (plan: Plan) => Promise<Judged | undefined>
  /** From the desk on, to its end. */
  readonly finish: (plan: Plan, judged: Judged) => Promise<void>
}

export function createPieces(hands: PieceHands): Pieces {
  const { asked, book, steps, people, now } = hands
  const { campaign } = asked
  const { persona } = campaign.content_guidelines
  const current = (id: string): CampaignPiece => {
    const piece = pieceOf(book.record(), id)
    if (piece === undefined) throw new Error('the piece is not on the board')
    return piece
  }

  /** What was passed before a crash is not passed again. */
  async function move(
    id: string,
    state: ContentState,
    more: Partial<CampaignPiece> & { readonly words?: string } = {},
  ): Promise<void> {
    const { words, ...change } = more
    await book.change((record, at) => {
      const piece = { ...current(id), ...change }
      return withPiece(record, movedTo(piece, state, { now: at, ...(words && { words }) }), at)
    })
  }
  const reached = (id: string, state: ContentState, round: number): boolean =>
    current(id).moments.filter((each) => each.state === state).length >= round

  /** Moves unless it has been there in this round already. */
  async function pass(id: string, round: number, state: ContentState, more = {}): Promise<void> {
    if (!reached(id, state, round)) await move(id, state, more)
  }

  async function write(plan: Plan, round: number, said: string | undefined): Promise<Judged> {
    const { id, scored, platform } = plan
    await pass(id, round, 'generating')
    const type = asked.content_type ?? campaign.content_guidelines.content_types[0]
    const written = await steps.take({
      step: `write ${id} ${round}`,
      skill: 'generate_content',
      piece: id,
      input: {
        trend: scored.trend,
        persona,
        platform,
        ...(type && { content_type: type }),
        ...(said !== undefined && { revision: { round, words: said } }),
      },
    })
    // Its own: whoever writes about one trend for two campaigns names both texts alike, and what is
    // published under a name is published once.
    const content_id = namedUuid('content', id)
    const content = { ...withRequired(written.content as ContentPackage, campaign), content_id }
    const more = { content_id: content.content_id, confidence: content.confidence_score }
    await pass(id, round, 'generated', more)
    await pass(id, round, 'validating')
    const verdict = await steps.take({
      step: `judge ${id} ${round}`,
      skill: 'validate_content',
      piece: id,
      input: { content, context: { persona, platform, sources: sourcesOf(scored) } },
    })
    await pass(id, round, 'validated')
    return { content, verdict: verdict as ValidateContentOutput }
  }

  /** E4. */
  async function orFail<Result>(
    { id }: Plan,
    run: () => Promise<Result>,
  ): Promise<Result | undefined> {
    try {
      return await run()
    } catch (error) {
      if (!(error instanceof StepFailure)) throw error
      // E5: it was handed over before its time.
      if (pieceState(current(id)) === 'approved') await move(id, 'publishing')
      const failed = FAILED[pieceState(current(id))]
      if (failed !== undefined) await move(id, failed, { words: error.message })
      return undefined
    }
  }

  function reviewOf(plan: Plan, round: number, { content, verdict }: Judged): ReviewWanted {
    const { id, scored, platform } = plan
    const opened = current(id).moments.findLast(({ state }) => state === 'approval_pending')
    const from = opened === undefined ? now() : Date.parse(opened.at)
    const waitMs = (asked.review_minutes ?? LIMITS.reviewMs / 60_000) * 60_000
    return {
      review_id: namedUuid('review', campaign.campaign_id, id, String(round)),
      campaign_id: campaign.campaign_id,
      content,
      platform,
      ...(asked.publish_at !== undefined && { schedule_time: asked.publish_at }),
      confidence: Math.min(content.confidence_score, verdict.confidence_score),
      issues: verdict.issues,
      sources: sourcesOf(scored).map(({ url }) => ({ url, title: scored.trend.topic })),
      cost: book.record().budget.spent,
      round,
      expires_at: writeInstant(from + waitMs),
    }
  }

  async function publish({ id, platform }: Plan, review: ReviewSeen, round: number): Promise<void> {
    const { approval_token, content } = review
    const { publish_at: at } = asked
    const isLater = at !== undefined && instantOf(at) > now()
    const words = review.words ?? (isLater ? `it goes out at ${at}` : undefined)
    await pass(id, 1, 'approved', words === undefined ? {} : { words })
    if (!isLater) await pass(id, 1, 'publishing')
    const taken = async (step: string): Promise<PublishContentOutput> => {
      const answer = await steps.take({
        step,
        skill: 'publish_content',
        piece: id,
        input: {
          content,
          approval_token,
          platform,
          ...(at !== undefined && { schedule_time: at }),
        },
      })
      if (answer.success !== true) throw new StepFailure(step, 'the platform did not take it')
      return answer as PublishContentOutput
    }
    let { post_url, scheduled_for } = await taken(`publish ${id} ${round}`)
    if (scheduled_for !== undefined) {
      // E5.
      const dueAt = instantOf(scheduled_for) + LATE_MS
      if (dueAt + OUT_MS > hands.until) return
      if (dueAt > now()) await hands.sleep(dueAt - now(), hands.signal)
      await pass(id, 1, 'publishing')
      // Whoever takes it before its time says where it will be; who does not is asked again.
      if (post_url === undefined) {
        const step = `publish ${id} ${round} at its time`
        ;({ post_url, scheduled_for } = await taken(step))
        if (scheduled_for !== undefined) throw new StepFailure(step, 'it is still not out')
      }
    }
    await pass(id, 1, 'publishing')
    await pass(id, 1, 'published', post_url === undefined ? {} : { post_url })
  }

  return {
    async begin({ id, scored, platform }, refused) {
      if (pieceOf(book.record(), id) !== undefined) return
      await book.change((record, at) => {
        const piece: CampaignPiece = {
          piece_id: id,
          topic: scored.trend.topic,
          platform,
          moments: [{ state: 'trend_detected', at: writeInstant(at) }],
          relevance: scored.relevance_score,
        }
        // With what became of it, in one step: whoever finds it there goes on behind both.
        const moved =
          refused === undefined
            ? movedTo(piece, 'accepted', { now: at })
            : movedTo(piece, 'filtered_out', { now: at, words: refused })
        return withPiece(record, moved, at)
      })
    },

    async make(plan) {
      if (isPieceOver(current(plan.id))) return undefined
      return orFail(plan, () => write(plan, roundOf(current(plan.id)), wordsFor(current(plan.id))))
    },

    async finish(plan, made) {
      const { id } = plan
      let judged: Judged | undefined = made
      while (judged !== undefined && !isPieceOver(current(id))) {
        const round = roundOf(current(id))
        await pass(id, round, 'approval_pending')
        const review = reviewOf(plan, round, judged)
        await book.change((record, at) =>
          withPiece(record, { ...current(id), review_id: review.review_id }, at),
        )
        const doubted = judged.content.requires_review || judged.verdict.requires_human_review
        const seen = await people.ask(review, doubted)
        if (seen.state === 'approved') {
          await orFail(plan, () => publish(plan, seen, round))
          return
        }
        const words = seen.words === undefined ? {} : { words: seen.words }
        if (seen.state === 'expired') {
          await move(id, 'approval_expired', { words: 'nobody answered in time' })
          return
        }
        await move(id, 'rejected', words)
        // E2.
        judged = isPieceOver(current(id))
          ? undefined
          : await orFail(plan, () => write(plan, round + 1, seen.words))
      }
    },
  }
}

/** A scheduled post is at most so late (publish/scheduler.ts), and clocks differ a little. */
const LATE_MS = 2_000
/** For asking whether it is out. */
const OUT_MS = 60_000

/** Where a failing step leaves a piece. */
const FAILED: Readonly<Partial<Record<ContentState, ContentState>>> = {
  generating: 'generation_failed',
  validating: 'validation_failed',
  publishing: 'publish_failed',
}

/** How often it has been written, or is now to be: once more for each time it was sent back. */
const roundOf = ({ moments }: CampaignPiece): number =>
  moments.filter(({ state }) => state === 'rejected').length + 1

const wordsFor = ({ moments }: CampaignPiece): string | undefined =>
  moments.findLast(({ state }) => state === 'rejected')?.words

const sourcesOf = ({ trend }: ScoredTrend) =>
  (trend.metadata?.source_urls ?? []).map((url) => ({ url }))

const MOST_HASHTAGS = 30
const MOST_CAPTION = 2_000

/** What the campaign wants in each text, whoever wrote it. */
function withRequired(content: ContentPackage, campaign: RunCampaignInput['campaign']) {
  const { required_hashtags = [], required_mentions = [] } = campaign.content_guidelines
  const hashtags = [...new Set([...required_hashtags, ...content.hashtags])].slice(0, MOST_HASHTAGS)
  const missing = required_mentions.filter((each) => !content.captions.includes(each))
  const captions = [content.captions, ...missing].join(' ').slice(0, MOST_CAPTION)
  return { ...content, hashtags, captions }
}
