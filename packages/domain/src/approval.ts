/**
 * A person's approval: of what exactly, by whom, until when, used or not (P-5, SK-10).
 *
 *   Y1  It is for these exact bytes, on this platform, at this time, and for nothing else.
 *   Y2  It is good for one publication. The same publication asked for again is the same one.
 *   Y3  It lives two hours at most. A scheduled post is checked when it is accepted, so an approval
 *       need not outlive the wait.
 *   Y4  Whoever uses it names the use. The same use again is answered as the first was, so that a
 *       lost answer costs nothing; any other comes too late.
 */
import { accept, type Decision, refuse } from './decision.ts'
import type { ApprovalId, ContentId, Digest, Instant, OwnerId, ReviewerId } from './ids.ts'
import { LIMITS } from './limits.ts'

/** What is approved, and what is later published: they must be the same. */
export type Publication = {
  readonly content: ContentId
  readonly bytes: Digest
  readonly platform: string
  /** Absent: at once. */
  readonly scheduledAt?: Instant
}

export type Approval = {
  readonly id: ApprovalId
  readonly publication: Publication
  readonly reviewer: ReviewerId
  readonly approvedAt: Instant
  readonly expiresAt: Instant
  readonly usedAt?: Instant
}

/** As it is kept: for whom it was given, by which credential, and by which use it was used up. */
export type KeptApproval = Approval & {
  readonly owner: OwnerId
  readonly by: string
  readonly use?: string
}

export type ApprovalUse = {
  readonly owner: OwnerId
  readonly publication: Publication
  readonly use: string
}

export type ApprovalFact =
  | { readonly type: 'publication_approved'; readonly approval: Approval }
  | {
      readonly type: 'approval_used'
      readonly id: ApprovalId
      readonly at: Instant
      readonly reviewer: ReviewerId
      readonly publication: Publication
    }

export function decideApprove(
  asked: Omit<Approval, 'approvedAt' | 'usedAt'>,
  now: Instant,
): Decision<ApprovalFact, 'expiry_too_far' | 'approval_expired'> {
  if (asked.expiresAt > now + LIMITS.approvalTtlMs) return refuse('expiry_too_far')
  if (asked.expiresAt <= now) return refuse('approval_expired')
  return accept({ type: 'publication_approved', approval: { ...asked, approvedAt: now } })
}

/** Strongest first: who has edited the content hears that, whether or not the approval is fresh. */
export type UseRefusal =
  | 'approval_invalid'
  | 'approval_mismatched'
  | 'approval_used'
  | 'approval_expired'

export function decideUse(
  approval: Approval | undefined,
  publication: Publication,
  now: Instant,
): Decision<ApprovalFact, UseRefusal> {
  if (approval === undefined) return refuse('approval_invalid')
  if (!isSamePublication(approval.publication, publication)) return refuse('approval_mismatched')
  if (approval.usedAt !== undefined) return refuse('approval_used')
  if (approval.expiresAt <= now) return refuse('approval_expired')
  const { id, reviewer } = approval
  return accept({ type: 'approval_used', id, at: now, reviewer, publication })
}

/** Y4. Accepts without a fact when it is the use that was recorded. */
export function decideKeptUse(
  kept: KeptApproval | undefined,
  { owner, publication, use }: ApprovalUse,
  now: Instant,
): Decision<ApprovalFact, UseRefusal> {
  // Who owns an approval is nobody else's to learn.
  const decision = decideUse(kept?.owner === owner ? kept : undefined, publication, now)
  if (decision.ok || decision.refusal !== 'approval_used') return decision
  return kept?.use === use ? accept() : decision
}

export function applyApproval(
  approval: Approval | undefined,
  fact: ApprovalFact,
): Approval | undefined {
  if (fact.type === 'publication_approved') return fact.approval
  return approval === undefined ? undefined : { ...approval, usedAt: fact.at }
}

export const isSamePublication = (one: Publication, other: Publication): boolean =>
  one.content === other.content &&
  one.bytes === other.bytes &&
  one.platform === other.platform &&
  one.scheduledAt === other.scheduledAt
