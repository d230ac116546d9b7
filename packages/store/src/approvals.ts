/**
 * Approvals of publications, and what became of each.
 *
 *   R1  An approval and its fact are written together, and so is its use with its receipt.
 *   R2  Of two who use one at once, one is first, whichever hub they ask; the other finds the first
 *       use and is judged by it.
 *   R3  A receipt is signed once and given as it was from then on.
 */
import {
  type ApprovalFact,
  type ApprovalUse,
  applyApproval,
  decideKeptUse,
  type KeptApproval,
  type UseRefusal,
} from '@chimera/domain/approval'
import type { Decision } from '@chimera/domain/decision'
import type {
  ApprovalId,
  ContentId,
  CorrelationId,
  Digest,
  Instant,
  OwnerId,
  ReviewerId,
} from '@chimera/domain/ids'
import type { Database, Queries } from './engine/database.ts'
import { type RetryHands, retrying } from './engine/retry.ts'
import { appendFacts } from './facts/append.ts'
import { isStorable } from './storable.ts'

export type ApprovalEntry = { readonly approval: KeptApproval; readonly receipt?: object }

/** Signs that the approval was used; called inside of the transaction. */
export type SignReceipt = (approval: KeptApproval, usedAt: Instant) => object

export type ApprovalOutcome = {
  readonly decision: Decision<ApprovalFact, UseRefusal>
  /** As it stands afterwards. */
  readonly entry?: ApprovalEntry
}

export type ApprovalQuery = {
  readonly owner: OwnerId
  readonly before?: { readonly approvedAt: Instant; readonly id: ApprovalId }
  readonly limit: number
}

export type Approvals = {
  readonly give: (approval: KeptApproval, correlation: CorrelationId) => Promise<void>
  readonly use: (
    asked: ApprovalUse & { readonly id: ApprovalId; readonly by: string },
    sign: SignReceipt,
    correlation: CorrelationId,
  ) => Promise<ApprovalOutcome>
  readonly find: (id: ApprovalId) => Promise<ApprovalEntry | undefined>
  /** The latest first. */
  readonly list: (query: ApprovalQuery) => Promise<readonly ApprovalEntry[]>
}

type ApprovalRow = {
  readonly id: ApprovalId
  readonly owner: OwnerId
  readonly reviewer: ReviewerId
  readonly given_by: string
  readonly content: ContentId
  readonly bytes: Digest
  readonly platform: string
  readonly scheduled_at: Instant | null
  readonly approved_at: Instant
  readonly expires_at: Instant
  readonly used_at: Instant | null
  readonly use_name: string | null
  readonly receipt: object | null
}

const INSERT = `
  INSERT INTO approvals SELECT * FROM json_populate_record(NULL::approvals, $1::json)`

const LIST = `
  SELECT * FROM approvals
  WHERE owner = $1 AND ($2::bigint IS NULL OR (approved_at, id) < ($2, $3))
  ORDER BY approved_at DESC, id DESC LIMIT $4`

export function createApprovals({
  database,
  clock,
  chance,
}: {
  readonly database: Database
  readonly clock: { readonly now: () => Instant; readonly sleep: RetryHands['sleep'] }
  readonly chance: { readonly fraction: () => number }
}): Approvals {
  const hands: RetryHands = { sleep: clock.sleep, fraction: chance.fraction }

  return {
    give: (approval, correlation) =>
      database.transaction(async (tx) => {
        await tx.query(INSERT, [JSON.stringify(rowOf(approval))])
        const { by, owner, approvedAt: recordedAt } = approval
        const fact = { type: 'publication_approved', approval, by, owner }
        await appendFacts(tx, [{ fact, recordedAt, correlation }])
      }),

    use: ({ id, by, ...asked }, sign, correlation) =>
      retrying(
        () =>
          database.transaction(async (tx): Promise<ApprovalOutcome> => {
            // R2: whoever comes second waits for the first, and then sees its use.
            const entry = await read(tx, id, 'FOR UPDATE')
            const now = clock.now()
            const decision = decideKeptUse(entry?.approval, asked, now)
            if (entry === undefined || !decision.ok || decision.facts.length === 0) {
              return { decision, ...(entry && { entry }) }
            }
            const { approval } = entry
            const used = { ...decision.facts.reduce(applied, approval), use: asked.use }
            const receipt = sign(approval, now)
            await tx.query(
              'UPDATE approvals SET used_at = $2, use_name = $3, receipt = $4 WHERE id = $1',
              [id, now, asked.use, JSON.stringify(receipt)],
            )
            await appendFacts(
              tx,
              decision.facts.map((fact) => ({
                fact: { ...fact, by, owner: asked.owner },
                recordedAt: now,
                correlation,
              })),
            )
            return { decision, entry: { approval: used, receipt } }
          }),
        hands,
      ),

    find: async (id) => (isStorable(id) ? read(database, id) : undefined),

    async list({ owner, before, limit }) {
      if (!isStorable(owner)) return []
      const params = [owner, before?.approvedAt ?? null, before?.id ?? null, limit]
      return (await database.query<ApprovalRow>(LIST, params)).map(entryOf)
    },
  }
}

const applied = (state: KeptApproval, fact: ApprovalFact): KeptApproval => ({
  ...state,
  ...applyApproval(state, fact),
})

/** Also for whoever decides about a post in the same transaction. */
export async function readApproval(tx: Queries, id: ApprovalId): Promise<KeptApproval | undefined> {
  return (await read(tx, id))?.approval
}

async function read(
  queries: Queries,
  id: ApprovalId,
  lock: 'FOR UPDATE' | '' = '',
): Promise<ApprovalEntry | undefined> {
  const rows = await queries.query<ApprovalRow>(
    `SELECT * FROM approvals WHERE id = $1 ${lock}`.trimEnd(),
    [id],
  )
  return rows.map(entryOf)[0]
}

function entryOf(row: ApprovalRow): ApprovalEntry {
  const { id, owner, reviewer, given_by: by, content, bytes, platform } = row
  const approval: KeptApproval = {
    id,
    owner,
    reviewer,
    by,
    publication: {
      content,
      bytes,
      platform,
      ...(row.scheduled_at !== null && { scheduledAt: row.scheduled_at }),
    },
    approvedAt: row.approved_at,
    expiresAt: row.expires_at,
    ...(row.used_at !== null && { usedAt: row.used_at }),
    ...(row.use_name !== null && { use: row.use_name }),
  }
  return { approval, ...(row.receipt !== null && { receipt: row.receipt }) }
}

function rowOf(approval: KeptApproval): ApprovalRow {
  const { id, owner, reviewer, by, publication, approvedAt, expiresAt } = approval
  const { content, bytes, platform, scheduledAt = null } = publication
  return {
    id,
    owner,
    reviewer,
    given_by: by,
    content,
    bytes,
    platform,
    scheduled_at: scheduledAt,
    approved_at: approvedAt,
    expires_at: expiresAt,
    used_at: null,
    use_name: null,
    receipt: null,
  }
}
