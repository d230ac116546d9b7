/**
 * The wallet that the settings ask for: on chains where nodes are named, else the embedded one. The
 * chain's library is loaded only here and only then.
 */
import type { Network } from '@chimera/dialects/skills/schema'
import type { GuardedClient } from '@chimera/host/guarded/client'
import type { Secret } from '@chimera/host/settings/secret'
import type { Clock } from '@chimera/skill/clock'
import type { Chain } from './chain.ts'
import { type ChainWallet, createChainWallet } from './chain-wallet.ts'
import type { DebitKeep } from './debit-keep.ts'
import { createEmbeddedWallet, type EmbeddedWalletOptions } from './embedded.ts'
import type { Wallet } from './wallet.ts'

export type WalletOptions = EmbeddedWalletOptions & {
  /** Addresses of nodes by network; as a secret where they hold a key. */
  readonly rpc?: Readonly<Partial<Record<Network, Secret | readonly string[]>>>
  /** The key that debits are signed with, 32 bytes in hexadecimal. Without it balances are read. */
  readonly key?: Secret
  /** Who is paid. Without it balances are read. */
  readonly payee?: string
  /** Where debits are kept, across a crash: `openFileDebits`, or the store's `createDebits`. */
  readonly keep?: DebitKeep
  /**
   * How deep a block must lie to count as final, from 1 to 1000: 2 unless given. More is safer when
   * a chain rewrites its latest blocks, and takes a block's time each.
   */
  readonly confirmations?: number
  /** The most that a unit of gas may cost, in wei: 100 gwei unless given. */
  readonly mostFeePerGas?: bigint
  /** The contract of USDC on a network, where it is not Circle's own: for test chains. */
  readonly usdc?: Readonly<Partial<Record<Network, string>>>
  /** The longest wait between two looks at an unconfirmed transaction: 500 ms unless given. */
  readonly lookMs?: number
  readonly client: Pick<GuardedClient, 'request'>
  readonly clock: Pick<Clock, 'after'>
}

const MOST_CONFIRMATIONS = 1_000

export async function openWallet(options: WalletOptions): Promise<Wallet | ChainWallet> {
  const { rpc = {}, key, payee, keep, confirmations, mostFeePerGas, usdc } = options
  const { lookMs, client, clock } = options
  const named = Object.entries(rpc)
  if (named.length === 0) return createEmbeddedWallet(options)
  if (key !== undefined && keep === undefined) {
    throw new TypeError('debits on a chain need a keep that outlives a crash of the process')
  }
  const depth = confirmations ?? 2
  if (!Number.isSafeInteger(depth) || depth < 1 || depth > MOST_CONFIRMATIONS) {
    throw new TypeError(`confirmations: expected 1 to ${MOST_CONFIRMATIONS}, got ${depth}`)
  }
  const { createViemChain } = await loadViem()
  const chains: Partial<Record<Network, Chain>> = {}
  for (const network of ['mainnet', 'base', 'sepolia'] as const) {
    const nodes = rpc[network]
    const contract = usdc?.[network]
    if (nodes === undefined) continue
    chains[network] = createViemChain({
      network,
      nodes,
      client,
      depth,
      ...(key && { key }),
      ...(payee !== undefined && { payee }),
      ...(mostFeePerGas !== undefined && { mostFeePerGas }),
      ...(contract !== undefined && { usdc: contract }),
    })
  }
  return createChainWallet({
    chains,
    clock,
    ...(keep && { keep }),
    ...(lookMs !== undefined && { lookMs }),
  })
}

async function loadViem() {
  try {
    return await import('./viem.ts')
  } catch (cause) {
    throw new Error('a wallet on a chain needs the package viem: npm install viem', { cause })
  }
}
