/**
 * A review: what an agent wants to publish lies before a person, who says yes or no, once.
 *
 *   V1  What is decided is what was shown, to the byte; who saw something else decides nothing.
 *   V2  One answer counts. The same answer by the same person again is that answer.
 *   V3  Its time may pass: from then on nobody decides it, and it counts as unanswered.
 *   V4  Whoever edits approves the text as edited, and that is what may be published.
 *   V5  Whoever asked may have no more use for an answer: then its time is over at once.
 */
import type { Publication } from '../approval.ts'
import { accept, type Decision, refuse } from '../decision.ts'
import type {
  AgentId,
  ApprovalId,
  CampaignId,
  Digest,
  Instant,
  OwnerId,
  ReviewerId,
  ReviewId,
} from '../ids.ts'
import { LIMITS } from '../limits.ts'

export type ReviewVerdict =
  | { readonly is: 'approved'; readonly approval: ApprovalId; readonly publication: Publication }
  | { readonly is: 'rejected' }

export type ReviewAnswer = {
  readonly verdict: ReviewVerdict
  readonly reviewer: ReviewerId
  readonly words?: string
  readonly at: Instant
}

export type Review = {
  readonly id: ReviewId
  readonly owner: OwnerId
  readonly agent: AgentId
  readonly campaign?: CampaignId
  /** As it was shown. */
  readonly publication: Publication
  readonly openedAt: Instant
  readonly expiresAt: Instant
  readonly answer?: ReviewAnswer
}

export type ReviewState = 'pending' | 'approved' | 'rejected' | 'expired'

/** V3. */
export function reviewStateOf({ answer, expiresAt }: Review, now: Instant): ReviewState {
  if (answer !== undefined) return answer.verdict.is
  return expiresAt <= now ? 'expired' : 'pending'
}

export type ReviewFact =
  | { readonly type: 'review_opened'; readonly review: Review }
  | { readonly type: 'review_answered'; readonly id: ReviewId; readonly answer: ReviewAnswer }
  | { readonly type: 'review_withdrawn'; readonly id: ReviewId; readonly at: Instant }

export type OpenRefusal = 'key_conflict' | 'expiry_too_far' | 'review_expired'

/** Opened again, it is the same review, whatever became of it. */
export function decideOpenReview(
  known: Review | undefined,
  asked: Omit<Review, 'openedAt' | 'answer'>,
  now: Instant,
): Decision<ReviewFact, OpenRefusal> {
  if (known !== undefined) {
    const isSame =
      known.agent === asked.agent && known.publication.bytes === asked.publication.bytes
    return isSame ? accept() : refuse('key_conflict')
  }
  if (asked.expiresAt > now + LIMITS.reviewMs + LIMITS.skewMs) return refuse('expiry_too_far')
  if (asked.expiresAt <= now) return refuse('review_expired')
  return accept({ type: 'review_opened', review: { ...asked, openedAt: now } })
}

export type AnswerRefusal =
  | 'review_unknown'
  | 'approval_mismatched'
  | 'review_closed'
  | 'review_expired'

export function decideAnswer(
  review: Review | undefined,
  asked: Omit<ReviewAnswer, 'at'> & { readonly shown: Digest },
  now: Instant,
): Decision<ReviewFact, AnswerRefusal> {
  if (review === undefined) return refuse('review_unknown')
  const { shown, ...said } = asked
  if (review.publication.bytes !== shown) return refuse('approval_mismatched')
  if (review.answer !== undefined) {
    return isSameAnswer(review.answer, said) ? accept() : refuse('review_closed')
  }
  if (review.expiresAt <= now) return refuse('review_expired')
  return accept({ type: 'review_answered', id: review.id, answer: { ...said, at: now } })
}

/** V5. Of what is answered or over already nothing is left to withdraw. */
export function decideWithdraw(review: Review, now: Instant): Decision<ReviewFact, never> {
  if (reviewStateOf(review, now) !== 'pending') return accept()
  return accept({ type: 'review_withdrawn', id: review.id, at: now })
}

/** V2. Each approval has an id of its own, so that alone is no difference. */
function isSameAnswer(before: ReviewAnswer, said: Omit<ReviewAnswer, 'at'>): boolean {
  if (before.reviewer !== said.reviewer || before.words !== said.words) return false
  if (before.verdict.is === 'rejected' || said.verdict.is === 'rejected') {
    return before.verdict.is === said.verdict.is
  }
  return before.verdict.publication.bytes === said.verdict.publication.bytes
}

export function applyReview(review: Review | undefined, fact: ReviewFact): Review | undefined {
  if (fact.type === 'review_opened') return fact.review
  if (review === undefined) return undefined
  if (fact.type === 'review_withdrawn') return { ...review, expiresAt: fact.at }
  return { ...review, answer: fact.answer }
}
