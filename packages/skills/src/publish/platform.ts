/**
 * Where content becomes a post: the user's own platform behind an MCP tool, the hub's outbox, a
 * file. A port of one publisher, and how it says what became of a post.
 *
 *   F1  `publish` resolves only when the post is out. A `PlatformFailure` with `nothing` says that
 *       no post came of it for sure. Whatever else it throws, a time-out or an aborted signal
 *       included, leaves open whether there is one.
 *   F2  The key is the same for every try at one publication (one content on one platform). A
 *       publisher that can tell a repeat by it answers with the first post.
 *   F3  `find` answers with the post that was made under a key. `undefined` means that the platform
 *       has none and will have none; whoever cannot be sure of that throws.
 */
import type { ContentPackage } from '@chimera/dialects/skills/content'
import type { PublishPlatform } from '@chimera/dialects/skills/words'
import type { Instant } from '@chimera/domain/ids'

export type PostMedia = {
  readonly url: string
  readonly type?: 'image' | 'video'
  /** What is to be seen, for those who cannot. */
  readonly alt?: string
}

export type Post = {
  readonly key: string
  readonly platform: PublishPlatform
  /** What the platform shows, hashtags included where it has them in the text. */
  readonly text: string
  /** Where the platform has one. */
  readonly title?: string
  readonly media: readonly PostMedia[]
  readonly hashtags: readonly string[]
  /** The package that was approved, as it came. */
  readonly content: ContentPackage
  /** Who answers for it, and by which approval. The approval itself never leaves us. */
  readonly approval: { readonly id: string; readonly reviewer: string }
  /** Given to a publisher that `schedules`, for a post that is not due yet. */
  readonly scheduledAt?: Instant
}

export type Posted = {
  readonly postId: string
  /** Where a person finds it. */
  readonly url?: string
  /** When the platform says that it was published; when it answered, unless given. */
  readonly publishedAt?: Instant
}

export type PlatformPublisher = {
  /** As logs name it. */
  readonly name: string
  readonly publish: (post: Post, signal: AbortSignal) => Promise<Posted>
  /** See F3. Absent: what is unknown stays so until a person has looked. */
  readonly find?: (
    key: string,
    signal: AbortSignal,
    about: Pick<Post, 'platform' | 'content'>,
  ) => Promise<Posted | undefined>
  /** Takes a post before its time and shows it then. Absent: it is handed over when it is due. */
  readonly schedules?: true
  /** Keeps F2 for sure, so that asking again is the way to find out what became of a post. */
  readonly once?: true
}

/** `PLATFORM_ERROR`: the platform does not work. `PUBLISH_FAILED`: it does, and said no. */
export type PlatformCode = 'PUBLISH_FAILED' | 'PLATFORM_ERROR'

export class PlatformFailure extends Error {
  override readonly name = 'PlatformFailure'
  readonly reason: PlatformCode
  /** What came of it: no post for sure, or nobody knows. */
  readonly leaves: 'nothing' | 'unknown'

  constructor(reason: PlatformCode, leaves: PlatformFailure['leaves'], detail: string) {
    super(detail)
    this.reason = reason
    this.leaves = leaves
  }
}
