/** The ledger: commands in, decisions out, and what the books say. */
import type { Decision, Refused } from '@chimera/domain/decision'
import type {
  AgentId,
  CorrelationId,
  Digest,
  HoldId,
  Instant,
  OwnerId,
  TaskId,
  TransferId,
} from '@chimera/domain/ids'
import type { Account, Hold, Movement, PaymentMade } from '@chimera/domain/money/ledger'
import type { MoneyCommand } from '@chimera/domain/money/money'
import type { Refusal } from '@chimera/domain/refusals'
import type { BookingFact } from '@chimera/domain/work/booking'

export type PaymentFilter = {
  readonly owner?: OwnerId
  readonly task?: TaskId
  readonly limit: number
}

export type HoldFilter = {
  /** Holds that this owner pays, funds or is to be paid from. */
  readonly owner?: OwnerId
  readonly task?: TaskId
  readonly agent?: AgentId
  readonly limit: number
}

export type Economy = {
  readonly accounts: number
  readonly payments: number
  readonly volumeCents: number
}

/** Where all credits are; what was minted is what the other three hold together. */
export type BookSums = Economy & {
  readonly mintedCents: number
  readonly accountCents: number
  readonly holdCents: number
  readonly feeCents: number
  readonly standingHolds: number
}

/** What was paid from `beginsAt` on, for as long as a span is. */
export type PaidSpan = {
  readonly beginsAt: Instant
  readonly amountCents: number
  readonly payments: number
}

/** What a command takes from the cap of the token that orders it. */
export type Spend = { readonly token: Digest; readonly amountCents: number }

export type Paid = {
  readonly ok: true
  /** This transfer's own movement, or the one that settled its task before (CH-8). */
  readonly payment: PaymentMade
  readonly payerCents: number
  readonly payeeCents: number
}

export type Money = {
  /** Decided together with whatever arrives at the same time, and committed before it answers. */
  readonly submit: (
    command: MoneyCommand,
    correlation: CorrelationId,
    spend?: Spend,
  ) => Promise<Decision<BookingFact, Refusal>>
  /** As `submit`, with what the books say of it as soon as it is decided. */
  readonly transfer: (
    order: MoneyCommand & { readonly type: 'transfer_credits' },
    correlation: CorrelationId,
    spend?: Spend,
  ) => Promise<Paid | Refused<Refusal>>
  readonly account: (owner: OwnerId) => Promise<Account | undefined>
  readonly hold: (id: HoldId) => Promise<Hold | undefined>
  /** The hold in force for a task, or the last one that was. */
  readonly holdOf: (payer: OwnerId, task: TaskId) => Promise<Hold | undefined>
  readonly holds: (filter: HoldFilter) => Promise<readonly Hold[]>
  /** What each of these has cost, with all that was hired out of it (P-9). */
  readonly costs: (holds: readonly HoldId[]) => Promise<ReadonlyMap<HoldId, number>>
  readonly movement: (transfer: TransferId) => Promise<Movement | undefined>
  /** The latest first. */
  readonly payments: (filter: PaymentFilter) => Promise<readonly Movement[]>
  readonly economy: () => Promise<Economy>
  readonly accounts: () => Promise<readonly Account[]>
  /** Of one moment. */
  readonly sums: () => Promise<BookSums>
  /** The oldest first, without spans in which nothing was paid. */
  readonly volume: (asked: {
    readonly since: Instant
    readonly spanMs: number
  }) => Promise<readonly PaidSpan[]>
  /** Ends holds and promises of slots whose time has come; answers how many. */
  readonly endDue: () => Promise<number>
}
