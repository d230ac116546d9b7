/**
 * What the two wallet skills need of a wallet: to read a balance, to debit under a key, and to find
 * out how a debit ended that nobody saw to its end. `chain-wallet.ts` is one on a chain,
 * `embedded.ts` one that pretends and says so.
 */
import type { DebitAsked } from '@chimera/dialects/skills/decode'
import type { Debited } from '@chimera/dialects/skills/encode'
import type { SkillCode } from '@chimera/dialects/skills/error-codes'
import type { Network } from '@chimera/dialects/skills/schema'
import type { Currency } from '@chimera/dialects/skills/units'
import type { Instant } from '@chimera/domain/ids'

export type BalanceAsked = {
  /** In lower case. */
  readonly wallet: string
  readonly currency: Currency
  readonly network: Network
}

export type WalletHands = { readonly signal: AbortSignal; readonly now: () => Instant }

export type DebitFound =
  | { readonly is: 'done'; readonly debited: Debited }
  | { readonly is: 'not_done' }
  | { readonly is: 'unknown' }

export type Wallet = {
  /** There is no chain: the money is pretended. */
  readonly simulated: boolean
  /** In base units; read now, never from a cache. */
  readonly balance: (asked: BalanceAsked, hands: WalletHands) => Promise<bigint>
  /** Once for each key. Rejects with a `WalletFailure`, or with the reason of its signal. */
  readonly debit: (asked: DebitAsked, hands: WalletHands) => Promise<Debited>
  readonly find: (asked: DebitAsked, hands: WalletHands) => Promise<DebitFound>
}

export type WalletCode = Extract<
  SkillCode<'fetch_wallet_balance' | 'debit_wallet'>,
  | 'INSUFFICIENT_BALANCE'
  | 'TX_FAILED'
  | 'NETWORK_ERROR'
  | 'WALLET_ERROR'
  | 'FORBIDDEN'
  | 'NOT_FOUND'
  | 'CONFLICT'
>

/**
 * Why a wallet did not do it, for certain. `message` is for the operator's log and names no address
 * of a node and nothing of a key.
 */
export class WalletFailure extends Error {
  override readonly name = 'WalletFailure'
  readonly code: WalletCode

  constructor(code: WalletCode, message: string) {
    super(message)
    this.code = code
  }
}

export const isFailure = (error: unknown, code: WalletCode): error is WalletFailure =>
  error instanceof WalletFailure && error.code === code
