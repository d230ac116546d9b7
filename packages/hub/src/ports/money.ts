/** The ledger: commands in, decisions out, and what the books say. */
import type { Decision } from '@chimera/domain/decision'
import type { CorrelationId, Digest, OwnerId, TaskId, TransferId } from '@chimera/domain/ids'
import type { Account, MoneyFact, Movement } from '@chimera/domain/money/ledger'
import type { MoneyCommand } from '@chimera/domain/money/money'
import type { Refusal } from '@chimera/domain/refusals'

export type PaymentFilter = {
  readonly owner?: OwnerId
  readonly task?: TaskId
  readonly limit: number
}

export type Economy = {
  readonly accounts: number
  readonly payments: number
  readonly volumeCents: number
}

/** What a command takes from the cap of the token that orders it. */
export type Spend = { readonly token: Digest; readonly amountCents: number }

export type Money = {
  /** Decided together with whatever arrives at the same time, and committed before it answers. */
  readonly submit: (
    command: MoneyCommand,
    correlation: CorrelationId,
    spend?: Spend,
  ) => Promise<Decision<MoneyFact, Refusal>>
  readonly account: (owner: OwnerId) => Promise<Account | undefined>
  readonly movement: (transfer: TransferId) => Promise<Movement | undefined>
  /** The latest first. */
  readonly payments: (filter: PaymentFilter) => Promise<readonly Movement[]>
  readonly economy: () => Promise<Economy>
  readonly accounts: () => Promise<readonly Account[]>
  /** Ends holds whose time has come; answers how many. */
  readonly endDue: () => Promise<number>
}
