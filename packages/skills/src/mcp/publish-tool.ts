/**
 * A tool of the user's MCP server that publishes to a platform, as the publisher of that platform.
 *
 *   P1  No post came of it only where the tool was not run, or says so itself (`posted: false`).
 *       After a time-out, a broken connection or any other refusal, which may have come after the
 *       deed, nobody knows, and `find` is asked (platform.ts, F1).
 *   P2  The key goes with the post, so that a server which keeps it answers a repeat with the first
 *       post.
 *   P3  A tool that looks a key up answers `{ "found": false }` where there is no post. Any other
 *       answer without an id leaves it open.
 */
import { isHttpUrl } from '@chimera/dialects/wire'
import {
  type PlatformCode,
  PlatformFailure,
  type PlatformPublisher,
  type Post,
  type Posted,
} from '../publish/platform.ts'
import { readData } from './clean.ts'
import type { McpAnswer, McpConnection } from './connection.ts'
import { McpFailure } from './failure.ts'

export type PublishToolOptions = {
  /** The tool that publishes. */
  readonly tool: string
  /** The tool that looks up a post by its key, as `{ key, platform }`. */
  readonly find?: string
  /** What the tool takes; `inputOf` unless given. */
  readonly input?: (post: Post) => Readonly<Record<string, unknown>>
}

const ID_CHARS = 200
// Before the skill gives up, at 15 s, so that a silent server is noticed.
const LIMIT_MS = 14_000

export function publishTool(
  connection: McpConnection,
  { tool, find, input = inputOf }: PublishToolOptions,
): PlatformPublisher {
  return {
    name: `${connection.name} (MCP tool ${tool})`,
    async publish(post, signal) {
      const answer = await connection
        .call(tool, input(post), { signal, limitMs: LIMIT_MS })
        .catch(platformFailure)
      const posted = postedIn(answer)
      if (posted !== undefined) return posted
      throw new PlatformFailure('PLATFORM_ERROR', 'unknown', 'the tool named no post')
    },
    ...(find !== undefined && {
      find: async (key, signal, { platform }) => {
        const answer = await connection
          .call(find, { key, platform }, { signal, limitMs: LIMIT_MS })
          .catch(platformFailure)
        const posted = postedIn(answer)
        if (posted !== undefined) return posted
        // P3.
        if (fieldsOf(answer).found === false) return undefined
        throw new PlatformFailure('PLATFORM_ERROR', 'unknown', 'the tool did not say')
      },
    }),
  }
}

/** What a tool is given by default. */
function inputOf(post: Post): Readonly<Record<string, unknown>> {
  const { key, platform, text, title, media, hashtags, scheduledAt } = post
  return {
    key,
    platform,
    text,
    ...(title !== undefined && { title }),
    media: media.map((each) => ({ ...each })),
    hashtags: [...hashtags],
    ...(scheduledAt !== undefined && { scheduled_at: new Date(scheduledAt).toISOString() }),
  }
}

/** P1. */
function platformFailure(error: unknown): never {
  if (!(error instanceof McpFailure)) throw error
  const { code, detail, sent, data } = error
  const { posted }: { readonly posted?: unknown } = Object(data)
  const isNothing = !sent || code === 'denied' || code === 'rate_limited' || posted === false
  const reason: PlatformCode = code === 'refused' ? 'PUBLISH_FAILED' : 'PLATFORM_ERROR'
  throw new PlatformFailure(reason, isNothing ? 'nothing' : 'unknown', `${code}: ${detail}`)
}

function postedIn(answer: McpAnswer): Posted | undefined {
  const fields = fieldsOf(answer)
  const { post_id: id, id: other } = fields
  const postId = [id, other].find((each) => typeof each === 'string' || typeof each === 'number')
  if (postId === undefined || String(postId) === '') return undefined
  const url = [fields.url, fields.post_url].find(
    (each): each is string => typeof each === 'string' && isHttpUrl(each),
  )
  const { published_at: text } = fields
  const publishedAt = typeof text === 'string' ? Date.parse(text) : Number.NaN
  return {
    postId: String(postId).slice(0, ID_CHARS),
    ...(url !== undefined && { url }),
    ...(Number.isFinite(publishedAt) && { publishedAt }),
  }
}

/** What came as data, else the first text that is JSON. */
function fieldsOf({ data, texts }: McpAnswer): Readonly<Record<string, unknown>> {
  const found = [data, ...texts.map(readData)].find(
    (each): each is object => typeof each === 'object' && each !== null && !Array.isArray(each),
  )
  return { ...found }
}
