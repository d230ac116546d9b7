/**
 * Approvals: given by a person's token, used by whoever publishes for the same owner.
 *
 *   V1  Only who has the right to review gives one, and an agent's key never has it: nobody
 *       approves what it wants to publish itself.
 *   V2  It is good for the owner whose reviewer gave it. To everybody else it is not there.
 *   V3  The hub believes the token only by its present key, and then goes by what it has kept.
 *   V4  A use is recorded once and for all, with the reviewer, before its receipt is answered.
 */
import type { ApprovalsWanted, ApprovalUseAsked, ApprovalWanted } from '@chimera/dialects/chimera'
import { isUuid } from '@chimera/dialects/wire'
import { decideApprove, type KeptApproval, type Publication } from '@chimera/domain/approval'
import { type Refused, refuse } from '@chimera/domain/decision'
import type {
  ApprovalId,
  ContentId,
  CorrelationId,
  Digest,
  OwnerId,
  ReviewerId,
} from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import type { Refusal } from '@chimera/domain/refusals'
import { issueApproval, readApproval, signReceipt } from '@chimera/identity/approvals'
import { canonicalDigest } from '@chimera/identity/canonical'
import { createKeyring } from '@chimera/identity/keyring'
import type { KeyPair } from '@chimera/identity/keys'
import type { ApprovalEntry } from '../ports/approvals.ts'
import { type Caller, forbidden, isOperator, nameOf, permit } from './caller.ts'
import type { Hub } from './hub.ts'

type Cause = { readonly correlation: CorrelationId }
export type ApprovalGiven = {
  readonly ok: true
  readonly text: string
  readonly approval: KeptApproval
}

export async function giveApproval(
  hub: Hub,
  caller: Caller,
  wanted: ApprovalWanted,
  { correlation }: Cause,
): Promise<ApprovalGiven | Refused<Refusal>> {
  if (hub.key === undefined) return refuse('hub_key_unknown')
  const permitted = permit(caller, 'review')
  if (!permitted.ok) return permitted
  const { owner } = caller
  // V2: an operator is nobody's owner.
  if (owner === undefined) return forbidden()
  const publication = publicationOf(wanted)
  if (publication === undefined) return unwritable()
  // Whole seconds, as they are written in the token.
  const now = Math.floor(hub.now() / 1_000) * 1_000
  const { reviewer = unnamedReviewer(caller), ttlMs = LIMITS.approvalTtlMs } = wanted
  const asked = { id: hub.uuid() as ApprovalId, publication, reviewer, expiresAt: now + ttlMs }
  const decision = decideApprove(asked, now)
  if (!decision.ok) return decision
  const approval = { ...asked, approvedAt: now, owner, by: nameOf(caller) }
  const text = await issueApproval(approval, partiesOf(hub.key), hub.key)
  await hub.keep.approvals.give(approval, correlation)
  return { ok: true, text, approval }
}

export async function useApproval(
  hub: Hub,
  caller: Caller,
  { token, publication, use }: ApprovalUseAsked,
  { correlation }: Cause,
): Promise<{ readonly ok: true; readonly receipt: object } | Refused<Refusal>> {
  const { key } = hub
  if (key === undefined) return refuse('hub_key_unknown')
  const permitted = permit(caller, 'agents')
  if (!permitted.ok) return permitted
  const { owner } = caller
  if (owner === undefined) return forbidden()
  const approval = await readApproval(token, policyOf(key), hub.now())
  if (approval === undefined) return refuse('approval_invalid')
  const { decision, entry } = await hub.keep.approvals.use(
    { id: approval.id, owner, publication, use, by: nameOf(caller) },
    (kept, usedAt) => signReceipt(kept, usedAt, key),
    correlation,
  )
  if (!decision.ok) return decision
  return entry?.receipt === undefined
    ? refuse('approval_invalid')
    : { ok: true, receipt: entry.receipt }
}

export async function showApproval(
  hub: Hub,
  caller: Caller,
  id: string,
): Promise<({ readonly ok: true } & ApprovalEntry) | Refused<Refusal>> {
  const permitted = permit(caller, 'read')
  if (!permitted.ok) return permitted
  const entry = isUuid(id)
    ? await hub.keep.approvals.find(id.toLowerCase() as ApprovalId)
    : undefined
  const mine = entry?.approval.owner === caller.owner || isOperator(caller)
  return entry === undefined || !mine ? refuse('approval_unknown') : { ok: true, ...entry }
}

export async function listApprovals(
  hub: Hub,
  caller: Caller,
  { owner: asked, after, limit }: ApprovalsWanted,
): Promise<
  | { readonly ok: true; readonly approvals: readonly ApprovalEntry[]; readonly more: boolean }
  | Refused<Refusal>
> {
  const owner = ownerFor(caller, asked)
  if (!owner.ok) return owner
  const found = await hub.keep.approvals.list({
    owner: owner.owner,
    limit: limit + 1,
    ...(after && { before: after }),
  })
  return { ok: true, approvals: found.slice(0, limit), more: found.length > limit }
}

/** The token of an approval, the same bytes as when it was given. */
export async function approvalText(hub: Hub, id: ApprovalId): Promise<string | undefined> {
  const { key } = hub
  const entry = await hub.keep.approvals.find(id)
  if (key === undefined || entry === undefined) return undefined
  return issueApproval(entry.approval, partiesOf(key), key)
}

/** Whose list it is: the caller's own, or for an operator the one that it names. */
export function ownerFor(
  caller: Caller,
  asked: OwnerId | undefined,
): { readonly ok: true; readonly owner: OwnerId } | Refused<Refusal> {
  const permitted = permit(caller, 'read')
  if (!permitted.ok) return permitted
  const owner = asked ?? caller.owner
  if (owner === undefined) return refuse('account_unknown')
  return owner === caller.owner || isOperator(caller) ? { ok: true, owner } : forbidden()
}

/** Undefined for content that JSON can spell and canonical JSON refuses, such as half a letter. */
export function digestOfContent(content: object): Digest | undefined {
  try {
    return canonicalDigest(content)
  } catch {
    return undefined
  }
}

export function unwritable(): Refused<'message_malformed'> {
  const issue = {
    path: '/content',
    expected: 'whole characters: what has no canonical form cannot be approved',
    got: 'half a character',
  }
  return refuse('message_malformed', { issues: [issue] })
}

function publicationOf({ what, platform, scheduledAt }: ApprovalWanted): Publication | undefined {
  const when = scheduledAt === undefined ? {} : { scheduledAt }
  if ('content' in what) return { ...what, platform, ...when }
  const bytes = digestOfContent(what.package)
  const content = what.package.content_id.toLowerCase() as ContentId
  return bytes && { content, bytes, platform, ...when }
}

/** A reviewer without a name is known by the token, whose id is public. */
export const unnamedReviewer = ({ token }: Caller) =>
  `reviewer-${token?.id ?? 'unknown'}` as ReviewerId

/** For this hub and by it; hubs on one database share one key. */
const partiesOf = ({ id }: KeyPair) => ({ issuer: id, audience: id })

const policyOf = (key: KeyPair) => ({
  ...partiesOf(key),
  keyOf: (id: string) => (id === key.id ? key.publicKey : undefined),
  keyring: createKeyring(),
})
