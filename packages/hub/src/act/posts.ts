/**
 * The outbox: the platform that every hub has. A post stands on an approval that was used for it,
 * has a page for anybody, and is out at its time.
 */
import type { PostSeen, PostsWanted, PostWanted } from '@chimera/dialects/chimera'
import { type Shown, shownOn } from '@chimera/dialects/skills/posting'
import { isUuid } from '@chimera/dialects/wire'
import { type Refused, refuse } from '@chimera/domain/decision'
import type { ContentId, CorrelationId, PostId } from '@chimera/domain/ids'
import type { Refusal } from '@chimera/domain/refusals'
import type { KeptPost } from '../ports/posts.ts'
import { digestOfContent, ownerFor, unwritable } from './approvals.ts'
import { type Caller, forbidden, isOperator, nameOf, permit } from './caller.ts'
import type { Hub } from './hub.ts'

export async function acceptPost(
  hub: Hub,
  caller: Caller,
  wanted: PostWanted,
  { correlation }: { readonly correlation: CorrelationId },
): Promise<({ readonly ok: true; readonly made: boolean } & PostSeen) | Refused<Refusal>> {
  const permitted = permit(caller, 'agents')
  if (!permitted.ok) return permitted
  const { owner } = caller
  if (owner === undefined) return forbidden()
  const { package: content, platform, scheduledAt, approval } = wanted
  const bytes = digestOfContent(content)
  if (bytes === undefined) return unwritable()
  const publication = {
    content: content.content_id.toLowerCase() as ContentId,
    bytes,
    platform,
    ...(scheduledAt !== undefined && { scheduledAt }),
  }
  const { decision, kept } = await hub.keep.posts.accept(
    { id: hub.uuidV7() as PostId, owner, publication, approval, by: nameOf(caller) },
    shownOn(platform, content),
    correlation,
  )
  if (!decision.ok) return decision
  if (kept === undefined) return refuse('post_unknown')
  return { ok: true, made: decision.facts.length > 0, ...seen(kept) }
}

export async function showPost(
  hub: Hub,
  caller: Caller,
  id: string,
): Promise<({ readonly ok: true } & PostSeen) | Refused<Refusal>> {
  const permitted = permit(caller, 'read')
  if (!permitted.ok) return permitted
  const found = await findPost(hub, id)
  const mine = found?.post.owner === caller.owner || isOperator(caller)
  return found === undefined || !mine ? refuse('post_unknown') : { ok: true, ...found }
}

export async function listPosts(
  hub: Hub,
  caller: Caller,
  { owner: asked, after, limit, ...filter }: PostsWanted,
): Promise<
  | { readonly ok: true; readonly posts: readonly PostSeen[]; readonly more: boolean }
  | Refused<Refusal>
> {
  const owner = ownerFor(caller, asked)
  if (!owner.ok) return owner
  const found = await hub.keep.posts.list({
    ...filter,
    owner: owner.owner,
    limit: limit + 1,
    ...(after && { before: after }),
  })
  return { ok: true, posts: found.slice(0, limit).map(seen), more: found.length > limit }
}

/** For its page, which anybody may look at; with the receipt of its approval. */
export async function openPost(
  hub: Hub,
  id: string,
): Promise<(PostSeen & { readonly receipt?: object }) | undefined> {
  const found = await findPost(hub, id)
  if (found === undefined) return undefined
  const approval = await hub.keep.approvals.find(found.post.approval)
  return { ...found, ...(approval?.receipt && { receipt: approval.receipt }) }
}

async function findPost(hub: Hub, id: string): Promise<PostSeen | undefined> {
  if (!isUuid(id)) return undefined
  const kept = await hub.keep.posts.find(id.toLowerCase() as PostId)
  return kept && seen(kept)
}

/** The hub made it itself when the post was accepted. */
const seen = ({ post, shown }: KeptPost): PostSeen => ({ post, shown: shown as Shown })
