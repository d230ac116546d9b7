/**
 * A platform on this machine, for whoever has none: posts are kept in memory or in a file, and
 * nobody else sees them. Their address is a name and leads nowhere.
 */
import type { Instant } from '@chimera/domain/ids'
import { namedUuid } from '../named-uuid.ts'
import type { FilePost } from './file-keep.ts'
import type { PlatformPublisher } from './platform.ts'

export type LocalPosts = {
  readonly find: (key: string) => Promise<FilePost | undefined>
  readonly add: (post: FilePost) => Promise<FilePost>
}

function createMemoryPosts(): LocalPosts {
  const posts = new Map<string, FilePost>()
  return {
    find: async (key) => posts.get(key),
    add: async (post) => {
      posts.set(post.key, post)
      return post
    },
  }
}

export function createLocalOutbox({
  now,
  posts = createMemoryPosts(),
}: {
  readonly now: () => Instant
  readonly posts?: LocalPosts
}): PlatformPublisher {
  return {
    name: 'the outbox of this machine, which nobody else reads',
    once: true,
    async publish({ key, platform, text, title, hashtags }) {
      const known = await posts.find(key)
      if (known !== undefined) return known
      const postId = namedUuid('outbox', key)
      return posts.add({
        key,
        postId,
        url: `urn:chimera:outbox:${platform}:${postId}`,
        publishedAt: now(),
        platform,
        text,
        hashtags,
        ...(title !== undefined && { title }),
      })
    },
    find: posts.find,
  }
}
