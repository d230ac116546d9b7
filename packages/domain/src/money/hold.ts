/**
 * Holds: credits put aside for one task, until its work is paid for or given up.
 *
 *   placed → confirmed → captured | released       confirmed when the agent accepts the work
 *   placed → released | lapsed
 *
 *   H1  A hold is captured at most once, for at most the price, to the payee that it names.
 *   H2  A hold lapses by itself only while it is placed. Once confirmed it ends by capture, by the
 *       agent's own word, or as the agent's failure 24 h after the deadline or acceptance (P-3).
 *   H3  One hold is in force per payer and task; the same offer finds the same hold (AV-8).
 *   H4  A sub-hold is cut out of what its parent has left, by the parent's payee. So a chain spends
 *       at most the price of its first link, and nobody captures what is promised to a sub-hold.
 *   H5  What a hold does not pay goes to its nearest ancestor in force, else to the funder.
 *   H6  Time ends a hold at the instant, not when somebody sweeps: in between it pays nobody.
 *   H7  A hold may be of nothing: it says who asks for free work, and whether it was accepted.
 */

import { accept, type Decision, refuse } from '../decision.ts'
import type { AgentId, HoldId, Instant, OwnerId, TaskId, TransferId } from '../ids.ts'
import { LIMITS } from '../limits.ts'
import { feeOf, isPrice, NO_FEE, type SettlementTerms } from './amount.ts'
import {
  type Books,
  type Draft,
  found,
  type Hold,
  type HoldTerms,
  holdOf,
  holdSide,
  type MoneyFact,
  ownerSide,
  type Payment,
  paymentOf,
  post,
  type ReleaseCause,
  record,
  type Side,
} from './ledger.ts'

export type HoldAsked = {
  readonly hold: HoldId
  readonly payer: OwnerId
  readonly payee: OwnerId
  readonly agent: AgentId
  /** The payer's agent that hires; absent when a person or a script of the owner's does. */
  readonly hirer?: AgentId
  readonly task: TaskId
  readonly amountCents: number
  readonly lapsesAt: Instant
  /** By when the payer wants the work done; nobody accepts it for later. */
  readonly deadline?: Instant
  /** Cuts the hold out of this one instead of the payer's account. */
  readonly parent?: HoldId
  /** The owner of the token, key or signed offer that asks for it (CH-15). */
  readonly by: OwnerId
}

/** Strongest first: when several apply, the asker hears the first. */
export type HoldRefusal =
  | 'caller_forbidden'
  | 'amount_invalid'
  | 'task_conflict'
  | 'work_ended'
  | 'key_conflict'
  | 'message_expired'
  | 'account_unknown'
  | 'hold_unknown'
  | 'hold_ended'
  | 'work_not_begun'
  | 'expiry_too_far'
  | 'hold_exceeded'
  | 'funds_short'

export function decideHold(
  books: Books,
  asked: HoldAsked,
  now: Instant,
): Decision<MoneyFact, HoldRefusal> {
  if (asked.by !== asked.payer) return refuse('caller_forbidden')
  if (!isPrice(asked.amountCents)) return refuse('amount_invalid')

  const last = holdOf(books, asked.payer, asked.task)
  if (last !== undefined && isInForce(last, now)) {
    return isSameOffer(last, asked) ? accept() : refuse('task_conflict')
  }
  if (paymentOf(books, asked.payer, asked.task) !== undefined) return refuse('work_ended')
  if (books.holds.has(asked.hold)) return refuse('key_conflict')
  if (asked.lapsesAt <= now) return refuse('message_expired')
  if (!books.accounts.has(asked.payee)) return refuse('account_unknown')

  const attempt = (last?.attempt ?? 0) + 1
  return asked.parent === undefined
    ? takeFromAccount(books, asked, attempt, now)
    : cutFromParent(books, asked, asked.parent, attempt, now)
}

export type ConfirmHoldAsked = {
  readonly hold: HoldId
  /** Who accepted the work, by its signature. */
  readonly agent: AgentId
  readonly priceCents: number
  readonly deadline?: Instant
}
export type ConfirmHoldRefusal =
  | 'hold_unknown'
  | 'caller_forbidden'
  | 'amount_invalid'
  | 'settlement_mismatch'
  | 'hold_ended'
  | 'expiry_too_far'
  | 'budget_insufficient'

/** The work is accepted at a price. What was held beyond it is given back at once. */
export function decideConfirmHold(
  books: Books,
  asked: ConfirmHoldAsked,
  now: Instant,
): Decision<MoneyFact, ConfirmHoldRefusal> {
  const { priceCents } = asked
  const hold = books.holds.get(asked.hold)
  if (hold === undefined) return refuse('hold_unknown')
  if (asked.agent !== hold.agent) return refuse('caller_forbidden')
  if (!isPrice(priceCents)) return refuse('amount_invalid')
  if (!isInForce(hold, now)) return refuse('hold_ended')
  if (hold.stage === 'confirmed') {
    // The first acceptance counts: a repeat starts no new day of grace.
    return hold.priceCents === priceCents ? accept() : refuse('settlement_mismatch')
  }
  if (asked.deadline !== undefined && asked.deadline > latestDeadline(hold, now)) {
    return refuse('expiry_too_far')
  }
  if (priceCents > hold.leftCents) {
    return refuse('budget_insufficient', { figures: { priceCents, heldCents: hold.leftCents } })
  }
  const deadline = asked.deadline ?? hold.deadline
  return accept({
    type: 'hold_confirmed',
    at: now,
    hold: hold.id,
    priceCents,
    releasesAt: (deadline ?? now) + LIMITS.holdGraceMs,
    ...(deadline === undefined ? {} : { deadline }),
    postings: post(holdSide(hold.id), homeOf(books, hold), hold.leftCents - priceCents),
  })
}

export type CaptureAsked = {
  readonly hold: HoldId
  /** Names the payment. */
  readonly transfer: TransferId
  /** Who signed the success. */
  readonly agent: AgentId
  /** What the work cost with all that it hired; the payee gets what sub-holds did not take. */
  readonly amountCents: number
}
export type CaptureRefusal =
  | 'hold_unknown'
  | 'caller_forbidden'
  | 'amount_invalid'
  | 'settlement_mismatch'
  | 'hold_ended'
  | 'work_not_begun'
  | 'key_conflict'
  | 'hold_exceeded'

export function decideCapture(
  books: Books,
  asked: CaptureAsked,
  now: Instant,
  terms: SettlementTerms = NO_FEE,
): Decision<MoneyFact, CaptureRefusal> {
  const { transfer, amountCents } = asked
  const hold = books.holds.get(asked.hold)
  if (hold === undefined) return refuse('hold_unknown')
  if (asked.agent !== hold.agent) return refuse('caller_forbidden')
  if (!isPrice(amountCents)) return refuse('amount_invalid')
  if (hold.stage === 'captured') {
    const first = paymentOf(books, hold.payer, hold.task)
    return first?.amountCents === amountCents ? accept() : refuse('settlement_mismatch')
  }
  if (!isInForce(hold, now)) return refuse('hold_ended')
  if (hold.priceCents === undefined) return refuse('work_not_begun')
  if (books.movements.has(transfer)) return refuse('key_conflict')
  if (amountCents > hold.priceCents) {
    return refuse('hold_exceeded', { figures: { priceCents: hold.priceCents } })
  }
  const cutCents = hold.priceCents - hold.leftCents
  const paidCents = amountCents - cutCents
  // Whoever hired for more than it charges has not said what the work cost.
  if (paidCents < 0) return refuse('settlement_mismatch', { figures: { cutCents } })

  const feeCents = feeOf(paidCents, terms)
  const { id, payer, payee, funder, task } = hold
  const payment: Payment = {
    kind: 'payment',
    transfer,
    payer,
    payee,
    funder,
    amountCents,
    paidCents,
    feeCents,
    at: now,
    task,
    hold: id,
  }
  const postings = [
    ...post(holdSide(id), ownerSide(payee), paidCents - feeCents),
    ...post(holdSide(id), 'fees', feeCents),
    ...post(holdSide(id), homeOf(books, hold), hold.leftCents - paidCents),
  ]
  return accept({ type: 'hold_captured', at: now, hold: id, payment, postings })
}

/** The agent gives the work up at any time; the payer only withdraws what nobody has accepted. */
export type ReleaseAsked = { readonly hold: HoldId } & (
  | { readonly because: 'refused' | 'cancelled' | 'failed'; readonly agent: AgentId }
  | { readonly because: 'withdrawn'; readonly by: OwnerId }
)
export type ReleaseRefusal = 'hold_unknown' | 'caller_forbidden' | 'hold_ended'

export function decideRelease(
  books: Books,
  asked: ReleaseAsked,
  now: Instant,
): Decision<MoneyFact, ReleaseRefusal> {
  const hold = books.holds.get(asked.hold)
  if (hold === undefined) return refuse('hold_unknown')
  const own = asked.because === 'withdrawn' ? asked.by === hold.payer : asked.agent === hold.agent
  if (!own) return refuse('caller_forbidden')
  if (hold.stage === 'released' && hold.because === asked.because) return accept()
  if (!isInForce(hold, now)) return refuse('hold_ended')
  if (asked.because === 'withdrawn' && hold.stage === 'confirmed') return refuse('caller_forbidden')
  return accept(released(books, hold, asked.because, now))
}

export type LapseAsked = { readonly hold: HoldId }

/** What time alone does to a hold; nothing while its time has not come. */
export function decideLapse(
  books: Books,
  asked: LapseAsked,
  now: Instant,
): Decision<MoneyFact, 'hold_unknown'> {
  const hold = books.holds.get(asked.hold)
  if (hold === undefined) return refuse('hold_unknown')
  if (!isStanding(hold) || now < endsAt(hold)) return accept()
  if (hold.stage === 'confirmed') return accept(released(books, hold, 'overdue', now))
  return accept({ type: 'hold_lapsed', at: now, hold: hold.id, postings: giveBack(books, hold) })
}

/** Ends every hold in the books whose time has come. The order does not matter, by H5. */
export function sweepHolds(draft: Draft, now: Instant): readonly MoneyFact[] {
  const facts: MoneyFact[] = []
  for (const hold of draft.holds.keys()) {
    const decision = decideLapse(draft, { hold }, now)
    for (const fact of decision.ok ? decision.facts : []) {
      record(draft, fact)
      facts.push(fact)
    }
  }
  return facts
}

/** What the task of this hold has cost its payer so far: its own payee and all that it hired. */
export function rolledUpCents(books: Books, id: HoldId): number {
  const below = new Map<HoldId, Hold[]>()
  for (const hold of books.holds.values()) {
    if (hold.parent === undefined) continue
    const siblings = below.get(hold.parent)
    if (siblings === undefined) below.set(hold.parent, [hold])
    else siblings.push(hold)
  }
  const chain = [found(books.holds, id)]
  // The list grows while it is read: no recursion, so no chain is too deep.
  for (const hold of chain) chain.push(...(below.get(hold.id) ?? []))
  return chain.reduce((sum, hold) => sum + hold.paidCents, 0)
}

/** Who accepts binds the payer's credits until a day after the deadline: so not for any. */
function latestDeadline({ deadline, chainEndsAt }: Hold, now: Instant): Instant {
  return Math.min(deadline ?? now + LIMITS.workMs, chainEndsAt ?? Number.POSITIVE_INFINITY)
}

/** When time ends the hold, unless somebody ends it before. */
export function endsAt(hold: Hold): Instant {
  return hold.releasesAt ?? hold.lapsesAt
}

export function isInForce(hold: Hold, now: Instant): boolean {
  return isStanding(hold) && now < endsAt(hold)
}

function takeFromAccount(
  books: Books,
  asked: HoldAsked,
  attempt: number,
  now: Instant,
): Decision<MoneyFact, 'account_unknown' | 'funds_short'> {
  const account = books.accounts.get(asked.payer)
  if (account === undefined) return refuse('account_unknown')
  if (asked.amountCents > account.balanceCents) return refuse('funds_short')
  const terms = termsOf(asked, { funder: asked.payer, attempt })
  return accept(placed(terms, ownerSide(asked.payer), now))
}

function cutFromParent(
  books: Books,
  asked: HoldAsked,
  parentId: HoldId,
  attempt: number,
  now: Instant,
): Decision<MoneyFact, HoldRefusal> {
  const parent = books.holds.get(parentId)
  if (parent === undefined) return refuse('hold_unknown')
  if (asked.payer !== parent.payee) return refuse('caller_forbidden')
  if (!isInForce(parent, now)) return refuse('hold_ended')
  if (parent.stage !== 'confirmed') return refuse('work_not_begun')
  const chainEndsAt = parent.chainEndsAt ?? endsAt(parent)
  if (asked.lapsesAt > chainEndsAt) return refuse('expiry_too_far')
  if (asked.amountCents > parent.leftCents) {
    return refuse('hold_exceeded', { figures: { leftCents: parent.leftCents } })
  }
  const link = { funder: parent.funder, attempt, parent: parent.id, chainEndsAt }
  return accept(placed(termsOf(asked, link), holdSide(parent.id), now))
}

type Link = Pick<HoldTerms, 'funder' | 'attempt' | 'parent' | 'chainEndsAt'>

function termsOf(asked: HoldAsked, link: Link): HoldTerms {
  const { hold: id, payer, payee, agent, hirer, task, amountCents, lapsesAt, deadline } = asked
  return {
    id,
    payer,
    payee,
    agent,
    task,
    amountCents,
    lapsesAt,
    ...link,
    ...(hirer === undefined ? {} : { hirer }),
    ...(deadline === undefined ? {} : { deadline }),
  }
}

function placed(hold: HoldTerms, from: Side, now: Instant): MoneyFact {
  const postings = post(from, holdSide(hold.id), hold.amountCents)
  return { type: 'credits_held', at: now, hold, postings }
}

function released(books: Books, hold: Hold, because: ReleaseCause, now: Instant): MoneyFact {
  const postings = giveBack(books, hold)
  return { type: 'hold_released', at: now, hold: hold.id, because, postings }
}

const giveBack = (books: Books, hold: Hold) =>
  post(holdSide(hold.id), homeOf(books, hold), hold.leftCents)

function homeOf(books: Books, hold: Hold): Side {
  for (let { parent } = hold; parent !== undefined; ) {
    const ancestor = found(books.holds, parent)
    if (isStanding(ancestor)) return holdSide(ancestor.id)
    parent = ancestor.parent
  }
  return ownerSide(hold.funder)
}

/** Not ended by a fact; by the clock it may be over (H6). */
const isStanding = ({ stage }: Hold) => stage === 'placed' || stage === 'confirmed'

/**
 * The expiry is left out: whoever repeats an offer a second later means the same. So does the
 * owner that placed the hold itself and then lets its agent offer it.
 */
const isSameOffer = (hold: Hold, asked: HoldAsked) =>
  hold.payee === asked.payee &&
  hold.agent === asked.agent &&
  hold.amountCents === asked.amountCents &&
  hold.parent === asked.parent &&
  (hold.hirer ?? asked.hirer) === (asked.hirer ?? hold.hirer)
