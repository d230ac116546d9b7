/**
 * Reviews: what lies before a person, and what the person said of it.
 *
 *   W1  A review and its fact are written together, and so is its answer.
 *   W2  Of two who answer one at once, one is first, whichever hub they ask; the other finds that
 *       answer and is judged by it.
 */
import {
  type AnswerRefusal,
  decideAnswer,
  decideOpenReview,
  decideWithdraw,
  type OpenRefusal,
  type Review,
  type ReviewAnswer,
  type ReviewFact,
  type ReviewState,
} from '@chimera/domain/campaign/review'
import { type Decision, refuse } from '@chimera/domain/decision'
import type {
  AgentId,
  CampaignId,
  ContentId,
  CorrelationId,
  Digest,
  Instant,
  OwnerId,
  ReviewId,
} from '@chimera/domain/ids'
import type { Database, Queries } from './engine/database.ts'
import { type RetryHands, retrying } from './engine/retry.ts'
import { appendFacts } from './facts/append.ts'
import { isStorable } from './storable.ts'

/** With what the person sees, and the content as edited. */
export type KeptReview = {
  readonly review: Review
  readonly shown: object
  readonly edited?: object
}

export type ReviewOpened = Omit<Review, 'openedAt' | 'answer'> & { readonly shown: object }

export type AnswerGiven = Omit<ReviewAnswer, 'at'> & {
  readonly id: ReviewId
  readonly owner: OwnerId
  readonly bytes: Digest
  readonly edited?: object
  readonly by: string
}

export type ReviewQuery = {
  readonly owner: OwnerId
  readonly state?: ReviewState
  readonly campaign?: CampaignId
  readonly before?: { readonly at: Instant; readonly id: string }
  readonly limit: number
}

export type Reviews = {
  readonly open: (
    opened: ReviewOpened,
    correlation: CorrelationId,
  ) => Promise<Decision<ReviewFact, OpenRefusal | 'message_malformed'>>
  readonly answer: (
    given: AnswerGiven,
    correlation: CorrelationId,
  ) => Promise<Decision<ReviewFact, AnswerRefusal>>
  /** Whatever of the campaign still waits: its time is over. */
  readonly withdraw: (
    withdrawn: { readonly campaign: CampaignId; readonly owner: OwnerId; readonly by: string },
    correlation: CorrelationId,
  ) => Promise<void>
  readonly find: (id: ReviewId) => Promise<KeptReview | undefined>
  /** The latest first. */
  readonly list: (query: ReviewQuery) => Promise<readonly KeptReview[]>
}

type ReviewRow = {
  readonly id: ReviewId
  readonly owner: OwnerId
  readonly agent: AgentId
  readonly campaign: CampaignId | null
  readonly content: ContentId
  readonly bytes: Digest
  readonly platform: string
  readonly scheduled_at: Instant | null
  readonly opened_at: Instant
  readonly expires_at: Instant
  readonly shown: object
  readonly answer: ReviewAnswer | null
  readonly edited: object | null
}

const INSERT = 'INSERT INTO reviews SELECT * FROM json_populate_record(NULL::reviews, $1::json)'

const WAITING = `
  SELECT * FROM reviews
  WHERE owner = $1 AND campaign = $2 AND answer IS NULL AND expires_at > $3
  ORDER BY id FOR UPDATE`

const LIST = `
  SELECT * FROM reviews
  WHERE owner = $1
    AND CASE $2::text
      WHEN 'pending' THEN answer IS NULL AND expires_at > $3
      WHEN 'expired' THEN answer IS NULL AND expires_at <= $3
      WHEN 'approved' THEN answer #>> '{verdict,is}' = 'approved'
      WHEN 'rejected' THEN answer #>> '{verdict,is}' = 'rejected'
      ELSE true END
    AND ($4::text IS NULL OR campaign = $4)
    AND ($5::bigint IS NULL OR (opened_at, id) < ($5, $6))
  ORDER BY opened_at DESC, id DESC LIMIT $7`

export function createReviews({
  database,
  clock,
  chance,
}: {
  readonly database: Database
  readonly clock: { readonly now: () => Instant; readonly sleep: RetryHands['sleep'] }
  readonly chance: { readonly fraction: () => number }
}): Reviews {
  const hands: RetryHands = { sleep: clock.sleep, fraction: chance.fraction }

  return {
    open: async ({ shown, ...asked }, correlation) => {
      if (!isStorable([asked.id, asked.owner, JSON.stringify(shown)])) {
        return refuse('message_malformed')
      }
      return retrying(
        () =>
          database.transaction(async (tx) => {
            const now = clock.now()
            const known = await read(tx, asked.id)
            const decision = decideOpenReview(known?.review, asked, now)
            if (!decision.ok || decision.facts.length === 0) return decision
            await tx.query(INSERT, [JSON.stringify(rowOf({ ...asked, openedAt: now }, shown))])
            await write(tx, decision.facts, { now, correlation, by: `agent:${asked.agent}` })
            return decision
          }),
        hands,
      )
    },

    answer: ({ id, owner, bytes, edited, by, ...said }, correlation) =>
      retrying(
        () =>
          database.transaction(async (tx) => {
            // W2: whoever comes second waits for the first, and then sees its answer.
            const kept = await read(tx, id, 'FOR UPDATE')
            const now = clock.now()
            const review = kept?.review.owner === owner ? kept.review : undefined
            const decision = decideAnswer(review, { ...said, shown: bytes }, now)
            if (!decision.ok || decision.facts.length === 0) return decision
            const answer = { ...said, at: now }
            await tx.query('UPDATE reviews SET answer = $2, edited = $3 WHERE id = $1', [
              id,
              JSON.stringify(answer),
              edited === undefined ? null : JSON.stringify(edited),
            ])
            await write(tx, decision.facts, { now, correlation, by })
            return decision
          }),
        hands,
      ),

    withdraw: ({ campaign, owner, by }, correlation) =>
      retrying(
        () =>
          database.transaction(async (tx) => {
            const now = clock.now()
            const waiting = await tx.query<ReviewRow>(WAITING, [owner, campaign, now])
            for (const { review } of waiting.map(keptOf)) {
              const decision = decideWithdraw(review, now)
              if (!decision.ok || decision.facts.length === 0) continue
              await tx.query('UPDATE reviews SET expires_at = $2 WHERE id = $1', [review.id, now])
              await write(tx, decision.facts, { now, correlation, by })
            }
          }),
        hands,
      ),

    find: async (id) => (isStorable(id) ? read(database, id) : undefined),

    async list({ owner, state, campaign, before, limit }) {
      if (!isStorable(owner)) return []
      const place = [before?.at ?? null, before?.id ?? null]
      const params = [owner, state ?? null, clock.now(), campaign ?? null, ...place, limit]
      return (await database.query<ReviewRow>(LIST, params)).map(keptOf)
    },
  }
}

/** W1. The trail says what was decided, and about which bytes; texts and words can be deleted. */
async function write(
  tx: Queries,
  facts: readonly ReviewFact[],
  { now, correlation, by }: { now: Instant; correlation: CorrelationId; by: string },
): Promise<void> {
  await appendFacts(
    tx,
    facts.map((fact) => ({ fact: { ...wordless(fact), by }, recordedAt: now, correlation })),
  )
}

function wordless(fact: ReviewFact): object {
  if (fact.type !== 'review_answered') return fact
  const { words: _, ...answer } = fact.answer
  return { ...fact, answer }
}

async function read(
  queries: Queries,
  id: ReviewId,
  lock: 'FOR UPDATE' | '' = '',
): Promise<KeptReview | undefined> {
  const sql = `SELECT * FROM reviews WHERE id = $1 ${lock}`.trimEnd()
  return (await queries.query<ReviewRow>(sql, [id])).map(keptOf)[0]
}

function keptOf(row: ReviewRow): KeptReview {
  const { id, owner, agent, content, bytes, platform, shown } = row
  const review: Review = {
    id,
    owner,
    agent,
    ...(row.campaign !== null && { campaign: row.campaign }),
    publication: {
      content,
      bytes,
      platform,
      ...(row.scheduled_at !== null && { scheduledAt: row.scheduled_at }),
    },
    openedAt: row.opened_at,
    expiresAt: row.expires_at,
    ...(row.answer !== null && { answer: row.answer }),
  }
  return { review, shown, ...(row.edited !== null && { edited: row.edited }) }
}

function rowOf(review: Review, shown: object): ReviewRow {
  const { id, owner, agent, campaign = null, publication, openedAt, expiresAt } = review
  const { content, bytes, platform, scheduledAt = null } = publication
  return {
    id,
    owner,
    agent,
    campaign,
    content,
    bytes,
    platform,
    scheduled_at: scheduledAt,
    opened_at: openedAt,
    expires_at: expiresAt,
    shown,
    answer: null,
    edited: null,
  }
}
