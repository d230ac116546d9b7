/**
 * Publishing exactly once for each content and platform, whatever breaks in between (SK-10).
 *
 *   E1  In this order, each step on record before the next: the approval is used, the intent is
 *       kept, the post is handed over, what came of it is kept.
 *   E2  After a hand-over of which nobody knows the end, the platform is asked before anything else
 *       is done. Only a platform that takes a key once is simply asked again.
 *   E3  That a platform has nothing is believed when the hand-over lies far enough back: what was
 *       under way may still have arrived before.
 *   E4  One instance has a publication in hand, for a lease that outlives the longest hand-over. It
 *       does not begin one that would outlive its lease.
 *   E5  One platform, one approval: nothing is sent anywhere else.
 */
import { createHash, randomUUID } from 'node:crypto'
import { type PublishAsked, publicationOf } from '@chimera/dialects/skills/decode'
import type { PublishPlatform } from '@chimera/dialects/skills/words'
import type { Digest, Instant } from '@chimera/domain/ids'
import { canonicalDigest } from '@chimera/identity/canonical'
import { type Clock, createClock } from '@chimera/skill/clock'
import type { ApprovalDesk, ApprovalUsed } from '../approvals/desk.ts'
import { ApprovalRefused } from '../approvals/desk.ts'
import { namedUuid } from '../named-uuid.ts'
import type { KeptPost, Planned, PlannedRecord, PublicationKeep } from './keep.ts'
import { limited } from './limited.ts'
import { isOut, isSamePlan, isUnderWay, keyOf, leftOpen, nothingCame, postOf } from './planning.ts'
import {
  type PlatformCode,
  PlatformFailure,
  type PlatformPublisher,
  type Posted,
} from './platform.ts'

export type PublishingOptions = {
  /** One for each platform; a platform without one cannot be published to. */
  readonly publishers: Readonly<Partial<Record<PublishPlatform, PlatformPublisher>>>
  readonly desk: ApprovalDesk
  readonly keep: PublicationKeep
  readonly clock?: Clock
  /** The name of this instance, and of no other: a new one unless given. */
  readonly holder?: string
  readonly audit?: (entry: AuditEntry) => void
}

/** What was done, to whose content, on whose word (SK-10). */
export type AuditEntry = {
  readonly is: 'accepted' | 'posted' | 'refused' | 'unknown'
  readonly at: Instant
  readonly contentId: string
  readonly platform: PublishPlatform
  readonly reviewerId: string
  readonly approvalId: string
  readonly postId?: string
  readonly detail?: string
}

/** Nobody could judge the approval, and nothing has happened. */
export class DeskAway extends Error {
  override readonly name = 'DeskAway'

  constructor(desk: string, cause: unknown) {
    super(`${desk}: ${wordsOf(cause)}`, { cause })
  }
}

export type Ended =
  | { readonly is: 'posted'; readonly posted: KeptPost; readonly scheduledAt?: Instant }
  | { readonly is: 'scheduled'; readonly at: Instant }
  /** The platform has nothing of it. */
  | { readonly is: 'refused'; readonly reason: PlatformCode; readonly detail: string }
  | { readonly is: 'unknown'; readonly detail: string }
  /** Another instance has it in hand. */
  | { readonly is: 'busy' }

export type Accepted =
  | { readonly is: 'accepted'; readonly key: string; readonly approval: ApprovalUsed }
  | { readonly is: 'duplicate'; readonly posted: KeptPost; readonly scheduledAt?: Instant }
  /** Other content under the same id is on its way. */
  | { readonly is: 'conflict' }

export type Publishing = {
  readonly keep: PublicationKeep
  readonly clock: Clock
  /** Uses the approval and keeps the intent. Throws an `ApprovalRefused` or a `DeskAway`. */
  readonly accept: (asked: PublishAsked, signal: AbortSignal) => Promise<Accepted>
  /** Takes it as far as it goes now. `later`: asked by nobody who waits for an answer. */
  readonly carry: (key: string, signal: AbortSignal, later?: 'later') => Promise<Ended>
}

/** Together within the skill's 15 s, with time left to keep what came of it. */
const PUBLISH_MS = 9_000
const FIND_MS = 3_000
/** E4: a hand-over, a look, writing both down, and the skew of another machine's clock. */
const LEASE_MS = 60_000
/** E3: longer than any proxy between us holds a request back. */
const SETTLED_MS = 60_000
export function createPublishing(options: PublishingOptions): Publishing {
  const { publishers, desk, keep, clock = createClock(), holder = randomUUID() } = options
  const underWay = new Map<string, Promise<Ended>>()

  function note(is: AuditEntry['is'], kept: Planned, more: Partial<AuditEntry> = {}): void {
    const { content, platform, approval } = kept
    options.audit?.({
      is,
      at: clock.now(),
      contentId: content.content_id,
      platform,
      reviewerId: approval.reviewer,
      approvalId: approval.id,
      ...more,
    })
  }

  async function accept(asked: PublishAsked, signal: AbortSignal): Promise<Accepted> {
    const key = keyOf(asked)
    const bytes = canonicalDigest(asked.package)
    const token = digestOf(asked.token)
    const known = await keep.find(key)
    const same = known !== undefined && isSamePlan(known.kept, asked, bytes)
    if (known?.kept.posted !== undefined) return duplicate(known.kept, known.kept.posted)
    if (
      known !== undefined &&
      same &&
      known.kept.token === token &&
      known.kept.stage !== 'failed'
    ) {
      return { is: 'accepted', key, approval: known.kept.approval }
    }
    if (known !== undefined && !same && isUnderWay(known.kept)) return { is: 'conflict' }
    const use = namedUuid('use', keep.planner, key, bytes, String(asked.scheduledAt ?? ''))
    const publication = publicationOf(asked, bytes)
    const approval = await desk
      .use({ token: asked.token, publication, use }, signal)
      .catch(async (error: unknown) => {
        // Used by somebody else: the platform may have the post.
        if (!(error instanceof ApprovalRefused)) throw new DeskAway(desk.name, error)
        if (error.refusal !== 'approval_used') throw error
        const found = await look(asked.platform, key, asked, signal).catch(() => undefined)
        if (found === undefined) throw error
        return found
      })
    if ('postId' in approval) return { is: 'duplicate', posted: datedPost(approval) }
    const { platform, scheduledAt } = asked
    const kept: Planned = {
      stage: 'ready',
      content: asked.package,
      bytes,
      platform,
      ...(scheduledAt !== undefined && { scheduledAt }),
      acceptedAt: clock.now(),
      approval,
      token,
      failures: 0,
    }
    // What is to be published now is carried on by whoever asked; what is for later wakes somebody.
    const wake = scheduledAt === undefined ? {} : { wakeAt: scheduledAt }
    const replaces = known !== undefined && !isUnderWay(known.kept)
    const present = replaces
      ? await keep.change({ key, version: known.version, ...wake, kept })
      : (known ?? (await keep.add({ key, ...wake, kept })))
    // Somebody else was quicker, with this or with other content.
    if (present === undefined) return { is: 'conflict' }
    if (present.kept.posted !== undefined) return duplicate(present.kept, present.kept.posted)
    if (!isSamePlan(present.kept, asked, bytes)) return { is: 'conflict' }
    note('accepted', kept)
    return { is: 'accepted', key, approval }
  }

  /** Two calls at once share one run: the second would only find the first in its way. */
  function carry(key: string, signal: AbortSignal, later?: 'later'): Promise<Ended> {
    const known = underWay.get(key)
    if (known !== undefined) return known
    const run = advance(key, signal, later).finally(() => underWay.delete(key))
    underWay.set(key, run)
    return run
  }

  async function advance(key: string, signal: AbortSignal, later?: 'later'): Promise<Ended> {
    const record = await keep.find(key)
    if (record === undefined)
      return { is: 'refused', reason: 'PUBLISH_FAILED', detail: 'no intent' }
    const { kept } = record
    const { stage, posted, scheduledAt, platform, leaseUntil = 0 } = kept
    if (posted !== undefined) return ended(kept, posted)
    const publisher = publishers[platform]
    if (publisher === undefined) {
      const detail = `nobody publishes to ${platform} here`
      return { is: 'refused', reason: 'PLATFORM_ERROR', detail }
    }
    if (stage === 'failed') {
      return { is: 'refused', reason: 'PUBLISH_FAILED', detail: 'given up before' }
    }
    const now = clock.now()
    const isEarly = scheduledAt !== undefined && scheduledAt > now
    if (stage === 'ready' && isEarly && !publisher.schedules) {
      return { is: 'scheduled', at: scheduledAt }
    }
    if (stage === 'sending' && leaseUntil > now) return { is: 'busy' }
    if (stage === 'ready' || publisher.once) return send(record, publisher, signal)
    return findOut(record, publisher, signal, later)
  }

  /** E2, E3. */
  async function findOut(
    record: PlannedRecord,
    publisher: PlatformPublisher,
    signal: AbortSignal,
    later?: 'later',
  ): Promise<Ended> {
    const { kept } = record
    const { platform, content, sentAt = 0, scheduledAt } = kept
    let found: Posted | undefined
    try {
      found = await look(platform, record.key, { package: content }, signal)
    } catch (error) {
      return leaveOpen(record, `${publisher.name}: ${wordsOf(error)}`)
    }
    if (found !== undefined) return settle(record, datedPost(found))
    const settledAt = sentAt + SETTLED_MS
    if (clock.now() < settledAt) {
      return leaveOpen(record, `${publisher.name} has nothing of it yet`, settledAt)
    }
    const freed = await keep.change(nothingCame(record))
    if (freed === undefined) return { is: 'busy' }
    // Whoever asked for it at once was told that nobody knows; only asking again sends it again.
    if (later !== undefined && scheduledAt === undefined) {
      return { is: 'refused', reason: 'PUBLISH_FAILED', detail: 'it never arrived' }
    }
    return send(freed, publisher, signal)
  }

  async function send(
    record: PlannedRecord,
    publisher: PlatformPublisher,
    signal: AbortSignal,
  ): Promise<Ended> {
    const begun = clock.now()
    const leaseUntil = begun + LEASE_MS
    const claimed = await keep.change({
      key: record.key,
      version: record.version,
      wakeAt: leaseUntil,
      kept: { ...record.kept, stage: 'sending', holder, leaseUntil, sentAt: begun },
    })
    if (claimed === undefined) return { is: 'busy' }
    const { kept } = claimed
    // E4: somebody else may look at it soon.
    if (clock.now() + PUBLISH_MS + FIND_MS >= leaseUntil) {
      await keep.change({ ...record, version: claimed.version, wakeAt: clock.now() })
      return { is: 'busy' }
    }
    const early = kept.scheduledAt !== undefined && kept.scheduledAt > clock.now()
    const post = postOf(claimed, early)
    try {
      const posted = await limited((both) => publisher.publish(post, both), {
        ms: PUBLISH_MS,
        clock,
        signal,
      })
      return await settle(claimed, datedPost(posted, post.scheduledAt))
    } catch (error) {
      const detail = `${publisher.name}: ${wordsOf(error)}`
      if (error instanceof PlatformFailure && error.leaves === 'nothing') {
        return refuse(claimed, error.reason, detail)
      }
      return resolve(claimed, publisher, detail, signal)
    }
  }

  /** Nobody knows: the platform may, at once. A look that finds nothing proves nothing yet (E3). */
  async function resolve(
    record: PlannedRecord,
    publisher: PlatformPublisher,
    detail: string,
    signal: AbortSignal,
  ): Promise<Ended> {
    const { platform, content } = record.kept
    const found =
      publisher.find === undefined || signal.aborted
        ? undefined
        : await look(platform, record.key, { package: content }, signal).catch(() => undefined)
    return found === undefined ? leaveOpen(record, detail) : settle(record, datedPost(found))
  }

  async function look(
    platform: PublishPlatform,
    key: string,
    about: Pick<PublishAsked, 'package'>,
    signal: AbortSignal,
  ): Promise<Posted | undefined> {
    const find = publishers[platform]?.find
    if (find === undefined) throw new Error('it cannot be asked for a post')
    const what = { platform, content: about.package }
    return limited((both) => find(key, both, what), { ms: FIND_MS, clock, signal })
  }

  /** What is known to be out stays so, whoever has changed the record in the meantime. */
  async function settle(record: PlannedRecord, posted: KeptPost): Promise<Ended> {
    note('posted', record.kept, { postId: posted.postId })
    let present: PlannedRecord | undefined = record
    while (present !== undefined && present.kept.posted === undefined) {
      const changed = await keep.change(isOut(present, posted)).catch(() => 'unkept' as const)
      // It is out all the same; the platform is asked when the lease is over.
      if (changed === 'unkept' || changed !== undefined) break
      present = await keep.find(present.key)
    }
    return ended(record.kept, posted)
  }

  async function refuse(
    record: PlannedRecord,
    reason: PlatformCode,
    detail: string,
  ): Promise<Ended> {
    note('refused', record.kept, { detail })
    await keep.change(nothingCame(record, clock.now()))
    return { is: 'refused', reason, detail }
  }

  async function leaveOpen(
    record: PlannedRecord,
    detail: string,
    wakeAt?: Instant,
  ): Promise<Ended> {
    note('unknown', record.kept, { detail })
    await keep.change(leftOpen(record, clock.now(), wakeAt))
    return { is: 'unknown', detail }
  }

  const datedPost = (posted: Posted, scheduledAt = clock.now()): KeptPost => ({
    postId: posted.postId,
    ...(posted.url !== undefined && { url: posted.url }),
    publishedAt: posted.publishedAt ?? scheduledAt,
  })

  return { keep, clock, accept, carry }
}

const scheduleOf = ({ scheduledAt }: Planned) => (scheduledAt === undefined ? {} : { scheduledAt })

const ended = (kept: Planned, posted: KeptPost): Ended => ({
  is: 'posted',
  posted,
  ...scheduleOf(kept),
})

const duplicate = (kept: Planned, posted: KeptPost): Accepted => ({
  is: 'duplicate',
  posted,
  ...scheduleOf(kept),
})

const digestOf = (text: string): Digest => createHash('sha256').update(text).digest('hex') as Digest

const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : 'it failed')
