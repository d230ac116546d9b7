/**
 * Where debits on a chain are kept: each with its nonce and its signed bytes, before anybody sends
 * them. The store's `createDebits` fits this port as it is; `debit-files.ts` has one without a
 * database.
 *
 *   K1  What is answered is kept. After an answer that does not come it may be or not, so nothing
 *       is sent before `find` or `sign` has said that it is there.
 *   K2  Looking at a key, giving a nonce, signing and keeping are one step: of two who ask at once
 *       one waits for the other, in whichever process it is.
 *   K3  Nothing is ever deleted, and how something ended is written once: what is kept is the audit
 *       of every debit, with its transaction and its description.
 */
import type { Digest, IdempotencyKey } from '@chimera/domain/ids'
import type {
  Debit,
  DebitEnd,
  DebitWanted,
  Funds,
  SignedBytes,
  WalletAccount,
} from '@chimera/domain/wallet/debit'

export type SignAsk = {
  readonly wanted: DebitWanted
  readonly funds: Funds
  /** Quick, and without a network: others wait for it. */
  readonly sign: (nonce: number) => Promise<SignedBytes>
}

export type SignAnswer =
  | { readonly is: 'signed'; readonly debit: Debit }
  /** Somebody was quicker, or it was asked for before: this one counts. */
  | { readonly is: 'known'; readonly debit: Debit }
  | { readonly is: 'conflict' }
  | { readonly is: 'short'; readonly of: 'sum' | 'fee' }

export type DebitKeep = {
  /** What is kept is there after a crash of the process. */
  readonly durable: boolean
  /** The latest transaction under the key. */
  readonly find: (key: IdempotencyKey) => Promise<Debit | undefined>
  readonly sign: (ask: SignAsk) => Promise<SignAnswer>
  /** Those of an account that may still take effect, by nonce. */
  readonly open: (account: WalletAccount) => Promise<readonly Debit[]>
  /** Answers what is kept: where it had ended already, as it had. */
  readonly end: (debit: Pick<Debit, 'key' | 'attempt'>, end: DebitEnd) => Promise<Debit>
  /** Every transaction under the key, the first one first (K3). */
  readonly history: (key: IdempotencyKey) => Promise<readonly Debit[]>
}

/** What the embedded wallet keeps: pretended money, with the same rules. */
export type PurseAsk = {
  readonly key: IdempotencyKey
  readonly content: Digest
  /** In lower case. */
  readonly wallet: string
  readonly currency: string
  readonly units: bigint
  /** What a wallet has before its first debit. */
  readonly startUnits: bigint
  readonly description: string
  readonly at: number
}

export type PurseDebit = Omit<PurseAsk, 'startUnits'> & { readonly balanceUnits: bigint }

export type PurseAnswer =
  | { readonly is: 'debited' | 'known'; readonly debit: PurseDebit }
  | { readonly is: 'conflict' }
  | { readonly is: 'short' }

export type Purses = {
  readonly durable: boolean
  readonly balance: (wallet: string, currency: string, startUnits: bigint) => Promise<bigint>
  readonly debit: (ask: PurseAsk) => Promise<PurseAnswer>
  readonly find: (key: IdempotencyKey) => Promise<PurseDebit | undefined>
}
