/**
 * Debits where the chain is slow, forgets, or was used behind our back, and nodes that die at the
 * worst moment: never a second charge, and in the end what is on the chain is what was answered.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { IdempotencyKey } from '@chimera/domain/ids'
import fc from 'fast-check'
import { parseTransaction } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, beforeEach, describe, test } from 'vitest'
import { type FileDebits, openFileDebits } from '../src/wallet/debit-files.ts'
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
import { codeOf, createTown, type Town, type TownOptions } from './paying.ts'

const SEPOLIA = 84_532
const SUM = 1_500_000n

// There is no anvil for every platform; in CI that is a failure.
describe.skipIf(NO_CHAIN)(`a chain in trouble ${NO_CHAIN ?? ''}`, () => {
  let anvil: Anvil
  let node: BadNode
  let folder: string
  let keep: FileDebits
  let town: Town

  const build = (more: TownOptions['wallet'] = {}) =>
    createTown({
      node,
      coin: anvil.coin,
      keep,
      wallet: { rpc: { sepolia: [node.url] }, usdc: { sepolia: anvil.coin }, ...more },
    })
  async function rebuild(more: TownOptions['wallet'] = {}): Promise<void> {
    await town.close()
    town = await build(more)
  }
  const asking = (key: string = randomUUID()) => ({ idempotency_key: key, network: 'sepolia' })
  const onSend = (manner: Manner) => (call: Call) =>
    call.method === 'eth_sendRawTransaction' ? manner : 'pass'
  const automine = (on: boolean) => anvil.rpc('evm_setAutomine', on)
  const history = (key: string) => keep.history(key as IdempotencyKey)
  const latest = async (key: string) => (await history(key)).at(-1) ?? assert.fail('not kept')

  /** Sent with our key behind our back, under the nonce of a debit that waits. */
  async function interfere(key: string, instead?: `0x${string}`): Promise<string> {
    const { bytes } = await latest(key)
    const ours = parseTransaction(bytes as `0x${string}`)
    const { chainId, nonce, gas, to, data } = ours
    assert.ok(chainId && nonce !== undefined && gas && to && data && ours.maxFeePerGas)
    const theirs = await privateKeyToAccount(KEY).signTransaction({
      type: 'eip1559',
      chainId,
      nonce,
      gas,
      maxFeePerGas: 2n * ours.maxFeePerGas + 4_000_000_000n,
      maxPriorityFeePerGas: 3_000_000_000n,
      ...(instead === undefined ? { to, data } : { to: instead }),
    })
    return String(await anvil.rpc('eth_sendRawTransaction', theirs))
  }

  beforeAll(async () => {
    anvil = await startAnvil({ chain: SEPOLIA })
    node = await startNode(anvil)
    folder = await mkdtemp(join(tmpdir(), 'chimera-wallet-'))
    await anvil.mint(WALLET, 1_000_000_000_000n)
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
    await automine(true)
    await anvil.rpc('evm_mine')
    await town.close()
    await keep.close()
  })

  test('SK-14 unconfirmed after 10 s is unknown, and found out under the same key', async () => {
    const [asked, before] = [asking(), await anvil.balance(PAYEE)]
    await automine(false)
    const lost = await town.debit(asked)
    assert.equal(codeOf(lost), 'OUTCOME_UNKNOWN')
    assert.ok(!lost.ok && lost.error.needs === 'same_key')
    assert.equal(lost.durationMs, 10_000)
    assert.equal(codeOf(await town.debit(asked)), 'OUTCOME_UNKNOWN', 'still')
    await anvil.rpc('evm_mine')
    const found = await town.debit(asked)
    assert.ok(found.ok)
    assert.deepEqual(
      [found.from, found.output.tx_id],
      ['reconciled', (await latest(asked.idempotency_key)).hash],
    )
    assert.equal((await anvil.balance(PAYEE)) - before, SUM)
    assert.equal(town.audits.length, 1)
  })

  test('SK-14 so it is after a restart, which remembers only what the wallet keeps', async () => {
    const [asked, before] = [asking(), await anvil.balance(PAYEE)]
    await automine(false)
    assert.equal(codeOf(await town.debit(asked)), 'OUTCOME_UNKNOWN')
    // The chain forgets what waits, too.
    await anvil.rpc('anvil_dropAllTransactions')
    await rebuild()
    await automine(true)
    assert.equal(codeOf(await town.debit(asked)), 'ok')
    assert.equal((await history(asked.idempotency_key)).length, 1)
    assert.equal((await anvil.balance(PAYEE)) - before, SUM)
  })

  for (const manner of ['die', 'take_and_die', 'hang', { status: 502, text: '' }] as const) {
    test(`a node that does this with the transaction: ${JSON.stringify(manner)}`, async () => {
      const [asked, before] = [asking(), await anvil.balance(PAYEE)]
      let times = 0
      node.behave((call) => {
        if (call.method !== 'eth_sendRawTransaction') return 'pass'
        times += 1
        return times === 1 ? manner : 'pass'
      })
      assert.equal(codeOf(await town.debit(asked)), 'ok')
      assert.equal((await history(asked.idempotency_key)).length, 1)
      assert.equal((await anvil.balance(PAYEE)) - before, SUM)
    })
  }

  test('a gap before it is filled: the next debit sends what nobody sent', async () => {
    const [first, second, before] = [asking(), asking(), await anvil.balance(PAYEE)]
    node.behave(onSend('die'))
    assert.equal(codeOf(await town.debit(first)), 'OUTCOME_UNKNOWN')
    node.behave('pass')
    await rebuild()
    assert.equal(codeOf(await town.debit(second)), 'ok')
    assert.equal((await anvil.balance(PAYEE)) - before, 2n * SUM)
    assert.equal(codeOf(await town.debit(first)), 'ok')
    assert.equal((await anvil.balance(PAYEE)) - before, 2n * SUM)
  })

  test('settling sends again what was left, without anybody asking', async () => {
    const [asked, before] = [asking(), await anvil.balance(PAYEE)]
    node.behave(onSend('die'))
    await town.debit(asked)
    await rebuild()
    node.behave('pass')
    const { wallet, clock, driven } = town
    assert.ok('settle' in wallet)
    const hands = { signal: new AbortController().signal, now: clock.now }
    assert.equal(await driven(wallet.settle(hands)), 1)
    assert.equal(await driven(wallet.settle(hands)), 0)
    assert.equal((await latest(asked.idempotency_key)).end?.state, 'confirmed')
    assert.equal((await anvil.balance(PAYEE)) - before, SUM)
  })

  test('a block counts as final only at its depth; one that is undone is sent again', async () => {
    await rebuild({ confirmations: 3 })
    const [asked, before] = [asking(), await anvil.balance(PAYEE)]
    const snapshot = await anvil.rpc('evm_snapshot')
    assert.equal(codeOf(await town.debit(asked)), 'OUTCOME_UNKNOWN', 'too young')
    assert.equal((await anvil.balance(PAYEE)) - before, SUM)
    await anvil.rpc('evm_revert', snapshot)
    assert.equal(await anvil.balance(PAYEE), before, 'the chain has undone it')
    const running = town.begin(asked)
    const sent = node.sent().length
    await town.driven(untilSent(sent))
    await anvil.rpc('anvil_mine', '0x2')
    const done = await town.driven(running)
    assert.ok(done.ok, JSON.stringify(done))
    assert.equal((await history(asked.idempotency_key)).length, 1)
    assert.equal((await anvil.balance(PAYEE)) - before, SUM)
  })

  async function untilSent(before: number): Promise<void> {
    while (node.sent().length === before) await new Promise((next) => setImmediate(next))
    for (let waiting = ''; waiting !== NONE; ) {
      waiting = JSON.stringify(await anvil.rpc('txpool_status'))
    }
  }
  const NONE = JSON.stringify({ pending: '0x0', queued: '0x0' })

  test('another transaction with our nonce: seen in a block, then signed anew', async () => {
    const [asked, before] = [asking(), await anvil.balance(PAYEE)]
    await automine(false)
    assert.equal(codeOf(await town.debit(asked)), 'OUTCOME_UNKNOWN')
    const other = await interfere(asked.idempotency_key, WALLET)
    assert.equal(codeOf(await town.debit(asked)), 'OUTCOME_UNKNOWN', 'in no block yet')
    assert.equal((await history(asked.idempotency_key)).length, 1)
    await anvil.rpc('evm_mine')
    await automine(true)
    assert.equal(codeOf(await town.debit(asked)), 'ok')
    const [first, second] = await history(asked.idempotency_key)
    assert.ok(first?.end?.state === 'failed' && second?.end?.state === 'confirmed')
    assert.deepEqual([first.end.why, first.end.hash], ['replaced', other])
    assert.equal((await anvil.balance(PAYEE)) - before, SUM)
  })

  test('the same payment with a higher fee is our debit, under its own name', async () => {
    const [asked, before] = [asking(), await anvil.balance(PAYEE)]
    await automine(false)
    assert.equal(codeOf(await town.debit(asked)), 'OUTCOME_UNKNOWN')
    const other = await interfere(asked.idempotency_key)
    await anvil.rpc('evm_mine')
    await automine(true)
    const done = await town.debit(asked)
    assert.ok(done.ok)
    assert.equal(done.output.tx_id, other)
    assert.equal((await history(asked.idempotency_key)).length, 1)
    assert.equal((await anvil.balance(PAYEE)) - before, SUM)
  })

  const forgetful: readonly (readonly [string, (call: Call) => Manner])[] = [
    ['does not know it', ({ method }) => (isReceipt(method) ? { result: null } : 'pass')],
    [
      'is on another chain by now, where our nonce is used',
      ({ method }) => {
        if (isReceipt(method)) return { result: null }
        return method === 'eth_chainId' ? { result: '0x1' } : 'pass'
      },
    ],
    [
      'says that others used the nonce, and shows no such transaction',
      ({ method, params }) => {
        if (isReceipt(method)) return { result: null }
        const whole = method === 'eth_getBlockByNumber' && params[1] === true
        return whole ? { result: { transactions: [] } } : 'pass'
      },
    ],
  ]
  const isReceipt = (method: string): boolean => method === 'eth_getTransactionReceipt'
  for (const [what, manner] of forgetful) {
    test(`a node that ${what} proves nothing: no second charge`, async () => {
      const [asked, before] = [asking(), await anvil.balance(PAYEE)]
      let signed = false
      node.behave((call) => {
        signed ||= call.method === 'eth_sendRawTransaction'
        return signed ? manner(call) : 'pass'
      })
      assert.notEqual(codeOf(await town.debit(asked)), 'ok')
      await rebuild()
      assert.notEqual(codeOf(await town.debit(asked)), 'ok')
      assert.equal((await history(asked.idempotency_key)).length, 1)
      node.behave('pass')
      assert.equal(codeOf(await town.debit(asked)), 'ok')
      assert.equal((await anvil.balance(PAYEE)) - before, SUM)
    })
  }

  test('SK-14 whatever nodes do, however often it is asked: once each, sums agree', async () => {
    const manners: readonly Manner[] = [
      'pass',
      'die',
      'take_and_die',
      { error: { code: -32_000, message: 'not now' } },
      { error: { code: -32_005, message: 'too many' } },
    ]
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.record({ is: fc.constant('debit'), key: fc.nat(3) }) },
      { weight: 1, arbitrary: fc.record({ is: fc.constant('twice'), key: fc.nat(3) }) },
      { weight: 2, arbitrary: fc.record({ is: fc.constant('send'), key: fc.nat(4) }) },
      { weight: 1, arbitrary: fc.record({ is: fc.constant('mine'), key: fc.nat(1) }) },
      { weight: 1, arbitrary: fc.record({ is: fc.constant('restart'), key: fc.constant(0) }) },
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 9 }), async (steps) => {
        const keys = Array.from({ length: 4 }, () => randomUUID())
        const before = await anvil.balance(PAYEE)
        // A sum of its own for each, so that a wrong total cannot hide.
        const asked = (at: number) => ({ ...asking(keys[at]), amount: 2 ** at })
        const tried = new Set<number>()
        for (const { is, key } of steps) {
          if (is === 'send') node.behave(onSend(manners[key] ?? 'pass'))
          else if (is === 'mine') await automine(key === 1)
          else if (is === 'restart') await rebuild()
          else {
            tried.add(key)
            const times = is === 'twice' ? 2 : 1
            const all = Array.from({ length: times }, () => town.begin(asked(key)))
            await town.driven(Promise.all(all))
          }
        }
        node.behave('pass')
        await automine(true)
        await anvil.rpc('evm_mine')
        await rebuild()
        let sum = 0n
        for (const at of tried) {
          assert.equal(codeOf(await town.debit(asked(at))), 'ok')
          sum += BigInt(2 ** at) * 1_000_000n
        }
        assert.equal((await anvil.balance(PAYEE)) - before, sum)
      }),
      { seed: Number(process.env.SEED ?? 11), numRuns: 8 },
    )
  })
})
