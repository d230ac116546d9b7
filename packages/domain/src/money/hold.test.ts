/**
 * The tables are the specification of a hold's life: one row, one rule. Chains of holds follow, and
 * what time alone does. That any run of commands keeps the books straight is shown in
 * ledger.test.ts.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type { AgentId, HoldId, OwnerId, TaskId, TransferId } from '../ids.ts'
import { LIMITS } from '../limits.ts'
import { rolledUpCents } from './hold.ts'
import { type Books, foldFacts, heldCents, openBooks } from './ledger.ts'
import { decideMoney, decideTogether, type MoneyCommand } from './money.ts'

const NOW = 1_000
const LAPSE = NOW + 30_000
const DEADLINE = NOW + 60_000
const OVERDUE = DEADLINE + LIMITS.holdGraceMs

const owner = (name: string) => name as OwnerId
const agentOf = (name: string) => `${name}-agent` as AgentId

type Step<Type extends MoneyCommand['type']> = Extract<MoneyCommand, { type: Type }>

/** Alice hires Bob for 10.00 unless a row says otherwise; ids follow from who hires whom. */
const hold = (id = 'h1', other: Partial<Step<'hold_credits'>> = {}): MoneyCommand => ({
  type: 'hold_credits',
  hold: id as HoldId,
  payer: owner('alice'),
  payee: owner('bob'),
  agent: agentOf('bob'),
  task: `task-${id}` as TaskId,
  amountCents: 1_000,
  lapsesAt: LAPSE,
  by: other.payer ?? owner('alice'),
  ...other,
})
/** One cuts a sub-hold for the next out of the hold that it works for. */
const cut = (
  id: string,
  parent: string,
  payer: string,
  payee: string,
  amountCents: number,
  lapsesAt = LAPSE,
) =>
  hold(id, {
    parent: parent as HoldId,
    payer: owner(payer),
    payee: owner(payee),
    agent: agentOf(payee),
    amountCents,
    lapsesAt,
  })
const confirm = (
  id = 'h1',
  priceCents = 1_000,
  agent = 'bob',
  deadline?: number,
): MoneyCommand => ({
  type: 'confirm_hold',
  hold: id as HoldId,
  agent: agentOf(agent),
  priceCents,
  ...(deadline === undefined ? {} : { deadline }),
})
const capture = (id = 'h1', amountCents = 1_000, agent = 'bob', transfer = `pay-${id}`) =>
  ({
    type: 'capture_hold',
    hold: id as HoldId,
    transfer: transfer as TransferId,
    agent: agentOf(agent),
    amountCents,
  }) satisfies MoneyCommand
const release = (
  id = 'h1',
  because: 'failed' | 'refused' | 'cancelled' = 'failed',
  agent = 'bob',
): MoneyCommand => ({ type: 'release_hold', hold: id as HoldId, because, agent: agentOf(agent) })
const withdraw = (by = 'alice'): MoneyCommand => ({
  type: 'release_hold',
  hold: 'h1' as HoldId,
  because: 'withdrawn',
  by: owner(by),
})
const lapse = (id = 'h1'): MoneyCommand => ({ type: 'lapse_hold', hold: id as HoldId })

const opened = decideTogether(
  openBooks(),
  ['alice', 'bob', 'carol', 'dave'].map((name) => ({
    type: 'open_account',
    owner: owner(name),
    grantCents: name === 'alice' ? 1_500 : 0,
    transfer: `grant-${name}` as TransferId,
  })),
  NOW,
).books

function after(...steps: readonly MoneyCommand[]): Books {
  return steps.reduce((books, step) => carryOut(books, step, NOW), opened)
}

function carryOut(books: Books, step: MoneyCommand, now: number): Books {
  const decision = decideMoney(books, step, now)
  assert.ok(decision.ok, `${step.type} ${decision.ok ? '' : decision.refusal}`)
  return foldFacts(decision.facts, books)
}

function answer(books: Books, command: MoneyCommand, now: number): string {
  const decision = decideMoney(books, command, now)
  return decision.ok ? (decision.facts[0]?.type ?? 'nothing new') : decision.refusal
}

const balance = (books: Books, name: string) => books.accounts.get(owner(name))?.balanceCents
const left = (books: Books, id: string) => books.holds.get(id as HoldId)?.leftCents

type Row = [rule: string, before: Books, command: MoneyCommand, now: number, answer: string]

function check(rows: readonly Row[]): void {
  for (const [rule, before, command, now, expected] of rows) {
    test(rule, () => assert.equal(answer(before, command, now), expected))
  }
}

const placed = after(hold())
const confirmed = after(hold(), confirm('h1', 1_000, 'bob', DEADLINE))
const captured = after(hold(), confirm(), capture())
const released = after(hold(), confirm(), release())
const lapsed = carryOut(placed, lapse(), LAPSE)
const planned = after(hold('h1', { hirer: agentOf('alice') }))
const due = after(hold('h1', { deadline: DEADLINE }))
const LATEST = NOW + LIMITS.workMs

describe('placing a hold', () => {
  const other = { payee: owner('carol'), agent: agentOf('carol'), task: 'task-h1' as TaskId }
  const poor = { payer: owner('bob'), payee: owner('alice'), agent: agentOf('alice') }
  const nobody = { payer: owner('zoe') }
  const sameTask = { task: 'task-h1' as TaskId }
  // biome-ignore format: a table is read by its columns
  check([
    ['CH-15 the payer places it',                        opened,    hold(),                                   NOW,   'credits_held'],
    ['CH-15 nobody else does, not even the payee',       opened,    hold('h1', { by: owner('bob') }),         NOW,   'caller_forbidden'],
    ['all that is free can be held',                     opened,    hold('h1', { amountCents: 1_500 }),       NOW,   'credits_held'],
    ['CH-8 more than is free cannot',                    opened,    hold('h1', { amountCents: 1_501 }),       NOW,   'funds_short'],
    ['CH-8 what is held already is not free',            placed,    hold('h2', { amountCents: 501 }),         NOW,   'funds_short'],
    ['CH-7 half a hundredth is not an amount',           opened,    hold('h1', { amountCents: 0.5 }),         NOW,   'amount_invalid'],
    ['less than nothing is not one either',              opened,    hold('h1', { amountCents: -1 }),          NOW,   'amount_invalid'],
    ['free work has a hold of nothing',                  opened,    hold('h1', { amountCents: 0 }),           NOW,   'credits_held'],
    ['a payer without an account has nothing',           opened,    hold('h1', nobody),                       NOW,   'account_unknown'],
    ['nor can a payee without one be paid',              opened,    hold('h1', { payee: owner('zoe') }),      NOW,   'account_unknown'],
    ['a mandate that has expired is none',               opened,    hold('h1', { lapsesAt: NOW }),            NOW,   'message_expired'],
    ['the same offer again finds its hold',              placed,    hold(),                                   NOW,   'nothing new'],
    ['also under another id and with a later expiry',    placed,    hold('h2', { ...sameTask, lapsesAt: LAPSE + 9 }), NOW, 'nothing new'],
    ['also when the work is long accepted',              confirmed, hold(),                                   LAPSE, 'nothing new'],
    ['for another agent it is another offer',            placed,    hold('h2', { ...sameTask, agent: agentOf('carol') }), NOW, 'task_conflict'],
    ['for another payee too',                            placed,    hold('h2', { ...sameTask, payee: owner('carol') }), NOW, 'task_conflict'],
    ['for another amount too',                           placed,    hold('h2', { ...sameTask, amountCents: 999 }), NOW, 'task_conflict'],
    ['and out of another hold',                          placed,    hold('h2', { ...sameTask, parent: 'h9' as HoldId }), NOW, 'task_conflict'],
    ['by another of the payer\'s agents too',            planned,   hold('h2', { ...sameTask, hirer: agentOf('carol') }), NOW, 'task_conflict'],
    ['the owner\'s own hold serves its agent',           placed,    hold('h2', { ...sameTask, hirer: agentOf('alice') }), NOW, 'nothing new'],
    ['one hold per payer and task',                      placed,    hold('h2', other),                        NOW,   'task_conflict'],
    ['another payer may use the same task id',           placed,    hold('h2', { ...poor, ...sameTask }),     NOW,   'funds_short'],
    ['a lapsed hold makes way for the next instance',    lapsed,    hold('h2', { ...other, lapsesAt: LAPSE + 9 }), LAPSE, 'credits_held'],
    ['so does one that was given up',                    released,  hold('h2', other),                        NOW,   'credits_held'],
    ['but what is paid for is not held again',           captured,  hold('h2', other),                        NOW,   'work_ended'],
    ['a hold id is used once',                           released,  hold('h1', { task: 'task-x' as TaskId }), NOW,   'key_conflict'],
    ['within one owner too: that work may have a price', opened,    hold('h1', { payee: owner('alice') }),    NOW,   'credits_held'],
    ['the strongest refusal is the one given',           opened,    hold('h1', { by: owner('bob'), amountCents: -1 }), NOW, 'caller_forbidden'],
  ])
})

describe('confirming, capturing and giving up', () => {
  // biome-ignore format: a table is read by its columns
  check([
    ['CH-15 the agent accepts at a price that is held',  placed,    confirm('h1', 1_000),                 NOW,       'hold_confirmed'],
    ['CH-15 a price above the hold is not covered',      placed,    confirm('h1', 1_001),                 NOW,       'budget_insufficient'],
    ['another agent does not accept for it',             placed,    confirm('h1', 1_000, 'carol'),        NOW,       'caller_forbidden'],
    ['a price below zero is none',                       placed,    confirm('h1', -1),                    NOW,       'amount_invalid'],
    ['work may turn out to be free',                     placed,    confirm('h1', 0),                     NOW,       'hold_confirmed'],
    ['accepting again changes nothing',                  confirmed, confirm('h1', 1_000),                 NOW,       'nothing new'],
    ['accepting again at another price is refused',      confirmed, confirm('h1', 900),                   NOW,       'settlement_mismatch'],
    ['until the deadline that its payer named',          due,       confirm('h1', 9, 'bob', DEADLINE),    NOW,       'hold_confirmed'],
    ['and not for later',                                due,       confirm('h1', 9, 'bob', DEADLINE + 1), NOW,      'expiry_too_far'],
    ['without one, for so long at most',                 placed,    confirm('h1', 9, 'bob', LATEST),      NOW,       'hold_confirmed'],
    ['nobody binds credits for ever',                    placed,    confirm('h1', 9, 'bob', LATEST + 1),  NOW,       'expiry_too_far'],
    ['P-3 until it lapses it can be confirmed',          placed,    confirm(),                            LAPSE - 1, 'hold_confirmed'],
    ['P-3 then no more, swept or not',                   placed,    confirm(),                            LAPSE,     'hold_ended'],
    ['nor after the sweep',                              lapsed,    confirm(),                            LAPSE,     'hold_ended'],
    ['what is unknown cannot be confirmed',              opened,    confirm(),                            NOW,       'hold_unknown'],

    ['CH-15 the agent\'s success captures',              confirmed, capture(),                            NOW,       'hold_captured'],
    ['CH-15 another agent\'s does not',                  confirmed, capture('h1', 1_000, 'carol'),        NOW,       'caller_forbidden'],
    ['CH-6 an agent may charge less',                    confirmed, capture('h1', 400),                   NOW,       'hold_captured'],
    ['CH-6 but never more than the price',               confirmed, capture('h1', 1_001),                 NOW,       'hold_exceeded'],
    ['work that nobody accepted is not paid',            placed,    capture(),                            NOW,       'work_not_begun'],
    ['CH-8 a second capture moves nothing',              captured,  capture(),                            NOW,       'nothing new'],
    ['CH-8 nor does one under another id',               captured,  capture('h1', 1_000, 'bob', 'pay-2'), NOW,       'nothing new'],
    ['CH-8 a second capture of another amount',          captured,  capture('h1', 999),                   NOW,       'settlement_mismatch'],
    ['a movement\'s id is used once',                    confirmed, capture('h1', 1_000, 'bob', 'grant-alice'), NOW, 'key_conflict'],
    ['given up is not captured',                         released,  capture(),                            NOW,       'hold_ended'],
    ['P-3 long after the lapse time it still is',        confirmed, capture(),                            OVERDUE - 1, 'hold_captured'],
    ['P-3 a day after the deadline it is not',           confirmed, capture(),                            OVERDUE,   'hold_ended'],

    ['P-1 the agent refuses',                            placed,    release('h1', 'refused'),             NOW,       'hold_released'],
    ['P-3 the agent fails',                              confirmed, release('h1', 'failed'),              NOW,       'hold_released'],
    ['P-3 the agent cancels',                            confirmed, release('h1', 'cancelled'),           NOW,       'hold_released'],
    ['no other agent gives it up',                       confirmed, release('h1', 'failed', 'carol'),     NOW,       'caller_forbidden'],
    ['giving up again changes nothing',                  released,  release(),                            NOW,       'nothing new'],
    ['giving up again for another reason is refused',    released,  release('h1', 'cancelled'),           NOW,       'hold_ended'],
    ['paid work is not given up',                        captured,  release(),                            NOW,       'hold_ended'],
    ['P-3 cancelling too late is still overdue',         confirmed, release('h1', 'cancelled'),           OVERDUE,   'hold_ended'],
    ['the payer withdraws what nobody accepted',         placed,    withdraw(),                           NOW,       'hold_released'],
    ['P-3 but not what the agent works on',              confirmed, withdraw(),                           NOW,       'caller_forbidden'],
    ['nobody else withdraws',                            placed,    withdraw('bob'),                      NOW,       'caller_forbidden'],

    ['P-3 a hold lapses by itself',                      placed,    lapse(),                              LAPSE,     'hold_lapsed'],
    ['P-3 not before its time',                          placed,    lapse(),                              LAPSE - 1, 'nothing new'],
    ['P-3 not once its work is accepted',                confirmed, lapse(),                              OVERDUE - 1, 'nothing new'],
    ['P-3 a day after the deadline it is released',      confirmed, lapse(),                              OVERDUE,   'hold_released'],
    ['what has ended does not end again',                captured,  lapse(),                              OVERDUE,   'nothing new'],
  ])

  test('OC-7 the deadline that counts is the agent’s, else the payer’s', () => {
    const deadlineOf = (books: Books) => books.holds.get('h1' as HoldId)?.deadline
    assert.equal(deadlineOf(carryOut(due, confirm(), NOW)), DEADLINE)
    assert.equal(deadlineOf(carryOut(due, confirm('h1', 9, 'bob', NOW + 5), NOW)), NOW + 5)
    assert.equal(deadlineOf(confirmed), DEADLINE)
    const grace = carryOut(due, confirm(), NOW)
    assert.equal(answer(grace, lapse(), OVERDUE - 1), 'nothing new')
    assert.equal(answer(grace, lapse(), OVERDUE), 'hold_released')
  })

  test('P-3 without a deadline the day counts from acceptance, and the agent has failed', () => {
    const books = after(hold(), confirm())
    const due = NOW + LIMITS.holdGraceMs
    assert.equal(answer(books, lapse(), due - 1), 'nothing new')
    const { facts } = decideTogether(books, [], due)
    assert.deepEqual(
      facts.map((fact) => fact.type === 'hold_released' && fact.because),
      ['overdue'],
    )
  })

  test('CH-9 finished work is paid from the hold, and the rest goes back', () => {
    const books = after(hold('h1', { amountCents: 1_200 }), confirm(), capture('h1', 700))
    assert.deepEqual([balance(books, 'alice'), balance(books, 'bob')], [800, 700])
    assert.equal(left(books, 'h1'), 0)
  })

  test('what was held beyond the price is free again once the price is known', () => {
    const books = after(hold('h1', { amountCents: 1_200 }), confirm('h1', 900))
    assert.deepEqual([balance(books, 'alice'), left(books, 'h1')], [600, 900])
  })

  test('CH-9 unfinished work is not paid', () => {
    for (const books of [released, lapsed, carryOut(confirmed, lapse(), OVERDUE)]) {
      assert.deepEqual([balance(books, 'alice'), balance(books, 'bob')], [1_500, 0])
      assert.equal(heldCents(books, owner('alice')), 0)
    }
  })

  test('P-1 a hold that is refused takes nothing', () => {
    const { facts, books } = decideTogether(opened, [hold('h1', { amountCents: 9_999 })], NOW)
    assert.deepEqual(facts, [])
    assert.deepEqual(books, opened)
  })

  test('P-1 a lapsed hold never makes its payer look short of credits', () => {
    const all = after(hold('h1', { amountCents: 1_500 }))
    const next = hold('h2', { amountCents: 1_500, lapsesAt: LAPSE + 1 })
    assert.equal(decideTogether(all, [next], LAPSE).decisions[0]?.ok, true)
    assert.equal(decideTogether(all, [next], LAPSE - 1).decisions[0]?.ok, false)
  })
})

describe('P-9 a chain of holds', () => {
  // Alice → Bob 10.00 → Carol 6.00 → Dave 2.00, each accepted at what is held.
  const two = after(hold(), confirm(), cut('h2', 'h1', 'bob', 'carol', 600))
  const working = [hold(), confirm(), cut('h2', 'h1', 'bob', 'carol', 600)]
  const chain = [...working, confirm('h2', 600, 'carol'), cut('h3', 'h2', 'carol', 'dave', 200)]
  const three = after(...chain, confirm('h3', 200, 'dave'))
  const chainEnd = NOW + LIMITS.holdGraceMs
  const far = cut('h2', 'h1', 'bob', 'carol', 1, chainEnd + 1)
  const stretched = after(...working, confirm('h2', 600, 'carol', chainEnd))
  const late = cut('h2', 'h1', 'bob', 'carol', 1, OVERDUE + 1)

  // biome-ignore format: a table is read by its columns
  check([
    ['the one who is hired cuts a sub-hold',             after(hold(), confirm()), cut('h2', 'h1', 'bob', 'carol', 1_000), NOW, 'credits_held'],
    ['nobody else does, not even who pays',              after(hold(), confirm()), cut('h2', 'h1', 'alice', 'carol', 1),   NOW, 'caller_forbidden'],
    ['not before the work is accepted',                  placed,    cut('h2', 'h1', 'bob', 'carol', 1),      NOW,      'work_not_begun'],
    ['not more than the parent has left',                two,       cut('h3', 'h1', 'bob', 'dave', 401),     NOW,      'hold_exceeded'],
    ['all that the parent has left',                     two,       cut('h3', 'h1', 'bob', 'dave', 400),     NOW,      'credits_held'],
    ['not from a hold that has ended',                   captured,  cut('h2', 'h1', 'bob', 'carol', 1),      NOW,      'hold_ended'],
    ['not from one whose time is over',                  confirmed, late,                                    OVERDUE,  'hold_ended'],
    ['not from one that is unknown',                     opened,    cut('h2', 'h1', 'bob', 'carol', 1),      NOW,      'hold_unknown'],
    ['no link lapses after the first is over',           after(hold(), confirm()), far,                      NOW,      'expiry_too_far'],
    ['however late the link in between may end',         stretched, cut('h3', 'h2', 'carol', 'dave', 1, chainEnd + 1), NOW, 'expiry_too_far'],
    ['nor has a deadline behind it',                     two,       confirm('h2', 600, 'carol', chainEnd + 1), NOW,    'expiry_too_far'],
    ['a deadline at its end is allowed',                 two,       confirm('h2', 600, 'carol', chainEnd),   NOW,      'hold_confirmed'],
    ['whoever hired for more than it charges is wrong',  two,       capture('h1', 599),                      NOW,      'settlement_mismatch'],
    ['charging just what it hired for is right',         two,       capture('h1', 600),                      NOW,      'hold_captured'],
  ])

  test('the credits of every link are those of the first payer', () => {
    assert.deepEqual([left(three, 'h1'), left(three, 'h2'), left(three, 'h3')], [400, 400, 200])
    assert.deepEqual([balance(three, 'alice'), balance(three, 'bob')], [500, 0])
    assert.equal(heldCents(three, owner('alice')), 1_000)
  })

  test('each is paid its own part, and the cost rolls up to the price', () => {
    const pay = [capture('h3', 200, 'dave'), capture('h2', 600, 'carol'), capture('h1', 1_000)]
    const books = after(...chain, confirm('h3', 200, 'dave'), ...pay)
    const got = ['alice', 'bob', 'carol', 'dave'].map((name) => balance(books, name))
    assert.deepEqual(got, [500, 400, 400, 200])
    const cost = ['h1', 'h2', 'h3'].map((id) => rolledUpCents(books, id as HoldId))
    assert.deepEqual(cost, [1_000, 600, 200])
  })

  test('a parent that is captured leaves a living sub-hold its credits', () => {
    const books = carryOut(two, capture(), NOW)
    assert.deepEqual([balance(books, 'bob'), left(books, 'h2')], [400, 600])
    const paid = [confirm('h2', 600, 'carol'), capture('h2', 600, 'carol')]
    const end = paid.reduce((state, step) => carryOut(state, step, NOW), books)
    assert.deepEqual([balance(end, 'carol'), rolledUpCents(end, 'h1' as HoldId)], [600, 1_000])
  })

  test('what a sub-hold does not pay goes back to its parent', () => {
    const books = carryOut(two, release('h2', 'failed', 'carol'), NOW)
    assert.deepEqual([left(books, 'h1'), left(books, 'h2')], [1_000, 0])
    assert.equal(balance(books, 'alice'), 500)
  })

  test('to the nearest ancestor in force, when the parent has ended', () => {
    const books = carryOut(three, capture('h2', 600, 'carol'), NOW)
    const end = carryOut(books, release('h3', 'failed', 'dave'), NOW)
    assert.deepEqual([left(end, 'h1'), balance(end, 'carol')], [600, 400])
  })

  test('and to the first payer, when no ancestor is in force', () => {
    const books = carryOut(two, release('h1', 'failed'), NOW)
    assert.deepEqual([balance(books, 'alice'), left(books, 'h2')], [900, 600])
    const end = carryOut(books, lapse('h2'), LAPSE)
    assert.equal(balance(end, 'alice'), 1_500)
  })

  test('H5 a sweep ends the links of a chain alike from either end', () => {
    const links = [...chain.slice(2), confirm('h3', 200, 'dave')]
    const books = after(hold(), confirm('h1', 1_000, 'bob', DEADLINE), ...links)
    const due = NOW + LIMITS.holdGraceMs
    for (const holds of [[...books.holds.values()], [...books.holds.values()].reverse()]) {
      const rows = { holds, accounts: books.accounts.values() }
      const swept = decideTogether(openBooks(rows), [], due).books
      assert.deepEqual(
        ['h1', 'h2', 'h3'].map((id) => left(swept, id)),
        [1_000, 0, 0],
      )
      assert.equal(balance(decideTogether(swept, [], OVERDUE).books, 'alice'), 1_500)
    }
  })

  test('a chain that was not loaded whole is a bug, not a gift to the first payer', () => {
    const part = openBooks({
      accounts: two.accounts.values(),
      holds: [...two.holds.values()].filter((each) => each.id === 'h2'),
    })
    assert.throws(() => decideMoney(part, release('h2', 'failed', 'carol'), NOW), /do not hold h1/)
  })
})
