/**
 * A wallet on chains: debits that are made once, whatever dies in between (SK-14).
 *
 *   V1  Nothing is sent that is not kept. What is kept is sent again, the same bytes, by whoever
 *       asks under its key and by whoever comes after it in the order of nonces.
 *   V2  Before it is signed a failure is certain and nothing was done. Afterwards there are three
 *       ends: it is final on the chain, it can never be, or nobody knows yet.
 *   V3  A nonce that somebody else used is believed only when his transaction was seen in a final
 *       block. A node that merely does not know ours proves nothing.
 *   V4  A balance that is read for a debit is read then, at one block with the count of what is in
 *       it.
 */
import type { DebitAsked } from '@chimera/dialects/skills/decode'
import type { Debited } from '@chimera/dialects/skills/encode'
import type { Network } from '@chimera/dialects/skills/schema'
import { type Debit, type DebitEnd, isFinal } from '@chimera/domain/wallet/debit'
import type { Clock } from '@chimera/skill/clock'
import type { Chain, Signer } from './chain.ts'
import { contentOf } from './content.ts'
import type { DebitKeep } from './debit-keep.ts'
import { isFailure, type Wallet, WalletFailure, type WalletHands } from './wallet.ts'

export type ChainWalletOptions = {
  readonly chains: Readonly<Partial<Record<Network, Chain>>>
  /** Needed for debits, and one that outlives a crash. Absent: the wallet is only read. */
  readonly keep?: DebitKeep
  readonly clock: Pick<Clock, 'after'>
  /** The longest wait between two looks at an unconfirmed transaction: 500 ms unless given. */
  readonly lookMs?: number
}

export type ChainWallet = Wallet & {
  /** Looks once at all that has not ended, and sends what is missing; answers how many are left. */
  readonly settle: (hands: WalletHands) => Promise<number>
}

type Paying = { readonly chain: Chain; readonly signer: Signer; readonly keep: DebitKeep }

const LOOK_MS = 500
// A quick chain is not waited for longer than it takes.
const FIRST_LOOK_MS = 20

export function createChainWallet(options: ChainWalletOptions): ChainWallet {
  const { chains, keep, clock, lookMs = LOOK_MS } = options
  if (keep?.durable === false) {
    throw new TypeError('debits on a chain need a keep that outlives a crash of the process')
  }

  function chainOf(network: Network): Chain {
    const chain = chains[network]
    if (chain === undefined) throw new WalletFailure('NOT_FOUND', `no node for ${network} is set`)
    return chain
  }

  function payingOf(asked: DebitAsked): Paying {
    const chain = chainOf(asked.network)
    const { signer } = chain
    if (signer === undefined || keep === undefined) {
      throw new WalletFailure('FORBIDDEN', `this wallet is only read on ${asked.network}`)
    }
    if (signer.address !== asked.wallet) {
      throw new WalletFailure('FORBIDDEN', 'the key that is set is not that of this wallet')
    }
    return { chain, signer, keep }
  }

  /** V2: up to here nothing was done. */
  async function signed(asked: DebitAsked, paying: Paying, hands: WalletHands): Promise<Debit> {
    const { chain, signer, keep: kept } = paying
    const content = contentOf(asked)
    const known = await kept.find(asked.key)
    if (known !== undefined && known.content !== content) throw conflict()
    if (known !== undefined && known.end?.state !== 'failed') return known
    const asset = chain.assetOf(asked.currency)
    const { units } = asked
    const { block, fees, ...funds } = await signer.survey({ asset, units }, hands.signal)
    hands.signal.throwIfAborted()
    const answer = await kept.sign({
      wanted: {
        key: asked.key,
        content,
        account: { chain: chain.id, address: signer.address },
        asset,
        units,
        feeUnits: fees.units,
        description: asked.description,
        sinceBlock: block,
        at: hands.now(),
      },
      funds,
      sign: (nonce) => signer.sign({ asset, units, fees }, nonce),
    })
    if (answer.is === 'conflict') throw conflict()
    if (answer.is === 'short') {
      const what = answer.of === 'fee' ? 'the fee of the chain' : 'the sum'
      throw new WalletFailure('INSUFFICIENT_BALANCE', `the wallet has not enough for ${what}`)
    }
    return answer.debit
  }

  /** Until it has ended, or the signal says that it is enough. */
  async function ended(debit: Debit, paying: Paying, hands: WalletHands): Promise<Debit> {
    let waitMs = FIRST_LOOK_MS
    for (; debit.end === undefined; waitMs = Math.min(lookMs, 2 * waitMs)) {
      const looked = await patiently(() => look(debit, paying, hands), hands.signal)
      if (looked?.end !== undefined) return looked
      await pause(waitMs, hands.signal)
    }
    return debit
  }

  /** One look, with sending what the chain does not have; answers it as it is then. */
  async function look(debit: Debit, paying: Paying, hands: WalletHands): Promise<Debit> {
    const { chain, keep: kept } = paying
    const { signal } = hands
    const seen = await endOf(debit, chain, hands)
    if (seen === 'too_young') return debit
    if (seen !== 'nowhere') return kept.end(debit, seen)
    const answer = await chain.send(debit.bytes, signal)
    if (answer === 'refused') {
      throw new WalletFailure('TX_FAILED', `the node does not take transaction ${debit.hash}`)
    }
    // What stands before ours holds it up: V1.
    const count = await chain.count(debit.account.address, await chain.head(signal), signal)
    if (count < debit.nonce) await sendBefore(debit, count, paying, signal)
    return debit
  }

  async function sendBefore(debit: Debit, count: number, paying: Paying, signal: AbortSignal) {
    const open = await paying.keep.open(debit.account)
    for (const { nonce, bytes } of open) {
      if (nonce >= count && nonce < debit.nonce) await paying.chain.send(bytes, signal)
    }
  }

  /** What no node says now, or says wrongly, one may say at the next look. */
  async function patiently(run: () => Promise<Debit>, signal: AbortSignal) {
    try {
      return await run()
    } catch (error) {
      if (signal.aborted) throw signal.reason
      if (isFailure(error, 'NETWORK_ERROR') || isFailure(error, 'WALLET_ERROR')) return undefined
      throw error
    }
  }

  function pause(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason)
      const stop = (): void => {
        timer.cancel()
        reject(signal.reason)
      }
      const timer = clock.after(ms, () => {
        signal.removeEventListener('abort', stop)
        resolve()
      })
      signal.addEventListener('abort', stop, { once: true })
    })
  }

  return {
    simulated: false,

    balance({ wallet, currency, network }, { signal }) {
      const chain = chainOf(network)
      return chain.balance(wallet, chain.assetOf(currency), signal)
    },

    async debit(asked, hands) {
      const paying = payingOf(asked)
      const debit = await ended(await signed(asked, paying, hands), paying, hands)
      return debitedOf(asked, debit)
    },

    async find(asked, hands) {
      const paying = payingOf(asked)
      const known = await paying.keep.find(asked.key)
      if (known === undefined || known.end?.state === 'failed') return { is: 'not_done' }
      if (known.content !== contentOf(asked)) return { is: 'unknown' }
      const debit = await ended(known, paying, hands)
      if (debit.end?.state === 'failed') return { is: 'not_done' }
      return { is: 'done', debited: debitedOf(asked, debit) }
    },

    async settle(hands) {
      let left = 0
      for (const chain of Object.values(chains)) {
        const { signer } = chain
        if (signer === undefined || keep === undefined) continue
        const account = { chain: chain.id, address: signer.address }
        for (const debit of await keep.open(account)) {
          const run = () => look(debit, { chain, signer, keep }, hands)
          const looked = await patiently(run, hands.signal).catch((error: unknown) => {
            if (isFailure(error, 'TX_FAILED')) return undefined
            throw error
          })
          if (looked?.end === undefined) left += 1
        }
      }
      return left
    },
  }
}

const conflict = (): WalletFailure =>
  new WalletFailure('CONFLICT', 'something else was debited under this key')

function debitedOf({ currency, units }: DebitAsked, { end, hash }: Debit): Debited {
  if (end?.state !== 'confirmed') {
    throw new WalletFailure('TX_FAILED', `transaction ${hash} was ${end?.why ?? 'not taken'}`)
  }
  const { balanceUnits, at } = end
  return { tx: end.hash, currency, units, balanceUnits, confirmedAt: at }
}

/** How it ended, if it has; else whether the chain has it. */
async function endOf(
  debit: Debit,
  chain: Chain,
  { signal, now }: WalletHands,
): Promise<DebitEnd | 'too_young' | 'nowhere'> {
  // The head first: what is found after it may only lie deeper.
  const head = await chain.head(signal)
  const own = await chain.landed(debit.hash, signal)
  if (own !== undefined) {
    if (!isFinal(own.block, head, chain.depth)) return 'too_young'
    const at = { hash: debit.hash, block: own.block, at: now() }
    if (!own.good) return { state: 'failed', why: 'reverted', ...at }
    return { state: 'confirmed', ...at, balanceUnits: await left(debit, chain, own.block, signal) }
  }
  const other = await replacement(debit, chain, head - chain.depth + 1, signal)
  if (other === undefined || other.hash === debit.hash) return 'nowhere'
  const at = { hash: other.hash, block: other.block, at: now() }
  if (!other.pays) return { state: 'failed', why: 'replaced', ...at }
  // The same payment with another fee: an operator has sped it up.
  const landed = await chain.landed(other.hash, signal)
  if (landed === undefined) return 'nowhere'
  if (!landed.good) return { state: 'failed', why: 'replaced', ...at }
  return { state: 'confirmed', ...at, balanceUnits: await left(debit, chain, other.block, signal) }
}

const left = ({ account, asset }: Debit, chain: Chain, block: number, signal: AbortSignal) =>
  chain.balanceAt({ address: account.address, asset, block }, signal)

type Other = { readonly hash: string; readonly pays: boolean; readonly block: number }

/** V3: the transaction under our nonce in a final block, wherever it came from. */
async function replacement(
  debit: Debit,
  chain: Chain,
  final: number,
  signal: AbortSignal,
): Promise<Other | undefined> {
  const { address } = debit.account
  const { nonce, bytes } = debit
  let [from, to] = [debit.sinceBlock, final]
  if (to <= from || (await chain.count(address, to, signal)) <= nonce) return undefined
  // The first block after which the nonce is used.
  while (to - from > 1) {
    const middle = Math.floor((from + to) / 2)
    if ((await chain.count(address, middle, signal)) > nonce) to = middle
    else from = middle
  }
  const found = await chain.found({ address, nonce, block: to, bytes }, signal)
  return found && { ...found, block: to }
}
