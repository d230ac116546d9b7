/**
 * The hub's outbox as a platform: posts with a page of their own. A hub takes one post for each
 * content and platform, so asking again is safe, and it shows a scheduled post at its time.
 */
import { encodeNewPost, type PostMessage, readPost, readPosts } from '@chimera/dialects/chimera'
import type { ApprovalId } from '@chimera/domain/ids'
import { type HubDoor, HubUnasked } from './hub-door.ts'
import { PlatformFailure, type PlatformPublisher, type Posted } from './platform.ts'

export function createHubOutbox(door: HubDoor): PlatformPublisher {
  return {
    name: `the outbox of ${door.address}`,
    schedules: true,
    once: true,

    async publish({ platform, content, approval, scheduledAt }, signal) {
      const body = encodeNewPost({
        package: content,
        platform,
        ...(scheduledAt !== undefined && { scheduledAt }),
        approval: approval.id as ApprovalId,
      })
      const answer = await door
        .ask({ method: 'POST', path: '/v1/posts', body }, signal)
        .catch(unasked)
      if (answer.status === 200 || answer.status === 201) {
        const read = readPost(answer.body)
        if (read.ok) return postedOf(read.value)
        throw new PlatformFailure('PLATFORM_ERROR', 'unknown', 'what answers there is no hub')
      }
      const { code }: { readonly code?: unknown } = Object(answer.body)
      // Before its rules have spoken a hub has changed nothing; after a fault of its own who knows.
      const reason =
        answer.status >= 500 || answer.status === 429 ? 'PLATFORM_ERROR' : 'PUBLISH_FAILED'
      const leaves = answer.status >= 500 && code !== 'service_unavailable' ? 'unknown' : 'nothing'
      throw new PlatformFailure(reason, leaves, `HTTP ${answer.status} ${JSON.stringify(code)}`)
    },

    async find(_, signal, { platform, content }) {
      const query = `?content_id=${content.content_id}&platform=${platform}&limit=1`
      const answer = await door.ask({ method: 'GET', path: `/v1/posts${query}` }, signal)
      const read = answer.status === 200 ? readPosts(answer.body) : undefined
      if (!read?.ok) throw new PlatformFailure('PLATFORM_ERROR', 'unknown', 'no list came back')
      const [first] = read.value.posts
      return first && postedOf(first)
    },
  }
}

function unasked(error: unknown): never {
  if (!(error instanceof HubUnasked)) throw error
  const leaves = error.sent ? 'unknown' : 'nothing'
  throw new PlatformFailure('PLATFORM_ERROR', leaves, error.message)
}

function postedOf({ post_id, post_url, published_at }: PostMessage): Posted {
  return {
    postId: post_id,
    url: post_url,
    ...(published_at !== undefined && { publishedAt: Date.parse(published_at) }),
  }
}
