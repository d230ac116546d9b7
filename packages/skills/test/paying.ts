/**
 * The two wallet skills on a real chain, under a clock that stands still while anything real is
 * under way: a node that answers, a file that is written. Only what nobody will answer lets time
 * pass.
 */
import { randomUUID } from 'node:crypto'
import type { DebitWalletOutput, FetchWalletBalanceOutput } from '@chimera/dialects/skills/schema'
import { createGuardedClient } from '@chimera/host/guarded/client'
import { keepSecret } from '@chimera/host/settings/secret'
import { createVirtualClock } from '@chimera/host/virtual-clock'
import type { CallOutcome, RunnerEvent } from '@chimera/skill/calls'
import { createRunner } from '@chimera/skill/runner'
import type { LogLine } from '@chimera/skill/trying'
import { type DebitAudit, debitWallet } from '../src/debit-wallet.ts'
import { fetchWalletBalance } from '../src/fetch-wallet-balance.ts'
import type { DebitKeep } from '../src/wallet/debit-keep.ts'
import { openWallet, type WalletOptions } from '../src/wallet/open.ts'
import { type BadNode, KEY, PAYEE, WALLET } from './anvil.ts'

export type TownOptions = {
  readonly node: BadNode
  readonly coin: string
  readonly keep: DebitKeep
  readonly wallet?: Partial<WalletOptions>
}

type Input = Readonly<Record<string, unknown>>

const START = Date.UTC(2026, 0, 1, 12)

export async function createTown({ node, coin, keep, wallet: more }: TownOptions) {
  let underWay = 0
  async function counted<Value>(run: () => Promise<Value>): Promise<Value> {
    underWay += 1
    try {
      return await run()
    } finally {
      underWay -= 1
    }
  }
  /** Until for two turns nothing is under way but what the node leaves hanging. */
  async function settle(): Promise<void> {
    for (let quiet = 0; quiet < 2; ) {
      await new Promise((resolve) => setImmediate(resolve))
      quiet = underWay > node.hanging() ? 0 : quiet + 1
    }
  }
  const clock = createVirtualClock({ startAt: START, settle })
  const client = createGuardedClient({ clock, allowNet: ['localhost'] })
  const busy: DebitKeep = {
    ...keep,
    find: (key) => counted(() => keep.find(key)),
    sign: (ask) => counted(() => keep.sign(ask)),
    open: (account) => counted(() => keep.open(account)),
    end: (debit, end) => counted(() => keep.end(debit, end)),
  }
  const wallet = await openWallet({
    rpc: { base: [node.url] },
    usdc: { base: coin },
    key: keepSecret(KEY).secret,
    payee: PAYEE,
    keep: busy,
    confirmations: 1,
    lookMs: 2_500,
    client: { request: (asked) => counted(() => client.request(asked)) },
    clock,
    ...more,
  })
  const events: RunnerEvent[] = []
  const lines: LogLine[] = []
  const audits: DebitAudit[] = []
  const runner = createRunner({
    skills: [
      fetchWalletBalance({ wallet }),
      debitWallet({ wallet, audit: (each) => audits.push(each) }),
    ],
    clock,
    watch: (event) => events.push(event),
    log: (line) => lines.push(line),
  })

  async function driven<Value>(promise: Promise<Value>): Promise<Value> {
    const state = { over: false }
    const ended = promise.finally(() => {
      state.over = true
    })
    while (!state.over) await clock.advanceBy(100)
    return ended
  }

  return {
    clock,
    wallet,
    events,
    lines,
    audits,
    driven,
    escalated: () => events.flatMap((each) => (each.is === 'escalated' ? [each.code] : [])),
    balance: (asked: Input = {}) =>
      driven(runner.run('fetch_wallet_balance', { wallet_address: WALLET, ...asked })) as Promise<
        CallOutcome<FetchWalletBalanceOutput>
      >,
    debit: (asked: Input = {}) =>
      driven(runner.run('debit_wallet', debitOf(asked))) as Promise<CallOutcome<DebitWalletOutput>>,
    /** Not driven: the caller moves the clock. */
    begin: (asked: Input = {}) =>
      runner.run('debit_wallet', debitOf(asked)) as Promise<CallOutcome<DebitWalletOutput>>,
    async close() {
      await driven(runner.close())
      await client.close(AbortSignal.abort())
    },
  }
}

export type Town = Awaited<ReturnType<typeof createTown>>

export const debitOf = (asked: Input = {}): Input => ({
  wallet_address: WALLET,
  amount: 1.5,
  currency: 'USDC',
  tx_description: 'OpenClaw RFP-123 payment',
  idempotency_key: randomUUID(),
  ...asked,
})

/** `ok`, or the code that it ended in. */
export const codeOf = (outcome: CallOutcome): string => (outcome.ok ? 'ok' : outcome.error.code)
