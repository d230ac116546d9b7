/**
 * A desk on this machine, for whoever publishes without a hub: its own key signs approvals and
 * receipts. It proves that somebody with this key has approved these bytes, and no more than that:
 * whoever can read the key can approve.
 */
import { type Approval, decideApprove, decideUse, type Publication } from '@chimera/domain/approval'
import type { ApprovalId, Instant, ReviewerId } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import { issueApproval, readApproval, signReceipt } from '@chimera/identity/approvals'
import { createKeyring } from '@chimera/identity/keyring'
import type { KeyPair } from '@chimera/identity/keys'
import { type ApprovalDesk, ApprovalRefused, type ApprovalUsed } from './desk.ts'

export type LocalUse = { readonly id: string; readonly use: string; readonly used: ApprovalUsed }

/** What was used, in memory or in a file. The first under an id is the one that is answered. */
export type LocalUses = {
  readonly find: (id: string) => Promise<LocalUse | undefined>
  readonly add: (use: LocalUse) => Promise<LocalUse>
}

export type LocalDesk = ApprovalDesk & {
  /** Answers with the token. Throws an `ApprovalRefused` for what cannot be approved. */
  readonly approve: (asked: {
    readonly publication: Publication
    readonly reviewer: string
    readonly ttlMs?: number
  }) => Promise<string>
}

export function createMemoryUses(): LocalUses {
  const uses = new Map<string, LocalUse>()
  return {
    find: async (id) => uses.get(id),
    add: async (use) => {
      const known = uses.get(use.id) ?? use
      uses.set(use.id, known)
      return known
    },
  }
}

export function createLocalDesk({
  key,
  now,
  uuid,
  uses = createMemoryUses(),
}: {
  readonly key: KeyPair
  readonly now: () => Instant
  readonly uuid: () => string
  readonly uses?: LocalUses
}): LocalDesk {
  // Not the parties of a hub: what is approved here is worth nothing there, with the same key too.
  const parties = { issuer: `local:${key.id}`, audience: `local:${key.id}` }
  const keyOf = (id: string) => (id === key.id ? key.publicKey : undefined)
  const keyring = createKeyring()

  return {
    name: 'this machine',

    async approve({ publication, reviewer, ttlMs = LIMITS.approvalTtlMs }) {
      const at = Math.floor(now() / 1_000) * 1_000
      const asked = {
        id: uuid() as ApprovalId,
        publication,
        reviewer: reviewer as ReviewerId,
        expiresAt: at + ttlMs,
      }
      const decision = decideApprove(asked, at)
      if (!decision.ok) throw new ApprovalRefused('approval_expired')
      return issueApproval({ ...asked, approvedAt: at }, parties, key)
    },

    async use({ token, publication, use }) {
      const approval = await readApproval(token, { ...parties, keyOf, keyring }, now())
      const known = approval && (await uses.find(approval.id))
      const state: Approval | undefined =
        approval && known ? { ...approval, usedAt: known.used.usedAt } : approval
      const decision = decideUse(state, publication, now())
      if (!decision.ok) {
        if (decision.refusal === 'approval_used' && known?.use === use) return known.used
        throw new ApprovalRefused(decision.refusal)
      }
      if (approval === undefined) throw new ApprovalRefused('approval_invalid')
      const usedAt = now()
      const { id, reviewer } = approval
      const used = { id, reviewer, usedAt, receipt: signReceipt(approval, usedAt, key) }
      const kept = await uses.add({ id, use, used })
      if (kept.use !== use) throw new ApprovalRefused('approval_used')
      return kept.used
    },
  }
}
