/**
 * A person's approval as a token that travels (P-5, SK-10), and the receipt of its use.
 *
 *   X1  Signed by the hub for a reviewer (`sub`), it names one content by id and by the digest of
 *       its canonical bytes, one platform and one time. Anything else is another publication.
 *   X2  It lives two hours at most.
 *   X3  Here it is only read. That it is good for one use is decided by the domain (approval.ts
 *       there), which keeps what was used.
 *   X4  A use leaves a receipt, signed by the hub, that anybody can check against the hub's keys.
 */

import type { KeyHistory } from '@chimera/domain/agent/keys'
import {
  type Approval,
  decideUse,
  type Publication,
  type UseRefusal,
} from '@chimera/domain/approval'
import { type Refused, refuse } from '@chimera/domain/decision'
import type { ApprovalId, ContentId, Digest, Instant, ReviewerId } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import { verifyByHistory } from './history.ts'
import { type JwtForm, type JwtPolicy, type Parties, readJwt, signJwt } from './jwt.ts'
import type { Keyring } from './keyring.ts'
import type { KeyPair } from './keys.ts'
import { type MessageVerdict, type Signed, signMessage } from './message.ts'

const FORM: JwtForm = { typ: 'chimera-approval+jwt', mostMs: LIMITS.approvalTtlMs }

export type ApprovalVerdict =
  | { readonly ok: true; readonly approval: Approval }
  | Refused<UseRefusal>

export function issueApproval(
  { id, reviewer, publication, approvedAt, expiresAt }: Approval,
  parties: Parties,
  hub: KeyPair,
): Promise<string> {
  const frame = { ...parties, subject: reviewer, id, issuedAt: approvedAt, expiresAt }
  return signJwt(FORM, frame, { ...encodePublication(publication) }, hub)
}

/**
 * What a token says that one of these keys has signed, whether or not it is in time: a use that was
 * recorded is still that use when the token has expired.
 */
export async function readApproval(
  text: string,
  policy: JwtPolicy,
  now: Instant,
): Promise<Approval | undefined> {
  const reading = await readJwt(FORM, text, policy, now)
  if (reading.state === 'bad') return undefined
  const { frame, claims } = reading
  const publication = decodePublication(claims)
  if (publication === undefined) return undefined
  return {
    id: frame.id as ApprovalId,
    reviewer: frame.subject as ReviewerId,
    publication,
    approvedAt: frame.issuedAt,
    expiresAt: frame.expiresAt,
  }
}

/** Whether it fits and is in time is the domain's rule. */
export async function verifyApproval(
  text: string,
  publication: Publication,
  policy: JwtPolicy,
  now: Instant,
): Promise<ApprovalVerdict> {
  const approval = await readApproval(text, policy, now)
  if (approval === undefined) return refuse('approval_invalid')
  const decision = decideUse(approval, publication, now)
  return decision.ok ? { ok: true, approval } : decision
}

type PublicationClaims = {
  readonly content_id: ContentId
  readonly content_sha256: Digest
  readonly platform: string
  /** Milliseconds since 1970, or null for at once: "no time" is approved, not left open. */
  readonly scheduled_at: Instant | null
}

export type ApprovalReceipt = Signed<
  PublicationClaims & {
    readonly approval_id: ApprovalId
    readonly reviewer_id: ReviewerId
    readonly used_at: Instant
  }
>

export function signReceipt(approval: Approval, usedAt: Instant, hub: KeyPair): ApprovalReceipt {
  const receipt = {
    ...encodePublication(approval.publication),
    approval_id: approval.id,
    reviewer_id: approval.reviewer,
    used_at: usedAt,
  }
  return signMessage(receipt, hub)
}

/** Under the key that the hub had when the approval was used (P-15). */
export function verifyReceipt(
  receipt: ApprovalReceipt,
  history: KeyHistory,
  keyring: Keyring,
): MessageVerdict {
  return verifyByHistory(receipt, { history, signedAt: receipt.used_at }, keyring)
}

function encodePublication(publication: Publication): PublicationClaims {
  const { content, bytes, platform, scheduledAt = null } = publication
  return { content_id: content, content_sha256: bytes, platform, scheduled_at: scheduledAt }
}

function decodePublication(claims: Readonly<Record<string, unknown>>): Publication | undefined {
  const { content_id, content_sha256, platform, scheduled_at } = claims
  if (typeof content_id !== 'string' || typeof content_sha256 !== 'string') return undefined
  if (typeof platform !== 'string') return undefined
  const publication = {
    content: content_id as ContentId,
    bytes: content_sha256 as Digest,
    platform,
  }
  if (scheduled_at === null) return publication
  return typeof scheduled_at === 'number'
    ? { ...publication, scheduledAt: scheduled_at }
    : undefined
}
