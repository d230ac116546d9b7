/**
 * One batch of money commands, from rows to rows, in one transaction: what was answered before,
 * what is touched, what the domain decides, what becomes of it.
 *
 *   X1  Facts, balances, remembered answers and what tokens spent commit together, or not at all.
 *   X2  Two commands of one batch under one key, or against the last credits of one cap, are not
 *       decided together: the later one is put off until the first is committed.
 */
import type { Recorded } from '@chimera/domain/audit'
import { accept, type Decision, refuse } from '@chimera/domain/decision'
import type { CorrelationId, Digest, Instant } from '@chimera/domain/ids'
import type { SettlementTerms } from '@chimera/domain/money/amount'
import type { Books, MoneyFact } from '@chimera/domain/money/ledger'
import { decideTogether, type MoneyCommand } from '@chimera/domain/money/money'
import type { Refusal } from '@chimera/domain/refusals'
import {
  decideRepeat,
  isRemembered,
  type Remembered,
  type Scope,
  scopeKey,
} from '@chimera/domain/work/idempotency'
import { type AnswerEntry, readAnswers, writeAnswers } from '../answers.ts'
import { PUT_OFF } from '../batching.ts'
import type { Queries } from '../engine/database.ts'
import { appendFacts } from '../facts/append.ts'
import { Failure } from '../failure.ts'
import { lockPurses, maySpend, type Purse, type Spend, saveSpent } from '../registry/spending.ts'
import { loadLocked } from './load.ts'
import { saveBooks } from './save.ts'

export type MoneyDecision = Decision<MoneyFact, Refusal>

export type Remember = {
  readonly scope: Scope
  readonly content: Digest
  /** The answer to keep, from the decision and the touched books as they are afterwards. */
  readonly answer: (decision: MoneyDecision, books: Books) => unknown
  readonly forgetAt?: Instant
}

export type Submission = {
  readonly command: MoneyCommand
  readonly correlation: CorrelationId
  readonly remember?: Remember
  readonly spend?: Spend
}

export type Submitted = {
  readonly decision: MoneyDecision
  /** With `remember` only. */
  readonly answer?: unknown
  /** Whether the answer is an earlier one, and nothing was decided now. */
  readonly repeated: boolean
}

type Slot = Submitted | typeof PUT_OFF | undefined

export async function runBatch(
  tx: Queries,
  submissions: readonly Submission[],
  hands: { readonly now: () => Instant; readonly terms: SettlementTerms },
): Promise<readonly (Submitted | typeof PUT_OFF)[]> {
  const scopes = submissions.flatMap(({ remember }) => (remember ? [scopeKey(remember.scope)] : []))
  const known = await readAnswers(tx, scopes)
  const slots = answerRepeats(submissions, known, hands.now())
  const open = submissions.filter((_, at) => slots[at] === undefined)

  const { books, complete } = await loadLocked(
    tx,
    open.map((each) => each.command),
  )
  if (!complete) {
    throw new Failure('statement_failed', 'the books grew meanwhile', { sqlState: '40001' })
  }
  // Not earlier: whoever waited for a lock decides by the time at which it got it.
  const now = hands.now()
  const tokens = [...new Set(open.flatMap(({ spend }) => (spend ? [spend.token] : [])))]
  checkCaps(submissions, slots, await lockPurses(tx, tokens, now))

  const asked = submissions.filter((_, at) => slots[at] === undefined)
  const commands = asked.map((each) => each.command)
  const batch = decideTogether(books, commands, now, hands.terms)
  const decided = asked.map((submission, at): Decided => {
    const decision = batch.decisions[at] ?? refuse('service_unavailable')
    const answer = submission.remember?.answer(decision, batch.books)
    return { submission, decision, answer }
  })
  await saveBooks(tx, books, batch.books)
  await appendFacts(tx, recordedFacts(decided, batch.facts, now))
  await writeAnswers(tx, decided.flatMap(answerEntry), now)
  await saveSpent(tx, spentBy(decided))

  const rest = decided.values()
  return slots.map((slot) => slot ?? submittedOf(rest.next().value))
}

type Decided = {
  readonly submission: Submission
  readonly decision: MoneyDecision
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

function checkCaps(
  submissions: readonly Submission[],
  slots: Slot[],
  purses: ReadonlyMap<Digest, Purse>,
): void {
  const reserved = new Map<Digest, number>()
  for (const [at, { spend }] of submissions.entries()) {
    if (spend === undefined || slots[at] !== undefined) continue
    const { token, amountCents } = spend
    const others = reserved.get(token) ?? 0
    const may = maySpend(purses.get(token), amountCents, others)
    if (may === 'yes') reserved.set(token, others + amountCents)
    else slots[at] = may === 'wait' ? PUT_OFF : { decision: refuse(may), repeated: false }
  }
}

/** What the clock alone did comes first, and goes by the hold that it ended. */
function recordedFacts(
  decided: readonly Decided[],
  facts: readonly MoneyFact[],
  now: Instant,
): readonly Recorded<MoneyFact>[] {
  const caused = decided.flatMap(({ decision, submission }) =>
    (decision.ok ? decision.facts : []).map((fact) => ({
      fact,
      recordedAt: now,
      correlation: submission.correlation,
    })),
  )
  const byClock = facts.slice(0, facts.length - caused.length).map((fact) => {
    const name =
      fact.type === 'hold_lapsed' || fact.type === 'hold_released' ? fact.hold : fact.type
    return { fact, recordedAt: now, correlation: name as string as CorrelationId }
  })
  return [...byClock, ...caused]
}

function answerEntry({ submission, decision, answer }: Decided): AnswerEntry[] {
  const { remember } = submission
  if (remember === undefined) return []
  if (!isRemembered(decision.ok ? 'accepted' : decision.refusal)) return []
  const { scope, content, forgetAt } = remember
  const entry = { scope: scopeKey(scope), content, answer }
  return [forgetAt === undefined ? entry : { ...entry, forgetAt }]
}

function spentBy(decided: readonly Decided[]): ReadonlyMap<Digest, number> {
  const spent = new Map<Digest, number>()
  for (const { submission, decision } of decided) {
    const { spend } = submission
    if (spend === undefined || !decision.ok || decision.facts.length === 0) continue
    spent.set(spend.token, (spent.get(spend.token) ?? 0) + spend.amountCents)
  }
  return spent
}

function submittedOf(decided: Decided | undefined): Submitted {
  if (decided === undefined) throw new Error('fewer decisions than commands')
  const { submission, decision, answer } = decided
  return submission.remember === undefined
    ? { decision, repeated: false }
    : { decision, answer, repeated: false }
}
