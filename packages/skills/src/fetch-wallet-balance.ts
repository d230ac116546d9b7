/**
 * `fetch_wallet_balance` (SK-13): what a wallet has of a currency, on a network.
 *
 *   B1  An address that is mistyped is refused before anybody is asked (EIP-55).
 *   B2  An answer is good for half a minute. When the network is down the last one is given, marked
 *       as stale; a debit never asks here.
 */
import { SKILLS } from '@chimera/dialects/skills/contracts'
import { encodeBalance } from '@chimera/dialects/skills/encode'
import type { FetchWalletBalanceInput } from '@chimera/dialects/skills/schema'
import type { Issue } from '@chimera/domain/decision'
import { defineSkill } from '@chimera/skill/define'
import { contracted, type Priced } from './contracted.ts'
import { readAddress, writeAddress } from './wallet/address.ts'
import { type Wallet, WalletFailure } from './wallet/wallet.ts'

export type FetchWalletBalanceOptions = Priced & { readonly wallet: Wallet }

const { fetch_wallet_balance: CONTRACT } = SKILLS

export function fetchWalletBalance(options: FetchWalletBalanceOptions) {
  const { wallet } = options
  const { cache } = CONTRACT
  return defineSkill({
    ...contracted(CONTRACT, options),
    check: { input: addressIssues },
    ...(cache && { cache: { ttl: cache.ttlMs, by: askedOf } }),
    provider: ({ network = 'base' }) => (wallet.simulated ? undefined : `chain ${network}`),
    run: async (input, { signal, now, failure }) => {
      const asked = askedOf(input)
      try {
        const units = await wallet.balance(asked, { signal, now })
        return encodeBalance({
          type: 'balance_read',
          wallet: writeAddress(asked.wallet),
          currency: asked.currency,
          ...(!wallet.simulated && { network: asked.network }),
          units,
          at: now(),
          stale: false,
        })
      } catch (error) {
        if (!(error instanceof WalletFailure)) throw error
        throw failure(error.code, { detail: error.message, cause: error })
      }
    },
    // B2.
    recover: ({ ending, cached }) =>
      ending === 'cached' && cached !== undefined ? { ...cached, stale: true } : undefined,
  })
}

/** The schema's own defaults; the runner puts them in. */
function askedOf({ wallet_address, currency = 'USDC', network = 'base' }: FetchWalletBalanceInput) {
  return { wallet: wallet_address.toLowerCase(), currency, network }
}

/** B1. */
export function addressIssues({
  wallet_address,
}: Pick<FetchWalletBalanceInput, 'wallet_address'>): readonly Issue[] {
  if (readAddress(wallet_address) !== undefined) return []
  return [
    {
      path: '/wallet_address',
      expected: 'letters in the cases of its checksum (EIP-55), or all in one',
      got: 'other cases',
    },
  ]
}
