/**
 * The desk of a hub, over HTTP: the hub has signed the approval, knows whether it was used, and
 * answers with its receipt.
 *
 *   H1  A receipt is for what was asked, or it is none; with the hub's key at hand its signature is
 *       checked too.
 */
import { encodeApprovalUse, readApprovalReceipt } from '@chimera/dialects/chimera'
import type { Publication, UseRefusal } from '@chimera/domain/approval'
import type { PublicKey } from '@chimera/domain/ids'
import { createKeyring } from '@chimera/identity/keyring'
import { verifyMessage } from '@chimera/identity/message'
import type { HubDoor } from '../publish/hub-door.ts'
import { type ApprovalDesk, ApprovalRefused } from './desk.ts'

const REFUSALS: ReadonlySet<string> = new Set<UseRefusal>([
  'approval_invalid',
  'approval_mismatched',
  'approval_used',
  'approval_expired',
])
const isUseRefusal = (code: unknown): code is UseRefusal =>
  typeof code === 'string' && REFUSALS.has(code)

export function createHubDesk(door: HubDoor, options: { readonly hubKey?: PublicKey } = {}) {
  const keyring = createKeyring()
  const { hubKey } = options

  const desk: ApprovalDesk = {
    name: `the desk of ${door.address}`,
    async use(asked, signal) {
      const body = encodeApprovalUse(asked)
      const answer = await door.ask({ method: 'POST', path: '/v1/approvals/uses', body }, signal)
      if (answer.status !== 200) {
        const { code }: { readonly code?: unknown } = Object(answer.body)
        if (isUseRefusal(code)) throw new ApprovalRefused(code)
        throw new Error(`the hub did not judge the approval (HTTP ${answer.status})`)
      }
      const read = readApprovalReceipt(answer.body)
      if (!read.ok || !isFor(read.value, asked.publication)) {
        throw new Error('what answers there gave no receipt for what was asked')
      }
      const receipt = read.value
      if (hubKey !== undefined && !verifyMessage(receipt, hubKey, keyring).ok) {
        throw new Error('the receipt is not signed by the key of the hub')
      }
      return {
        id: receipt.approval_id,
        reviewer: receipt.reviewer_id,
        usedAt: receipt.used_at,
        receipt,
      }
    },
  }
  return desk
}

type Receipted = {
  readonly content_id: string
  readonly content_sha256: string
  readonly platform: string
  readonly scheduled_at: number | null
}

const isFor = (receipt: Receipted, { content, bytes, platform, scheduledAt }: Publication) =>
  receipt.content_id === content &&
  receipt.content_sha256 === bytes &&
  receipt.platform === platform &&
  receipt.scheduled_at === (scheduledAt ?? null)
