/**
 * The wallet of whoever has no chain: pretended money, on the store or in memory. Every answer says
 * that it is pretended and names no network; the rules are those of the real one.
 */
import { CURRENCIES, type Currency, DECIMALS, readUnits } from '@chimera/dialects/skills/units'
import { contentOf } from './content.ts'
import type { PurseDebit, Purses } from './debit-keep.ts'
import { createMemoryPurses } from './purses.ts'
import { type Wallet, WalletFailure } from './wallet.ts'

export type EmbeddedWalletOptions = {
  /** Where the money is kept: in memory unless given, and then gone with the process. */
  readonly purses?: Purses
  /**
   * What every wallet has before its first debit, as decimal texts: 100 USDC and 0.1 ETH and BASE
   * unless given.
   */
  readonly start?: Readonly<Partial<Record<Currency, string>>>
}

const START: Readonly<Record<Currency, string>> = { USDC: '100', ETH: '0.1', BASE: '0.1' }

export function createEmbeddedWallet(options: EmbeddedWalletOptions = {}): Wallet {
  const { purses = createMemoryPurses(), start = {} } = options
  const startUnits = new Map(
    CURRENCIES.map((currency) => {
      const text = start[currency] ?? START[currency]
      const units = readUnits(text, DECIMALS[currency])
      if (units === undefined) throw new TypeError(`start.${currency}: expected a sum, got ${text}`)
      return [currency, units]
    }),
  )
  const startOf = (currency: Currency): bigint => startUnits.get(currency) ?? 0n

  return {
    simulated: true,
    balance: ({ wallet, currency }) => purses.balance(wallet, currency, startOf(currency)),

    async debit(asked, { now }) {
      const { key, wallet, currency, units, description } = asked
      const answer = await purses.debit({
        key,
        content: contentOf(asked),
        wallet,
        currency,
        units,
        startUnits: startOf(currency),
        description,
        at: now(),
      })
      if (answer.is === 'conflict') {
        throw new WalletFailure('CONFLICT', 'something else was debited under this key')
      }
      if (answer.is === 'short') {
        throw new WalletFailure('INSUFFICIENT_BALANCE', 'the pretended wallet has not enough')
      }
      return debitedOf(currency, answer.debit)
    },

    async find(asked) {
      const known = await purses.find(asked.key)
      if (known === undefined) return { is: 'not_done' }
      if (known.content !== contentOf(asked)) return { is: 'unknown' }
      return { is: 'done', debited: debitedOf(asked.currency, known) }
    },
  }
}

const debitedOf = (currency: Currency, { key, units, balanceUnits, at }: PurseDebit) => ({
  // Nobody takes this for the name of a transaction.
  tx: `simulated-${key}`,
  currency,
  units,
  balanceUnits,
  confirmedAt: at,
  simulated: true,
})
