/** Accounts and transfers. Who may order them is settled before: on an open hub, whoever asks. */
import type { AccountAsked, TransferMade, TransferOrdered } from '@chimera/dialects/chorus'
import { type Refused, refuse } from '@chimera/domain/decision'
import type { CorrelationId, Instant, TransferId } from '@chimera/domain/ids'
import type { Account, Movement, PaymentMade } from '@chimera/domain/money/ledger'
import type { Refusal } from '@chimera/domain/refusals'
import type { PaymentFilter } from '../ports.ts'
import type { Hub } from './hub.ts'

/** An account that exists keeps its balance. */
export async function openAccount(
  hub: Hub,
  { owner, initialCents }: AccountAsked,
): Promise<({ readonly ok: true } & Account) | Refused<Refusal>> {
  const transfer = hub.uuid() as TransferId
  const grantCents = initialCents ?? hub.grantCents
  const command = { type: 'open_account', owner, grantCents, transfer } as const
  const decision = await hub.keep.money.submit(command, transfer as string as CorrelationId)
  if (!decision.ok) return decision
  const account = await hub.keep.money.account(owner)
  return account === undefined ? refuse('service_unavailable') : { ok: true, ...account }
}

/** The transfer's id serves as its correlation. */
export async function transfer(
  hub: Hub,
  order: TransferOrdered,
): Promise<({ readonly ok: true } & TransferMade) | Refused<Refusal>> {
  const { money } = hub.keep
  const command = { ...order, by: order.payer }
  const decision = await money.submit(command, order.transfer as string as CorrelationId)
  if (!decision.ok) return decision
  const payment = await paymentOf(hub, order)
  const [payer, payee] = await Promise.all([money.account(order.payer), money.account(order.payee)])
  if (payment === undefined || payer === undefined || payee === undefined) {
    return refuse('service_unavailable')
  }
  return {
    ok: true,
    order: orderOf(payment),
    at: payment.at,
    payerCents: payer.balanceCents,
    payeeCents: payee.balanceCents,
  }
}

export type Transferred = { readonly order: TransferOrdered; readonly at: Instant }

export async function listTransfers(
  hub: Hub,
  filter: PaymentFilter,
): Promise<readonly Transferred[]> {
  const movements = await hub.keep.money.payments(filter)
  return movements.filter(isPayment).map((each) => ({ order: orderOf(each), at: each.at }))
}

/** The movement to answer with: this transfer's own, or the one that settled its job before. */
async function paymentOf(hub: Hub, order: TransferOrdered): Promise<PaymentMade | undefined> {
  const own = await hub.keep.money.movement(order.transfer)
  if (own?.kind === 'payment') return own
  if (order.task === undefined) return undefined
  const filter = { owner: order.payer, task: order.task, limit: 10 }
  const payments = (await hub.keep.money.payments(filter)).filter(isPayment)
  return payments.find(({ payer }) => payer === order.payer)
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
