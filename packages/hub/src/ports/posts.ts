/** The posts of the outbox: accepted once, never changed. */
import type { Decision } from '@chimera/domain/decision'
import type {
  ApprovalId,
  ContentId,
  CorrelationId,
  Instant,
  OwnerId,
  PostId,
} from '@chimera/domain/ids'
import type { Post, PostAccepted, PostAsked, PostRefusal } from '@chimera/domain/post'

/** With what was given to be shown. */
export type KeptPost = { readonly post: Post; readonly shown: unknown }

export type Posts = {
  /** One for each content of an owner on a platform; the first is answered from then on. */
  readonly accept: (
    asked: PostAsked & { readonly approval: ApprovalId; readonly by: string },
    shown: unknown,
    correlation: CorrelationId,
  ) => Promise<{
    readonly decision: Decision<PostAccepted, PostRefusal>
    readonly kept?: KeptPost
  }>
  readonly find: (id: PostId) => Promise<KeptPost | undefined>
  /** The latest first, by when they are out. */
  readonly list: (query: {
    readonly owner?: OwnerId
    readonly content?: ContentId
    readonly platform?: string
    readonly before?: { readonly outAt: Instant; readonly id: PostId }
    readonly limit: number
  }) => Promise<readonly KeptPost[]>
}
