/**
 * Reviews: an agent lays before a person what it wants to publish; the person answers, and a yes is
 * signed by the hub for exactly what was shown, or for what the person made of it (P-5).
 *
 *   V1  Only who has the right to review answers, and an agent's key never has it.
 *   V2  The token of an approval is shown to the agent that asked and to its owner's tokens that
 *       act for agents. It is made anew each time from what is kept: the same bytes, not stored.
 *   V3  An approval is given before the answer is kept. If that fails nobody has its token, and it
 *       expires by itself.
 */
import type {
  ReviewAsked,
  ReviewSaid,
  ReviewSeen,
  ReviewsWanted,
  ReviewWanted,
} from '@chimera/dialects/chimera'
import { isUuid, writeInstant } from '@chimera/dialects/wire'
import {
  decideAnswer,
  type Review,
  type ReviewAnswer,
  type ReviewVerdict,
  reviewStateOf,
} from '@chimera/domain/campaign/review'
import { type Refused, refuse } from '@chimera/domain/decision'
import type { ApprovalId, ContentId, CorrelationId, ReviewId } from '@chimera/domain/ids'
import type { Refusal } from '@chimera/domain/refusals'
import type { KeptReview } from '../ports/campaigns.ts'
import {
  approvalText,
  digestOfContent,
  giveApproval,
  ownerFor,
  unnamedReviewer,
  unwritable,
} from './approvals.ts'
import { type Caller, isOperator, nameOf, permit, permitAgent } from './caller.ts'
import { ownerOfAgent } from './campaigns.ts'
import type { Hub } from './hub.ts'

type Answer<Content> = ({ readonly ok: true } & Content) | Refused<Refusal>
type Cause = { readonly correlation: CorrelationId }

export async function openReview(
  hub: Hub,
  caller: Caller,
  asked: ReviewAsked,
  { correlation }: Cause,
): Promise<Answer<{ readonly made: boolean; readonly review: ReviewSeen }>> {
  const owned = await ownerOfAgent(hub, caller, asked.agent)
  if (!owned.ok) return owned
  const { id, agent, campaign, content, platform, scheduledAt, expiresAt, shown } = asked
  const bytes = digestOfContent(shown.content)
  if (bytes === undefined) return unwritable()
  const decision = await hub.keep.reviews.open(
    {
      id,
      agent,
      owner: owned.owner,
      ...(campaign && { campaign }),
      publication: {
        content: content.toLowerCase() as ContentId,
        bytes,
        platform,
        ...(scheduledAt !== undefined && { scheduledAt }),
      },
      expiresAt,
      shown,
    },
    correlation,
  )
  if (!decision.ok) return decision
  const seen = await showReview(hub, caller, id)
  return seen.ok ? { ...seen, made: decision.facts.length > 0 } : seen
}

export async function showReview(
  hub: Hub,
  caller: Caller,
  id: string,
): Promise<Answer<{ readonly review: ReviewSeen }>> {
  const kept = await findReview(hub, caller, id)
  return kept.ok ? { ok: true, review: await seenOf(hub, caller, kept) } : kept
}

async function findReview(hub: Hub, caller: Caller, id: string): Promise<Answer<KeptReview>> {
  const permitted = permit(caller, 'read')
  if (!permitted.ok) return permitted
  const kept = isUuid(id) ? await hub.keep.reviews.find(id.toLowerCase() as ReviewId) : undefined
  const mine = kept?.review.owner === caller.owner || isOperator(caller)
  return kept === undefined || !mine ? refuse('review_unknown') : { ok: true, ...kept }
}

export async function listReviews(
  hub: Hub,
  caller: Caller,
  { after, limit, ...wanted }: ReviewsWanted,
): Promise<
  Answer<{
    readonly reviews: readonly ReviewSeen[]
    readonly next?: { readonly at: number; readonly id: string }
  }>
> {
  const owner = ownerFor(caller, undefined)
  if (!owner.ok) return owner
  const found = await hub.keep.reviews.list({
    ...wanted,
    owner: owner.owner,
    limit: limit + 1,
    ...(after && { before: after }),
  })
  const page = found.slice(0, limit)
  const last = found.length > limit ? page.at(-1)?.review : undefined
  const reviews = await Promise.all(page.map((each) => seenOf(hub, caller, each)))
  return { ok: true, reviews, ...(last && { next: { at: last.openedAt, id: last.id } }) }
}

export async function answerReview(
  hub: Hub,
  caller: Caller,
  { id, said }: { readonly id: string; readonly said: ReviewSaid },
  cause: Cause,
): Promise<Answer<{ readonly review: ReviewSeen }>> {
  const permitted = permit(caller, 'review')
  if (!permitted.ok) return permitted
  const kept = await findReview(hub, caller, id)
  if (!kept.ok) return kept
  const { words, reviewer = unnamedReviewer(caller) } = said
  const answer = { reviewer, ...(words !== undefined && { words }) }
  const verdict = await verdictOf(hub, caller, { kept, said, answer }, cause)
  if ('ok' in verdict) return verdict
  const decision = await hub.keep.reviews.answer(
    {
      ...answer,
      id: kept.review.id,
      owner: kept.review.owner,
      bytes: said.shown,
      verdict,
      by: nameOf(caller),
      ...(said.verdict === 'approve' && said.content && { edited: said.content }),
    },
    cause.correlation,
  )
  return decision.ok ? showReview(hub, caller, id) : decision
}

type Saying = {
  readonly kept: KeptReview
  readonly said: ReviewSaid
  readonly answer: Pick<ReviewAnswer, 'reviewer' | 'words'>
}

/** V3. Nothing is signed for an answer that would not be taken, or that was taken before. */
async function verdictOf(
  hub: Hub,
  caller: Caller,
  { kept, said, answer }: Saying,
  cause: Cause,
): Promise<ReviewVerdict | Refused<Refusal>> {
  if (said.verdict === 'reject') return { is: 'rejected' }
  const { review } = kept
  const content = said.content ?? shownIn(kept).content
  const bytes = digestOfContent(content)
  if (bytes === undefined) return unwritable()
  const publication = { ...review.publication, bytes }
  const meant: ReviewVerdict = { is: 'approved', approval: hub.uuid() as ApprovalId, publication }
  const taken = decideAnswer(review, { ...answer, verdict: meant, shown: said.shown }, hub.now())
  if (!taken.ok) return taken
  if (review.answer !== undefined) return review.answer.verdict
  const { platform, scheduledAt } = publication
  const wanted = {
    what: { package: content },
    platform,
    reviewer: answer.reviewer,
    ...(scheduledAt !== undefined && { scheduledAt }),
  }
  const given = await giveApproval(hub, caller, wanted, cause)
  if (!given.ok) return given
  const { id: approval, publication: approved } = given.approval
  return { is: 'approved', approval, publication: approved }
}

/** What is kept was read by the schema when it came. */
const shownIn = ({ shown }: KeptReview): ReviewWanted => shown as ReviewWanted

async function seenOf(hub: Hub, caller: Caller, kept: KeptReview): Promise<ReviewSeen> {
  const { review, edited } = kept
  const { answer } = review
  const token = await tokenFor(hub, caller, review)
  const asked = shownIn(kept)
  return {
    ...asked,
    content: (edited as ReviewWanted['content'] | undefined) ?? asked.content,
    content_hash: review.publication.bytes,
    agent_id: review.agent,
    owner_id: review.owner,
    state: reviewStateOf(review, hub.now()),
    opened_at: writeInstant(review.openedAt),
    // Not as it was asked for: its time may have been ended before (V5 of the domain's review).
    expires_at: writeInstant(review.expiresAt),
    ...(answer && { decided_at: writeInstant(answer.at), reviewer: answer.reviewer }),
    ...(answer?.words !== undefined && { words: answer.words }),
    ...(token !== undefined && { approval_token: token }),
  }
}

/** V2. */
async function tokenFor(
  hub: Hub,
  caller: Caller,
  { agent: id, owner, answer }: Review,
): Promise<string | undefined> {
  if (answer?.verdict.is !== 'approved' || !permitAgent(caller, { id, owner }).ok) return undefined
  return approvalText(hub, answer.verdict.approval)
}
