/**
 * Where an approval is verified and used up: the hub that signed it, or this machine. A port.
 *
 *   D1  An approval is used once. The same use again is answered as the first was; any other is
 *       refused with `approval_used`.
 *   D2  `ApprovalRefused` is the desk saying no. Whatever else is thrown is a desk that could not
 *       be asked: nothing is known, and the same use may be asked for again.
 */
import type { Publication, UseRefusal } from '@chimera/domain/approval'
import type { Instant } from '@chimera/domain/ids'

export type ApprovalUsed = {
  readonly id: string
  readonly reviewer: string
  readonly usedAt: Instant
  /** Signed; anybody can check it against the desk's key. */
  readonly receipt: object
}

export type UseAsked = {
  readonly token: string
  readonly publication: Publication
  /** The name of the use. */
  readonly use: string
}

export type ApprovalDesk = {
  /** As logs name it. */
  readonly name: string
  readonly use: (asked: UseAsked, signal: AbortSignal) => Promise<ApprovalUsed>
}

export class ApprovalRefused extends Error {
  override readonly name = 'ApprovalRefused'
  readonly refusal: UseRefusal

  constructor(refusal: UseRefusal) {
    super(refusal)
    this.refusal = refusal
  }
}
