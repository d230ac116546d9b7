/**
 * `publish_content` (SK-10): approved content becomes a post, once for each platform.
 *
 *   P1  Nothing is published without an approval for exactly this content, platform and time.
 *   P2  A duplicate is answered with the first post.
 *   P3  When nobody knows whether there is a post, that is the answer. The same call again finds
 *       out; it never posts a second time.
 */
import { SKILLS } from '@chimera/dialects/skills/contracts'
import { decodePublish } from '@chimera/dialects/skills/decode'
import { encodePublished, encodeScheduled } from '@chimera/dialects/skills/encode'
import type { PublishContentInput, PublishContentOutput } from '@chimera/dialects/skills/schema'
import type { PublishPlatform } from '@chimera/dialects/skills/words'
import type { UseRefusal } from '@chimera/domain/approval'
import type { Issue } from '@chimera/domain/decision'
import type { Instant } from '@chimera/domain/ids'
import { canonicalDigest } from '@chimera/identity/canonical'
import { defineSkill } from '@chimera/skill/define'
import { ApprovalRefused } from './approvals/desk.ts'
import { contracted, type Priced } from './contracted.ts'
import { type Accepted, DeskAway, type Ended, type Publishing } from './publish/publishing.ts'

export type PublishContentOptions = Priced & { readonly publishing: Publishing }

const { publish_content: CONTRACT } = SKILLS

export function publishContent(options: PublishContentOptions) {
  const { publishing } = options
  return defineSkill({
    ...contracted(CONTRACT, options),
    provider: ({ platform }) => platform,
    check: { input: contentIssues },
    run: async (input, { signal, log, now, failure, keep, progress }) => {
      const { platform } = input
      const accepted = await accept(input, signal).catch((error: unknown) => {
        signal.throwIfAborted()
        if (error instanceof ApprovalRefused) {
          throw failure(CODES[error.refusal], { detail: error.refusal })
        }
        // What is kept could not be read or written, and nothing was sent.
        const code = error instanceof DeskAway ? 'NETWORK_ERROR' : 'UNAVAILABLE'
        throw failure(code, { cause: error, detail: String(error) })
      })
      if (accepted.is === 'conflict') {
        throw failure('CONFLICT', { detail: 'other content under this id is on its way' })
      }
      if (accepted.is === 'duplicate') {
        keep(answerOf(platform, { ...accepted, is: 'posted' }, now()))
        throw failure('DUPLICATE_CONTENT')
      }
      const { content_id } = input.content
      const { id: approval_id, reviewer: reviewer_id } = accepted.approval
      progress(0.5, 'approved')
      const ended = await carried(accepted.key, signal)
      log.info('publication', { is: ended.is, platform, content_id, reviewer_id, approval_id })
      switch (ended.is) {
        case 'posted':
        case 'scheduled':
          return answerOf(platform, ended, now())
        case 'refused':
          throw failure(ended.reason, { detail: ended.detail })
        case 'busy':
          throw failure('OUTCOME_UNKNOWN', { detail: 'another instance has it in hand' })
        case 'unknown':
          throw failure('OUTCOME_UNKNOWN', { detail: ended.detail })
      }
    },
    // P2: the first post, as the attempt kept it.
    recover: ({ ending, partial }): PublishContentOutput | undefined =>
      ending === 'existing' ? (partial as PublishContentOutput | undefined) : undefined,
  })

  /** Another instance that has it in hand is soon done, as a rule. */
  async function carried(key: string, signal: AbortSignal): Promise<Ended> {
    const { clock } = publishing
    let ended = await publishing.carry(key, signal)
    for (const ms of BUSY_MS) {
      if (ended.is !== 'busy') break
      await new Promise<void>((resolve) => void clock.after(ms, resolve))
      signal.throwIfAborted()
      ended = await publishing.carry(key, signal)
    }
    return ended
  }

  async function accept(input: PublishContentInput, signal: AbortSignal): Promise<Accepted> {
    return publishing.accept(decodePublish(input), signal)
  }
}

/** Within the 15 s that the document gives all of it. */
const BUSY_MS = [250, 500, 1_000, 2_000]

/** What JSON can spell and canonical JSON refuses cannot have been approved. */
function contentIssues({ content }: PublishContentInput): readonly Issue[] {
  try {
    canonicalDigest(content)
    return []
  } catch {
    return [{ path: '/content', expected: 'whole characters', got: 'half a character' }]
  }
}

const CODES = {
  approval_invalid: 'INVALID_TOKEN',
  approval_mismatched: 'INVALID_TOKEN',
  approval_expired: 'TOKEN_EXPIRED',
  approval_used: 'DUPLICATE_CONTENT',
} as const satisfies Record<UseRefusal, string>

type Done = Extract<Ended, { readonly is: 'posted' | 'scheduled' }>

function answerOf(platform: PublishPlatform, ended: Done, now: Instant): PublishContentOutput {
  if (ended.is === 'scheduled') return encodeScheduled(platform, ended.at)
  const { postId: post, publishedAt: at } = ended.posted
  // A name where the platform gave no address: the document asks for one.
  const { url = `urn:chimera:post:${platform}:${encodeURIComponent(post)}` } = ended.posted
  const { scheduledAt } = ended
  if (scheduledAt === undefined || scheduledAt <= now) {
    return encodePublished({ platform, post, url, at })
  }
  return { ...encodeScheduled(platform, scheduledAt), post_id: post, post_url: url }
}
