/** Accounts and transfers, for those who may order and see them. */
import type {
  AccountAsked,
  EconomyFigures,
  TransferMade,
  TransferOrdered,
} from '@chimera/dialects/chorus'
import { type Refused, refuse } from '@chimera/domain/decision'
import type { CorrelationId, Instant, OwnerId, TransferId } from '@chimera/domain/ids'
import type { Account, Movement, PaymentMade } from '@chimera/domain/money/ledger'
import type { Refusal } from '@chimera/domain/refusals'
import type { PaymentFilter } from '../ports/money.ts'
import { type Caller, forbidden, isOperator, permit, permitOwner } from './caller.ts'
import type { Hub } from './hub.ts'

/** An account that exists keeps its balance. A balance to begin with is an operator's gift. */
export async function openAccount(
  hub: Hub,
  caller: Caller,
  { owner, initialCents }: AccountAsked,
): Promise<({ readonly ok: true } & Account) | Refused<Refusal>> {
  if (!isOperator(caller)) {
    const permitted = permitOwner(caller, 'money', owner)
    if (!permitted.ok) return permitted
    if (initialCents !== undefined) return forbidden()
  }
  const transfer = hub.uuid() as TransferId
  const grantCents = initialCents ?? hub.grantCents
  const command = { type: 'open_account', owner, grantCents, transfer } as const
  const decision = await hub.keep.money.submit(command, transfer as string as CorrelationId)
  if (!decision.ok) return decision
  const account = await hub.keep.money.account(owner)
  return account === undefined ? refuse('service_unavailable') : { ok: true, ...account }
}

export async function showAccount(
  hub: Hub,
  caller: Caller,
  owner: OwnerId,
): Promise<({ readonly ok: true } & Account) | Refused<Refusal>> {
  const permitted = isOperator(caller) ? permit(caller, 'read') : permitOwner(caller, 'read', owner)
  if (!permitted.ok) return permitted
  const account = await hub.keep.money.account(owner)
  return account === undefined ? refuse('account_unknown') : { ok: true, ...account }
}

/** The transfer's id serves as its correlation. */
export async function transfer(
  hub: Hub,
  caller: Caller,
  order: TransferOrdered,
): Promise<({ readonly ok: true } & TransferMade) | Refused<Refusal>> {
  const permitted = permitOwner(caller, 'money', order.payer)
  if (!permitted.ok) return permitted
  const command = { ...order, by: order.payer }
  const correlation = order.transfer as string as CorrelationId
  const spend = caller.token && { token: caller.token.digest, amountCents: order.amountCents }
  const paid = await hub.keep.money.transfer(command, correlation, spend)
  if (!paid.ok) return paid
  const { payment, payerCents, payeeCents } = paid
  return { ok: true, order: orderOf(payment), at: payment.at, payerCents, payeeCents }
}

export type Transferred = { readonly order: TransferOrdered; readonly at: Instant }

/** Operators see all payments, owners those that they made or got. */
export async function listTransfers(
  hub: Hub,
  caller: Caller,
  asked: PaymentFilter,
): Promise<{ readonly ok: true; readonly transfers: readonly Transferred[] } | Refused<Refusal>> {
  const owner = isOperator(caller) ? asked.owner : (asked.owner ?? caller.owner)
  if (!isOperator(caller) && owner === undefined) return forbidden()
  const permitted =
    isOperator(caller) || owner === undefined
      ? permit(caller, 'read')
      : permitOwner(caller, 'read', owner)
  if (!permitted.ok) return permitted
  const filter = { ...asked, ...(owner !== undefined && { owner }) }
  const movements = (await hub.keep.money.payments(filter)).filter(isPayment)
  return { ok: true, transfers: movements.map((each) => ({ order: orderOf(each), at: each.at })) }
}

/** Sums for everybody who is somebody, what each account holds for operators only (CH-14). */
export async function showEconomy(
  hub: Hub,
  caller: Caller,
): Promise<({ readonly ok: true } & EconomyFigures) | Refused<Refusal>> {
  const permitted = permit(caller, 'read')
  if (!permitted.ok) return permitted
  const { accounts, payments, volumeCents } = await hub.keep.money.economy()
  const figures = { ok: true, accounts, volumeCents, transactions: payments } as const
  if (!isOperator(caller)) return figures
  const all = await hub.keep.money.accounts()
  const balances = new Map(all.map(({ owner, balanceCents }) => [owner, balanceCents]))
  return { ...figures, balances }
}

const isPayment = (movement: Movement): movement is PaymentMade => movement.kind === 'payment'

const orderOf = ({
  transfer: id,
  payer,
  payee,
  amountCents,
  task,
}: PaymentMade): TransferOrdered => ({
  type: 'transfer_credits',
  transfer: id,
  payer,
  payee,
  amountCents,
  ...(task !== undefined && { task }),
})
