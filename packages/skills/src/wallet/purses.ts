/** The embedded wallet's money in memory: gone with its process, like all that is pretended. */
import type { IdempotencyKey } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import type { PurseDebit, Purses } from './debit-keep.ts'

export function createMemoryPurses(): Purses {
  const spent = new Map<string, bigint>()
  const debits = new Map<IdempotencyKey, PurseDebit>()
  const nameOf = (wallet: string, currency: string): string => `${currency} ${wallet}`

  return {
    durable: false,
    balance: async (wallet, currency, startUnits) =>
      atLeastNothing(startUnits - (spent.get(nameOf(wallet, currency)) ?? 0n)),
    async debit({ startUnits, ...ask }) {
      const known = debits.get(ask.key)
      if (known !== undefined) {
        return known.content === ask.content ? { is: 'known', debit: known } : { is: 'conflict' }
      }
      // A key is never forgotten, so there must be an end to them.
      if (debits.size >= LIMITS.skillAnswers) throw new Error('no room for another debit in memory')
      const name = nameOf(ask.wallet, ask.currency)
      const before = spent.get(name) ?? 0n
      const balanceUnits = startUnits - before - ask.units
      if (balanceUnits < 0n) return { is: 'short' }
      const debit = { ...ask, balanceUnits }
      spent.set(name, before + ask.units)
      debits.set(ask.key, debit)
      return { is: 'debited', debit }
    },
    find: async (key) => debits.get(key),
  }
}

/** Somebody may have started it with less since. */
const atLeastNothing = (units: bigint): bigint => (units < 0n ? 0n : units)
