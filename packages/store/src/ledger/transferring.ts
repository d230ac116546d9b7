/**
 * Paying, with what is to be said of it: the movement and both balances come out of the batch that
 * decided, so that nothing is read again. A repeat finds the first movement in the same way (CH-8).
 */
import type { Refused } from '@chimera/domain/decision'
import type { CorrelationId } from '@chimera/domain/ids'
import type { PaymentMade } from '@chimera/domain/money/ledger'
import { type MoneyCommand, movementFor } from '@chimera/domain/money/money'
import type { Refusal } from '@chimera/domain/refusals'
import type { Desk } from '@chimera/domain/work/booking'
import type { Spend } from '../registry/spending.ts'
import type { Ledger } from './ledger.ts'

export type TransferCredits = MoneyCommand & { readonly type: 'transfer_credits' }

type Paid = {
  readonly ok: true
  /** This transfer's own, or the one that settled its task before. */
  readonly payment: PaymentMade
  /** As its batch left them. */
  readonly payerCents: number
  readonly payeeCents: number
}

export async function transferCredits(
  ledger: Pick<Ledger, 'submit'>,
  command: TransferCredits,
  correlation: CorrelationId,
  spend?: Spend,
): Promise<Paid | Refused<Refusal>> {
  let paid: Paid | undefined
  const look = (_: unknown, desk: Desk) => {
    paid = paidIn(desk, command)
  }
  const { decision } = await ledger.submit({ command, correlation, look, ...(spend && { spend }) })
  if (!decision.ok) return decision
  if (paid === undefined) throw new Error('an accepted transfer without its movement')
  return paid
}

function paidIn(desk: Desk, command: TransferCredits): Paid | undefined {
  const payment = movementFor(desk, command)
  const payer = desk.accounts.get(command.payer)
  const payee = desk.accounts.get(command.payee)
  if (payment === undefined || payer === undefined || payee === undefined) return undefined
  return { ok: true, payment, payerCents: payer.balanceCents, payeeCents: payee.balanceCents }
}
