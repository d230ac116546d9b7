/** Whether a sum may be promised, by a table; and that no run of debits promises too much (W4). */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import type { Digest, IdempotencyKey } from '../ids.ts'
import {
  type Debit,
  type DebitEnd,
  type DebitLine,
  decideKey,
  decideSigning,
  type Funds,
  isFinal,
  NATIVE,
} from './debit.ts'

const USDC = '0xusdc'
const at = { block: 9, hash: '0x1', at: 1 }
const gone: DebitEnd = { state: 'confirmed', balanceUnits: 0n, ...at }
const lost: DebitEnd = { state: 'failed', why: 'reverted', ...at }

const line = (nonce: number, asset: string, units: bigint, end?: DebitEnd): DebitLine => ({
  nonce,
  asset,
  units,
  feeUnits: 1n,
  ...(end && { end }),
})
const funds = (changes: Partial<Funds> = {}): Funds => ({
  count: 5,
  floor: 5,
  units: 100n,
  coins: 10n,
  ...changes,
})
const token = (units: bigint) => ({ asset: USDC, units, feeUnits: 1n })
const coin = (units: bigint) => ({ asset: NATIVE, units, feeUnits: 1n })

// biome-ignore format: a table is read by its columns
const rows: [rule: string, wanted: ReturnType<typeof token>, lines: DebitLine[], funds: Funds, answer: string | number][] = [
  ['all that is there',                            token(100n), [],                             funds(),             5],
  ['not one unit more',                            token(101n), [],                             funds(),             'sum'],
  ['what is signed is gone',                       token(41n),  [line(5, USDC, 60n)],           funds(),             'sum'],
  ['and the rest is there',                        token(40n),  [line(5, USDC, 60n)],           funds(),             6],
  ['what the balance has in it is not gone twice', token(100n), [line(4, USDC, 60n)],           funds(),             5],
  ['what ended after the look is gone',            token(41n),  [line(5, USDC, 60n, gone)],     funds(),             'sum'],
  ['what failed is not',                           token(100n), [line(5, USDC, 60n, lost)],     funds(),             6],
  ['another asset is another sum',                 token(100n), [line(5, NATIVE, 5n)],          funds(),             6],
  ['no fee, no transaction',                       token(1n),   [],                             funds({ coins: 0n }), 'fee'],
  ['fees of those before count',                   token(1n),   [line(5, USDC, 1n)],            funds({ coins: 1n }), 'fee'],
  ['also of one that failed',                      token(1n),   [line(5, USDC, 1n, lost)],      funds({ coins: 1n }), 'fee'],
  ['coins pay for themselves and their fee',       coin(9n),    [],                             funds(),             5],
  ['and no more',                                  coin(10n),   [],                             funds(),             'fee'],
  ['coins that are signed are gone',               coin(4n),    [line(5, NATIVE, 5n)],          funds(),             'fee'],
  ['coins that are not there',                     coin(11n),   [],                             funds(),             'sum'],
  ['the network has seen more of us',              token(1n),   [],                             funds({ floor: 9 }), 9],
]

describe('whether a sum may be promised', () => {
  for (const [rule, wanted, lines, there, answer] of rows) {
    test(rule, () => {
      const next = lines.reduce((most, { nonce }) => Math.max(most, nonce + 1), 0)
      const decided = decideSigning(wanted, { next, lines }, there)
      assert.equal(decided.is === 'fits' ? decided.nonce : decided.of, answer)
    })
  }

  test('SK-14 W4 no run of debits promises more than there is, and no nonce is given twice', () => {
    const step = fc.record({
      isCoin: fc.boolean(),
      units: fc.bigInt({ min: 1n, max: 40n }),
      mined: fc.nat(3),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const lines: DebitLine[] = []
        let [count, units, coins] = [0, 100n, 60n]
        for (const { isCoin, units: sum, mined } of steps) {
          const wanted = isCoin ? coin(sum) : token(sum)
          // The chain takes some of those that wait, in the order of their nonces.
          for (const each of lines.slice(count, count + mined)) {
            count += 1
            coins -= each.feeUnits + (each.asset === NATIVE ? each.units : 0n)
            units -= each.asset === USDC ? each.units : 0n
            assert.ok(coins >= 0n && units >= 0n)
          }
          const books = { next: lines.length, lines }
          const decided = decideSigning(wanted, books, { count, floor: count, units, coins })
          if (decided.is === 'short') continue
          assert.equal(decided.nonce, lines.length)
          lines.push({ ...wanted, nonce: decided.nonce })
        }
      }),
      { seed: 7 },
    )
  })
})

describe('a key', () => {
  const known: Debit = {
    ...line(5, USDC, 1n),
    key: 'k' as IdempotencyKey,
    content: 'c' as Digest,
    account: { chain: 1, address: '0x0' },
    description: 'for a test',
    sinceBlock: 1,
    at: 1,
    attempt: 2,
    bytes: '0x',
    hash: '0x1',
  }
  const same = 'c' as Digest
  // biome-ignore format: a table is read by its columns
  const answers: [rule: string, known: Debit | undefined, content: Digest, is: string, attempt: number][] = [
    ['nobody asked before',                  undefined,               same,          'new',      1],
    ['it may still take effect',             known,                   same,          'known',    2],
    ['it took effect',                       { ...known, end: gone }, same,          'known',    2],
    ['it never can',                         { ...known, end: lost }, same,          'new',      3],
    ['something else was asked for',         known,                   'd' as Digest, 'conflict', 0],
    ['also where the first one never can',   { ...known, end: lost }, 'd' as Digest, 'conflict', 0],
  ]
  for (const [rule, before, content, is, attempt] of answers) {
    test(rule, () => {
      const decided = decideKey(before, content)
      const number =
        decided.is === 'new' ? decided.attempt : decided.is === 'known' ? decided.debit.attempt : 0
      assert.deepEqual([decided.is, number], [is, attempt])
    })
  }

  test('the newest block has depth 1', () => {
    assert.deepEqual([isFinal(9, 9, 1), isFinal(9, 9, 2), isFinal(9, 10, 2)], [true, false, true])
  })
})
