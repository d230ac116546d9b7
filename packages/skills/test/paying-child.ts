/**
 * Debits once, as a process of its own that kills itself where it is told:
 * `paying-child.ts <JSON>`. What it would have answered is its last line.
 */

import { createClock } from '@chimera/host/clock'
import { createGuardedClient } from '@chimera/host/guarded/client'
import { keepSecret } from '@chimera/host/settings/secret'
import { createRunner } from '@chimera/skill/runner'
import { debitWallet } from '../src/debit-wallet.ts'
import { openFileDebits } from '../src/wallet/debit-files.ts'
import type { DebitKeep } from '../src/wallet/debit-keep.ts'
import { openWallet } from '../src/wallet/open.ts'
import { KEY, PAYEE } from './anvil.ts'

/** After signing and before keeping; after keeping; after sending; before and after recording. */
export type Cut = 'signed' | 'kept' | 'sent' | 'ending' | 'ended' | 'none'

export type Paying = {
  readonly url: string
  readonly coin: string
  /** A file, or a directory for the embedded database. */
  readonly file?: string
  readonly database?: string
  readonly cut: Cut
  readonly input: Readonly<Record<string, unknown>>
}

export async function pay({ url, coin, file, database, cut, input }: Paying) {
  const at = async (point: Cut): Promise<void> => {
    if (point !== cut) return
    process.kill(process.pid, 'SIGKILL')
    await new Promise(() => undefined)
  }
  const opened = await openKeep(file, database)
  const { keep } = opened
  const clock = createClock()
  const client = createGuardedClient({ clock, allowNet: ['localhost'] })
  const wallet = await openWallet({
    rpc: { base: [url] },
    usdc: { base: coin },
    key: keepSecret(KEY).secret,
    payee: PAYEE,
    confirmations: 1,
    clock,
    client: {
      request: async (asked) => {
        const outcome = await client.request(asked)
        if (String(asked.body).includes('eth_sendRawTransaction')) await at('sent')
        return outcome
      },
    },
    keep: {
      ...keep,
      sign: async (ask) => {
        const sign = async (nonce: number) => {
          const signed = await ask.sign(nonce)
          await at('signed')
          return signed
        }
        const answer = await keep.sign({ ...ask, sign })
        await at('kept')
        return answer
      },
      end: async (debit, end) => {
        await at('ending')
        const ended = await keep.end(debit, end)
        await at('ended')
        return ended
      },
    },
  })
  const runner = createRunner({ skills: [debitWallet({ wallet })] })
  const outcome = await runner.run('debit_wallet', input)
  await runner.close()
  await client.close()
  await opened.close()
  return outcome
}

async function openKeep(
  file: string | undefined,
  database: string | undefined,
): Promise<{ readonly keep: DebitKeep; readonly close: () => Promise<void> }> {
  if (database !== undefined) {
    // Loading it takes longer than all the rest.
    const { openWalletStore } = await import('@chimera/store/wallets')
    return openWalletStore({ database })
  }
  if (file === undefined) throw new Error('a file or a database')
  const keep = await openFileDebits({ path: file })
  return { keep, close: keep.close }
}

const [, , order, asked = ''] = process.argv
if (order === 'pay') {
  process.stdout.write(`${JSON.stringify(await pay(JSON.parse(asked)))}\n`)
}
