/**
 * The ledger at full speed: two batches at once, guesses at who is to be locked, and answers that
 * come out of the batch. Nothing of it may change what comes of a command.
 */
import assert from 'node:assert/strict'
import type { CorrelationId, TaskId } from '@chimera/domain/ids'
import type { BookingCommand } from '@chimera/domain/work/booking'
import { describe, test } from 'vitest'
import { arrayText } from '../src/columns.ts'
import type { Database } from '../src/engine/database.ts'
import { createLedger, type LedgerOptions } from '../src/ledger/ledger.ts'
import { readAccount, readMovement } from '../src/ledger/reading.ts'
import { transferCredits } from '../src/ledger/transferring.ts'
import {
  answerOf,
  asked,
  capture,
  confirm,
  giveUp,
  hold,
  open,
  owner,
  pay,
  proveBooks,
  reserve,
  transferId,
} from './books.ts'
import type { Stage } from './contract.ts'
import { createHands } from './hands.ts'

function ledgerOn(database: Database, options: Partial<LedgerOptions> = {}) {
  const hands = createHands()
  const ledger = createLedger({ database, ...hands, ...options })
  const submit = async (command: BookingCommand) => answerOf(await ledger.submit(asked(command)))
  return { ...hands, ledger, submit }
}
const balance = async (database: Database, name: string) =>
  (await readAccount(database, owner(name)))?.balanceCents

/** Names that mean something to somebody on the way. */
const ODD = [
  'a,b',
  '{x}',
  '"',
  '\\',
  'NULL',
  'null',
  ' ',
  'line\nline',
  "o'clock",
  '\u{1f600}\u00e9',
]

export function lanesContract({ shared, fresh }: Stage): void {
  describe('the ledger in lanes', () => {
    test('CH-9 two batches at once leave the books exact', async () => {
      const { database } = await fresh()
      const { ledger, submit, chance } = ledgerOn(database, { most: 4, lanes: 2 })
      const names = Array.from({ length: 12 }, (_, at) => `n${at}`)
      await Promise.all(names.map((name) => submit(open(name, 500))))
      const name = () => names[chance.below(names.length)] ?? ''
      const answers = await Promise.all(
        Array.from({ length: 150 }, async (_, at) => {
          const parties = { from: name(), to: name() }
          if (at % 3 > 0) return submit(pay(`p${at}`, parties, 1 + chance.below(200)))
          const placed = await submit(hold(`h${at}`, parties, 1 + chance.below(100)))
          if (placed !== 'credits_held') return placed
          await submit(confirm(`h${at}`, 1))
          return at % 2 ? submit(giveUp(`h${at}`)) : submit(capture(`h${at}`, 1))
        }),
      )
      await ledger.idle()
      const seen = new Set(answers)
      for (const each of ['credits_transferred', 'hold_captured', 'hold_released', 'funds_short']) {
        assert.ok(seen.has(each), `${each} of ${[...seen].join()}`)
      }
      await proveBooks(database)
    })

    test('CH-9 commands that name the same hold or account keep their order', async () => {
      const { submit } = ledgerOn(shared(), { most: 2, lanes: 2 })
      await submit(open('order-a', 100))
      await submit(open('order-b', 0))
      const parties = { from: 'order-a', to: 'order-b' }
      const answers = await Promise.all([
        submit(hold('order', parties, 60)),
        submit(pay('order-1', parties, 50)),
        submit(confirm('order', 60)),
        submit(open('order-c', 1)),
        submit(pay('order-2', { from: 'order-a', to: 'order-c' }, 40)),
        submit(capture('order', 60)),
        submit(pay('order-3', { from: 'order-c', to: 'order-b' }, 41)),
      ])
      assert.deepEqual(answers, [
        'credits_held',
        'funds_short',
        'hold_confirmed',
        'account_opened credits_minted',
        'credits_transferred',
        'hold_captured',
        'credits_transferred',
      ])
    })

    test('CH-8 P-9 a transfer that settles another’s credits is not misled', async () => {
      const { database } = await fresh()
      const { submit } = ledgerOn(database)
      for (const name of ['ann', 'bob', 'cem']) await submit(open(name, 1_000))
      await submit(hold('h1', { from: 'ann', to: 'bob' }, 500))
      await submit(confirm('h1', 400))
      await submit(hold('h2', { from: 'bob', to: 'cem' }, 100, 'h1'))
      await submit(confirm('h2', 90))
      // It names bob and cem; what moves is ann's, and the parent hold is touched too.
      const settle = pay('t2', { from: 'bob', to: 'cem' }, 90, 'task-h2')
      assert.equal(await submit(settle), 'hold_captured')
      assert.equal(await submit(settle), 'nothing new')
      assert.deepEqual(
        await Promise.all(['ann', 'bob', 'cem'].map((name) => balance(database, name))),
        [600, 1_000, 1_090],
      )
      await proveBooks(database)
    })

    test('P-1 a transfer that settles a reserved task frees its slots', async () => {
      const { database } = await fresh()
      const { submit } = ledgerOn(database)
      for (const name of ['ann', 'bob']) await submit(open(name, 100))
      await submit(reserve('r1', { money: { from: 'ann', to: 'bob', amountCents: 40 } }))
      await submit(confirm('hold-r1', 30))
      const settle = pay('t1', { from: 'ann', to: 'bob' }, 30, 'task-r1')
      assert.equal(await submit(settle), 'hold_captured slots_freed')
      await proveBooks(database)
    })

    test('CH-8 a transfer answers from its batch, and so does its repeat', async () => {
      const { ledger, submit, setNow, clock } = ledgerOn(shared())
      for (const name of ['said-a', 'said-b']) await submit(open(name, 100))
      const parties = { from: 'said-a', to: 'said-b' }
      const order = (id: string, cents: number, task?: string) =>
        transferCredits(ledger, pay(id, parties, cents, task), 'c' as CorrelationId)
      const at = clock.now()
      const first = await order('said-1', 30, 'said-job')
      const payment = await readMovement(shared(), transferId('said-1'))
      const said = { ok: true, payment, payerCents: 70, payeeCents: 130 }
      assert.deepEqual(first, said)
      assert.equal(payment?.at, at)

      setNow(at + 5_000)
      assert.deepEqual(await order('said-1', 30, 'said-job'), said, 'the same order again')
      assert.deepEqual(await order('said-2', 30, 'said-job'), said, 'the job is settled')
      await submit(pay('said-3', parties, 20))
      const later = { ...said, payerCents: 50, payeeCents: 150 }
      assert.deepEqual(await order('said-1', 30, 'said-job'), later, 'with what is there now')
      const [one, two] = await Promise.all([order('said-4', 50), order('said-5', 1)])
      assert.deepEqual([one.ok && one.payerCents, two.ok || two.refusal], [0, 'funds_short'])
      const other = await order('said-1', 31, 'said-job')
      assert.equal(other.ok || other.refusal, 'key_conflict')
    })

    test('names are kept as they are, whatever is in them', async () => {
      const { submit } = ledgerOn(shared())
      for (const [at, name] of ODD.entries()) {
        const other = ODD[(at + 1) % ODD.length] ?? ''
        await submit(open(`odd ${name}`, 10))
        await submit(open(`odd ${other}`, 10))
        const parties = { from: `odd ${name}`, to: `odd ${other}` }
        const order = pay(`odd ${name}`, parties, 1, `task ${name}`)
        assert.equal(await submit(order), 'credits_transferred', name)
        assert.equal(await submit(order), 'nothing new', name)
        const settled = { ...order, transfer: transferId(`again ${name}`) }
        assert.equal(await submit(settled), 'nothing new', name)
        assert.equal(await submit({ ...settled, task: `${name}` as TaskId }), 'credits_transferred')
      }
      const values = [...ODD, '', null, 5]
      const [row] = await shared().query<{ list: unknown }>('SELECT to_json($1::text[]) AS list', [
        arrayText(values),
      ])
      assert.deepEqual(row?.list, [...ODD, '', null, '5'])
    })
  })
}
