/**
 * One batch of commands on money and slots, from rows to rows, in one transaction: what was
 * answered before, what is touched, what the domain decides, what becomes of it.
 *
 *   X1  Facts, balances, reservations, remembered answers and what tokens spent commit together,
 *       or not at all.
 *   X2  Two commands of one batch under one key are not decided together: the later one is put
 *       off until the first is committed.
 *   X3  A cap is held against what changes something. Who repeats what was done hears so again,
 *       also when the cap is reached.
 */
import type { Recorded } from '@chimera/domain/audit'
import { accept, type Decision, refuse } from '@chimera/domain/decision'
import type { CorrelationId, Digest, Instant } from '@chimera/domain/ids'
import { type SettlementTerms, withinCap } from '@chimera/domain/money/amount'
import type { Refusal } from '@chimera/domain/refusals'
import {
  type BookingCommand,
  type BookingFact,
  bookTogether,
  type Desk,
} from '@chimera/domain/work/booking'
import {
  decideRepeat,
  isRemembered,
  type Remembered,
  type Scope,
  scopeKey,
} from '@chimera/domain/work/idempotency'
import { isSlotFact } from '@chimera/domain/work/room'
import { type AnswerEntry, readAnswers, writeAnswers } from '../answers.ts'
import { PUT_OFF } from '../batching.ts'
import type { Queries } from '../engine/database.ts'
import { appendFacts } from '../facts/append.ts'
import { Failure } from '../failure.ts'
import { lockPurses, type Purse, type Spend, saveSpent } from '../registry/spending.ts'
import { saveSlots } from '../reservations/save.ts'
import { type LoadOptions, loadLocked } from './load.ts'
import { saveBooks, saveTotals } from './save.ts'

export type BookingDecision = Decision<BookingFact, Refusal>

export type Remember = {
  readonly scope: Scope
  readonly content: Digest
  /** The answer to keep, from the decision and the touched books as they are afterwards. */
  readonly answer: (decision: BookingDecision, desk: Desk) => unknown
  readonly forgetAt?: Instant
}

export type Submission = {
  readonly command: BookingCommand
  readonly correlation: CorrelationId
  readonly remember?: Remember
  readonly spend?: Spend
  /**
   * Shown the touched books as the batch leaves them, once the command is decided. Before the
   * commit, and again when the batch is: what it saw counts when the submission is answered.
   */
  readonly look?: (decision: BookingDecision, desk: Desk) => void
}

export type Submitted = {
  readonly decision: BookingDecision
  /** With `remember` only. */
  readonly answer?: unknown
  /** Whether the answer is an earlier one, and nothing was decided now. */
  readonly repeated: boolean
}

/** What the database says of a transaction that has to be done again. */
const BEGIN_ANEW = '40001'

type Slot = Submitted | typeof PUT_OFF | undefined

export async function runBatch(
  tx: Queries,
  submissions: readonly Submission[],
  hands: { readonly now: () => Instant; readonly terms: SettlementTerms } & LoadOptions,
): Promise<readonly (Submitted | typeof PUT_OFF)[]> {
  const scopes = submissions.flatMap(({ remember }) => (remember ? [scopeKey(remember.scope)] : []))
  const known = await readAnswers(tx, scopes)
  const slots = answerRepeats(submissions, known, hands.now())
  const open = submissions.filter((_, at) => slots[at] === undefined)

  const { desk, seats, complete } = await loadLocked(
    tx,
    open.map((each) => each.command),
    hands,
  )
  if (!complete) {
    throw new Failure('statement_failed', 'the books grew meanwhile', { sqlState: BEGIN_ANEW })
  }
  // Not earlier: whoever waited for a lock decides by the time at which it got it.
  const now = hands.now()
  const tokens = [...new Set(open.flatMap(({ spend }) => (spend ? [spend.token] : [])))]
  const purses = await lockPurses(tx, tokens, now)
  refuseEnded(submissions, slots, purses)

  const asked = submissions.filter((_, at) => slots[at] === undefined)
  const commands = asked.map((each) => each.command)
  const spent = new Map<Digest, number>()
  const veto = (at: number) => spendFrom(purses, spent, asked[at]?.spend)
  const batch = bookTogether(desk, commands, now, { terms: hands.terms, veto })
  const decided = asked.map((submission, at): Decided => {
    const decision = batch.decisions[at] ?? refuse('service_unavailable')
    const answer = submission.remember?.answer(decision, batch.desk)
    submission.look?.(decision, batch.desk)
    return { submission, decision, answer }
  })
  // Sent together, and done in this order: a reservation refers to its hold.
  await Promise.all([
    saveBooks(tx, desk, batch.desk),
    saveSlots(tx, seats, batch.facts.filter(isSlotFact)),
    appendFacts(tx, recordedFacts(decided, batch.facts, now)),
    writeAnswers(tx, decided.flatMap(answerEntry), now),
    saveSpent(tx, spent),
    saveTotals(tx, desk, batch.desk),
  ])

  const rest = decided.values()
  return slots.map((slot) => slot ?? submittedOf(rest.next().value))
}

type Decided = {
  readonly submission: Submission
  readonly decision: BookingDecision
  readonly answer: unknown
}

function answerRepeats(
  submissions: readonly Submission[],
  known: ReadonlyMap<string, Remembered<unknown>>,
  now: Instant,
): Slot[] {
  const seen = new Set<string>()
  return submissions.map(({ remember }) => {
    if (remember === undefined) return undefined
    const key = scopeKey(remember.scope)
    const repeat = decideRepeat(known.get(key), remember.content, now)
    if (repeat.kind === 'same') return { decision: accept(), answer: repeat.answer, repeated: true }
    if (repeat.kind === 'conflict') return { decision: refuse(repeat.refusal), repeated: false }
    if (seen.has(key)) return PUT_OFF
    seen.add(key)
    return undefined
  })
}

function refuseEnded(
  submissions: readonly Submission[],
  slots: Slot[],
  purses: ReadonlyMap<Digest, Purse>,
): void {
  for (const [at, { spend }] of submissions.entries()) {
    if (spend === undefined || slots[at] !== undefined) continue
    const counts = purses.get(spend.token)?.ended === false
    if (!counts) slots[at] = { decision: refuse('token_invalid'), repeated: false }
  }
}

/** Counts it, unless that would be too much. */
function spendFrom(
  purses: ReadonlyMap<Digest, Purse>,
  spent: Map<Digest, number>,
  spend: Spend | undefined,
): 'cap_reached' | undefined {
  const purse = spend && purses.get(spend.token)
  if (spend === undefined || purse === undefined) return undefined
  const before = spent.get(spend.token) ?? 0
  const spentCents = purse.spentCents + before
  if (!withinCap({ ...purse, spentCents }, spend.amountCents)) return 'cap_reached'
  spent.set(spend.token, before + spend.amountCents)
  return undefined
}

/** What the clock alone did comes first, and goes by the hold or promise that it ended. */
function recordedFacts(
  decided: readonly Decided[],
  facts: readonly BookingFact[],
  now: Instant,
): readonly Recorded<BookingFact>[] {
  const caused = decided.flatMap(({ decision, submission }) =>
    (decision.ok ? decision.facts : []).map((fact) => ({
      fact,
      recordedAt: now,
      correlation: submission.correlation,
    })),
  )
  const byClock = facts.slice(0, facts.length - caused.length).map((fact) => ({
    fact,
    recordedAt: now,
    correlation: endedBy(fact) as CorrelationId,
  }))
  return [...byClock, ...caused]
}

function endedBy(fact: BookingFact): string {
  switch (fact.type) {
    case 'hold_lapsed':
    case 'hold_released':
      return fact.hold
    case 'reservation_ended':
      return fact.reservation.hold ?? fact.reservation.id
    case 'slots_freed':
      return fact.work
    default:
      return fact.type
  }
}

function answerEntry({ submission, decision, answer }: Decided): AnswerEntry[] {
  const { remember } = submission
  if (remember === undefined) return []
  if (!isRemembered(decision.ok ? 'accepted' : decision.refusal)) return []
  const { scope, content, forgetAt } = remember
  const entry = { scope: scopeKey(scope), content, answer }
  return [forgetAt === undefined ? entry : { ...entry, forgetAt }]
}

function submittedOf(decided: Decided | undefined): Submitted {
  if (decided === undefined) throw new Error('fewer decisions than commands')
  const { submission, decision, answer } = decided
  return submission.remember === undefined
    ? { decision, repeated: false }
    : { decision, answer, repeated: false }
}
