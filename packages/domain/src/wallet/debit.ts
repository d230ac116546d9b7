/**
 * A debit on a chain: a sum that leaves a wallet once, under a key (SK-14). A chain takes the
 * transactions of an account in the order of their nonces, and one for each nonce.
 *
 *   W1  Under a key there is one debit, for ever. Other content under it is a conflict.
 *   W2  A debit has at most one transaction that may still take effect. Another one is signed only
 *       when that one never can: it failed in a block that counts as final, or such a block holds
 *       another transaction with its nonce.
 *   W3  A nonce is given together with the signed bytes or not at all, so that none is left out.
 *   W4  A sum is promised from what is left of the balance after all that is signed and not in it
 *       yet: the whole of it or nothing.
 */
import type { Digest, IdempotencyKey, Instant } from '../ids.ts'

/** Whose nonces are counted. */
export type WalletAccount = {
  /** The number by which the chain is known. */
  readonly chain: number
  /** In lower case. */
  readonly address: string
}

export type DebitWanted = {
  readonly key: IdempotencyKey
  /** Of all that was asked for (W1). */
  readonly content: Digest
  readonly account: WalletAccount
  /** The token's contract in lower case, or the chain's own coin. */
  readonly asset: string
  readonly units: bigint
  /** The most that the chain may take for carrying it, in units of its own coin. */
  readonly feeUnits: bigint
  readonly description: string
  /** The block at which the wallet was looked at: the transaction is in a later one. */
  readonly sinceBlock: number
  readonly at: Instant
}

export type SignedBytes = { readonly bytes: string; readonly hash: string }

/** How a transaction ended, for good. */
export type DebitEnd =
  | {
      readonly state: 'confirmed'
      /** Another than ours where somebody sent the same payment again with a higher fee. */
      readonly hash: string
      readonly block: number
      /** What was left of the asset in that block. */
      readonly balanceUnits: bigint
      readonly at: Instant
    }
  | {
      readonly state: 'failed'
      readonly why: 'reverted' | 'replaced'
      /** The transaction that is on the chain under our nonce. */
      readonly hash: string
      readonly block: number
      readonly at: Instant
    }

export type Debit = DebitWanted &
  SignedBytes & {
    /** The first is 1. */
    readonly attempt: number
    readonly nonce: number
    /** Absent: it may still take effect. */
    readonly end?: DebitEnd
  }

/** What the chain says of the account, all of it at one block but for `floor`. */
export type Funds = {
  /** How many transactions of the account are in the chain up to this block. */
  readonly count: number
  /** The first nonce that nobody has used, also of those who wait to be taken up. */
  readonly floor: number
  /** Of the asset. */
  readonly units: bigint
  /** Of the chain's own coin. */
  readonly coins: bigint
}

export const NATIVE = 'native'

export type DebitLine = Pick<Debit, 'nonce' | 'asset' | 'units' | 'feeUnits' | 'end'>

export type SigningDecided =
  | { readonly is: 'fits'; readonly nonce: number }
  | { readonly is: 'short'; readonly of: 'sum' | 'fee' }

/**
 * Whether a sum may be promised, and its nonce. `lines` are the account's debits whose nonces are
 * not in the balances of `funds` yet, whether or not they have ended since; `next` is the first
 * nonce that none of its debits has.
 */
export function decideSigning(
  wanted: Pick<DebitWanted, 'asset' | 'units' | 'feeUnits'>,
  { next, lines }: { readonly next: number; readonly lines: readonly DebitLine[] },
  funds: Funds,
): SigningDecided {
  const open = lines.filter(({ nonce }) => nonce >= funds.count)
  const spent = (asset: string): bigint =>
    open.reduce((sum, line) => sum + (line.asset === asset && !failed(line) ? line.units : 0n), 0n)
  // A failed transaction has cost its fee.
  const fees = open.reduce((sum, { feeUnits }) => sum + feeUnits, 0n)
  const isCoin = wanted.asset === NATIVE
  const units = isCoin ? funds.coins : funds.units
  if (wanted.units > units - spent(wanted.asset) - (isCoin ? fees : 0n)) {
    return { is: 'short', of: 'sum' }
  }
  const coins = funds.coins - spent(NATIVE) - fees - (isCoin ? wanted.units : 0n)
  if (wanted.feeUnits > coins) return { is: 'short', of: 'fee' }
  return { is: 'fits', nonce: Math.max(next, funds.floor, funds.count) }
}

const failed = ({ end }: DebitLine): boolean => end?.state === 'failed'

export type KeyDecided =
  | { readonly is: 'new'; readonly attempt: number }
  | { readonly is: 'known'; readonly debit: Debit }
  | { readonly is: 'conflict' }

/** W1, W2: what the latest transaction under a key means for whoever asks under it. */
export function decideKey(known: Debit | undefined, content: Digest): KeyDecided {
  if (known === undefined) return { is: 'new', attempt: 1 }
  if (known.content !== content) return { is: 'conflict' }
  if (known.end?.state === 'failed') return { is: 'new', attempt: known.attempt + 1 }
  return { is: 'known', debit: known }
}

/** Whether a block lies deep enough under the newest one; the newest itself has depth 1. */
export function isFinal(block: number, head: number, depth: number): boolean {
  return head - block + 1 >= depth
}
