/**
 * Chains by viem: Base, Base Sepolia, and Ethereum for balances. Behind a subpath of its own, since
 * whoever has no chain needs none of it.
 *
 *   E1  The key is read once, makes signatures, and is in no error, answer or log.
 *   E2  The node is asked which chain it is on before a balance is believed, before anything is
 *       signed, and before another's transaction is taken for the end of ours.
 *   E3  Fees are generous, since a signed transaction is never signed anew with a higher one: twice
 *       the base fee of the moment. What is not needed is not paid.
 */

import type { Network } from '@chimera/dialects/skills/schema'
import { NATIVE } from '@chimera/domain/wallet/debit'
import type { GuardedClient } from '@chimera/host/guarded/client'
import type { Secret } from '@chimera/host/settings/secret'
import { encodeFunctionData, erc20Abi, type Hex, keccak256, parseTransaction } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { readAddress } from './address.ts'
import type { Chain, Fees, Payment, Signer } from './chain.ts'
import {
  createRpc,
  type Rpc,
  RpcRefusal,
  readCount,
  readQuantity,
  readWord,
  unreadable,
  writeQuantity,
} from './rpc.ts'
import { isFailure, WalletFailure } from './wallet.ts'

export type ChainOptions = {
  readonly network: Network
  /** Addresses of nodes, as texts or as a secret that has them with commas between. */
  readonly nodes: Secret | readonly string[]
  readonly client: Pick<GuardedClient, 'request'>
  /** How deep a block must lie to count as final, the newest having depth 1. 2 unless given. */
  readonly depth?: number
  /** 32 bytes in hexadecimal. Without key and payee the wallet is only read. */
  readonly key?: Secret
  readonly payee?: string
  /** The most that a unit of gas may cost, in wei: 100 gwei unless given. */
  readonly mostFeePerGas?: bigint
  /** The contract of USDC, where it is not the usual one. */
  readonly usdc?: string
  readonly answerMs?: number
}

type Facts = {
  readonly id: number
  readonly usdc: string
  /** What a roll-up takes beside gas to write itself down elsewhere, many times over. */
  readonly dataFee: bigint
  readonly debits: boolean
}

// biome-ignore format: a table is read by its columns
/** Circle's own contracts. */
const NETWORKS: Readonly<Record<Network, Facts>> = {
  mainnet: { id: 1,      usdc: '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48', dataFee: 0n,                  debits: false },
  base:    { id: 8_453,  usdc: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913', dataFee: 20_000_000_000_000n, debits: true },
  sepolia: { id: 84_532, usdc: '0x036cbd53842c5426634e7929541ec2318f3dcf7e', dataFee: 20_000_000_000_000n, debits: true },
}

const DEPTH = 2
const GWEI = 1_000_000_000n
const MOST_FEE = 100n * GWEI
// A transfer of USDC takes 65 000 at most, one of coins to a contract's wallet 40 000.
const TOKEN_GAS = 120_000n
const COIN_GAS = 60_000n
// A block of Base with all its transactions.
const BLOCK_BYTES = 16 * 1024 * 1024
const FULL_KEY = /^0x[0-9a-fA-F]{64}$/

export function createViemChain(options: ChainOptions): Chain {
  const { network, depth = DEPTH } = options
  const facts = NETWORKS[network]
  const usdc = options.usdc === undefined ? facts.usdc : addressOf('usdc', options.usdc)
  const { nodes, client, answerMs } = options
  const rpc = createRpc({
    name: network,
    nodes,
    client,
    ...(answerMs !== undefined && { answerMs }),
  })
  const node = createNode({ name: network, id: facts.id, rpc })
  const signer = facts.debits ? signerOf(options, node) : undefined

  return {
    network,
    id: facts.id,
    depth,
    assetOf: (currency) => (currency === 'USDC' ? usdc : NATIVE),
    ...(signer && { signer }),

    async balance(address, asset, signal) {
      const [units] = await Promise.all([
        node.balance(address, asset, 'latest', signal),
        node.checkChain(signal),
      ])
      return units
    },

    async balanceAt({ address, asset, block }, signal) {
      try {
        return await node.balance(address, asset, writeQuantity(block), signal)
      } catch (error) {
        // Most nodes forget old states, and what is left now is then as near as one gets.
        if (!isFailure(error, 'NETWORK_ERROR')) throw error
        return node.balance(address, asset, 'latest', signal)
      }
    },

    head: (signal) => node.number('eth_blockNumber', [], signal),
    count: (address, block, signal) =>
      node.number('eth_getTransactionCount', [address, writeQuantity(block)], signal),

    async landed(hash, signal) {
      const receipt = await node.ask('eth_getTransactionReceipt', [hash], signal)
      if (receipt === null) return undefined
      const { blockNumber, status, transactionHash } = membersOf(receipt)
      const block = readCount(blockNumber)
      const known = status === '0x1' || status === '0x0'
      if (block === undefined || !known || transactionHash !== hash) {
        throw unreadable(network, 'eth_getTransactionReceipt')
      }
      return { block, good: status === '0x1' }
    },

    async found({ address, nonce, block, bytes }, signal) {
      const params = [writeQuantity(block), true]
      const [read] = await Promise.all([
        node.ask('eth_getBlockByNumber', params, signal, BLOCK_BYTES),
        node.checkChain(signal),
      ])
      const { transactions } = membersOf(read)
      if (!Array.isArray(transactions)) throw unreadable(network, 'eth_getBlockByNumber')
      const all = transactions.map(membersOf)
      const ours = all.find(
        (each) => lowered(each.from) === address && readCount(each.nonce) === nonce,
      )
      if (typeof ours?.hash !== 'string') return undefined
      return { hash: ours.hash, pays: paysTheSame(ours, bytes) }
    },

    async send(bytes, signal) {
      try {
        await node.ask('eth_sendRawTransaction', [bytes], signal)
        return 'taken'
      } catch (error) {
        if (!(error instanceof Refused)) throw error
        if (KNOWN.test(error.says)) return 'taken'
        return SPENT.test(error.says) ? 'spent' : 'refused'
      }
    },
  }
}

/** The node has it, in the words of those that are in use. */
const KNOWN = /already[ _]?(known|imported|exists)|known[ _]transaction/i
/** Something with this nonce is on the chain, or waits with a fee that ours does not beat. */
const SPENT = /nonce[ _]too[ _]low|old[ _]nonce|nonce.*already|replacement[ _]transaction/i

type Node = ReturnType<typeof createNode>

/** What a node was asked for and will not do. */
class Refused extends WalletFailure {
  readonly says: string

  constructor(name: string, method: string, { code, says }: RpcRefusal) {
    // A state that it has not, or no longer, is nothing that a person must mend.
    const isState = method !== 'eth_sendRawTransaction' && code === -32_000
    super(isState ? 'NETWORK_ERROR' : 'WALLET_ERROR', `${name}: ${method}: refused with ${code}`)
    this.says = says
  }
}

function createNode({ name, id, rpc }: { name: string; id: number; rpc: Rpc }) {
  async function ask(
    method: string,
    params: readonly unknown[],
    signal: AbortSignal,
    bodyBytes?: number,
  ): Promise<unknown> {
    try {
      return await rpc.ask(method, params, {
        signal,
        ...(bodyBytes !== undefined && { bodyBytes }),
      })
    } catch (error) {
      throw error instanceof RpcRefusal ? new Refused(name, method, error) : error
    }
  }

  async function number(method: string, params: readonly unknown[], signal: AbortSignal) {
    const read = readCount(await ask(method, params, signal))
    if (read === undefined) throw unreadable(name, method)
    return read
  }

  async function quantity(method: string, params: readonly unknown[], signal: AbortSignal) {
    const read = readQuantity(await ask(method, params, signal))
    if (read === undefined) throw unreadable(name, method)
    return read
  }

  return {
    name,
    ask,
    number,
    quantity,
    /** E2. */
    async checkChain(signal: AbortSignal): Promise<void> {
      const said = await number('eth_chainId', [], signal)
      if (said === id) return
      throw new WalletFailure('WALLET_ERROR', `${name}: the node is on chain ${said}, not ${id}`)
    },
    async balance(address: string, asset: string, block: string, signal: AbortSignal) {
      if (asset === NATIVE) return quantity('eth_getBalance', [address, block], signal)
      const args = [addressHex(address)] as const
      const data = encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args })
      const read = readWord(await ask('eth_call', [{ to: asset, data }, block], signal))
      if (read === undefined) throw unreadable(name, 'balanceOf')
      return read
    },
  }
}

function signerOf(options: ChainOptions, node: Node): Signer | undefined {
  const { key, network, mostFeePerGas = MOST_FEE } = options
  if (key === undefined || options.payee === undefined) return undefined
  const payee = addressHex(addressOf('payee', options.payee))
  const account = accountOf(key)
  const address = account.address.toLowerCase()
  const { id, dataFee } = NETWORKS[network]
  if (address === payee) throw new TypeError('payee: expected another wallet than the one debited')

  async function feesFor(asset: string, base: bigint, signal: AbortSignal): Promise<Fees> {
    const tip = await node.quantity('eth_maxPriorityFeePerGas', [], signal)
    const maxFeePerGas = 2n * base + tip
    if (maxFeePerGas > mostFeePerGas) {
      throw new WalletFailure('TX_FAILED', `${network}: gas costs more than the settings allow`)
    }
    const gas = asset === NATIVE ? COIN_GAS : TOKEN_GAS
    const units = gas * maxFeePerGas + dataFee
    return { gas, maxFeePerGas, maxPriorityFeePerGas: tip, units }
  }

  return {
    address,

    async survey({ asset }, signal) {
      const [latest] = await Promise.all([
        node.ask('eth_getBlockByNumber', ['latest', false], signal, BLOCK_BYTES),
        node.checkChain(signal),
      ])
      const { number, baseFeePerGas } = membersOf(latest)
      const [block, base] = [readCount(number), readQuantity(baseFeePerGas)]
      if (block === undefined || base === undefined) {
        throw unreadable(network, 'eth_getBlockByNumber')
      }
      const at = writeQuantity(block)
      const [coins, units, count, floor, fees] = await Promise.all([
        node.balance(address, NATIVE, at, signal),
        node.balance(address, asset, at, signal),
        node.number('eth_getTransactionCount', [address, at], signal),
        node.number('eth_getTransactionCount', [address, 'pending'], signal),
        feesFor(asset, base, signal),
      ])
      return { block, coins, units, count, floor, fees }
    },

    async sign(payment, nonce) {
      const { gas, maxFeePerGas, maxPriorityFeePerGas } = payment.fees
      const bytes = await account.signTransaction({
        type: 'eip1559',
        chainId: id,
        nonce,
        gas,
        maxFeePerGas,
        maxPriorityFeePerGas,
        ...transferOf(payment, payee),
      })
      return { bytes, hash: keccak256(bytes) }
    },
  }
}

function transferOf({ asset, units }: Payment, payee: Hex): { to: Hex; value: bigint; data?: Hex } {
  if (asset === NATIVE) return { to: payee, value: units }
  const args = [payee, units] as const
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args })
  return { to: addressHex(asset), value: 0n, data }
}

/** E1: what viem says of a wrong key may repeat it. */
function accountOf(key: Secret) {
  const text = key.reveal()
  const full = text.startsWith('0x') ? text : `0x${text}`
  if (FULL_KEY.test(full)) {
    try {
      return privateKeyToAccount(full as Hex)
    } catch {
      // Not a number that can be a key.
    }
  }
  throw new TypeError('wallet key: expected 32 bytes in hexadecimal, got something else')
}

function addressOf(what: string, text: string): string {
  const address = readAddress(text)
  if (address === undefined) throw new TypeError(`${what}: expected the address of a wallet`)
  return address
}

type Members = Readonly<Record<string, unknown>>
const membersOf = (value: unknown): Members =>
  typeof value === 'object' && value !== null ? { ...value } : {}

const lowered = (value: unknown): string => (typeof value === 'string' ? value.toLowerCase() : '')
const addressHex = (address: string): Hex => `0x${address.slice(2)}`

/** To the same, as much, and with the same words: only its fee may be another. */
function paysTheSame({ to, value, input, chainId }: Members, bytes: string): boolean {
  const ours = parseTransaction(addressHex(bytes))
  const sameChain = chainId === undefined || readCount(chainId) === ours.chainId
  return (
    sameChain &&
    lowered(to) === ours.to?.toLowerCase() &&
    readQuantity(value) === (ours.value ?? 0n) &&
    lowered(input) === (ours.data ?? '0x')
  )
}
