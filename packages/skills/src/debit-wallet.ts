/**
 * `debit_wallet` (SK-14): a sum leaves a wallet once, to the payee of the settings.
 *
 *   D1  A key is never forgotten: the wallet keeps what was done under it, whatever this runner
 *       remembers. Other content under it is a conflict.
 *   D2  What is certain has a code. What is not (no confirmation in time, a crash) is unknown, and
 *       found out under the same key; it is never done a second time.
 *   D3  No balance that was read before, cached or not, is a ground for a debit.
 *   D4  Every debit leaves an audit: in the wallet's keep for ever, and in the log, with the
 *       transaction and the description.
 */
import { SKILLS } from '@chimera/dialects/skills/contracts'
import { type DebitAsked, decodeDebit } from '@chimera/dialects/skills/decode'
import { type Debited, encodeDebited } from '@chimera/dialects/skills/encode'
import type { DebitWalletInput, DebitWalletOutput } from '@chimera/dialects/skills/schema'
import { DECIMALS, readUnits } from '@chimera/dialects/skills/units'
import type { Issue } from '@chimera/domain/decision'
import type { SkillLog } from '@chimera/skill/contract'
import { defineSkill } from '@chimera/skill/define'
import { contracted, type Priced } from './contracted.ts'
import { addressIssues } from './fetch-wallet-balance.ts'
import { contentOf } from './wallet/content.ts'
import { type Wallet, WalletFailure } from './wallet/wallet.ts'

export type DebitWalletOptions = Priced & {
  readonly wallet: Wallet
  /** Hears of every debit that was made (D4), as often as it is answered. */
  readonly audit?: (debit: DebitAudit) => void
}

export type DebitAudit = {
  readonly key: string
  readonly tx: string
  readonly description: string
  readonly wallet: string
  readonly currency: string
  readonly units: string
  readonly at: number
  readonly simulated: boolean
}

const { debit_wallet: CONTRACT } = SKILLS

export function debitWallet(options: DebitWalletOptions) {
  const { wallet, audit } = options

  /** D4. */
  function told(asked: DebitAsked, done: Debited, log: SkillLog): DebitWalletOutput {
    const { key, description, currency, units } = asked
    const sum = { currency, units: units.toString() }
    const line = { key, tx: done.tx, description, wallet: asked.wallet, ...sum }
    log.info('debited', line)
    audit?.({ ...line, at: done.confirmedAt, simulated: wallet.simulated })
    return encodeDebited(done)
  }

  return defineSkill({
    ...contracted(CONTRACT, options),
    check: { input: (input) => [...addressIssues(input), ...amountIssues(input)] },
    idempotency: {
      once: true,
      // One key is one debit, whoever brings it.
      across: 'everybody',
      by: ({ idempotency_key }) => idempotency_key.toLowerCase(),
      same: (input) => contentOf(decodeDebit(input)),
      reconcile: async (input, { signal, now, log }) => {
        const asked = decodeDebit(input)
        const found = await wallet.find(asked, { signal, now })
        if (found.is !== 'done') return found
        return { is: 'done', output: told(asked, found.debited, log) }
      },
    },
    run: async (input, { signal, now, log, failure }) => {
      const asked = decodeDebit(input)
      try {
        return told(asked, await wallet.debit(asked, { signal, now }), log)
      } catch (error) {
        if (!(error instanceof WalletFailure)) throw error
        throw failure(error.code, { detail: error.message, cause: error })
      }
    },
  })
}

/** Digits that the currency does not have are never rounded away. */
function amountIssues({ amount, currency }: DebitWalletInput): readonly Issue[] {
  const decimals = DECIMALS[currency]
  if (readUnits(amount, decimals) !== undefined) return []
  return [{ path: '/amount', expected: `at most ${decimals} decimals and 15 digits`, got: 'more' }]
}
