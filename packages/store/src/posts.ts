/**
 * The posts of the hub's outbox: accepted once, never changed, out at their time.
 *
 *   P1  One post for each content of an owner on a platform. Of two that come at once, one is the
 *       post, and both are answered with it.
 *   P2  A post and its fact are written together.
 */
import type { KeptApproval } from '@chimera/domain/approval'
import type { Decision } from '@chimera/domain/decision'
import type {
  ApprovalId,
  ContentId,
  CorrelationId,
  Digest,
  Instant,
  OwnerId,
  PostId,
  ReviewerId,
} from '@chimera/domain/ids'
import {
  decidePost,
  outAt,
  type Post,
  type PostAccepted,
  type PostAsked,
  type PostRefusal,
} from '@chimera/domain/post'
import { readApproval } from './approvals.ts'
import type { Database, Queries } from './engine/database.ts'
import { type RetryHands, retrying } from './engine/retry.ts'
import { appendFacts } from './facts/append.ts'
import { Failure } from './failure.ts'
import { isStorable } from './storable.ts'

/** What is shown is the caller's own affair. */
export type KeptPost = { readonly post: Post; readonly shown: unknown }

export type PostOutcome = {
  readonly decision: Decision<PostAccepted, PostRefusal>
  /** The one that is there now. */
  readonly kept?: KeptPost
}

export type PostQuery = {
  /** Absent: of everybody. */
  readonly owner?: OwnerId
  /** Only those that are out then. */
  readonly outBy?: Instant
  readonly content?: ContentId
  readonly platform?: string
  readonly before?: { readonly outAt: Instant; readonly id: PostId }
  readonly limit: number
}

export type Posts = {
  readonly accept: (
    asked: PostAsked & { readonly approval: ApprovalId; readonly by: string },
    shown: unknown,
    correlation: CorrelationId,
  ) => Promise<PostOutcome>
  readonly find: (id: PostId) => Promise<KeptPost | undefined>
  /** The latest first, by when they are out. */
  readonly list: (query: PostQuery) => Promise<readonly KeptPost[]>
}

type PostRow = {
  readonly id: PostId
  readonly owner: OwnerId
  readonly content: ContentId
  readonly platform: string
  readonly bytes: Digest
  readonly approval: ApprovalId
  readonly reviewer: ReviewerId
  readonly scheduled_at: Instant | null
  readonly accepted_at: Instant
  readonly out_at: Instant
  readonly shown: string
}

const INSERT = `
  INSERT INTO posts SELECT * FROM json_populate_record(NULL::posts, $1::json)
  ON CONFLICT (owner, content, platform) DO NOTHING RETURNING id`

const LIST = `
  SELECT * FROM posts
  WHERE ($1::text IS NULL OR owner = $1) AND ($2::bigint IS NULL OR out_at <= $2)
    AND ($3::text IS NULL OR content = $3) AND ($4::text IS NULL OR platform = $4)
    AND ($5::bigint IS NULL OR (out_at, id) < ($5, $6))
  ORDER BY out_at DESC, id DESC LIMIT $7`

export function createPosts({
  database,
  clock,
  chance,
}: {
  readonly database: Database
  readonly clock: { readonly now: () => Instant; readonly sleep: RetryHands['sleep'] }
  readonly chance: { readonly fraction: () => number }
}): Posts {
  const hands: RetryHands = { sleep: clock.sleep, fraction: chance.fraction }

  return {
    accept: ({ approval: id, by, ...asked }, shown, correlation) =>
      retrying(
        () =>
          database.transaction(async (tx): Promise<PostOutcome> => {
            const before = await readOf(tx, asked)
            const approval: KeptApproval | undefined = await readApproval(tx, id)
            const now = clock.now()
            const decision = decidePost({ known: before?.post, approval }, asked, now)
            const post = decision.ok ? decision.facts[0]?.post : undefined
            if (post === undefined) return { decision, ...(before && { kept: before }) }
            const made = await tx.query(INSERT, [JSON.stringify(rowOf(post, shown))])
            // P1: somebody was quicker; the next look finds that one.
            if (made.length === 0) {
              throw new Failure('statement_failed', 'posted meanwhile', { sqlState: '40001' })
            }
            const fact = { type: 'post_accepted', post, by }
            await appendFacts(tx, [{ fact, recordedAt: now, correlation }])
            return { decision, kept: { post, shown } }
          }),
        hands,
      ),

    async find(id) {
      if (!isStorable(id)) return undefined
      const rows = await database.query<PostRow>('SELECT * FROM posts WHERE id = $1', [id])
      return rows.map(keptOf)[0]
    },

    async list({ owner, outBy, content, platform, before, limit }) {
      if (!isStorable([owner, content, platform])) return []
      const rows = await database.query<PostRow>(LIST, [
        owner ?? null,
        outBy ?? null,
        content ?? null,
        platform ?? null,
        before?.outAt ?? null,
        before?.id ?? null,
        limit,
      ])
      return rows.map(keptOf)
    },
  }
}

async function readOf(
  tx: Queries,
  { owner, publication: { content, platform } }: PostAsked,
): Promise<KeptPost | undefined> {
  const rows = await tx.query<PostRow>(
    'SELECT * FROM posts WHERE owner = $1 AND content = $2 AND platform = $3',
    [owner, content, platform],
  )
  return rows.map(keptOf)[0]
}

function keptOf(row: PostRow): KeptPost {
  const { id, owner, content, bytes, platform, approval, reviewer } = row
  const post: Post = {
    id,
    owner,
    publication: {
      content,
      bytes,
      platform,
      ...(row.scheduled_at !== null && { scheduledAt: row.scheduled_at }),
    },
    approval,
    reviewer,
    acceptedAt: row.accepted_at,
  }
  return { post, shown: JSON.parse(row.shown) }
}

function rowOf(post: Post, shown: unknown): PostRow {
  const { id, owner, publication, approval, reviewer, acceptedAt } = post
  const { content, bytes, platform, scheduledAt = null } = publication
  return {
    id,
    owner,
    content,
    platform,
    bytes,
    approval,
    reviewer,
    scheduled_at: scheduledAt,
    accepted_at: acceptedAt,
    out_at: outAt(post),
    shown: JSON.stringify(shown),
  }
}
