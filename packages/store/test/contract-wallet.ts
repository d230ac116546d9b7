/** Debits on a chain and pretended ones: once under a key, one nonce after another, for ever. */
import assert from 'node:assert/strict'
import { hash, randomUUID } from 'node:crypto'
import type { Digest, IdempotencyKey } from '@chimera/domain/ids'
import type { DebitEnd, DebitWanted, Funds, WalletAccount } from '@chimera/domain/wallet/debit'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { createDebits, type Debits } from '../src/debits.ts'
import type { Database } from '../src/engine/database.ts'
import { openDatabase } from '../src/engine/open.ts'
import { hasCode } from '../src/failure.ts'
import { createPurses } from '../src/wallet-purses.ts'
import type { Stage } from './contract.ts'
import { createHands, START } from './hands.ts'

const BIG = 10n ** 70n
const USDC = '0xusdc'
const FUNDS: Funds = { count: 7, floor: 7, units: 100n * BIG, coins: 1_000n }
const CONFIRMED: DebitEnd = {
  state: 'confirmed',
  hash: '0xf',
  block: 12,
  balanceUnits: 3n * BIG,
  at: START + 5,
}
const REVERTED: DebitEnd = {
  state: 'failed',
  why: 'reverted',
  hash: '0xf',
  block: 12,
  at: START + 5,
}

const account = (): WalletAccount => ({ chain: 8_453, address: `0x${randomUUID()}` })

const wanted = (from: WalletAccount, key: string, units = BIG): DebitWanted => ({
  key: key as IdempotencyKey,
  content: hash('sha256', `${key} ${units}`) as Digest,
  account: from,
  asset: USDC,
  units,
  feeUnits: 1n,
  description: 'paid for \u0000 and \ud800',
  sinceBlock: 4,
  at: START,
})
const sign = async (nonce: number) => ({ bytes: `0xb${nonce}`, hash: `0xh${nonce}` })

const debitsOn = (database: Database): Debits => {
  const { clock, chance } = createHands()
  return createDebits({
    database,
    durable: true,
    hands: { sleep: clock.sleep, fraction: chance.fraction },
  })
}
const pursesOn = (database: Database) => {
  const { clock, chance } = createHands()
  return createPurses({
    database,
    durable: true,
    hands: { sleep: clock.sleep, fraction: chance.fraction },
  })
}

export function walletContract({ engine, shared, fresh }: Stage): void {
  describe('debits on a chain', () => {
    test('SK-14 what is signed is kept as it was, with its nonce, until it ends', async () => {
      const [debits, from] = [debitsOn(shared()), account()]
      const want = wanted(from, `kept ${from.address}`)
      assert.equal(await debits.find(want.key), undefined)
      const signed = await debits.sign({ wanted: want, funds: FUNDS, sign })
      const kept = { ...want, bytes: '0xb7', hash: '0xh7', nonce: 7, attempt: 1 }
      assert.deepEqual(signed, { is: 'signed', debit: kept })
      assert.deepEqual(await debits.find(want.key), kept)
      assert.deepEqual(await debits.open(from), [kept])
      const ended = { ...kept, end: CONFIRMED }
      assert.deepEqual(await debits.end(kept, CONFIRMED), ended)
      assert.deepEqual(await debits.end(kept, REVERTED), ended, 'an end is written once')
      assert.deepEqual(await debits.open(from), [])
      assert.deepEqual(await debits.history(want.key), [ended])
    })

    test('SK-14 a repeat is known, other content is a conflict, and neither signs', async () => {
      const [debits, from] = [debitsOn(shared()), account()]
      const want = wanted(from, `again ${from.address}`)
      const first = await debits.sign({ wanted: want, funds: FUNDS, sign })
      assert.ok(first.is === 'signed')
      const never = () => assert.fail('signed a second time')
      const again = await debits.sign({ wanted: want, funds: FUNDS, sign: never })
      assert.deepEqual(again, { is: 'known', debit: first.debit })
      const other = { ...want, units: 2n * BIG, content: 'other' as Digest }
      const conflict = await debits.sign({ wanted: other, funds: FUNDS, sign: never })
      assert.equal(conflict.is, 'conflict')
    })

    test('another transaction under a key only after the first has failed', async () => {
      const [debits, from] = [debitsOn(shared()), account()]
      const want = wanted(from, `failed ${from.address}`)
      const first = await debits.sign({ wanted: want, funds: FUNDS, sign })
      assert.ok(first.is === 'signed')
      await debits.end(first.debit, REVERTED)
      const second = await debits.sign({ wanted: want, funds: FUNDS, sign })
      assert.ok(second.is === 'signed')
      assert.deepEqual([second.debit.attempt, second.debit.nonce], [2, 8])
      const history = await debits.history(want.key)
      assert.deepEqual(
        history.map(({ end }) => end?.state),
        ['failed', undefined],
      )
    })

    test('what cannot be signed is not kept, and its nonce is the next one’s', async () => {
      const [debits, from] = [debitsOn(shared()), account()]
      const want = wanted(from, `unsigned ${from.address}`)
      const broken = () => Promise.reject(new Error('the key is gone'))
      await assert.rejects(debits.sign({ wanted: want, funds: FUNDS, sign: broken }))
      assert.equal(await debits.find(want.key), undefined)
      const next = await debits.sign({ wanted: want, funds: FUNDS, sign })
      assert.ok(next.is === 'signed' && next.debit.nonce === 7)
    })

    test('SK-14 of 60 at once exactly those that fit are signed, without a gap', async () => {
      const { database, address } = await fresh()
      // The embedded database has one process, so there all share its connection.
      const other = engine.name === 'PostgreSQL' ? await openDatabase(address) : database
      const hubs = [debitsOn(database), debitsOn(other)]
      const from = account()
      // Every ask comes twice, and the balance is enough for twenty.
      const answers = await Promise.all(
        Array.from({ length: 60 }, (_, at) => {
          const ask = wanted(from, `many ${at % 30}`)
          const funds = { ...FUNDS, units: 20n * BIG }
          return (hubs[at % 2] ?? assert.fail()).sign({ wanted: ask, funds, sign })
        }),
      )
      const signed = answers.flatMap((each) => (each.is === 'signed' ? [each.debit.nonce] : []))
      assert.deepEqual(
        signed.sort((one, two) => one - two),
        Array.from({ length: 20 }, (_, at) => 7 + at),
      )
      assert.equal(answers.filter((each) => each.is === 'short').length, 20)
      if (other !== database) await other.close()
    })

    test('one key for two accounts at once is one debit and one conflict', async () => {
      const debits = debitsOn(shared())
      const key = `two ${account().address}`
      const asks = [1n, 2n].map((units) => wanted(account(), key, units))
      const answers = await Promise.all(
        asks.map((ask) => debits.sign({ wanted: ask, funds: FUNDS, sign })),
      )
      assert.deepEqual(answers.map(({ is }) => is).sort(), ['conflict', 'signed'])
    })

    test('nobody can delete a debit or change what was signed', async () => {
      const [debits, from] = [debitsOn(shared()), account()]
      await debits.sign({ wanted: wanted(from, `audit ${from.address}`), funds: FUNDS, sign })
      for (const sql of [
        'DELETE FROM wallet_debits',
        `UPDATE wallet_debits SET units = '1'`,
        `UPDATE wallet_debits SET bytes = '0x'`,
        'DELETE FROM wallet_purse_debits',
      ]) {
        const tried = shared().query(sql)
        await assert.rejects(tried, (error) => hasCode(error, 'statement_failed'), sql)
      }
    })
  })

  describe('pretended money', () => {
    const ask = (wallet: string, key: string, units: bigint) => ({
      key: key as IdempotencyKey,
      content: hash('sha256', `${wallet} ${units}`) as Digest,
      wallet,
      currency: 'ETH',
      units,
      startUnits: 10n * BIG,
      description: 'for a test',
      at: START,
    })

    test('SK-14 is spent once under a key, the whole sum or nothing', async () => {
      const [purses, wallet] = [pursesOn(shared()), account().address]
      const first = ask(wallet, `p1 ${wallet}`, 7n * BIG)
      const { startUnits, ...kept } = first
      const debit = { ...kept, balanceUnits: 3n * BIG }
      assert.equal(await purses.balance(wallet, 'ETH', startUnits), 10n * BIG)
      assert.deepEqual(await purses.debit(first), { is: 'debited', debit })
      assert.deepEqual(await purses.debit({ ...first, at: 0 }), { is: 'known', debit })
      assert.deepEqual(await purses.find(first.key), debit)
      const other = await purses.debit({ ...first, content: 'other' as Digest })
      assert.equal(other.is, 'conflict')
      assert.equal((await purses.debit(ask(wallet, `p2 ${wallet}`, 4n * BIG))).is, 'short')
      assert.equal(await purses.balance(wallet, 'ETH', startUnits), 3n * BIG)
      assert.equal(await purses.balance(wallet, 'USDC', 1n), 1n)
      assert.equal(await purses.balance(wallet, 'ETH', BIG), 0n, 'started with less since')
    })

    test('SK-14 any run of debits leaves what was there but for what was debited', async () => {
      const purses = pursesOn(shared())
      const step = fc.record({ key: fc.nat(4), units: fc.bigInt({ min: 1n, max: 5n }) })
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
          const wallet = account().address
          const answers = await Promise.all(
            steps.map(({ key, units }) =>
              purses.debit(ask(wallet, `${wallet} ${key}`, units * BIG)),
            ),
          )
          const done = answers.flatMap((each) => (each.is === 'debited' ? [each.debit.units] : []))
          const left = await purses.balance(wallet, 'ETH', 10n * BIG)
          assert.equal(left, 10n * BIG - done.reduce((sum, units) => sum + units, 0n))
          const keys = steps.map(({ key }) => key)
          assert.ok(done.length <= new Set(keys).size)
        }),
        { seed: 3, numRuns: 10 },
      )
    })
  })
}
