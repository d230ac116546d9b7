/**
 * What a wallet needs of a chain and of the key that signs for it. `viem.ts` is the real one.
 *
 *   H1  Everything but `sign` may reject with a `WalletFailure`: NETWORK_ERROR when no node
 *       answers, WALLET_ERROR when what it answers cannot be.
 *   H2  Nothing is signed for a chain that is not the one that the settings name: `survey` asks the
 *       node which chain it is on.
 */
import type { Network } from '@chimera/dialects/skills/schema'
import type { Funds, SignedBytes } from '@chimera/domain/wallet/debit'

/** A payment to the payee, but for its nonce. */
export type Payment = {
  readonly asset: string
  readonly units: bigint
  readonly fees: Fees
}

export type Fees = {
  readonly gas: bigint
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
  /** The most that all of it can cost. */
  readonly units: bigint
}

export type Survey = Funds & { readonly block: number; readonly fees: Fees }

/** A transaction that is in a block. */
export type Landed = { readonly block: number; readonly good: boolean }

export type Chain = {
  readonly network: Network
  readonly id: number
  /** How deep a block must lie to count as final. */
  readonly depth: number
  /** The token's contract in lower case, or the chain's own coin. */
  readonly assetOf: (currency: string) => string
  readonly balance: (address: string, asset: string, signal: AbortSignal) => Promise<bigint>
  readonly balanceAt: (
    asked: { readonly address: string; readonly asset: string; readonly block: number },
    signal: AbortSignal,
  ) => Promise<bigint>
  readonly head: (signal: AbortSignal) => Promise<number>
  readonly landed: (hash: string, signal: AbortSignal) => Promise<Landed | undefined>
  /** The account's transactions in the chain up to a block. */
  readonly count: (address: string, block: number, signal: AbortSignal) => Promise<number>
  /** The account's transaction with this nonce in this block; `bytes` are those of ours. */
  readonly found: (
    asked: {
      readonly address: string
      readonly nonce: number
      readonly block: number
      readonly bytes: string
    },
    signal: AbortSignal,
  ) => Promise<{ readonly hash: string; readonly pays: boolean } | undefined>
  /** Also when it has it already. `refused`: the node will not have it as things are. */
  readonly send: (bytes: string, signal: AbortSignal) => Promise<'taken' | 'spent' | 'refused'>
  /** Absent: there is no key or no payee, so this wallet can only be read. */
  readonly signer?: Signer
}

export type Signer = {
  /** In lower case. */
  readonly address: string
  readonly survey: (
    payment: Pick<Payment, 'asset' | 'units'>,
    signal: AbortSignal,
  ) => Promise<Survey>
  readonly sign: (payment: Payment, nonce: number) => Promise<SignedBytes>
}
