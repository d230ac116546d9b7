/**
 * `fetch_wallet_balance` and `debit_wallet` on a real chain: what they answer, and each row of
 * their errors with its recovery.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decodeDebit } from '@chimera/dialects/skills/decode'
import type { DebitWalletInput } from '@chimera/dialects/skills/schema'
import type { IdempotencyKey } from '@chimera/domain/ids'
import { keepSecret } from '@chimera/host/settings/secret'
import { afterAll, afterEach, beforeAll, beforeEach, describe, test } from 'vitest'
import { createMemoryDebits, type FileDebits, openFileDebits } from '../src/wallet/debit-files.ts'
import { openWallet } from '../src/wallet/open.ts'
import {
  type Anvil,
  type BadNode,
  type Call,
  KEY,
  type Manner,
  NO_CHAIN,
  PAYEE,
  startAnvil,
  startNode,
  WALLET,
} from './anvil.ts'
import { codeOf, createTown, debitOf, type Town, type TownOptions } from './paying.ts'

const BASE = 8_453
const OTHER = '0x52908400098527886E0F7030069857D2E4169EE7'
/** One letter in the wrong case. */
const MISTYPED = '0xf39fd6e51aad88F6F4ce6aB8827279cffFb92266'

// There is no anvil for every platform; in CI that is a failure.
describe.skipIf(NO_CHAIN)(`wallet skills on a chain ${NO_CHAIN ?? ''}`, () => {
  let anvil: Anvil
  let node: BadNode
  let folder: string
  let keep: FileDebits
  let town: Town

  const build = (more: TownOptions['wallet'] = {}) =>
    createTown({ node, coin: anvil.coin, keep, wallet: more })
  const onCall = (method: string, manner: Manner) => (call: Call) =>
    call.method === method ? manner : 'pass'
  async function rebuild(more: TownOptions['wallet']): Promise<void> {
    await town.close()
    town = await build(more)
  }

  beforeAll(async () => {
    anvil = await startAnvil({ chain: BASE })
    node = await startNode(anvil)
    folder = await mkdtemp(join(tmpdir(), 'chimera-wallet-'))
    await anvil.mint(WALLET, 1_000_000_000n)
  })
  afterAll(async () => {
    await node.close()
    await anvil.stop()
    await rm(folder, { recursive: true, force: true })
  })
  beforeEach(async () => {
    node.behave('pass')
    keep = await openFileDebits({ path: join(folder, `${randomUUID()}.jsonl`) })
    town = await build()
  })
  afterEach(async () => {
    await town.close()
    await keep.close()
  })

  describe('SK-13 a balance', () => {
    test('of USDC on Base unless asked otherwise, exactly, with its checksum', async () => {
      const read = await town.balance({ wallet_address: WALLET.toLowerCase() })
      assert.ok(read.ok)
      const units = await anvil.balance(WALLET)
      assert.deepEqual(read.output, {
        wallet_address: WALLET,
        balance: Number(units) / 1e6,
        balance_units: units.toString(),
        currency: 'USDC',
        last_updated: '2026-01-01T12:00:00Z',
        network: 'base',
      })
    })

    test('of ETH and of BASE, which are the same coin on Base', async () => {
      const units = (await anvil.coins(WALLET)).toString()
      for (const currency of ['ETH', 'BASE']) {
        const read = await town.balance({ currency })
        assert.ok(read.ok)
        assert.deepEqual([read.output.currency, read.output.balance_units], [currency, units])
      }
    })

    test('is good for 30 seconds, whoever writes the address in which case', async () => {
      const asked = () => node.calls.filter(({ method }) => method === 'eth_call').length
      await town.balance()
      const before = asked()
      await town.clock.advanceBy(29_000)
      const again = await town.balance({ wallet_address: WALLET.toLowerCase() })
      assert.deepEqual([again.from, asked()], ['cache', before])
      await town.clock.advanceBy(1_100)
      assert.equal((await town.balance()).from, 'run')
    })

    test('NETWORK_ERROR is answered by the last one, stale, and that pays nothing', async () => {
      const fresh = await town.balance()
      await town.clock.advanceBy(31_000)
      node.behave('die')
      const stale = await town.balance()
      assert.ok(fresh.ok && stale.ok)
      assert.deepEqual(stale.output, { ...fresh.output, stale: true })
      assert.deepEqual([stale.stale, stale.recovered, stale.retries], [true, 'NETWORK_ERROR', 3])
      const [count, before] = [await anvil.count(WALLET), await anvil.balance(WALLET)]
      assert.equal(codeOf(await town.debit()), 'NETWORK_ERROR')
      assert.deepEqual([await anvil.count(WALLET), await anvil.balance(WALLET)], [count, before])
    })

    test('NETWORK_ERROR where there is no last one, after three retries', async () => {
      node.behave({ status: 503, text: 'try later' })
      const lost = await town.balance()
      assert.deepEqual([codeOf(lost), lost.retries], ['NETWORK_ERROR', 3])
    })

    test('a node that hangs is NETWORK_ERROR too', async () => {
      node.behave('hang')
      assert.equal(codeOf(await town.balance()), 'NETWORK_ERROR')
    })

    test('the next node is asked where the first does not answer', async () => {
      const dead = await startNode(anvil)
      await dead.close()
      await rebuild({ rpc: { base: [dead.url, node.url] } })
      assert.equal(codeOf(await town.balance()), 'ok')
    })

    const rubbish: readonly (readonly [string, (call: Call) => Manner])[] = [
      ['is on another chain', onCall('eth_chainId', { result: '0x1' })],
      ['has no such token', onCall('eth_call', { result: '0x' })],
      ['counts in decimals', onCall('eth_call', { result: '1000' })],
      ['answers a page', () => ({ status: 200, text: '<html>' })],
      ['answers nothing', () => ({ result: null })],
      ['does not know us', () => ({ status: 401, text: 'who?' })],
      ['refuses', onCall('eth_call', { error: { code: -32_601, message: 'no such method' } })],
    ]
    for (const [what, manner] of rubbish) {
      test(`WALLET_ERROR when the node ${what}: two retries, and a person is told`, async () => {
        node.behave(manner)
        const lost = await town.balance()
        assert.deepEqual([codeOf(lost), lost.retries], ['WALLET_ERROR', 2])
        assert.deepEqual(town.escalated(), ['WALLET_ERROR'])
      })
    }

    test('an answer without end is cut off', async () => {
      node.behave({ status: 200, text: `{"result":"${'0'.repeat(100_000)}"}` })
      assert.equal(codeOf(await town.balance()), 'NETWORK_ERROR')
    })

    test('INVALID_ADDRESS for what is none or is mistyped, and nobody is asked', async () => {
      const before = node.calls.length
      for (const wallet_address of ['0x12', 'vitalik.eth', MISTYPED, 7, `${WALLET}00`]) {
        const refused = await town.balance({ wallet_address })
        assert.deepEqual([codeOf(refused), refused.retries], ['INVALID_ADDRESS', 0])
      }
      assert.equal(codeOf(await town.debit({ wallet_address: MISTYPED })), 'INVALID_ADDRESS')
      assert.equal(node.calls.length, before)
    })

    test('a network without a node is not known', async () => {
      assert.equal(codeOf(await town.balance({ network: 'sepolia' })), 'NOT_FOUND')
    })
  })

  describe('SK-14 a debit', () => {
    test('of USDC moves exactly the sum to the payee, once, and says what is left', async () => {
      const [had, got] = [await anvil.balance(WALLET), await anvil.balance(PAYEE)]
      const key = randomUUID()
      const done = await town.debit({ idempotency_key: key, amount: 0.250001 })
      assert.ok(done.ok, JSON.stringify(done))
      const { tx_id, ...output } = done.output
      assert.match(String(tx_id), /^0x[0-9a-f]{64}$/)
      assert.equal(output.success, true)
      assert.equal(output.amount_deducted, 0.250001)
      assert.equal(output.new_balance, Number(had - 250_001n) / 1e6)
      assert.equal((await anvil.balance(PAYEE)) - got, 250_001n)
      const receipt = (await anvil.rpc('eth_getTransactionReceipt', tx_id)) as { status: string }
      assert.equal(receipt.status, '0x1')
      const [kept, ...more] = await keep.history(key as IdempotencyKey)
      assert.deepEqual(
        [kept?.hash, kept?.description, more.length],
        [tx_id, 'OpenClaw RFP-123 payment', 0],
      )
      const [audit] = town.audits
      assert.deepEqual(
        [audit?.tx, audit?.description, audit?.units, audit?.simulated],
        [tx_id, 'OpenClaw RFP-123 payment', '250001', false],
      )
    })

    test('of ETH and BASE moves coins, in whole base units', async () => {
      for (const currency of ['ETH', 'BASE']) {
        const before = await anvil.coins(PAYEE)
        const done = await town.debit({ currency, amount: 0.123456789012345 })
        assert.equal(codeOf(done), 'ok', JSON.stringify(done))
        assert.equal((await anvil.coins(PAYEE)) - before, 123_456_789_012_345_000n)
      }
    })

    test('a key never expires: the same answer after a restart and a year', async () => {
      const asked = { idempotency_key: randomUUID() }
      const first = await town.debit(asked)
      const [count, before] = [await anvil.count(WALLET), await anvil.balance(PAYEE)]
      await town.clock.advanceBy(365 * 86_400_000)
      const later = await town.debit(asked)
      await rebuild({})
      const restarted = await town.debit({ ...asked, wallet_address: WALLET.toLowerCase() })
      assert.ok(first.ok && later.ok && restarted.ok)
      assert.deepEqual(later.output, first.output)
      assert.deepEqual(restarted.output, first.output)
      assert.deepEqual([await anvil.count(WALLET), await anvil.balance(PAYEE)], [count, before])
    })

    test('CONFLICT for other content under a key, after a restart too', async () => {
      const asked = { idempotency_key: randomUUID() }
      assert.equal(codeOf(await town.debit(asked)), 'ok')
      const before = await anvil.balance(PAYEE)
      for (const other of [{ amount: 1.6 }, { currency: 'ETH' }, { tx_description: 'another' }]) {
        assert.equal(codeOf(await town.debit({ ...asked, ...other })), 'CONFLICT')
      }
      await rebuild({})
      assert.equal(codeOf(await town.debit({ ...asked, amount: 1.6 })), 'CONFLICT')
      assert.equal(await anvil.balance(PAYEE), before)
    })

    test('INSUFFICIENT_BALANCE: nothing is signed, and a person is told', async () => {
      const count = await anvil.count(WALLET)
      const key = randomUUID()
      const refused = await town.debit({ idempotency_key: key, amount: 999_999 })
      assert.deepEqual([codeOf(refused), refused.retries], ['INSUFFICIENT_BALANCE', 0])
      assert.deepEqual(town.escalated(), ['INSUFFICIENT_BALANCE'])
      assert.equal(await keep.find(key as IdempotencyKey), undefined)
      assert.equal(await anvil.count(WALLET), count)
    })

    test('INSUFFICIENT_BALANCE where only the fee is missing', async () => {
      const had = await anvil.coins(WALLET)
      await anvil.rpc('anvil_setBalance', WALLET, '0x1000')
      assert.equal(codeOf(await town.debit()), 'INSUFFICIENT_BALANCE')
      await anvil.rpc('anvil_setBalance', WALLET, `0x${had.toString(16)}`)
    })

    test('TX_FAILED when it is undone on the chain: signed anew, a person is told', async () => {
      await anvil.bar(WALLET, true)
      const key = randomUUID()
      const before = await anvil.balance(PAYEE)
      const failed = await town.debit({ idempotency_key: key })
      await anvil.bar(WALLET, false)
      assert.deepEqual([codeOf(failed), failed.retries], ['TX_FAILED', 3])
      assert.deepEqual(town.escalated(), ['TX_FAILED'])
      const history = await keep.history(key as IdempotencyKey)
      assert.deepEqual(
        history.map(({ end }) => end?.state === 'failed' && end.why),
        ['reverted', 'reverted', 'reverted', 'reverted'],
      )
      assert.equal(await anvil.balance(PAYEE), before)
      assert.equal(codeOf(await town.debit({ idempotency_key: key })), 'ok')
      assert.equal((await anvil.balance(PAYEE)) - before, 1_500_000n)
    })

    test('TX_FAILED when the node does not take it: the same bytes each time', async () => {
      node.behave(
        onCall('eth_sendRawTransaction', { error: { code: -32_000, message: 'underpriced' } }),
      )
      const asked = { idempotency_key: randomUUID() }
      const from = node.sent().length
      const failed = await town.debit(asked)
      assert.deepEqual([codeOf(failed), failed.retries], ['TX_FAILED', 3])
      assert.deepEqual(town.escalated(), ['TX_FAILED'])
      const sent = node.sent().slice(from)
      assert.equal(sent.length, 4)
      assert.equal(new Set(sent.map(({ params }) => params[0])).size, 1)
      node.behave('pass')
      const before = await anvil.balance(PAYEE)
      assert.equal(codeOf(await town.debit(asked)), 'ok')
      assert.equal((await anvil.balance(PAYEE)) - before, 1_500_000n)
    })

    test('TX_FAILED while gas costs more than allowed, and nothing is signed', async () => {
      await rebuild({ mostFeePerGas: 1n })
      const key = randomUUID()
      assert.equal(codeOf(await town.debit({ idempotency_key: key })), 'TX_FAILED')
      assert.equal(await keep.find(key as IdempotencyKey), undefined)
    })

    test('NETWORK_ERROR before anything is signed: three retries', async () => {
      node.behave('die')
      const key = randomUUID()
      const lost = await town.debit({ idempotency_key: key })
      assert.deepEqual([codeOf(lost), lost.retries], ['NETWORK_ERROR', 3])
      assert.ok(!lost.ok && lost.error.needs === 'same_key')
      assert.equal(await keep.find(key as IdempotencyKey), undefined)
    })

    test('WALLET_ERROR on another chain than the one that is set: nothing is signed', async () => {
      node.behave(onCall('eth_chainId', { result: '0x14a34' }))
      const key = randomUUID()
      assert.equal(codeOf(await town.debit({ idempotency_key: key })), 'WALLET_ERROR')
      assert.deepEqual(town.escalated(), ['WALLET_ERROR'])
      assert.equal(await keep.find(key as IdempotencyKey), undefined)
    })

    test('FORBIDDEN: of another’s wallet, and on mainnet, which is only read', async () => {
      await rebuild({ rpc: { base: [node.url], mainnet: [node.url] } })
      assert.equal(codeOf(await town.debit({ wallet_address: OTHER })), 'FORBIDDEN')
      const onMainnet = { network: 'mainnet', currency: 'ETH' }
      assert.equal(codeOf(await town.debit(onMainnet)), 'FORBIDDEN')
    })

    test('INVALID_INPUT for digits that the currency has not, and other rubbish', async () => {
      const rows = [
        { amount: 0.0000001 },
        { amount: 0.1 + 0.2 },
        { amount: 0.001 },
        { amount: -1 },
        { amount: '1' },
        { idempotency_key: 'again' },
        { tx_description: 'x'.repeat(201) },
        { currency: 'BASE', network: 'sepolia' },
      ]
      for (const asked of rows) {
        assert.equal(codeOf(await town.debit(asked)), 'INVALID_INPUT', JSON.stringify(asked))
      }
    })

    test('two processes on one keep, asked the same at once: one transfer', async () => {
      const other = await build()
      const asked = debitOf()
      const [count, got] = [await anvil.count(WALLET), await anvil.balance(PAYEE)]
      const begun = [town.begin(asked), other.begin(asked)]
      const outcomes = await town.driven(other.driven(Promise.all(begun)))
      assert.deepEqual(outcomes.map(codeOf), ['ok', 'ok'])
      assert.ok(outcomes[0]?.ok && outcomes[1]?.ok)
      assert.deepEqual(outcomes[0].output, outcomes[1].output)
      assert.equal((await anvil.balance(PAYEE)) - got, 1_500_000n)
      assert.equal((await anvil.count(WALLET)) - count, 1)
      await other.close()
    })

    test('many at once: exact, each nonce once, no more than there is', async () => {
      const had = await anvil.balance(WALLET)
      const [count, got] = [await anvil.count(WALLET), await anvil.balance(PAYEE)]
      // Enough for five of eight.
      const amount = Number(had / 5_500_000n)
      const outcomes = await town.driven(
        Promise.all(Array.from({ length: 8 }, () => town.begin({ amount, currency: 'USDC' }))),
      )
      const codes = outcomes.map(codeOf).sort()
      assert.deepEqual(codes, [
        ...Array.from({ length: 3 }, () => 'INSUFFICIENT_BALANCE'),
        ...Array.from({ length: 5 }, () => 'ok'),
      ])
      assert.equal((await anvil.balance(PAYEE)) - got, 5n * BigInt(amount) * 1_000_000n)
      assert.equal((await anvil.count(WALLET)) - count, 5)
    })
  })

  describe('what a wallet on a chain does not do', () => {
    const request = () => assert.fail('nobody is asked')
    const usual = () => ({ clock: town.clock, client: { request }, rpc: { base: [node.url] } })

    test('debit on a keep that does not outlive a crash', async () => {
      const key = keepSecret(KEY).secret
      const open = (more: object) => openWallet({ ...usual(), key, payee: PAYEE, ...more })
      await assert.rejects(open({}), /outlives a crash/)
      await assert.rejects(open({ keep: createMemoryDebits() }), /outlives a crash/)
    })

    test('debit without a key or without a payee', async () => {
      const key = keepSecret(KEY).secret
      const asked = decodeDebit(debitOf() as DebitWalletInput)
      const hands = { signal: new AbortController().signal, now: town.clock.now }
      for (const more of [{ keep }, { keep, key }, { keep, payee: PAYEE }]) {
        const wallet = await openWallet({ ...usual(), ...more })
        await assert.rejects(wallet.debit(asked, hands), { code: 'FORBIDDEN' })
      }
    })

    test('show its key or the address of its node, whatever is wrong with them', async () => {
      for (const wrong of [KEY.slice(0, -2), `${KEY}zz`, '0'.repeat(64), 'f'.repeat(64)]) {
        const secret = keepSecret(wrong).secret
        const tried = openWallet({ ...usual(), key: secret, payee: PAYEE, keep })
        await assert.rejects(tried, (error: Error) => {
          assert.match(error.message, /^wallet key: expected/)
          return !`${error.message}${error.stack}`.includes(wrong.slice(4, -2))
        })
      }
      for (const manner of ['die', 'pass', { status: 403, text: KEY }] as const) {
        node.behave(manner)
        await town.debit()
        await town.balance({ currency: 'ETH' })
      }
      node.behave({ error: { code: -32_000, message: `${KEY} ${node.url}` } })
      await town.debit()
      const shown = JSON.stringify([town.events, town.lines, town.audits])
      for (const secret of [KEY.slice(2), 'secret-of-the-node', '127.0.0.1']) {
        assert.ok(!shown.includes(secret), secret)
      }
    })
  })
})
