/** Approvals of publications, as all hubs on one database know them. */
import type { ApprovalFact, ApprovalUse, KeptApproval, UseRefusal } from '@chimera/domain/approval'
import type { Decision } from '@chimera/domain/decision'
import type { ApprovalId, CorrelationId, Instant, OwnerId } from '@chimera/domain/ids'

export type ApprovalEntry = { readonly approval: KeptApproval; readonly receipt?: object }

export type Approvals = {
  readonly give: (approval: KeptApproval, correlation: CorrelationId) => Promise<void>
  /** One use for each approval; the receipt is signed by the first and given again as it was. */
  readonly use: (
    asked: ApprovalUse & { readonly id: ApprovalId; readonly by: string },
    sign: (approval: KeptApproval, usedAt: Instant) => object,
    correlation: CorrelationId,
  ) => Promise<{
    readonly decision: Decision<ApprovalFact, UseRefusal>
    readonly entry?: ApprovalEntry
  }>
  readonly find: (id: ApprovalId) => Promise<ApprovalEntry | undefined>
  /** The latest first. */
  readonly list: (query: {
    readonly owner: OwnerId
    readonly before?: { readonly approvedAt: Instant; readonly id: ApprovalId }
    readonly limit: number
  }) => Promise<readonly ApprovalEntry[]>
}
