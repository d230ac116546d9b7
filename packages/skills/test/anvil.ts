/**
 * A real chain for the tests of one file: anvil on a free port, with a token of six decimals that
 * is compiled here; and a node in front of it that hangs, lies, refuses or dies as it is told.
 *
 * The binary comes with the development packages where there is one for this platform. Elsewhere
 * the tests say so and are left out, but for CI, where that is a failure.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { encodeFunctionData, type Hex, parseAbi } from 'viem'

const PLATFORM = `${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}`
const BINARY = fileURLToPath(
  new URL(`../../../node_modules/@foundry-rs/anvil-${PLATFORM}/bin/anvil`, import.meta.url),
)

/** Why there is no chain here; undefined where there is one. */
export const NO_CHAIN: string | undefined =
  existsSync(BINARY) || process.env.CI ? undefined : `there is no anvil for ${PLATFORM}`

/** anvil's own first account, known to everybody, with coins on every such chain. */
export const KEY = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'
export const WALLET = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
export const PAYEE = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const MINTER = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'

const COIN = parseAbi([
  'function mint(address to, uint256 value)',
  'function bar(address who, bool isBarred)',
  'function balanceOf(address who) view returns (uint256)',
])

export type Anvil = Awaited<ReturnType<typeof startAnvil>>

export async function startAnvil({ chain }: { readonly chain: number }) {
  const args = ['--port', '0', '--chain-id', `${chain}`, '--accounts', '3']
  const child = spawn(BINARY, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const url = `http://${await listening(child)}`

  async function rpc(method: string, ...params: readonly unknown[]): Promise<unknown> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(url, { method: 'POST', headers, body })
    const { result, error } = (await response.json()) as { result?: unknown; error?: unknown }
    if (error !== undefined) throw new Error(JSON.stringify(error))
    return result
  }
  async function transact(to: string | undefined, data: Hex): Promise<string> {
    const sent = { from: MINTER, data, gas: '0x4c4b40', ...(to !== undefined && { to }) }
    const hash = await rpc('eth_sendTransaction', sent)
    // It is mined at once, which on a busy machine is a little later than the answer.
    for (;;) {
      const receipt = await rpc('eth_getTransactionReceipt', hash)
      if (receipt === null) continue
      return String((receipt as { contractAddress: unknown }).contractAddress)
    }
  }
  const coin = await transact(undefined, `0x${compiled()}`)

  return {
    url,
    rpc,
    /** The token's contract. */
    coin,
    mint: (to: string, value: bigint) =>
      transact(
        coin,
        encodeFunctionData({ abi: COIN, functionName: 'mint', args: [to as Hex, value] }),
      ),
    bar: (who: string, isBarred: boolean) =>
      transact(
        coin,
        encodeFunctionData({ abi: COIN, functionName: 'bar', args: [who as Hex, isBarred] }),
      ),
    /** Of the token. */
    async balance(who: string): Promise<bigint> {
      const data = encodeFunctionData({ abi: COIN, functionName: 'balanceOf', args: [who as Hex] })
      return BigInt(String(await rpc('eth_call', { to: coin, data }, 'latest')))
    },
    coins: async (who: string) => BigInt(String(await rpc('eth_getBalance', who, 'latest'))),
    /** What was taken into blocks from this account. */
    count: async (who: string) => Number(await rpc('eth_getTransactionCount', who, 'latest')),
    stop: async () => {
      const closed = new Promise((resolve) => child.once('close', resolve))
      child.kill('SIGKILL')
      await closed
    },
  }
}

async function listening(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('no output')
  const lines = createInterface({ input: child.stdout })
  for await (const line of lines) {
    const [, address] = /^Listening on (\S+)$/.exec(line) ?? []
    if (address === undefined) continue
    // What it goes on to say is read and thrown away, or it would stop for want of room.
    child.stdout.resume()
    return address
  }
  throw new Error('anvil ended before it listened')
}

/** Once for a process: the compiler takes a second. */
let bytecode: string | undefined

function compiled(): string {
  bytecode ??= compile()
  return bytecode
}

function compile(): string {
  const solc: { compile: (input: string) => string } = createRequire(import.meta.url)('solc')
  const content = readFileSync(new URL('./coin.sol', import.meta.url), 'utf8')
  const outputSelection = { '*': { '*': ['evm.bytecode.object'] } }
  const input = {
    language: 'Solidity',
    sources: { 'coin.sol': { content } },
    settings: { optimizer: { enabled: true }, outputSelection },
  }
  const { contracts, errors } = JSON.parse(solc.compile(JSON.stringify(input)))
  const made = contracts?.['coin.sol']?.Coin?.evm.bytecode.object
  if (typeof made !== 'string') throw new Error(JSON.stringify(errors))
  return made
}

/**
 * What a node does with a call: hands it on; never answers; breaks off; breaks off after the chain
 * has it; or answers what it likes.
 */
export type Manner =
  | 'pass'
  | 'hang'
  | 'die'
  | 'take_and_die'
  | { readonly status: number; readonly text: string }
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly message: string } }

export type Call = { readonly method: string; readonly params: readonly unknown[] }

export type BadNode = Awaited<ReturnType<typeof startNode>>

export async function startNode(chain: Pick<Anvil, 'url'>) {
  const calls: Call[] = []
  let manner: (call: Call) => Manner = () => 'pass'
  let hanging = 0

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece)
    const body = Buffer.concat(pieces)
    const { id, method, params } = JSON.parse(body.toString())
    calls.push({ method, params })
    const how = manner({ method, params })
    if (how === 'hang') {
      hanging += 1
      request.socket.once('close', () => {
        hanging -= 1
      })
      return
    }
    if (how === 'die') return void request.socket.destroy()
    if (typeof how === 'object' && 'status' in how) {
      return void response.writeHead(how.status).end(how.text)
    }
    if (typeof how === 'object') {
      return void response.end(JSON.stringify({ jsonrpc: '2.0', id, ...how }))
    }
    const headers = { 'content-type': 'application/json' }
    const passed = await fetch(chain.url, { method: 'POST', headers, body })
    const answer = Buffer.from(await passed.arrayBuffer())
    if (how === 'take_and_die') return void request.socket.destroy()
    response.end(answer)
  }

  const server = createServer((request, response) => {
    serve(request, response).catch(() => request.socket.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/v2/secret-of-the-node`,
    calls,
    /** Calls that nobody will answer. */
    hanging: () => hanging,
    sent: () => calls.filter(({ method }) => method === 'eth_sendRawTransaction'),
    behave: (next: Manner | ((call: Call) => Manner)) => {
      manner = typeof next === 'function' ? next : () => next
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
