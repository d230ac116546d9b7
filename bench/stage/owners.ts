/** Owners with credits, and payments between two of them by chance. */
import { randomUUID } from 'node:crypto'
import type { TransferOrdered } from '@chimera/dialects/chorus'
import type { CorrelationId, OwnerId, TaskId, TransferId } from '@chimera/domain/ids'
import type { Hub } from '@chimera/hub/act/hub'

export const OWNERS = 10_000

const owner = (at: number) => `owner-${at}` as OwnerId

/** Each can pay far more often than it will. */
export async function openAccounts({ keep }: Pick<Hub, 'keep'>): Promise<void> {
  const orders = Array.from({ length: OWNERS }, async (_, at) => {
    const transfer = randomUUID() as TransferId
    const command = { type: 'open_account', owner: owner(at), grantCents: 1e8, transfer } as const
    const decision = await keep.money.submit(command, transfer as string as CorrelationId)
    if (!decision.ok) throw new Error(`no account was opened: ${decision.refusal}`)
  })
  await Promise.all(orders)
}

/** Of one hundredth, for a job of its own. */
export function randomTransfer(): TransferOrdered {
  const from = Math.floor(Math.random() * OWNERS)
  const to = (from + 1 + Math.floor(Math.random() * (OWNERS - 1))) % OWNERS
  return {
    type: 'transfer_credits',
    transfer: randomUUID() as TransferId,
    payer: owner(from),
    payee: owner(to),
    amountCents: 1,
    task: randomUUID() as TaskId,
  }
}
