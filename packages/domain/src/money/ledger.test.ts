/**
 * Long runs of random commands, right and wrong, early and late, repeated and stolen; after each
 * one the books must be straight. A failing run is printed with its seed and its shortest form.
 */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import type { AgentId, HoldId, OwnerId, TaskId, TransferId } from '../ids.ts'
import { LIMITS } from '../limits.ts'
import { endsAt, rolledUpCents } from './hold.ts'
import {
  applyMoney,
  type Books,
  balancesOf,
  foldFacts,
  type Hold,
  heldCents,
  jobKey,
  type MoneyFact,
  openBooks,
} from './ledger.ts'
import { decideMoney, decideTogether, type MoneyCommand } from './money.ts'

const FEE = { feeBasisPoints: 150 }

/** Few names, so that ids are used twice, tasks meet again and chains grow. */
const pick = <Name extends string>(prefix: string, count: number) =>
  fc.nat({ max: count - 1 }).map((at) => `${prefix}${at}` as Name)

const often = <Value>(usual: fc.Arbitrary<Value>, rare: fc.Arbitrary<Value>) =>
  fc.oneof({ weight: 9, arbitrary: usual }, { weight: 1, arbitrary: rare })

// biome-ignore format: a list of weights is read by its columns
const KINDS = [
  'transfer', 'transfer', 'settle', 'settle', 'hold', 'hold', 'cut', 'cut', 'cut', 'confirm',
  'confirm', 'confirm', 'confirm', 'capture', 'capture', 'release', 'withdraw', 'lapse', 'refund',
  'mint', 'open',
] as const

const dice = fc.record({
  kind: fc.constantFrom(...KINDS),
  /** Time mostly creeps, and now and then jumps past every day of grace. */
  pauseMs: often(fc.nat({ max: 1 }), fc.constantFrom(0, 0, 0, 40, LIMITS.holdGraceMs)),
  nth: fc.nat({ max: 99 }),
  nthParent: fc.nat({ max: 99 }),
  /** Mostly of holds that stand, now and then of all there were. */
  any: often(fc.constant(false), fc.constant(true)),
  payer: pick<OwnerId>('o', 5),
  payee: pick<OwnerId>('o', 5),
  task: pick<TaskId>('j', 20),
  transfer: pick<TransferId>('t', 60),
  of: pick<TransferId>('t', 60),
  cents: often(fc.nat({ max: 400 }), fc.constantFrom(-5, 0.5, Number.NaN, 2 ** 53)),
  shortCents: often(fc.constant(0), fc.integer({ min: -30, max: 60 })),
  lastsMs: often(fc.integer({ min: 20, max: 120 }), fc.constantFrom(0, 2 * LIMITS.holdGraceMs)),
  deadlineMs: often(fc.constantFrom(undefined, 0, 20), fc.constant(2 * LIMITS.holdGraceMs)),
  because: fc.constantFrom('failed', 'refused', 'cancelled'),
  /** Mostly whoever may asks; now and then somebody else. */
  thief: often(fc.constant(undefined), pick<OwnerId>('o', 5)),
})
type Dice = typeof dice extends fc.Arbitrary<infer Thrown> ? Thrown : never

const agentOf = (owner: OwnerId) => `agent-of-${owner}` as AgentId

/** Mostly a hold that stands; now and then any that there was. */
function pickHold(books: Books, nth: number, among: (hold: Hold) => boolean): Hold | undefined {
  const found = [...books.holds.values()].filter(among)
  return found[nth % found.length]
}

/** What makes sense: a sweeper is about, and holds must be placed and confirmed before the rest. */
function kindOf(dice: Dice, at: Hold | undefined, parent: Hold | undefined, now: number) {
  if (dice.any || HOLDLESS.has(dice.kind)) return dice.kind
  if (at === undefined) return 'hold'
  if (endsAt(at) <= now) return 'lapse'
  return dice.kind === 'cut' && parent === undefined ? 'confirm' : dice.kind
}
const HOLDLESS = new Set<string>(['transfer', 'refund', 'mint', 'open'])

/** Read against the books, so that most commands are nearly right. */
function commandOf(dice: Dice, books: Books, now: number): MoneyCommand {
  const { payer, payee, task, transfer, of, cents: amountCents, thief, any } = dice
  const at = pickHold(books, dice.nth, (each) => any || isLive(each))
  const above = pickHold(books, dice.nthParent, (each) => any || each.stage === 'confirmed')
  const hold = at?.id ?? ('h0' as HoldId)
  const agent = agentOf(thief ?? at?.payee ?? payee)
  const kind = kindOf(dice, at, above, now)
  switch (kind) {
    case 'transfer':
      return { type: 'transfer_credits', transfer, payer, payee, amountCents, by: thief ?? payer }
    case 'settle': {
      const price = at?.priceCents ?? amountCents
      const terms = { payer: at?.payer ?? payer, payee: at?.payee ?? payee, task: at?.task ?? task }
      const order = { transfer, ...terms, amountCents: price - dice.shortCents }
      return { type: 'transfer_credits', ...order, by: thief ?? terms.payer }
    }
    case 'hold':
    case 'cut': {
      const parent = kind === 'cut' ? above : undefined
      const by = parent?.payee ?? payer
      const link = kind === 'cut' ? { parent: parent?.id ?? hold } : {}
      const id = any ? hold : (`h${books.holds.size}` as HoldId)
      const part = kind === 'cut' ? Math.ceil(amountCents / 4) : amountCents
      const terms = { hold: id, payer: by, payee, agent: agentOf(payee), task, amountCents: part }
      const lapsesAt = now + dice.lastsMs
      return { type: 'hold_credits', ...terms, ...link, lapsesAt, by: thief ?? by }
    }
    case 'confirm': {
      const priceCents = (at?.leftCents ?? amountCents) - dice.shortCents
      const { deadlineMs } = dice
      const deadline = deadlineMs === undefined ? {} : { deadline: now + deadlineMs }
      return { type: 'confirm_hold', hold, agent, priceCents, ...deadline }
    }
    case 'capture': {
      const price = at?.priceCents ?? amountCents
      return { type: 'capture_hold', hold, transfer, agent, amountCents: price - dice.shortCents }
    }
    case 'release':
      return { type: 'release_hold', hold, because: dice.because, agent }
    case 'withdraw':
      return { type: 'release_hold', hold, because: 'withdrawn', by: thief ?? at?.payer ?? payer }
    case 'lapse':
      return { type: 'lapse_hold', hold }
    case 'refund': {
      const payment = books.movements.get(of)
      const by = thief ?? (payment?.kind === 'payment' ? payment.payee : payee)
      return { type: 'refund_credits', transfer, of, amountCents, by }
    }
    case 'mint':
      return { type: 'mint_credits', transfer, owner: payee, amountCents }
    case 'open':
      return { type: 'open_account', owner: payee, grantCents: amountCents, transfer }
  }
}

const opened = decideTogether(
  openBooks(),
  ['o0', 'o1', 'o2', 'o3'].map((name) => ({
    type: 'open_account',
    owner: name as OwnerId,
    grantCents: 1_000,
    transfer: `grant-${name}` as TransferId,
  })),
  0,
)

type Visit = (step: {
  readonly before: Books
  readonly command: MoneyCommand
  readonly now: number
  readonly facts: readonly MoneyFact[]
  readonly after: Books
}) => void

/** Plays a run of throws, and shows every step. */
function play(throws: readonly Dice[], visit: Visit): { books: Books; facts: MoneyFact[] } {
  let books = opened.books
  let now = 0
  const facts = [...opened.facts]
  for (const each of throws) {
    now += each.pauseMs
    const command = commandOf(each, books, now)
    const decision = decideMoney(books, command, now, FEE)
    const added = decision.ok ? decision.facts : []
    const after = added.reduce(applyMoney, books)
    visit({ before: books, command, now, facts: added, after })
    facts.push(...added)
    books = after
  }
  return { books, facts }
}

function everyRun(visit: (throws: readonly Dice[]) => void): void {
  const runs = fc.array(dice, { minLength: 60, maxLength: 140, size: 'max' })
  fc.assert(fc.property(runs, visit), { numRuns: 100 })
}

const sum = (amounts: Iterable<number>) => [...amounts].reduce((total, each) => total + each, 0)
const isLive = ({ stage }: Hold) => stage === 'placed' || stage === 'confirmed'

describe('after any run of commands', () => {
  test('CH-9 accounts, holds, fees and the mint sum to zero', () => {
    everyRun((throws) => {
      play(throws, ({ after }) => assert.equal(sum(balancesOf(after).values()), 0))
    })
  })

  test('CH-9 every posting takes from one side what it gives another; only minting adds', () => {
    everyRun((throws) => {
      play(throws, ({ facts, before, after }) => {
        for (const { from, to, amountCents } of facts.flatMap((fact) => fact.postings)) {
          assert.notEqual(from, to)
          assert.ok(amountCents > 0)
        }
        if (!facts.some((fact) => fact.type === 'credits_minted')) {
          assert.equal(after.mintedCents, before.mintedCents)
        }
      })
    })
  })

  test('CH-7 CH-8 no account, hold or fee is below zero, and all are whole hundredths', () => {
    everyRun((throws) => {
      play(throws, ({ after }) => {
        for (const [side, cents] of balancesOf(after)) {
          assert.ok(Number.isSafeInteger(cents) && (cents >= 0 || side === 'mint'), side)
        }
      })
    })
  })

  test('what is held is in the holds in force, and an ended hold is empty', () => {
    everyRun((throws) => {
      play(throws, ({ after }) => {
        const live = [...after.holds.values()].filter(isLive)
        const held = sum([...after.accounts.keys()].map((owner) => heldCents(after, owner)))
        assert.equal(held, sum(live.map((hold) => hold.leftCents)))
      })
    })
  })

  test('CH-8 a task of a payer is paid at most once', () => {
    everyRun((throws) => {
      const { facts } = play(throws, () => {})
      const paid = facts.flatMap((fact) => {
        if (fact.type !== 'hold_captured' && fact.type !== 'credits_transferred') return []
        const { payer, task } = fact.payment
        return task === undefined ? [] : [jobKey(payer, task)]
      })
      assert.equal(new Set(paid).size, paid.length)
    })
  })

  test('P-9 a chain spends and promises exactly the price of its first link, never more', () => {
    everyRun((throws) => {
      play(throws, ({ after }) => {
        const holds = [...after.holds.values()]
        const promised = (id: HoldId): number =>
          sum(holds.filter((each) => each.parent === id).map((each) => spoken(each.id)))
        const spoken = (id: HoldId): number => {
          const hold = after.holds.get(id)
          return (hold?.leftCents ?? 0) + (hold?.paidCents ?? 0) + promised(id)
        }
        for (const { id, stage, amountCents, priceCents } of holds) {
          if (stage === 'confirmed') assert.equal(spoken(id), priceCents)
          else assert.ok(spoken(id) <= (priceCents ?? amountCents))
          assert.ok(rolledUpCents(after, id) <= (priceCents ?? amountCents))
        }
      })
    })
  })

  test('CH-9 work that was captured is paid in full: payee, fee and those it hired', () => {
    everyRun((throws) => {
      play(throws, ({ facts, before, after }) => {
        for (const fact of facts) {
          if (fact.type !== 'hold_captured') continue
          const { payee, paidCents, feeCents, amountCents } = fact.payment
          const had = before.accounts.get(payee)?.balanceCents ?? 0
          const has = after.accounts.get(payee)?.balanceCents ?? 0
          const hold = before.holds.get(fact.hold)
          const hired = (hold?.priceCents ?? 0) - (hold?.leftCents ?? 0)
          const back = fact.postings.filter((each) => each.to === `owner:${payee}`)
          assert.equal(has - had, sum(back.map((each) => each.amountCents)))
          assert.ok(has - had >= paidCents - feeCents)
          assert.equal(paidCents + hired, amountCents)
        }
      })
    })
  })

  test('the same command again changes nothing', () => {
    everyRun((throws) => {
      play(throws, ({ command, now, facts, after }) => {
        if (facts.length === 0) return
        const again = decideMoney(after, command, now, FEE)
        assert.deepEqual(again.ok ? again.facts : [], [])
      })
    })
  })

  test('P-10 the facts alone give the same books, and so do the rows', () => {
    everyRun((throws) => {
      const { books, facts } = play(throws, () => {})
      assert.deepEqual(foldFacts(JSON.parse(JSON.stringify(facts))), books)
      const { mintedCents, feesCents } = books
      const holds = [...books.holds.values()].reverse()
      const rows = { accounts: books.accounts.values(), movements: books.movements.values() }
      assert.deepEqual(openBooks({ ...rows, holds, mintedCents, feesCents }), books)
    })
  })

  test('a batch decides as its commands would one by one', () => {
    everyRun((throws) => {
      let books = opened.books
      const commands: MoneyCommand[] = []
      for (const each of throws) {
        const command = commandOf(each, books, 0)
        commands.push(command)
        const decision = decideMoney(books, command, 0, FEE)
        books = foldFacts(decision.ok ? decision.facts : [], books)
      }
      assert.deepEqual(decideTogether(opened.books, commands, 0, FEE).books, books)
    })
  })

  test('P-3 P-1 once everything is over, every credit is free again', () => {
    everyRun((throws) => {
      const { books } = play(throws, () => {})
      const doomsday = throws.length * LIMITS.holdGraceMs * 2
      const { books: end } = decideTogether(books, [], doomsday)
      assert.equal(sum([...end.holds.values()].map((hold) => hold.leftCents)), 0)
      assert.ok(![...end.holds.values()].some(isLive))
    })
  })
})

test('the runs above reach every fact, sub-holds of sub-holds, fees and refusals', () => {
  const seen = new Map<string, number>()
  const count = (what: string) => seen.set(what, (seen.get(what) ?? 0) + 1)
  for (const throws of fc.sample(fc.array(dice, { minLength: 140, maxLength: 140, size: 'max' }), {
    numRuns: 150,
    seed: 7,
  })) {
    const { books } = play(throws, ({ facts, command, before, now }) => {
      for (const fact of facts) count(fact.type)
      const decision = decideMoney(before, command, now, FEE)
      if (!decision.ok) count(decision.refusal)
      const fact = facts[0]
      if (fact?.type === 'hold_captured' && command.type === 'transfer_credits') count('by order')
      if (fact?.type === 'hold_released' && fact.because === 'overdue') count('overdue')
      if (fact?.type !== 'hold_captured') return
      if (fact.payment.funder !== fact.payment.payer) count('sub-hold captured')
    })
    const parents = [...books.holds.values()].filter((hold) => hold.parent !== undefined)
    for (const { parent } of parents) {
      if (parent !== undefined && books.holds.get(parent)?.parent !== undefined) count('depth 3')
    }
    if (books.feesCents > 0) count('fees')
  }
  // biome-ignore format: a table is read by its columns
  const wanted = [
    'account_opened', 'credits_minted', 'credits_transferred', 'credits_held', 'hold_confirmed',
    'hold_captured', 'hold_released', 'hold_lapsed', 'credits_refunded', 'by order', 'overdue',
    'sub-hold captured', 'depth 3', 'fees', 'caller_forbidden', 'amount_invalid', 'party_identical',
    'key_conflict', 'funds_short', 'account_unknown', 'settlement_mismatch', 'task_conflict',
    'hold_ended', 'hold_exceeded', 'hold_unknown', 'work_not_begun', 'work_ended', 'work_unknown',
    'expiry_too_far', 'message_expired', 'budget_insufficient', 'refund_excessive',
  ]
  assert.deepEqual(
    wanted.filter((what) => (seen.get(what) ?? 0) < 5),
    [],
  )
})
