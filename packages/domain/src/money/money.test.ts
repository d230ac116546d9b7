/**
 * The tables are the specification of payments: one row, one rule. That any run of commands keeps
 * the books straight is shown in ledger.test.ts.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type { AgentId, HoldId, OwnerId, TaskId, TransferId } from '../ids.ts'
import { LIMITS } from '../limits.ts'
import { type Books, foldFacts, openBooks } from './ledger.ts'
import { decideMoney, decideTogether, type MoneyCommand, movementFor } from './money.ts'

const NOW = 1_000
const LAPSE = NOW + 30_000

const owner = (name: string) => name as OwnerId
const id = (text: string) => text as TransferId
const task = 'job' as TaskId
const agent = 'bob-agent' as AgentId
const FEE = { feeBasisPoints: 250 }

type Step<Type extends MoneyCommand['type']> = Extract<MoneyCommand, { type: Type }>

const open = (name: string, grantCents = 0): MoneyCommand => ({
  type: 'open_account',
  owner: owner(name),
  grantCents,
  transfer: id(`grant-${name}`),
})
const mint = (name: string, amountCents: number, transfer = 'mint-1'): MoneyCommand => ({
  type: 'mint_credits',
  transfer: id(transfer),
  owner: owner(name),
  amountCents,
})
/** Alice pays Bob 3.00 unless a row says otherwise. */
const transfer = (
  amountCents = 300,
  other: Partial<Step<'transfer_credits'>> = {},
): Step<'transfer_credits'> => ({
  type: 'transfer_credits',
  transfer: id('t1'),
  payer: owner('alice'),
  payee: owner('bob'),
  amountCents,
  by: owner('alice'),
  ...other,
})
const hold = (amountCents = 300, other: Partial<Step<'hold_credits'>> = {}): MoneyCommand => ({
  type: 'hold_credits',
  hold: 'h1' as HoldId,
  payer: owner('alice'),
  payee: owner('bob'),
  agent,
  task,
  amountCents,
  lapsesAt: LAPSE,
  by: owner('alice'),
  ...other,
})
const confirm: Step<'confirm_hold'> = {
  type: 'confirm_hold',
  hold: 'h1' as HoldId,
  agent,
  priceCents: 300,
}
const capture = (transfer = 'c1', of = 'h1'): MoneyCommand => ({
  type: 'capture_hold',
  hold: of as HoldId,
  transfer: id(transfer),
  agent,
  amountCents: 300,
})
const fail: MoneyCommand = {
  type: 'release_hold',
  hold: 'h1' as HoldId,
  because: 'failed',
  agent,
}
const refund = (amountCents: number, by = 'bob', of = 't1', transfer = 'r1'): MoneyCommand => ({
  type: 'refund_credits',
  transfer: id(transfer),
  of: id(of),
  amountCents,
  by: owner(by),
})

const opened = decideTogether(
  openBooks(),
  [open('alice', 1_000), open('bob'), open('carol')],
  NOW,
).books

function after(...steps: readonly MoneyCommand[]): Books {
  return steps.reduce((books, step) => {
    const decision = decideMoney(books, step, NOW)
    assert.ok(decision.ok, `${step.type} ${decision.ok ? '' : decision.refusal}`)
    return foldFacts(decision.facts, books)
  }, opened)
}

const balances = (books: Books) =>
  ['alice', 'bob', 'carol'].map((name) => books.accounts.get(owner(name))?.balanceCents)

type Row = [rule: string, before: Books, command: MoneyCommand, answer: string]

function check(rows: readonly Row[], now = NOW): void {
  for (const [rule, before, command, expected] of rows) {
    test(rule, () => {
      const decision = decideMoney(before, command, now)
      const answer = decision.ok ? (decision.facts[0]?.type ?? 'nothing new') : decision.refusal
      assert.equal(answer, expected)
    })
  }
}

describe('accounts and minting', () => {
  const rich = after(mint('bob', 500))
  // biome-ignore format: a table is read by its columns
  check([
    ['an account is opened',                       opened, open('dave'),                            'account_opened'],
    ['one that exists keeps its balance',          opened, open('alice', 9),                        'nothing new'],
    ['CH-7 a grant is whole hundredths',           opened, open('dave', 1.5),                       'amount_invalid'],
    ['a grant is not booked under a used id',      after(transfer(1, { transfer: id('grant-dave') })), open('dave', 1), 'key_conflict'],
    ['credits are minted',                         opened, mint('bob', 500),                        'credits_minted'],
    ['once',                                       rich,   mint('bob', 500),                        'nothing new'],
    ['other content under the same id',            rich,   mint('bob', 501),                        'key_conflict'],
    ['also for another owner',                     rich,   mint('carol', 500),                      'key_conflict'],
    ['nobody mints nothing',                       opened, mint('bob', 0),                          'amount_invalid'],
    ['nor above the limit of an account',          rich,   mint('bob', LIMITS.amountCents, 'm2'),   'amount_invalid'],
    ['nor to somebody unknown',                    opened, mint('zoe', 1),                          'account_unknown'],
  ])

  test('CH-9 a grant is minted, so that it too has two sides', () => {
    const { facts, books } = decideTogether(openBooks(), [open('alice', 700)], NOW)
    assert.deepEqual(
      facts.map((fact) => fact.type),
      ['account_opened', 'credits_minted'],
    )
    const { postings } = facts[1] ?? {}
    assert.deepEqual(postings, [{ from: 'mint', to: 'owner:alice', amountCents: 700 }])
    assert.equal(books.mintedCents, 700)
  })
})

describe('paying', () => {
  const paid = after(transfer())
  const zoe = owner('zoe')
  // biome-ignore format: a table is read by its columns
  check([
    ['CH-8 the payer pays',                         opened, transfer(),                                    'credits_transferred'],
    ['CH-8 only the payer orders it',               opened, transfer(300, { by: owner('bob') }),           'caller_forbidden'],
    ['CH-8 all there is, but not more',             opened, transfer(1_000),                               'credits_transferred'],
    ['CH-8 never below zero',                       opened, transfer(1_001),                               'funds_short'],
    ['CH-8 what is held is not there to be paid',   after(hold(800)), transfer(201),                       'funds_short'],
    ['CH-8 the same order again moves nothing',     paid,   transfer(),                                    'nothing new'],
    ['CH-8 another amount under the same id',       paid,   transfer(301),                                 'key_conflict'],
    ['CH-8 another payee under the same id',        paid,   transfer(300, { payee: owner('carol') }),      'key_conflict'],
    ['CH-8 another payer under the same id',        paid,   transfer(300, { payer: owner('carol'), by: owner('carol') }), 'key_conflict'],
    ['CH-8 another task under the same id',         paid,   transfer(300, { task }),                       'key_conflict'],
    ['an id that named a minting',                  opened, transfer(1_000, { transfer: id('grant-alice') }), 'key_conflict'],
    ['CH-7 half a hundredth is not an amount',      opened, transfer(0.5),                                 'amount_invalid'],
    ['nothing is not an amount',                    opened, transfer(0),                                   'amount_invalid'],
    ['nor is less than nothing',                    opened, transfer(-300),                                'amount_invalid'],
    ['nor more than the limit',                     opened, transfer(LIMITS.amountCents + 1),              'amount_invalid'],
    ['nobody pays himself',                         opened, transfer(300, { payee: owner('alice') }),      'party_identical'],
    ['an unknown payer',                            opened, transfer(300, { payer: zoe, by: zoe }),        'account_unknown'],
    ['an unknown payee',                            opened, transfer(300, { payee: zoe }),                 'account_unknown'],
    ['the strongest refusal is the one given',      paid,   transfer(0, { by: owner('bob') }),             'caller_forbidden'],
  ])

  test('CH-9 what one has less, the other has more', () => {
    assert.deepEqual(balances(paid), [700, 300, 0])
  })
})

describe('paying for work', () => {
  const named = { task }
  const late = { task, transfer: id('t2') }
  const wrong = { task, transfer: id('t2'), payee: owner('carol') }
  const agreed = { payee: owner('bob'), amountCents: 300 }
  const confirmed = after(hold(), confirm)
  const captured = after(hold(), confirm, capture())
  const direct = after(transfer(300, named))
  const theirs = { task, payer: owner('bob'), payee: owner('carol'), by: owner('bob') }
  // biome-ignore format: a table is read by its columns
  check([
    ['CH-8 a transfer for held work is its capture',  confirmed, transfer(300, named),                  'hold_captured'],
    ['CH-8 to another payee',                         confirmed, transfer(300, wrong),                  'settlement_mismatch'],
    ['CH-8 less than the price',                      confirmed, transfer(299, named),                  'settlement_mismatch'],
    ['CH-8 more than the price',                      confirmed, transfer(301, named),                  'settlement_mismatch'],
    ['CH-9 work that nobody accepted yet',            after(hold()), transfer(300, named),              'work_not_begun'],
    ['CH-8 captured work is settled',                 captured,  transfer(300, late),                   'nothing new'],
    ['CH-8 settled for another amount',               captured,  transfer(200, late),                   'settlement_mismatch'],
    ['CH-8 settled with another payee',               captured,  transfer(300, wrong),                  'settlement_mismatch'],
    ['CH-8 work paid without a hold is settled too',  direct,    transfer(300, late),                   'nothing new'],
    ['CH-9 work that failed is not paid',             after(hold(), confirm, fail), transfer(300, named), 'hold_ended'],
    ['work that was never accepted binds nobody',     after(hold(), fail), transfer(300, wrong),        'credits_transferred'],
    ['CH-8 what was agreed is what is paid',          opened,    transfer(300, { task, agreed }),       'credits_transferred'],
    ['CH-8 not another amount',                       opened,    transfer(301, { task, agreed }),       'settlement_mismatch'],
    ['CH-8 not another payee',                        opened,    transfer(300, { ...wrong, agreed }),   'settlement_mismatch'],
    ['nobody settles the task of another payer',      direct,    transfer(300, { ...theirs, transfer: id('t2') }), 'credits_transferred'],
    ['nor captures the hold of another payer',        after(hold(), confirm, mint('bob', 300)), transfer(300, theirs), 'credits_transferred'],
  ])

  test('CH-8 the answer to a second settlement is the first movement', () => {
    const second = transfer(300, late)
    const { books } = decideTogether(captured, [second], NOW)
    assert.deepEqual(balances(books), [700, 300, 0])
    assert.equal(movementFor(books, second)?.transfer, 'c1')
    assert.equal(movementFor(direct, transfer(300, named))?.transfer, 't1')
    assert.equal(movementFor(direct, transfer(1, { transfer: id('t9') })), undefined)
  })

  test('CH-8 capture after a transfer that was one moves nothing', () => {
    const { decisions, books } = decideTogether(confirmed, [transfer(300, named), capture()], NOW)
    assert.deepEqual(
      decisions.map((each) => each.ok && each.facts.length),
      [1, 0],
    )
    assert.deepEqual(balances(books), [700, 300, 0])
  })

  check(
    [['a lapsed hold binds nobody', after(hold()), transfer(300, wrong), 'credits_transferred']],
    LAPSE,
  )

  test('the fee is taken of what pays for work, and of nothing else', () => {
    for (const [before, command] of [
      [confirmed, capture()],
      [confirmed, transfer(300, named)],
      [opened, transfer(300, named)],
    ] as const) {
      const { books } = decideTogether(before, [command], NOW, FEE)
      assert.deepEqual([...balances(books), books.feesCents], [700, 292, 0, 8])
    }
    const { books } = decideTogether(opened, [transfer()], NOW, FEE)
    assert.deepEqual([...balances(books), books.feesCents], [700, 300, 0, 0])
  })
})

describe('CH-6 a payee can refund', () => {
  const paid = after(transfer())
  const back = after(transfer(), refund(100))
  const twice = after(transfer(), refund(100), refund(100, 'bob', 't1', 'r2'))
  const spent = after(
    transfer(),
    transfer(250, {
      transfer: id('t2'),
      payer: owner('bob'),
      payee: owner('carol'),
      by: owner('bob'),
    }),
  )
  // biome-ignore format: a table is read by its columns
  check([
    ['all that it got',                       paid,  refund(300),                       'credits_refunded'],
    ['not more',                              paid,  refund(301),                       'refund_excessive'],
    ['a part, and then the rest',             back,  refund(200, 'bob', 't1', 'r2'),    'credits_refunded'],
    ['not more than the rest',                back,  refund(201, 'bob', 't1', 'r2'),    'refund_excessive'],
    ['not more than the rest of the rest',    twice, refund(101, 'bob', 't1', 'r3'),    'refund_excessive'],
    ['the same refund again moves nothing',   back,  refund(100),                       'nothing new'],
    ['another amount under the same id',      back,  refund(99),                        'key_conflict'],
    ['an id that named a payment',            paid,  refund(300, 'bob', 't1', 't1'),    'key_conflict'],
    ['nobody else refunds, nor the payer',    paid,  refund(300, 'alice'),              'caller_forbidden'],
    ['half a hundredth is not an amount',     paid,  refund(0.5),                       'amount_invalid'],
    ['never below zero',                      spent, refund(51),                        'funds_short'],
    ['a payment that is not known',           paid,  refund(1, 'bob', 't9'),            'work_unknown'],
    ['a refund is not refunded',              back,  refund(1, 'alice', 'r1', 'r2'),    'work_unknown'],
  ])

  test('a job, out of what it was paid', () => {
    const books = after(hold(), confirm, capture(), refund(300, 'bob', 'c1'))
    assert.deepEqual(balances(books), [1_000, 0, 0])
  })

  test('the job stays settled: it is not paid a second time', () => {
    const books = after(hold(), confirm, capture(), refund(300, 'bob', 'c1'))
    const again = decideMoney(books, transfer(300, { task, transfer: id('t2') }), NOW)
    assert.deepEqual(again, { ok: true, facts: [] })
  })

  test('the fee stays paid', () => {
    const { books } = decideTogether(after(hold(), confirm), [capture()], NOW, FEE)
    const { books: end, decisions } = decideTogether(
      books,
      [refund(300, 'bob', 'c1'), refund(292, 'bob', 'c1', 'r2')],
      NOW,
      FEE,
    )
    assert.deepEqual(
      decisions.map((each) => each.ok || each.refusal),
      ['funds_short', true],
    )
    assert.deepEqual([...balances(end), end.feesCents], [992, 0, 0, 8])
  })

  test('in a chain, to whoever funded it; and nobody to himself', () => {
    const bobs = { task: 'sub' as TaskId, payer: owner('bob'), by: owner('bob') }
    const link = { ...bobs, hold: 'h2' as HoldId, parent: 'h1' as HoldId }
    const sub = (payee: string): MoneyCommand[] => [
      hold(300, { ...link, payee: owner(payee) }),
      { ...confirm, hold: 'h2' as HoldId },
      capture('c2', 'h2'),
    ]
    const chain = after(hold(), confirm, ...sub('carol'))
    assert.deepEqual(balances(chain), [700, 0, 300])
    const { books } = decideTogether(chain, [refund(300, 'carol', 'c2')], NOW)
    assert.deepEqual(balances(books), [1_000, 0, 0])
    const circle = after(hold(), confirm, ...sub('alice'))
    const decision = decideMoney(circle, refund(300, 'alice', 'c2'), NOW)
    assert.equal(decision.ok || decision.refusal, 'party_identical')
  })
})

describe('deciding together', () => {
  test('each command sees what those before it did', () => {
    const spend = (key: string) => transfer(600, { transfer: id(key) })
    const { decisions, facts, books } = decideTogether(opened, [spend('a'), spend('b')], NOW)
    assert.deepEqual(
      decisions.map((each) => each.ok || each.refusal),
      [true, 'funds_short'],
    )
    assert.equal(facts.length, 1)
    assert.deepEqual(balances(books), [400, 600, 0])
  })

  test('the books that were handed in are not written to', () => {
    const before = structuredClone(opened)
    decideTogether(opened, [transfer(), hold(100), confirm, open('dave', 5)], NOW)
    assert.deepEqual(opened, before)
  })
})
