/**
 * Money: opening accounts, minting, paying and paying back; and many commands decided together.
 * Holds have a file of their own; what the facts do to the books is in the ledger.
 *
 *   M1  Only the payer orders a payment, and only the payee a refund.
 *   M2  No account goes below zero: what is not there is not paid.
 *   M3  A transfer id stands for one movement for ever. The same order again finds it and moves
 *       nothing; another order under the same id is a conflict (CH-8).
 *   M4  A task is settled at most once. A transfer that names a task with a hold is its capture;
 *       one that names a settled task finds the first payment and moves nothing (CH-8).
 *   M5  Accepted work that ended unpaid stays unpaid: no later transfer in its name pays for it.
 *   M6  Credits come into being only by minting.
 */

import { accept, type Decision, refuse } from '../decision.ts'
import type { Instant, OwnerId, TaskId, TransferId } from '../ids.ts'
import { LIMITS } from '../limits.ts'
import type { Refusal } from '../refusals.ts'
import { feeOf, isAmount, isPrice, NO_FEE, type SettlementTerms } from './amount.ts'
import {
  type CaptureAsked,
  type ConfirmHoldAsked,
  decideCapture,
  decideConfirmHold,
  decideHold,
  decideLapse,
  decideRelease,
  type HoldAsked,
  isInForce,
  type LapseAsked,
  type ReleaseAsked,
  sweepHolds,
} from './hold.ts'
import {
  type Books,
  draftOf,
  holdOf,
  type Mint,
  type MoneyFact,
  type Movement,
  ownerSide,
  type Payment,
  type PaymentMade,
  paymentOf,
  post,
  type Refund,
  record,
} from './ledger.ts'

export type OpenAccountAsked = {
  readonly owner: OwnerId
  /** What the hub gives to newcomers, or an operator's initial balance; 0 for nothing. */
  readonly grantCents: number
  /** Names the minting of the grant. */
  readonly transfer: TransferId
}

/** An account that exists keeps its balance. Who may ask for a grant is a matter of scopes. */
export function decideOpenAccount(
  books: Books,
  { owner, grantCents, transfer }: OpenAccountAsked,
  now: Instant,
): Decision<MoneyFact, 'amount_invalid' | 'key_conflict'> {
  if (books.accounts.has(owner)) return accept()
  if (!isPrice(grantCents)) return refuse('amount_invalid')
  if (grantCents > 0 && books.movements.has(transfer)) return refuse('key_conflict')

  const opened: MoneyFact = { type: 'account_opened', at: now, owner, postings: [] }
  if (grantCents === 0) return accept(opened)
  return accept(opened, minted({ kind: 'mint', transfer, owner, amountCents: grantCents, at: now }))
}

export type MintAsked = {
  readonly transfer: TransferId
  readonly owner: OwnerId
  readonly amountCents: number
}

/** Who may mint is a matter of scopes. No account is minted above the limit, so sums stay exact. */
export function decideMint(
  books: Books,
  { transfer, owner, amountCents }: MintAsked,
  now: Instant,
): Decision<MoneyFact, 'amount_invalid' | 'key_conflict' | 'account_unknown'> {
  if (!isAmount(amountCents)) return refuse('amount_invalid')
  const earlier = books.movements.get(transfer)
  if (earlier !== undefined) {
    const same =
      earlier.kind === 'mint' && earlier.owner === owner && earlier.amountCents === amountCents
    return same ? accept() : refuse('key_conflict')
  }
  const account = books.accounts.get(owner)
  if (account === undefined) return refuse('account_unknown')
  if (account.balanceCents + amountCents > LIMITS.amountCents) return refuse('amount_invalid')
  return accept(minted({ kind: 'mint', transfer, owner, amountCents, at: now }))
}

export type TransferAsked = {
  readonly transfer: TransferId
  readonly payer: OwnerId
  readonly payee: OwnerId
  readonly amountCents: number
  /** The work that it pays for. */
  readonly task?: TaskId
  /** What was agreed for this work, where it is known and has no hold to say so. */
  readonly agreed?: { readonly payee: OwnerId; readonly amountCents: number }
  /** The owner of the token or key that orders it. */
  readonly by: OwnerId
}

/** Strongest first: when several apply, the caller hears the first. */
export type TransferRefusal =
  | 'caller_forbidden'
  | 'amount_invalid'
  | 'party_identical'
  | 'key_conflict'
  | 'settlement_mismatch'
  | 'work_not_begun'
  | 'hold_ended'
  | 'account_unknown'
  | 'funds_short'

export function decideTransfer(
  books: Books,
  asked: TransferAsked,
  now: Instant,
  terms: SettlementTerms = NO_FEE,
): Decision<MoneyFact, TransferRefusal> {
  if (asked.by !== asked.payer) return refuse('caller_forbidden')
  if (!isAmount(asked.amountCents)) return refuse('amount_invalid')
  if (asked.payer === asked.payee) return refuse('party_identical')

  const earlier = books.movements.get(asked.transfer)
  if (earlier !== undefined) return isSameOrder(earlier, asked) ? accept() : refuse('key_conflict')

  const settled =
    asked.task === undefined ? undefined : settle(books, asked, asked.task, now, terms)
  return settled ?? pay(books, asked, now, terms)
}

/** The movement that answers an accepted transfer: its own, or the first payment of its task. */
export function movementFor(
  books: Books,
  { transfer, payer, task }: Pick<TransferAsked, 'transfer' | 'payer' | 'task'>,
): PaymentMade | undefined {
  const own = books.movements.get(transfer)
  if (own?.kind === 'payment') return own
  return task === undefined ? undefined : paymentOf(books, payer, task)
}

export type RefundAsked = {
  readonly transfer: TransferId
  readonly of: TransferId
  readonly amountCents: number
  readonly by: OwnerId
}
export type RefundRefusal =
  | 'work_unknown'
  | 'caller_forbidden'
  | 'amount_invalid'
  | 'party_identical'
  | 'key_conflict'
  | 'refund_excessive'
  | 'funds_short'

/** To whoever funded the payment, up to what the payee got. The fee for settling stays paid. */
export function decideRefund(
  books: Books,
  { transfer, of, amountCents, by }: RefundAsked,
  now: Instant,
): Decision<MoneyFact, RefundRefusal> {
  const payment = books.movements.get(of)
  if (payment?.kind !== 'payment') return refuse('work_unknown')
  if (by !== payment.payee) return refuse('caller_forbidden')
  if (!isAmount(amountCents)) return refuse('amount_invalid')
  if (payment.payee === payment.funder) return refuse('party_identical')

  const earlier = books.movements.get(transfer)
  if (earlier !== undefined) {
    const same =
      earlier.kind === 'refund' && earlier.of === of && earlier.amountCents === amountCents
    return same ? accept() : refuse('key_conflict')
  }
  const leftCents = payment.paidCents - payment.refundedCents
  if (amountCents > leftCents) return refuse('refund_excessive', { figures: { leftCents } })
  if (amountCents > (books.accounts.get(by)?.balanceCents ?? 0)) return refuse('funds_short')

  const refund: Refund = { kind: 'refund', transfer, of, amountCents, at: now }
  const postings = post(ownerSide(payment.payee), ownerSide(payment.funder), amountCents)
  return accept({ type: 'credits_refunded', at: now, refund, postings })
}

export type MoneyCommand =
  | ({ readonly type: 'open_account' } & OpenAccountAsked)
  | ({ readonly type: 'mint_credits' } & MintAsked)
  | ({ readonly type: 'transfer_credits' } & TransferAsked)
  | ({ readonly type: 'refund_credits' } & RefundAsked)
  | ({ readonly type: 'hold_credits' } & HoldAsked)
  | ({ readonly type: 'confirm_hold' } & ConfirmHoldAsked)
  | ({ readonly type: 'capture_hold' } & CaptureAsked)
  | ({ readonly type: 'release_hold' } & ReleaseAsked)
  | ({ readonly type: 'lapse_hold' } & LapseAsked)

export function decideMoney(
  books: Books,
  command: MoneyCommand,
  now: Instant,
  terms: SettlementTerms = NO_FEE,
): Decision<MoneyFact, Refusal> {
  switch (command.type) {
    case 'open_account':
      return decideOpenAccount(books, command, now)
    case 'mint_credits':
      return decideMint(books, command, now)
    case 'transfer_credits':
      return decideTransfer(books, command, now, terms)
    case 'refund_credits':
      return decideRefund(books, command, now)
    case 'hold_credits':
      return decideHold(books, command, now)
    case 'confirm_hold':
      return decideConfirmHold(books, command, now)
    case 'capture_hold':
      return decideCapture(books, command, now, terms)
    case 'release_hold':
      return decideRelease(books, command, now)
    case 'lapse_hold':
      return decideLapse(books, command, now)
  }
}

export type Batch = {
  /** One for each command, in their order. */
  readonly decisions: readonly Decision<MoneyFact, Refusal>[]
  /** All facts in the order in which they became true, those of the clock first. */
  readonly facts: readonly MoneyFact[]
  readonly books: Books
}

/**
 * Commands that arrived together, decided one after another. Holds whose time has come are ended
 * first, so that a lapsed promise never makes its payer look short of credits.
 */
export function decideTogether(
  books: Books,
  commands: Iterable<MoneyCommand>,
  now: Instant,
  terms: SettlementTerms = NO_FEE,
): Batch {
  const draft = draftOf(books)
  const facts = [...sweepHolds(draft, now)]
  const decisions: Decision<MoneyFact, Refusal>[] = []
  for (const command of commands) {
    const decision = decideMoney(draft, command, now, terms)
    decisions.push(decision)
    for (const fact of decision.ok ? decision.facts : []) {
      record(draft, fact)
      facts.push(fact)
    }
  }
  return { decisions, facts, books: draft }
}

/** Nothing when the task is neither settled nor held: then it is paid from the account. */
function settle(
  books: Books,
  asked: TransferAsked,
  task: TaskId,
  now: Instant,
  terms: SettlementTerms,
): Decision<MoneyFact, TransferRefusal> | undefined {
  const first = paymentOf(books, asked.payer, task)
  if (first !== undefined) {
    const same = first.payee === asked.payee && first.amountCents === asked.amountCents
    return same ? accept() : refuse('settlement_mismatch')
  }
  const hold = holdOf(books, asked.payer, task)
  if (hold !== undefined && isInForce(hold, now)) {
    if (asked.payee !== hold.payee) return refuse('settlement_mismatch')
    if (hold.priceCents === undefined) return refuse('work_not_begun')
    if (asked.amountCents !== hold.priceCents) return refuse('settlement_mismatch')
    const { transfer, amountCents } = asked
    const order = { hold: hold.id, agent: hold.agent, transfer, amountCents }
    const capture = decideCapture(books, order, now, terms)
    // The order was checked above against everything that a capture can be refused for.
    return capture.ok ? capture : refuse('settlement_mismatch')
  }
  if (hold?.priceCents !== undefined) return refuse('hold_ended')

  const { agreed } = asked
  const fits =
    agreed === undefined ||
    (agreed.payee === asked.payee && agreed.amountCents === asked.amountCents)
  return fits ? undefined : refuse('settlement_mismatch')
}

function pay(
  books: Books,
  { transfer, payer, payee, amountCents, task }: TransferAsked,
  now: Instant,
  terms: SettlementTerms,
): Decision<MoneyFact, 'account_unknown' | 'funds_short'> {
  const account = books.accounts.get(payer)
  if (account === undefined || !books.accounts.has(payee)) return refuse('account_unknown')
  if (amountCents > account.balanceCents) return refuse('funds_short')

  // A gift is not a settlement: only what pays for work bears the fee.
  const feeCents = task === undefined ? 0 : feeOf(amountCents, terms)
  const payment: Payment = {
    kind: 'payment',
    transfer,
    payer,
    payee,
    funder: payer,
    amountCents,
    paidCents: amountCents,
    feeCents,
    at: now,
    ...(task === undefined ? {} : { task }),
  }
  const postings = [
    ...post(ownerSide(payer), ownerSide(payee), amountCents - feeCents),
    ...post(ownerSide(payer), 'fees', feeCents),
  ]
  return accept({ type: 'credits_transferred', at: now, payment, postings })
}

function minted(mint: Mint): MoneyFact {
  const postings = post('mint', ownerSide(mint.owner), mint.amountCents)
  return { type: 'credits_minted', at: mint.at, mint, postings }
}

const isSameOrder = (earlier: Movement, asked: TransferAsked) =>
  earlier.kind === 'payment' &&
  earlier.payer === asked.payer &&
  earlier.payee === asked.payee &&
  earlier.amountCents === asked.amountCents &&
  earlier.task === asked.task
