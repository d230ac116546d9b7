/**
 * The ledger: the domain's decisions, kept. Exact under any concurrency, and proven by its facts.
 */
import assert from 'node:assert/strict'
import type { CorrelationId, Digest, IdempotencyKey } from '@chimera/domain/ids'
import { balancesOf, foldFacts, type MoneyFact } from '@chimera/domain/money/ledger'
import { decideTogether, type MoneyCommand } from '@chimera/domain/money/money'
import { describe, test } from 'vitest'
import type { Database } from '../src/engine/database.ts'
import { openDatabase } from '../src/engine/open.ts'
import { hasCode } from '../src/failure.ts'
import type { Remember } from '../src/ledger/batch.ts'
import { createLedger, type LedgerOptions } from '../src/ledger/ledger.ts'
import {
  readAccount,
  readBalances,
  readEconomy,
  readHold,
  readMovement,
  readPayments,
} from '../src/ledger/reading.ts'
import { createTokens } from '../src/registry/tokens.ts'
import {
  answerOf,
  asked,
  capture,
  confirm,
  giveUp,
  hold,
  holdId,
  open,
  owner,
  pay,
  proveBooks,
  transferId,
} from './books.ts'
import type { Stage } from './contract.ts'
import { createHands, START } from './hands.ts'

function ledgerOn(database: Database, options: Partial<LedgerOptions> = {}) {
  const hands = createHands()
  const ledger = createLedger({ database, ...hands, ...options })
  const submit = async (command: MoneyCommand) => answerOf(await ledger.submit(asked(command)))
  return { ...hands, ledger, submit }
}
const balance = async (database: Database, name: string) =>
  (await readAccount(database, owner(name)))?.balanceCents

export function ledgerContract({ engine, shared, fresh }: Stage): void {
  describe('the ledger', () => {
    test('CH-9 CH-15 a hold is placed, confirmed, cut, captured and refunded', async () => {
      const { database } = await fresh()
      const { ledger, submit, setNow } = ledgerOn(database, { terms: { feeBasisPoints: 100 } })
      for (const name of ['ann', 'bob', 'cem']) await submit(open(name, 1_000))
      assert.equal(await submit(hold('h1', { from: 'ann', to: 'bob' }, 500)), 'credits_held')
      assert.equal(await submit(confirm('h1', 400)), 'hold_confirmed')
      const sub = hold('h2', { from: 'bob', to: 'cem' }, 100, 'h1')
      assert.equal(await submit(sub), 'credits_held')
      assert.equal(await submit(confirm('h2', 100)), 'hold_confirmed')
      assert.equal(await submit(capture('h2', 100)), 'hold_captured')
      assert.equal(await submit(capture('h1', 400)), 'hold_captured')
      assert.equal(await submit(capture('h1', 400)), 'nothing new')
      const refund = {
        type: 'refund_credits',
        transfer: transferId('back'),
        of: transferId('capture-h1'),
        amountCents: 50,
        by: owner('bob'),
      } as const
      assert.equal(await submit(refund), 'credits_refunded')
      assert.equal(await submit(refund), 'nothing new')

      assert.equal(await balance(database, 'ann'), 1_000 - 400 + 50)
      assert.equal(await balance(database, 'bob'), 1_000 + 300 - 3 - 50)
      assert.equal(await balance(database, 'cem'), 1_000 + 100 - 1)
      assert.equal((await readHold(database, holdId('h1')))?.stage, 'captured')
      const payment = await readMovement(database, transferId('capture-h1'))
      assert.equal(payment?.kind === 'payment' && payment.refundedCents, 50)
      const listed = await readPayments(database, { owner: owner('cem'), limit: 10 })
      assert.deepEqual(
        listed.map(({ transfer }) => transfer),
        ['capture-h2'],
      )
      const economy = { accounts: 3, payments: 2, volumeCents: 500, mintedCents: 3_000 }
      assert.deepEqual({ ...(await readEconomy(database)) }, { ...economy, feesCents: 4 })

      assert.equal(await submit(hold('h3', { from: 'ann', to: 'bob' }, 10)), 'credits_held')
      assert.equal(await ledger.endDue(), 0)
      setNow(START + 60_000)
      assert.equal(await ledger.endDue(), 1, 'CH-9 an unused hold lapses by itself')
      assert.equal((await readHold(database, holdId('h3')))?.stage, 'lapsed')
      assert.equal(await balance(database, 'ann'), 650)
      await proveBooks(database)
    })

    test('CH-9 any run of commands ends in the rows that the domain would have', async () => {
      const { database } = await fresh()
      const { ledger, chance, setNow } = ledgerOn(database, { terms: { feeBasisPoints: 50 } })
      const facts: MoneyFact[] = []
      let books = foldFacts([])
      for (let round = 0; round < 60; round += 1) {
        const now = START + round * 2_000
        setNow(now)
        const commands = Array.from({ length: 8 }, () => randomCommand(chance.below, now))
        const kept = await Promise.all(commands.map((each) => ledger.submit(asked(each))))
        const batch = decideTogether(books, commands, now, { feeBasisPoints: 50 })
        // The model sweeps all holds; the ledger those it loads, and the rest here.
        await ledger.endDue()
        books = batch.books
        facts.push(...batch.facts)
        assert.deepEqual(
          kept.map(({ decision }) => (decision.ok ? 'ok' : decision.refusal)),
          batch.decisions.map((each) => (each.ok ? 'ok' : each.refusal)),
          `round ${round}`,
        )
        assert.deepEqual(
          sorted(await readBalances(database)),
          sorted(balancesOf(books)),
          `round ${round}`,
        )
      }
      const seen = new Set(facts.map(({ type }) => type))
      assert.equal(seen.size, 9, `every kind of fact: ${[...seen].join()}`)
      await proveBooks(database)
    })

    test('CH-8 CH-9 200 parallel transfers on the same accounts: sums exact', async () => {
      const { database } = await fresh()
      const { ledger, submit } = ledgerOn(database, { most: 30 })
      const names = ['a', 'b', 'c', 'd']
      for (const name of names) await submit(open(name, 1_000))
      const answers = await Promise.all(
        Array.from({ length: 200 }, (_, at) => {
          const parties = { from: names[at % 4] ?? '', to: names[(at + 1 + (at % 3)) % 4] ?? '' }
          return ledger.submit(asked(pay(`p${at}`, parties, 10 + (at % 50))))
        }),
      )
      const done = answers.filter(({ decision }) => decision.ok).length
      assert.ok(done > 100 && done <= 200)
      assert.equal((await readEconomy(database)).payments, done)
      await proveBooks(database)
    })

    test('CH-15 of 200 parallel holds as many are placed as there are credits for', async () => {
      const { database } = await fresh()
      const { ledger, submit } = ledgerOn(database, { most: 30 })
      await submit(open('a', 1_000))
      await submit(open('b', 0))
      const answers = await Promise.all(
        Array.from({ length: 200 }, (_, at) => submit(hold(`h${at}`, { from: 'a', to: 'b' }, 30))),
      )
      const placed = answers.flatMap((answer, at) => (answer === 'credits_held' ? [`h${at}`] : []))
      assert.equal(placed.length, 33)
      assert.equal(answers.filter((each) => each === 'funds_short').length, 167)
      await Promise.all(placed.map((id) => submit(confirm(id, 20))))
      await Promise.all(placed.map((id, at) => submit(at % 2 ? giveUp(id) : capture(id, 20))))
      await ledger.idle()
      assert.equal(await balance(database, 'b'), 17 * 20)
      assert.equal(await balance(database, 'a'), 1_000 - 17 * 20)
      await proveBooks(database)
    })

    test('CH-8 one transfer id ordered 100 times at once moves once', async () => {
      const { ledger, submit } = ledgerOn(shared(), { most: 7 })
      await submit(open('once-a', 100))
      await submit(open('once-b', 0))
      const order = pay('once', { from: 'once-a', to: 'once-b' }, 60)
      const answers = await Promise.all(
        Array.from({ length: 100 }, () => ledger.submit(asked(order))),
      )
      assert.deepEqual(answers.map(answerOf).sort(), [
        'credits_transferred',
        ...Array.from({ length: 99 }, () => 'nothing new'),
      ])
      assert.equal(await balance(shared(), 'once-b'), 60)
      assert.equal(await submit({ ...order, amountCents: 61 }), 'key_conflict')
    })

    test('what waits is bounded, and who comes too late is told', async () => {
      const { ledger } = ledgerOn(shared(), { mostWaiting: 5, most: 2 })
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, at) => ledger.submit(asked(open(`many-${at}`, 0)))),
      )
      const refused = answers.filter(({ decision }) => !decision.ok)
      assert.equal(refused.length, 15)
      const [first] = refused
      assert.deepEqual(first?.decision, {
        ok: false,
        refusal: 'service_unavailable',
        particulars: { retryAt: START + 1_000 },
      })
    })

    test('text that cannot be kept is refused, and harms nobody else', async () => {
      const { submit } = ledgerOn(shared())
      const names = ['nul-\u0000', 'half-\ud800', 'plain']
      const answers = await Promise.all(names.map((name) => submit(open(name, 0))))
      assert.deepEqual(answers, ['message_malformed', 'message_malformed', 'account_opened'])
    })

    test('an answer that cannot be made fails its own caller only', async () => {
      const { ledger } = ledgerOn(shared())
      const remember = remembering('poison', 'x', () => {
        throw new Error('no answer')
      })
      const [bad, good] = await Promise.allSettled([
        ledger.submit({ ...asked(open('poison-a', 5)), remember }),
        ledger.submit(asked(open('poison-b', 5))),
      ])
      assert.equal(bad?.status, 'rejected')
      assert.equal(good?.status, 'fulfilled')
      assert.equal(await balance(shared(), 'poison-a'), undefined)
      assert.equal(await balance(shared(), 'poison-b'), 5)
    })

    rememberedAnswers(shared)
    if (engine.name === 'PostgreSQL') severalProcesses(fresh)
  })
}

const remembering = (key: string, content: string, answer: Remember['answer']): Remember => ({
  scope: { requester: 'r', responder: 'ledger', key: key as IdempotencyKey },
  content: content as Digest,
  answer,
})

function rememberedAnswers(shared: Stage['shared']): void {
  test('P-4 one key 100 times at once is one effect and one answer', async () => {
    const { ledger, submit } = ledgerOn(shared(), { most: 9 })
    await submit(open('key-a', 100))
    await submit(open('key-b', 0))
    let made = 0
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, at) => {
        // Each retry has its own transfer id, so only the key can tell.
        const command = pay(`key-${at}`, { from: 'key-a', to: 'key-b' }, 10)
        const remember = remembering('k', 'same', () => {
          made += 1
          return { number: made }
        })
        return ledger.submit({ ...asked(command), remember })
      }),
    )
    assert.equal(answers.filter(({ repeated }) => !repeated).length, 1)
    for (const { answer } of answers) assert.deepEqual(answer, { number: 1 })
    assert.equal(await balance(shared(), 'key-b'), 10)

    const command = pay('key-other', { from: 'key-a', to: 'key-b' }, 10)
    const other = { ...asked(command), remember: remembering('k', 'other', () => 1) }
    assert.equal(answerOf(await ledger.submit(other)), 'key_conflict')
  })

  test('OC-12 a refusal that cannot pass is remembered, and forgotten at its time', async () => {
    const { ledger, submit, setNow } = ledgerOn(shared())
    await submit(open('anew-a', 0))
    await submit(open('anew-b', 0))
    const order = (key: string) => ({
      ...asked(pay(`anew-${key}`, { from: 'anew-a', to: 'anew-b' }, 10)),
      remember: remembering(key, 'c', ({ ok }) => ok),
    })
    assert.equal(answerOf(await ledger.submit(order('n1'))), 'funds_short')
    await submit({
      type: 'mint_credits',
      transfer: transferId('anew-mint'),
      owner: owner('anew-a'),
      amountCents: 10,
    })
    const repeat = await ledger.submit(order('n1'))
    assert.deepEqual([repeat.repeated, repeat.answer], [true, false])

    const passing = { ...order('n2'), remember: { ...order('n2').remember, forgetAt: START + 9 } }
    assert.equal(answerOf(await ledger.submit(passing)), 'credits_transferred')
    assert.equal((await ledger.submit(passing)).repeated, true)
    setNow(START + 9)
    assert.equal((await ledger.submit(passing)).repeated, false, 'forgotten at its time')
  })

  test('OC-12 a refusal that may pass is decided anew', async () => {
    const { ledger, submit } = ledgerOn(shared())
    await submit(open('later-a', 50))
    await submit(open('later-b', 0))
    const parties = { from: 'later-a', to: 'later-b' }
    await submit(hold('later', parties, 20))
    const order = {
      ...asked(pay('later-pay', parties, 20, 'task-later')),
      remember: remembering('later', 'c', ({ ok }) => ok),
    }
    assert.equal(answerOf(await ledger.submit(order)), 'work_not_begun')
    await submit(confirm('later', 20))
    assert.equal(answerOf(await ledger.submit(order)), 'hold_captured')
    assert.deepEqual((await ledger.submit(order)).answer, true)
  })
}

/** Several pools stand for several hubs: they share nothing but the database. */
function severalProcesses(fresh: Stage['fresh']): void {
  test('CH-8 CH-9 three hubs on one PostgreSQL: transfers and holds exact', async () => {
    const { database, address } = await fresh()
    const others = [await openDatabase(address), await openDatabase(address)]
    const hubs = [database, ...others].map((each) => ledgerOn(each, { most: 10 }))
    const [first] = hubs
    const names = ['a', 'b', 'c', 'd', 'e']
    for (const name of names) await first?.submit(open(name, 2_000))

    const all = hubs.flatMap(({ submit }, hub) =>
      Array.from({ length: 100 }, async (_, at) => {
        const from = names[(at * 7 + hub) % 5] ?? ''
        const to = names[(at * 3 + hub + 1) % 5] ?? ''
        if (from === to) return
        const id = `${hub}-${at}`
        if (at % 2) return submit(pay(id, { from, to }, 5 + (at % 40)))
        if ((await submit(hold(id, { from, to }, 50))) !== 'credits_held') return
        await submit(confirm(id, 40))
        return at % 4 ? submit(giveUp(id)) : submit(capture(id, 40))
      }),
    )
    // The same order at every hub at once, and the same account opened by all.
    const doubled = hubs.map(({ submit }) => submit(pay('doubled', { from: 'a', to: 'b' }, 1)))
    const opened = hubs.map(({ submit }) => submit(open('late', 7)))
    await Promise.all(all)
    assert.deepEqual((await Promise.all(doubled)).sort(), [
      'credits_transferred',
      'nothing new',
      'nothing new',
    ])
    assert.equal((await Promise.all(opened)).filter((each) => each !== 'nothing new').length, 1)
    assert.equal(await balance(database, 'late'), 7)
    await proveBooks(database)
    for (const each of others) await each.close()
  })

  test('CH-8 what three hubs make at the same moment is made once', async () => {
    const { database, address } = await fresh()
    const others = [await openDatabase(address), await openDatabase(address)]
    const hubs = [database, ...others].map((each) => ledgerOn(each, { most: 1 }))
    const answers = await Promise.all(
      Array.from({ length: 80 }, (_, at) =>
        hubs.map(({ submit }) => submit(open(`same-${at}`, 3))),
      ).flat(),
    )
    assert.deepEqual(
      new Map(
        [...new Set(answers)].map((word) => [word, answers.filter((it) => it === word).length]),
      ),
      new Map([
        ['account_opened credits_minted', 80],
        ['nothing new', 160],
      ]),
    )
    await proveBooks(database)
    for (const each of others) await each.close()
  })

  test('a cap holds at three hubs', async () => {
    const { database, address } = await fresh()
    const others = [await openDatabase(address), await openDatabase(address)]
    const hubs = [database, ...others].map((each) => ledgerOn(each, { most: 2 }))
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) await hubs[0]?.submit(open(name, 900))
    const token = 'capped' as Digest
    await createTokens({ database, ...createHands() }).issue(
      { digest: token, id: 't', kind: 'operator', scopes: [], capCents: 50 },
      'c' as CorrelationId,
    )
    // Of different payers, so that no account makes them wait for each other.
    const answers = await Promise.all(
      Array.from({ length: 60 }, async (_, at) => {
        const parties = { from: 'abc'.charAt(at % 3), to: 'def'.charAt(at % 3) }
        const spend = { token, amountCents: 5 }
        return hubs[at % 3]?.ledger.submit({ ...asked(pay(`c${at}`, parties, 5)), spend })
      }),
    )
    assert.equal(answers.filter((each) => each?.decision.ok).length, 10)
    for (const each of others) await each.close()
  })

  test('P-4 one key at three hubs is one effect', async () => {
    const { database, address } = await fresh()
    const others = [await openDatabase(address), await openDatabase(address)]
    const hubs = [database, ...others].map((each) => ledgerOn(each))
    await hubs[0]?.submit(open('a', 100))
    await hubs[0]?.submit(open('b', 0))
    const answers = await Promise.all(
      Array.from({ length: 30 }, async (_, at) => {
        const remember = remembering('k', 'c', () => at)
        const command = pay(`t${at}`, { from: 'a', to: 'b' }, 3)
        return hubs[at % 3]?.ledger.submit({ ...asked(command), remember })
      }),
    )
    assert.equal(new Set(answers.map((each) => each?.answer)).size, 1)
    assert.equal(await balance(database, 'b'), 3)
    for (const each of others) await each.close()
  })

  test('connections that broke are replaced, and the command goes through', async () => {
    const { database } = await fresh()
    const { submit } = ledgerOn(database)
    await submit(open('a', 10))
    const ending = database.transaction(
      (tx) =>
        tx.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                  WHERE datname = current_database()`),
      { role: 'owner' },
    )
    await assert.rejects(ending, (error) => hasCode(error, 'database_unreachable'))
    assert.equal(await submit(open('b', 10)), 'account_opened credits_minted')
  })
}

const sorted = (balances: ReadonlyMap<string, number>) =>
  [...balances].sort(([one], [other]) => (one < other ? -1 : 1))

const NAMES = ['a', 'b', 'c']

function randomCommand(below: (most: number) => number, now: number): MoneyCommand {
  const name = () => NAMES[below(NAMES.length)] ?? 'a'
  const parties = { from: name(), to: name() }
  // An id is used up by its first hold, so the ids move on with the time.
  const some = () => `h${Math.floor((now - START) / 4_000) + below(5)}`
  const id = some()
  const amount = 1 + below(120)
  switch (below(8)) {
    case 0:
      return open(name(), 300)
    case 1:
      return pay(`t${below(9)}`, parties, amount, below(2) ? `task-${some()}` : undefined)
    case 2:
    case 3: {
      const parent = below(3) === 0 ? some() : undefined
      return { ...hold(id, parties, amount, parent), lapsesAt: now + 1_000 + below(20_000) }
    }
    case 4:
      return confirm(id, 20 + below(30))
    case 5:
      return capture(id, 1 + below(30))
    case 6:
      return giveUp(id)
    default:
      return {
        type: 'refund_credits',
        transfer: transferId(`r${below(40)}`),
        of: transferId(below(2) ? `capture-${some()}` : `t${below(9)}`),
        amountCents: 1 + below(20),
        by: owner(name()),
      }
  }
}
