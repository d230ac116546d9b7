/** Credits come into being only here, by an operator (M6). */
import type { MintWanted } from '@chimera/dialects/chimera'
import { type Refused, refuse } from '@chimera/domain/decision'
import type { CorrelationId } from '@chimera/domain/ids'
import type { Refusal } from '@chimera/domain/refusals'
import { type Caller, forbidden, isOperator } from './caller.ts'
import type { Hub } from './hub.ts'

export type Minted = MintWanted & { readonly ok: true; readonly balanceCents: number }

/** The same order again mints nothing, and answers with the balance as it is now. */
export async function mint(
  hub: Hub,
  caller: Caller,
  order: MintWanted,
): Promise<Minted | Refused<Refusal>> {
  if (!isOperator(caller)) return forbidden()
  const correlation = order.transfer as string as CorrelationId
  const decision = await hub.keep.money.submit({ type: 'mint_credits', ...order }, correlation)
  if (!decision.ok) return decision
  const account = await hub.keep.money.account(order.owner)
  if (account === undefined) return refuse('service_unavailable')
  return { ok: true, ...order, balanceCents: account.balanceCents }
}
