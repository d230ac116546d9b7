/** Posts: what was published through the hub's own outbox, and how it is asked for. */
import type { ApprovalId, ContentId, Instant, OwnerId, PostId } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import { outAt, type Post } from '@chimera/domain/post'
import { type Static, Type } from 'typebox'
import { asItIs, checker, reader } from '../check.ts'
import type { Messages } from '../messages.ts'
import { queryChecker } from '../query.ts'
import { ContentPackage } from '../skills/content.ts'
import type { Shown } from '../skills/posting.ts'
import { Hashtag, PublishPlatform } from '../skills/words.ts'
import {
  DateTime,
  instantOf,
  OwnerName,
  readUuid,
  textUpTo,
  Url,
  Uuid,
  writeInstant,
} from '../wire.ts'
import { PlaceText, readPlace, writePlace } from './place.ts'

export const NewPost = Type.Object(
  {
    content: { ...ContentPackage, description: 'The package that was approved, as it was' },
    platform: PublishPlatform,
    schedule_time: Type.Optional(Type.Union([DateTime, Type.Null()])),
    approval_id: { ...Uuid, description: 'An approval that was used for this publication' },
  },
  { title: 'New post', additionalProperties: false },
)
const post = {
  post_id: Uuid,
  post_url: { ...Url, description: 'The page of the post, for anybody' },
  status: Type.Enum(['scheduled', 'published']),
  platform: PublishPlatform,
  content_id: Uuid,
  content_sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  owner_id: OwnerName,
  title: Type.Optional(textUpTo(100)),
  text: textUpTo(5_000),
  media: Type.Array(
    Type.Object({
      url: Url,
      type: Type.Optional(Type.Enum(['image', 'video'])),
      alt_text: Type.Optional(textUpTo(1_000)),
    }),
    { maxItems: 10 },
  ),
  hashtags: Type.Array(Hashtag, { maxItems: 30 }),
  approval_id: Uuid,
  reviewer_id: Type.String({ minLength: 1, maxLength: LIMITS.reviewerChars }),
  accepted_at: DateTime,
  scheduled_for: Type.Optional(DateTime),
  published_at: Type.Optional(DateTime),
}
export const PostShown = Type.Object(post, { title: 'Post' })
export const PostQuery = Type.Object(
  {
    owner_id: Type.Optional(OwnerName),
    content_id: Type.Optional(Uuid),
    platform: Type.Optional(PublishPlatform),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIMITS.postsPerPage })),
    after: Type.Optional(PlaceText),
  },
  { title: 'Post query', additionalProperties: false },
)
export const PostList = Type.Object(
  { posts: Type.Array(PostShown), next_after: Type.Optional(PlaceText) },
  { title: 'Posts' },
)

export type PostWanted = {
  readonly package: ContentPackage
  readonly platform: PublishPlatform
  readonly scheduledAt?: Instant
  readonly approval: ApprovalId
}
export type PostsWanted = {
  readonly owner?: OwnerId
  readonly content?: ContentId
  readonly platform?: PublishPlatform
  readonly after?: { readonly outAt: Instant; readonly id: PostId }
  readonly limit: number
}
export type PostMessage = Static<typeof PostShown>

const DEFAULT_PAGE = 20

export const readNewPost = reader(
  checker(NewPost),
  ({ content, platform, schedule_time: time, approval_id }): PostWanted => ({
    package: content,
    platform,
    ...(time !== undefined && time !== null && { scheduledAt: instantOf(time) }),
    approval: readUuid<ApprovalId>(approval_id),
  }),
)

/** How a publisher asks for it. */
export const encodeNewPost = ({
  package: content,
  platform,
  scheduledAt,
  approval,
}: PostWanted) => ({
  content,
  platform,
  ...(scheduledAt !== undefined && { schedule_time: writeInstant(scheduledAt) }),
  approval_id: approval,
})

export const readPost = asItIs(checker(PostShown))
export const readPosts = asItIs(checker(PostList))

export const readPostQuery = reader(
  queryChecker(PostQuery),
  ({ owner_id, content_id, platform, limit = DEFAULT_PAGE, after }): PostsWanted => {
    const place = after === undefined ? undefined : readPlace(after)
    return {
      limit,
      ...(owner_id !== undefined && { owner: owner_id as OwnerId }),
      ...(content_id !== undefined && { content: readUuid<ContentId>(content_id) }),
      ...(platform !== undefined && { platform }),
      ...(place && { after: { outAt: place.at, id: place.id as PostId } }),
    }
  },
)

/** A post, and what is shown of it. */
export type PostSeen = { readonly post: Post; readonly shown: Shown }
/** Where the hub is, as its callers know it, and what time it is there. */
export type Place = { readonly origin: string; readonly now: Instant }

export const encodePost = ({ post: kept, shown }: PostSeen, { origin, now }: Place) => {
  const { id, owner, publication: what, approval, reviewer, acceptedAt } = kept
  const out = outAt(kept)
  return {
    post_id: id,
    post_url: `${origin}/posts/${id}`,
    status: out <= now ? 'published' : 'scheduled',
    platform: what.platform,
    content_id: what.content,
    content_sha256: what.bytes,
    owner_id: owner,
    ...(shown.title !== undefined && { title: shown.title }),
    text: shown.text,
    media: shown.media.map(({ url, type, alt }) => ({
      url,
      ...(type && { type }),
      ...(alt !== undefined && { alt_text: alt }),
    })),
    hashtags: shown.hashtags,
    approval_id: approval,
    reviewer_id: reviewer,
    accepted_at: writeInstant(acceptedAt),
    ...(what.scheduledAt !== undefined && { scheduled_for: writeInstant(what.scheduledAt) }),
    ...(out <= now && { published_at: writeInstant(out) }),
  }
}

export const encodePosts = (
  { posts, more }: { readonly posts: readonly PostSeen[]; readonly more: boolean },
  place: Place,
) => {
  const last = posts.at(-1)?.post
  return {
    posts: posts.map((each) => encodePost(each, place)),
    ...(more && last && { next_after: writePlace({ at: outAt(last), id: last.id }) }),
  }
}

export const POST_MESSAGES = {
  'new-post': { schema: NewPost, read: readNewPost },
  post: { schema: PostShown, read: readPost, quotes: true },
  'post-query': { schema: PostQuery, read: readPostQuery },
  'post-list': { schema: PostList, read: readPosts, quotes: true },
} satisfies Messages
