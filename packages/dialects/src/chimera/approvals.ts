/**
 * Approvals: a person says yes to one publication, the hub signs it, and whoever publishes uses it
 * once and has a receipt (P-5, SK-10, X-9).
 */
import type { KeptApproval, Publication } from '@chimera/domain/approval'
import type { Issue } from '@chimera/domain/decision'
import type {
  ApprovalId,
  ContentId,
  Digest,
  Instant,
  OwnerId,
  ReviewerId,
} from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import { type Static, Type } from 'typebox'
import { asItIs, checker, reader } from '../check.ts'
import type { Messages } from '../messages.ts'
import { queryChecker } from '../query.ts'
import { ContentPackage } from '../skills/content.ts'
import { PublishPlatform } from '../skills/words.ts'
import { DateTime, instantOf, OwnerName, readUuid, Uuid, writeInstant } from '../wire.ts'
import { PlaceText, readPlace, writePlace } from './place.ts'

const ContentDigest = Type.String({
  pattern: '^[0-9a-f]{64}$',
  description: 'SHA-256 over the canonical JSON (RFC 8785) of the content package, in hexadecimal',
})
// No control codes, no marks that turn the direction of what follows, no half characters: it is
// signed, stored and shown.
const REVIEWER_FORM =
  '^[^\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200b-\\u200f\\u2028-\\u202e\\u2066-\\u2069\\ufeff\\ud800-\\udfff]+$'
export const Reviewer = Type.String({
  minLength: 1,
  maxLength: LIMITS.reviewerChars,
  pattern: REVIEWER_FORM,
})
const Schedule = Type.Optional(
  Type.Union([DateTime, Type.Null()], {
    description: 'When it is published. Absent or null: at once, and at no other time',
  }),
)
const Token = Type.String({
  pattern: '^[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+$',
  maxLength: 4_096,
})
const Signature = Type.String({ pattern: '^[A-Za-z0-9+/]{85}[AQgw]==$' })
const Millis = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })

/** What is published, as it is named under `/v1`. */
const publication = {
  content_id: Uuid,
  content_sha256: ContentDigest,
  platform: PublishPlatform,
  schedule_time: Schedule,
}
const approval = {
  approval_id: Uuid,
  reviewer_id: Reviewer,
  ...publication,
  approved_at: DateTime,
  expires_at: DateTime,
}

export const NewApproval = Type.Object(
  {
    content: Type.Optional({
      ...ContentPackage,
      description: 'The package as the reviewer sees it; the hub takes its id and digest',
    }),
    content_id: Type.Optional(Uuid),
    content_sha256: Type.Optional(ContentDigest),
    platform: PublishPlatform,
    schedule_time: Schedule,
    reviewer_id: Type.Optional({ ...Reviewer, description: 'Who looked at it, by name' }),
    ttl_seconds: Type.Optional(
      Type.Integer({ minimum: 1, maximum: LIMITS.approvalTtlMs / 1_000, default: 7_200 }),
    ),
  },
  { title: 'New approval', additionalProperties: false },
)
export const ApprovalMade = Type.Object(
  {
    approval_token: { ...Token, description: 'Shown in this answer and never again' },
    ...approval,
  },
  { title: 'Approval made' },
)
export const NewApprovalUse = Type.Object(
  {
    approval_token: Token,
    ...publication,
    use_id: Type.String({
      minLength: 1,
      maxLength: LIMITS.keyChars,
      pattern: '^[!-~]+$',
      description: 'The caller’s name of this use; the same one again is the same use',
    }),
  },
  { title: 'Use of an approval', additionalProperties: false },
)
/** Field by field what is signed; times are numbers in it, as in the token. */
export const ApprovalReceiptShown = Type.Object(
  {
    approval_id: Uuid,
    reviewer_id: Reviewer,
    content_id: Uuid,
    content_sha256: ContentDigest,
    platform: PublishPlatform,
    scheduled_at: Type.Union([Millis, Type.Null()]),
    used_at: Millis,
    signature: {
      ...Signature,
      description: 'By the hub’s key, over the canonical JSON without this field',
    },
  },
  { title: 'Receipt of a used approval' },
)
export const ApprovalShown = Type.Object(
  {
    ...approval,
    owner_id: OwnerName,
    state: Type.Enum(['open', 'used', 'expired']),
    used_at: Type.Optional(DateTime),
    receipt: Type.Optional(ApprovalReceiptShown),
  },
  { title: 'Approval' },
)
export const ApprovalQuery = Type.Object(
  {
    owner_id: Type.Optional(OwnerName),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIMITS.postsPerPage })),
    after: Type.Optional(PlaceText),
  },
  { title: 'Approval query', additionalProperties: false },
)
export const ApprovalList = Type.Object(
  { approvals: Type.Array(ApprovalShown), next_after: Type.Optional(PlaceText) },
  { title: 'Approvals' },
)

export type ApprovalWanted = Omit<Publication, 'content' | 'bytes'> & {
  /** The package itself, or what names it. */
  readonly what:
    | { readonly package: ContentPackage }
    | { readonly content: ContentId; readonly bytes: Digest }
  readonly reviewer?: ReviewerId
  readonly ttlMs?: number
}
export type ApprovalUseAsked = {
  readonly token: string
  readonly publication: Publication
  readonly use: string
}
export type ApprovalsWanted = {
  readonly owner?: OwnerId
  readonly after?: { readonly approvedAt: Instant; readonly id: ApprovalId }
  readonly limit: number
}

const DEFAULT_PAGE = 20

/** Either the package or its name and digest: with both, one of them would be believed. */
function eitherOr({ content, content_id, content_sha256 }: Static<typeof NewApproval>) {
  const issues: Issue[] = []
  const named = { content_id, content_sha256 }
  for (const [name, value] of Object.entries(named)) {
    if (content !== undefined && value !== undefined) {
      issues.push({ path: `/${name}`, expected: 'nothing beside content', got: 'a value' })
    }
    if (content === undefined && value === undefined) {
      issues.push({ path: `/${name}`, expected: 'a value, or content', got: 'nothing' })
    }
  }
  return issues
}

const scheduled = (time: string | null | undefined) =>
  time === undefined || time === null ? {} : { scheduledAt: instantOf(time) }

export const readNewApproval = reader(
  checker(NewApproval, eitherOr),
  (asked): ApprovalWanted => ({
    what:
      asked.content === undefined
        ? {
            content: readUuid<ContentId>(asked.content_id ?? ''),
            bytes: (asked.content_sha256 ?? '') as Digest,
          }
        : { package: asked.content },
    platform: asked.platform,
    ...scheduled(asked.schedule_time),
    ...(asked.reviewer_id !== undefined && { reviewer: asked.reviewer_id as ReviewerId }),
    ...(asked.ttl_seconds !== undefined && { ttlMs: asked.ttl_seconds * 1_000 }),
  }),
)

export const readApprovalUse = reader(
  checker(NewApprovalUse),
  (asked): ApprovalUseAsked => ({
    token: asked.approval_token,
    publication: {
      content: readUuid<ContentId>(asked.content_id),
      bytes: asked.content_sha256 as Digest,
      platform: asked.platform,
      ...scheduled(asked.schedule_time),
    },
    use: asked.use_id,
  }),
)

/** How a publisher asks for it. */
export function encodeApprovalUse({ token, publication: what, use }: ApprovalUseAsked) {
  return {
    approval_token: token,
    content_id: what.content,
    content_sha256: what.bytes,
    platform: what.platform,
    ...(what.scheduledAt !== undefined && { schedule_time: writeInstant(what.scheduledAt) }),
    use_id: use,
  }
}

export const readApprovalReceipt = asItIs(checker(ApprovalReceiptShown))
export type ApprovalReceiptMessage = Static<typeof ApprovalReceiptShown>

export const readApprovalQuery = reader(
  queryChecker(ApprovalQuery),
  ({ owner_id, limit = DEFAULT_PAGE, after }): ApprovalsWanted => {
    const place = after === undefined ? undefined : readPlace(after)
    return {
      limit,
      ...(owner_id !== undefined && { owner: owner_id as OwnerId }),
      ...(place && { after: { approvedAt: place.at, id: place.id as ApprovalId } }),
    }
  },
)

/** The one answer that shows the token. */
export const encodeApprovalMade = (text: string, made: KeptApproval) => ({
  approval_token: text,
  ...encodeTerms(made),
})

export type ApprovalSeen = { readonly approval: KeptApproval; readonly receipt?: object }

export function encodeApproval({ approval: kept, receipt }: ApprovalSeen, now: Instant) {
  const { usedAt, expiresAt, owner } = kept
  const state = usedAt !== undefined ? 'used' : expiresAt <= now ? 'expired' : 'open'
  return {
    ...encodeTerms(kept),
    owner_id: owner,
    state,
    ...(usedAt !== undefined && { used_at: writeInstant(usedAt) }),
    ...(receipt && { receipt }),
  }
}

export const encodeApprovals = (
  { approvals, more }: { readonly approvals: readonly ApprovalSeen[]; readonly more: boolean },
  now: Instant,
) => {
  const last = approvals.at(-1)?.approval
  return {
    approvals: approvals.map((each) => encodeApproval(each, now)),
    ...(more && last && { next_after: writePlace({ at: last.approvedAt, id: last.id }) }),
  }
}

const encodeTerms = ({ id, reviewer, publication: what, approvedAt, expiresAt }: KeptApproval) => ({
  approval_id: id,
  reviewer_id: reviewer,
  content_id: what.content,
  content_sha256: what.bytes,
  platform: what.platform,
  ...(what.scheduledAt !== undefined && { schedule_time: writeInstant(what.scheduledAt) }),
  approved_at: writeInstant(approvedAt),
  expires_at: writeInstant(expiresAt),
})

export const APPROVAL_MESSAGES = {
  'new-approval': { schema: NewApproval, read: readNewApproval },
  'approval-made': {
    schema: ApprovalMade,
    read: asItIs(checker(ApprovalMade)),
    carries: ['approval_token'],
  },
  'approval-use': {
    schema: NewApprovalUse,
    read: readApprovalUse,
    carries: ['approval_token'],
  },
  'approval-receipt': { schema: ApprovalReceiptShown, read: readApprovalReceipt, quotes: true },
  approval: { schema: ApprovalShown, read: asItIs(checker(ApprovalShown)), quotes: true },
  'approval-query': { schema: ApprovalQuery, read: readApprovalQuery },
  'approval-list': { schema: ApprovalList, read: asItIs(checker(ApprovalList)), quotes: true },
} satisfies Messages
