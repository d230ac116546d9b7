/**
 * The ledger: accounts, holds and movements, and the facts by which credits go from one to another.
 *
 *   L1  Credits move only by postings, and a posting gives to one side what it takes from another,
 *       in whole hundredths: every movement has two sides by construction (CH-7, CH-9).
 *   L2  Held credits sit in the hold and no longer in the account. What is promised cannot be spent
 *       again because it is not there, and a sub-hold takes from its parent in the same way (P-9).
 *   L3  Accounts, holds, fees and the mint sum to zero; only the mint is ever below zero.
 *   L4  Balances and holds follow from the facts alone: folding them again gives the same books.
 */
import type { AgentId, HoldId, Instant, OwnerId, TaskId, TransferId } from '../ids.ts'

/** Where credits can be. A prefix keeps an owner who is called `mint` apart from the mint. */
export type Side = `owner:${string}` | `hold:${string}` | 'mint' | 'fees'

export type Posting = { readonly from: Side; readonly to: Side; readonly amountCents: number }

/** `balanceCents` is free to spend; what is held sits in the holds (L2). */
export type Account = { readonly owner: OwnerId; readonly balanceCents: number }

export type HoldTerms = {
  readonly id: HoldId
  /** Who hires and gives orders about this hold. */
  readonly payer: OwnerId
  /** Whose credits they are: the payer, or in a sub-hold whoever placed the first of the chain. */
  readonly funder: OwnerId
  readonly payee: OwnerId
  /** The payee's agent that does the work; only its signature confirms, captures or gives up. */
  readonly agent: AgentId
  /** The payer's agent that hired: its score counts for the outcome's (CH-10). */
  readonly hirer?: AgentId
  readonly task: TaskId
  /** Counted from 1: a task whose hold ended unpaid may be held again. The last one counts. */
  readonly attempt: number
  readonly amountCents: number
  readonly lapsesAt: Instant
  /** Of the work: first the payer's, then the one that it was accepted with (OC-7). */
  readonly deadline?: Instant
  readonly parent?: HoldId
  /** Of sub-holds: when the first of the chain is over, behind which no link may reach. */
  readonly chainEndsAt?: Instant
}

export type HoldStage = 'placed' | 'confirmed' | 'captured' | 'released' | 'lapsed'

/** Why a hold was given back. Only `failed` and `overdue` are the agent's failure (CH-12). */
export type ReleaseCause = 'withdrawn' | 'refused' | 'cancelled' | 'failed' | 'overdue'

export type Hold = HoldTerms & {
  readonly stage: HoldStage
  readonly leftCents: number
  /** What its own payee got, sub-holds apart. */
  readonly paidCents: number
  /** Known once the work is accepted. */
  readonly priceCents?: number
  readonly releasesAt?: Instant
  readonly because?: ReleaseCause
}

/** A payment stands for good: a second order for it, or for its task, finds it here (CH-8). */
export type Payment = {
  readonly kind: 'payment'
  readonly transfer: TransferId
  readonly payer: OwnerId
  readonly payee: OwnerId
  readonly funder: OwnerId
  /** What the work cost its payer. */
  readonly amountCents: number
  /** What of it went to the payee, the fee included; the rest went through sub-holds to others. */
  readonly paidCents: number
  readonly feeCents: number
  readonly at: Instant
  readonly task?: TaskId
  readonly hold?: HoldId
}
export type Refund = {
  readonly kind: 'refund'
  readonly transfer: TransferId
  readonly of: TransferId
  readonly amountCents: number
  readonly at: Instant
}
export type Mint = {
  readonly kind: 'mint'
  readonly transfer: TransferId
  readonly owner: OwnerId
  readonly amountCents: number
  readonly at: Instant
}
export type PaymentMade = Payment & { readonly refundedCents: number }
export type Movement = PaymentMade | Refund | Mint

type Posted = { readonly at: Instant; readonly postings: readonly Posting[] }
export type MoneyFact = Posted &
  (
    | { readonly type: 'account_opened'; readonly owner: OwnerId }
    | { readonly type: 'credits_minted'; readonly mint: Mint }
    | { readonly type: 'credits_transferred'; readonly payment: Payment }
    | { readonly type: 'credits_held'; readonly hold: HoldTerms }
    | {
        readonly type: 'hold_confirmed'
        readonly hold: HoldId
        readonly priceCents: number
        readonly releasesAt: Instant
        readonly deadline?: Instant
      }
    | { readonly type: 'hold_captured'; readonly hold: HoldId; readonly payment: Payment }
    | { readonly type: 'hold_released'; readonly hold: HoldId; readonly because: ReleaseCause }
    | { readonly type: 'hold_lapsed'; readonly hold: HoldId }
    | { readonly type: 'credits_refunded'; readonly refund: Refund }
  )

/** Names a task among those of its payer, so that nobody can settle or block another's. */
export type JobKey = `${number}:${string}`
export type Job = { readonly hold?: HoldId; readonly settledBy?: TransferId }

/**
 * What a command touches, and no more. Whoever loads a hold loads its ancestors, the payment of its
 * task, and the accounts of its funder and payee; whoever loads a task, its last hold and payment.
 *
 * Mint and fees have no bound to be checked against, so they need not be loaded nor locked:
 * starting from 0 they come out as what the commands added.
 */
export type Books = {
  readonly accounts: ReadonlyMap<OwnerId, Account>
  readonly holds: ReadonlyMap<HoldId, Hold>
  readonly movements: ReadonlyMap<TransferId, Movement>
  readonly jobs: ReadonlyMap<JobKey, Job>
  readonly mintedCents: number
  readonly feesCents: number
}

type Rows = {
  readonly accounts?: Iterable<Account>
  readonly holds?: Iterable<Hold>
  readonly movements?: Iterable<Movement>
  readonly mintedCents?: number
  readonly feesCents?: number
}

/** Books from rows in any order. */
export function openBooks(rows: Rows = {}): Books {
  const draft: Draft = {
    accounts: new Map(),
    holds: new Map(),
    movements: new Map(),
    jobs: new Map(),
    mintedCents: rows.mintedCents ?? 0,
    feesCents: rows.feesCents ?? 0,
  }
  for (const account of rows.accounts ?? []) draft.accounts.set(account.owner, account)
  for (const hold of rows.holds ?? []) enterHold(draft, hold)
  for (const movement of rows.movements ?? []) enterMovement(draft, movement)
  return draft
}

/** A fact is already true, so nothing is checked here but that the books hold what it touches. */
export function applyMoney(books: Books, fact: MoneyFact): Books {
  return foldFacts([fact], books)
}

export function foldFacts(facts: Iterable<MoneyFact>, books: Books = openBooks()): Books {
  const draft = draftOf(books)
  for (const fact of facts) record(draft, fact)
  return draft
}

/** Books that are written in place, for as long as one function owns them. */
export type Draft = {
  -readonly [Part in keyof Books]: Books[Part] extends ReadonlyMap<infer Key, infer Value>
    ? Map<Key, Value>
    : Books[Part]
}

export function draftOf(books: Books): Draft {
  return {
    accounts: new Map(books.accounts),
    holds: new Map(books.holds),
    movements: new Map(books.movements),
    jobs: new Map(books.jobs),
    mintedCents: books.mintedCents,
    feesCents: books.feesCents,
  }
}

/** Copying the books for every fact would make a batch quadratic; a batch copies them once. */
export function record(draft: Draft, fact: MoneyFact): void {
  enter(draft, fact)
  for (const { from, to, amountCents } of fact.postings) {
    add(draft, from, -amountCents)
    add(draft, to, amountCents)
  }
}

export const ownerSide = (owner: OwnerId): Side => `owner:${owner}`
export const holdSide = (hold: HoldId): Side => `hold:${hold}`

/** Nothing to move is no posting. */
export function post(from: Side, to: Side, amountCents: number): readonly Posting[] {
  return amountCents === 0 ? [] : [{ from, to, amountCents }]
}

export function jobKey(payer: OwnerId, task: TaskId): JobKey {
  return `${payer.length}:${payer}${task}`
}

/** The hold in force for a task, or the last one that was. */
export function holdOf(books: Books, payer: OwnerId, task: TaskId): Hold | undefined {
  const id = books.jobs.get(jobKey(payer, task))?.hold
  return id === undefined ? undefined : books.holds.get(id)
}

export function paymentOf(books: Books, payer: OwnerId, task: TaskId): PaymentMade | undefined {
  const id = books.jobs.get(jobKey(payer, task))?.settledBy
  const movement = id === undefined ? undefined : books.movements.get(id)
  return movement?.kind === 'payment' ? movement : undefined
}

/** What an owner has put aside, as far as the books hold it. */
export function heldCents(books: Books, owner: OwnerId): number {
  let sum = 0
  for (const hold of books.holds.values()) if (hold.funder === owner) sum += hold.leftCents
  return sum
}

/** Every side with credits on it. Whole books sum to zero (L3). */
export function balancesOf(books: Books): ReadonlyMap<Side, number> {
  const balances = new Map<Side, number>()
  for (const { owner, balanceCents } of books.accounts.values()) {
    balances.set(ownerSide(owner), balanceCents)
  }
  for (const { id, leftCents } of books.holds.values()) balances.set(holdSide(id), leftCents)
  balances.set('fees', books.feesCents)
  // Not `-0`, which strict comparison tells from 0.
  return balances.set('mint', 0 - books.mintedCents)
}

function enter(draft: Draft, fact: MoneyFact): void {
  switch (fact.type) {
    case 'account_opened':
      draft.accounts.set(fact.owner, { owner: fact.owner, balanceCents: 0 })
      break
    case 'credits_minted':
      enterMovement(draft, fact.mint)
      break
    case 'credits_transferred':
      enterMovement(draft, { ...fact.payment, refundedCents: 0 })
      break
    case 'credits_held':
      enterHold(draft, { ...fact.hold, stage: 'placed', leftCents: 0, paidCents: 0 })
      break
    case 'hold_confirmed': {
      const { priceCents, releasesAt, deadline } = fact
      const accepted = { stage: 'confirmed', priceCents, releasesAt } as const
      change(draft, fact.hold, deadline === undefined ? accepted : { ...accepted, deadline })
      break
    }
    case 'hold_captured':
      enterMovement(draft, { ...fact.payment, refundedCents: 0 })
      change(draft, fact.hold, { stage: 'captured', paidCents: fact.payment.paidCents })
      break
    case 'hold_released':
      change(draft, fact.hold, { stage: 'released', because: fact.because })
      break
    case 'hold_lapsed':
      change(draft, fact.hold, { stage: 'lapsed' })
      break
    case 'credits_refunded':
      enterMovement(draft, fact.refund)
      enterRefund(draft, fact.refund)
      break
  }
}

function enterHold(draft: Draft, hold: Hold): void {
  draft.holds.set(hold.id, hold)
  const key = jobKey(hold.payer, hold.task)
  const job = draft.jobs.get(key)
  const other = job?.hold === undefined ? undefined : draft.holds.get(job.hold)
  if (other !== undefined && other.attempt > hold.attempt) return
  draft.jobs.set(key, { ...job, hold: hold.id })
}

function enterMovement(draft: Draft, movement: Movement): void {
  draft.movements.set(movement.transfer, movement)
  if (movement.kind !== 'payment' || movement.task === undefined) return
  const key = jobKey(movement.payer, movement.task)
  draft.jobs.set(key, { ...draft.jobs.get(key), settledBy: movement.transfer })
}

function enterRefund(draft: Draft, { of, amountCents }: Refund): void {
  const payment = found(draft.movements, of)
  if (payment.kind !== 'payment') throw new Error(`${of} is not a payment`)
  const refundedCents = payment.refundedCents + amountCents
  draft.movements.set(of, { ...payment, refundedCents })
}

function change(draft: Draft, id: HoldId, changes: Partial<Hold>): void {
  draft.holds.set(id, { ...found(draft.holds, id), ...changes })
}

function add(draft: Draft, side: Side, cents: number): void {
  if (side === 'mint') draft.mintedCents -= cents
  else if (side === 'fees') draft.feesCents += cents
  else if (side.startsWith('hold:')) {
    const hold = found(draft.holds, side.slice('hold:'.length) as HoldId)
    draft.holds.set(hold.id, { ...hold, leftCents: hold.leftCents + cents })
  } else {
    const account = found(draft.accounts, side.slice('owner:'.length) as OwnerId)
    draft.accounts.set(account.owner, { ...account, balanceCents: account.balanceCents + cents })
  }
}

/** A missing row was not loaded. To go on would store a difference as if it were a balance. */
export function found<Key extends string, Row>(rows: ReadonlyMap<Key, Row>, key: Key): Row {
  const row = rows.get(key)
  if (row === undefined) throw new Error(`the books do not hold ${key}`)
  return row
}
