/** `publish_content` on a real platform under a clock that stands still, for tests. */
import { randomUUID } from 'node:crypto'
import type { ContentPackage } from '@chimera/dialects/skills/content'
import type { PublishContentInput, PublishContentOutput } from '@chimera/dialects/skills/schema'
import type { PublishPlatform } from '@chimera/dialects/skills/words'
import type { ContentId, Instant } from '@chimera/domain/ids'
import { createVirtualClock } from '@chimera/host/virtual-clock'
import { canonicalDigest } from '@chimera/identity/canonical'
import { generateKeyPair } from '@chimera/identity/keys'
import type { CallOutcome } from '@chimera/skill/calls'
import { createRunner } from '@chimera/skill/runner'
import type { ApprovalDesk } from '../src/approvals/desk.ts'
import { createLocalDesk, type LocalDesk } from '../src/approvals/local-desk.ts'
import { createMemoryKeep, type PublicationKeep } from '../src/publish/keep.ts'
import type { PlatformPublisher } from '../src/publish/platform.ts'
import { type AuditEntry, createPublishing } from '../src/publish/publishing.ts'
import { publishContent } from '../src/publish-content.ts'
import { CONTENT } from './content.ts'
import type { Platform } from './platform-server.ts'

export const contentOf = (more: Partial<ContentPackage> = {}): ContentPackage => ({
  ...CONTENT,
  content_id: randomUUID(),
  ...more,
})

export type Approving = {
  readonly content: ContentPackage
  readonly platform?: PublishPlatform
  readonly scheduledAt?: Instant
  readonly ttlMs?: number
}

export async function approvedInput(
  desk: LocalDesk,
  { content, platform = 'twitter', scheduledAt, ttlMs }: Approving,
): Promise<PublishContentInput> {
  const approval_token = await desk.approve({
    publication: {
      content: content.content_id as ContentId,
      bytes: canonicalDigest(content),
      platform,
      ...(scheduledAt !== undefined && { scheduledAt }),
    },
    reviewer: 'Ada',
    ...(ttlMs !== undefined && { ttlMs }),
  })
  return {
    content,
    approval_token,
    platform,
    ...(scheduledAt !== undefined && { schedule_time: new Date(scheduledAt).toISOString() }),
  }
}

type Outcome = CallOutcome<PublishContentOutput>
/** How a call ended, in a word. */
export const said = (outcome: Outcome): string =>
  outcome.ok
    ? (outcome.output.post_id ?? `scheduled ${outcome.output.scheduled_for}`)
    : outcome.error.code

/** One town of one test: a platform, a desk, a keep, and instances that share them. */
export function createTown(platform: Platform, startAt = Date.UTC(2026, 0, 15, 12)) {
  let busy = 0
  /** Time goes on only when nothing is under way but what the platform holds back. */
  const settle = async (): Promise<void> => {
    do await new Promise((resolve) => setImmediate(resolve))
    while (busy !== platform.held())
    await new Promise((resolve) => setImmediate(resolve))
  }
  async function during<Value>(work: Promise<Value>): Promise<Value> {
    busy += 1
    try {
      return await work
    } finally {
      busy -= 1
    }
  }
  const clock = createVirtualClock({ startAt, settle })
  const desk = createLocalDesk({ key: generateKeyPair(), now: clock.now, uuid: randomUUID })
  const memory = createMemoryKeep({ planner: 'town' })
  const audit: AuditEntry[] = []

  const watched = (publisher: PlatformPublisher): PlatformPublisher => {
    const { find, publish } = publisher
    return {
      ...publisher,
      publish: (post, signal) => during(publish(post, signal)),
      ...(find && { find: (...asked) => during(find(...asked)) }),
    }
  }

  /** A process: its own flights and its own name. */
  function instance(
    publishers: Partial<Record<PublishPlatform, PlatformPublisher>>,
    keep: PublicationKeep = memory,
    judge: ApprovalDesk = desk,
  ) {
    const publishing = createPublishing({
      publishers: Object.fromEntries(
        Object.entries(publishers).map(([name, each]) => [name, watched(each)]),
      ),
      desk: { ...judge, use: (asked, signal) => during(judge.use(asked, signal)) },
      keep,
      clock,
      audit: (entry) => void audit.push(entry),
    })
    const runner = createRunner({ skills: [publishContent({ publishing })], clock })
    return {
      publishing,
      runner,
      /** Runs it to its end, however long that takes. */
      async publish(input: unknown): Promise<Outcome> {
        const ended = new AbortController()
        const running = runner.run('publish_content', input).finally(() => ended.abort())
        while (!ended.signal.aborted) await clock.advanceBy(500)
        return (await running) as Outcome
      },
    }
  }
  return { clock, desk, keep: memory, audit, instance, settle }
}
