/**
 * A post in the hub's own outbox: what was approved, shown under an address of its own.
 *
 *   T1  One post for each content of an owner on a platform, asked for however often.
 *   T2  It stands on an approval that was used for exactly this publication.
 *   T3  It is out at its time, and nobody has to do anything for that.
 */
import { isSamePublication, type KeptApproval, type Publication } from './approval.ts'
import { accept, type Decision, refuse } from './decision.ts'
import type { ApprovalId, Instant, OwnerId, PostId, ReviewerId } from './ids.ts'

export type Post = {
  readonly id: PostId
  readonly owner: OwnerId
  readonly publication: Publication
  readonly approval: ApprovalId
  readonly reviewer: ReviewerId
  readonly acceptedAt: Instant
}

export type PostAccepted = { readonly type: 'post_accepted'; readonly post: Post }

export type PostAsked = {
  readonly id: PostId
  readonly owner: OwnerId
  readonly publication: Publication
}

export type PostRefusal = 'approval_unknown' | 'approval_mismatched' | 'approval_unused'

/** Accepts without a fact where the content is on the platform already (T1). */
export function decidePost(
  state: { readonly known: Post | undefined; readonly approval: KeptApproval | undefined },
  { id, owner, publication }: PostAsked,
  now: Instant,
): Decision<PostAccepted, PostRefusal> {
  if (state.known !== undefined) return accept()
  const { approval } = state
  if (approval?.owner !== owner) return refuse('approval_unknown')
  if (!isSamePublication(approval.publication, publication)) return refuse('approval_mismatched')
  if (approval.usedAt === undefined) return refuse('approval_unused')
  const { reviewer } = approval
  const post = { id, owner, publication, approval: approval.id, reviewer, acceptedAt: now }
  return accept({ type: 'post_accepted', post })
}

/** When it is out (T3). */
export function outAt({ acceptedAt, publication }: Post): Instant {
  return Math.max(acceptedAt, publication.scheduledAt ?? acceptedAt)
}
