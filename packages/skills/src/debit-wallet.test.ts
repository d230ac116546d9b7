/** The wallet skills on pretended money: they say so, and keep to the same rules. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { checkDebitWalletOutput } from '@chimera/dialects/skills/checks'
import type { DebitWalletOutput, FetchWalletBalanceOutput } from '@chimera/dialects/skills/schema'
import { createGuardedClient } from '@chimera/host/guarded/client'
import { createVirtualClock } from '@chimera/host/virtual-clock'
import type { CallOutcome } from '@chimera/skill/calls'
import { createRunner } from '@chimera/skill/runner'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { type DebitAudit, debitWallet } from './debit-wallet.ts'
import { fetchWalletBalance } from './fetch-wallet-balance.ts'
import type { Purses } from './wallet/debit-keep.ts'
import { createEmbeddedWallet, type EmbeddedWalletOptions } from './wallet/embedded.ts'
import { openWallet } from './wallet/open.ts'
import { createMemoryPurses } from './wallet/purses.ts'

const ADDRESS = '0x52908400098527886E0F7030069857D2E4169EE7'

function town(options: EmbeddedWalletOptions = {}) {
  const clock = createVirtualClock()
  const wallet = createEmbeddedWallet(options)
  const audits: DebitAudit[] = []
  const escalated: string[] = []
  const runner = createRunner({
    skills: [
      fetchWalletBalance({ wallet }),
      debitWallet({ wallet, audit: (each) => audits.push(each) }),
    ],
    clock,
    watch: (event) => event.is === 'escalated' && escalated.push(event.code),
  })
  async function run<Output>(name: string, input: object): Promise<CallOutcome<Output>> {
    const running = runner.run(name, { wallet_address: ADDRESS, ...input })
    const state = { over: false }
    void running.finally(() => {
      state.over = true
    })
    while (!state.over) await clock.advanceBy(1_000)
    return running as Promise<CallOutcome<Output>>
  }
  return {
    audits,
    escalated,
    clock,
    balance: (input: object = {}) => run<FetchWalletBalanceOutput>('fetch_wallet_balance', input),
    debit: (input: object = {}) =>
      run<DebitWalletOutput>('debit_wallet', {
        amount: 2.5,
        currency: 'USDC',
        tx_description: 'for a test',
        idempotency_key: randomUUID(),
        ...input,
      }),
  }
}

const codeOf = (outcome: CallOutcome): string => (outcome.ok ? 'ok' : outcome.error.code)

describe('SK-13 SK-14 the embedded wallet', () => {
  test('says in every answer that it is pretended, and names no network', async () => {
    const { balance, debit, audits } = town({ start: { USDC: '7.000001' } })
    const read = await balance()
    assert.ok(read.ok)
    assert.deepEqual([read.output.balance_units, read.output.simulated], ['7000001', true])
    assert.ok(!('network' in read.output))
    const key = randomUUID()
    const done = await debit({ idempotency_key: key })
    assert.ok(done.ok)
    assert.deepEqual(done.output, {
      success: true,
      tx_id: `simulated-${key}`,
      amount_deducted: 2.5,
      new_balance: 4.500001,
      confirmed_at: '2026-01-01T00:00:01Z',
      simulated: true,
    })
    assert.ok(checkDebitWalletOutput(done.output).ok)
    assert.deepEqual(
      audits.map(({ tx, description, simulated }) => [tx, description, simulated]),
      [[`simulated-${key}`, 'for a test', true]],
    )
  })

  test('starts with a hundred USDC and a tenth of a coin', async () => {
    const { balance } = town()
    const units: unknown[] = []
    for (const currency of ['USDC', 'ETH', 'BASE']) {
      const read = await balance({ currency })
      units.push(read.ok && read.output.balance_units)
    }
    assert.deepEqual(units, ['100000000', '100000000000000000', '100000000000000000'])
  })

  test('the whole sum or nothing: INSUFFICIENT_BALANCE, and a person is told', async () => {
    const { debit, balance, escalated } = town()
    assert.equal(codeOf(await debit({ amount: 100.000001 })), 'INSUFFICIENT_BALANCE')
    assert.deepEqual(escalated, ['INSUFFICIENT_BALANCE'])
    const read = await balance()
    assert.ok(read.ok && read.output.balance === 100)
  })

  test('a key is never forgotten, and other content under it is a conflict', async () => {
    const { debit, clock } = town()
    const key = randomUUID()
    const first = await debit({ idempotency_key: key })
    await clock.advanceBy(400 * 86_400_000)
    const again = await debit({ idempotency_key: key.toUpperCase() })
    assert.ok(first.ok && again.ok)
    assert.deepEqual(again.output, first.output)
    assert.equal(codeOf(await debit({ idempotency_key: key, amount: 3 })), 'CONFLICT')
    await clock.advanceBy(400 * 86_400_000)
    assert.equal(codeOf(await debit({ idempotency_key: key, network: 'sepolia' })), 'CONFLICT')
  })

  test('INVALID_ADDRESS and INVALID_INPUT before anything is done', async () => {
    const { debit, audits } = town()
    const mistyped = { wallet_address: ADDRESS.replace('E0F', 'e0F') }
    assert.equal(codeOf(await debit(mistyped)), 'INVALID_ADDRESS')
    assert.equal(codeOf(await debit({ amount: 1.2345678 })), 'INVALID_INPUT')
    assert.deepEqual(audits, [])
  })

  test('a debit whose keeper fails is unknown, and found out under its key', async () => {
    const purses = createMemoryPurses()
    let broken = true
    // It is done, and the answer is lost.
    const lossy: Purses = {
      ...purses,
      debit: async (ask) => {
        const answer = await purses.debit(ask)
        if (broken) throw new Error('the database went away')
        return answer
      },
    }
    const { debit, balance } = town({ purses: lossy })
    const key = randomUUID()
    assert.equal(codeOf(await debit({ idempotency_key: key })), 'OUTCOME_UNKNOWN')
    broken = false
    const found = await debit({ idempotency_key: key })
    assert.ok(found.ok && found.from === 'reconciled')
    const read = await balance()
    assert.ok(read.ok && read.output.balance === 97.5)
  })

  test('is what the settings give where they name no node', async () => {
    const clock = createVirtualClock()
    const client = createGuardedClient({ clock })
    assert.ok((await openWallet({ clock, client })).simulated)
    assert.throws(() => createEmbeddedWallet({ start: { USDC: '0.0000001' } }), /start.USDC/)
    const nodes = { rpc: { base: ['https://node.example'] }, clock, client }
    assert.equal((await openWallet(nodes)).simulated, false)
    await assert.rejects(openWallet({ ...nodes, confirmations: 0 }), /confirmations/)
    await client.close()
  })

  test('any run of debits and repeats takes each sum once', async () => {
    const step = fc.record({ key: fc.nat(4), cents: fc.integer({ min: 1, max: 4_000 }) })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const { debit, balance } = town()
        const keys = Array.from({ length: 5 }, () => randomUUID())
        const done = new Map<number, number>()
        for (const { key, cents } of steps) {
          const ask = { idempotency_key: keys[key], amount: cents / 100 }
          const outcome = await debit(ask)
          const known = done.get(key)
          if (known !== undefined) {
            assert.equal(codeOf(outcome), known === cents ? 'ok' : 'CONFLICT')
          } else if (outcome.ok) done.set(key, cents)
        }
        const spent = [...done.values()].reduce((sum, cents) => sum + cents, 0)
        const read = await balance()
        assert.ok(read.ok)
        assert.equal(read.output.balance_units, `${(10_000 - spent) * 10_000}`)
      }),
      { seed: 2, numRuns: 20 },
    )
  })
})
