/**
 * JSON-RPC to the nodes of a chain, through the guarded client.
 *
 *   R1  Nodes are asked in their order, the next where one does not answer; asking is bounded in
 *       time and size.
 *   R2  An address may hold a key, and an answer may hold anything: no error repeats them.
 *   R3  What is read is read strictly: a quantity that is none is a node that cannot be believed.
 */
import type { GuardedClient } from '@chimera/host/guarded/client'
import type { Secret } from '@chimera/host/settings/secret'
import { WalletFailure } from './wallet.ts'

export type Rpc = {
  /** Rejects with a `WalletFailure`, or with a `RpcRefusal` where the node itself says no. */
  readonly ask: (
    method: string,
    params: readonly unknown[],
    options: { readonly signal: AbortSignal; readonly bodyBytes?: number },
  ) => Promise<unknown>
}

export type RpcOptions = {
  /** What the nodes are of, for errors: `base`. */
  readonly name: string
  /** Addresses, the usual one first. */
  readonly nodes: Secret | readonly string[]
  readonly client: Pick<GuardedClient, 'request'>
  /** For one node to answer: 3 s unless given, so that another one can within the skill's time. */
  readonly answerMs?: number
}

/** What a node says no with. Its text is matched and never shown. */
export class RpcRefusal extends Error {
  override readonly name = 'RpcRefusal'
  readonly code: number
  readonly says: string

  constructor(code: number, says: string) {
    super(`the node refused with ${code}`)
    this.code = code
    this.says = says
  }
}

const ANSWER_MS = 3_000
// The receipt of one payment is 2 KiB.
const BODY_BYTES = 64 * 1024
const WORDS = 300

export function createRpc({ name, nodes, client, answerMs = ANSWER_MS }: RpcOptions): Rpc {
  let asked = 0
  const addresses = (): readonly string[] =>
    'reveal' in nodes
      ? nodes
          .reveal()
          .split(',')
          .map((each) => each.trim())
      : nodes

  return {
    async ask(method, params, { signal, bodyBytes = BODY_BYTES }) {
      let why = 'no node is set'
      for (const url of addresses()) {
        signal.throwIfAborted()
        asked += 1
        const outcome = await client.request({
          url,
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ jsonrpc: '2.0', id: asked, method, params }),
          signal,
          limits: { headersMs: answerMs, totalMs: answerMs, bodyBytes, redirects: 0 },
        })
        signal.throwIfAborted()
        if (!outcome.ok) {
          why = outcome.failure.code
          continue
        }
        const { status, body } = outcome
        if (status === 401 || status === 403) {
          throw new WalletFailure('WALLET_ERROR', `${name}: the node answers ${status}`)
        }
        const answer = readAnswer(body)
        // Some answer what they refuse with a status of its own; what they say counts.
        if (answer === undefined && status !== 200) {
          why = `status ${status}`
          continue
        }
        if (answer === undefined) throw unreadable(name, method)
        if ('result' in answer) return answer.result
        if (isPassing(status, answer.code)) {
          why = `refused with ${answer.code}`
          continue
        }
        throw new RpcRefusal(answer.code, answer.says)
      }
      throw new WalletFailure('NETWORK_ERROR', `${name}: ${method}: ${why}`)
    },
  }
}

export const unreadable = (name: string, what: string): WalletFailure =>
  new WalletFailure('WALLET_ERROR', `${name}: the node's answer to ${what} cannot be read`)

/** Busy, over a limit, or its own fault: another one may know better. */
const isPassing = (status: number, code: number): boolean =>
  status === 429 || status >= 500 || PASSING.includes(code)

// Not found yet, over a limit in the words of several, and its own fault.
const PASSING = [429, -32_001, -32_005, -32_007, -32_603]

type Read = { readonly result: unknown } | { readonly code: number; readonly says: string }

function readAnswer(body: Uint8Array): Read | undefined {
  let json: unknown
  try {
    json = JSON.parse(new TextDecoder().decode(body))
  } catch {
    return undefined
  }
  const { result, error }: { result?: unknown; error?: unknown } = Object(json)
  if (error !== undefined && error !== null) {
    const { code, message }: { code?: unknown; message?: unknown } = Object(error)
    return { code: Number(code) || 0, says: String(message).slice(0, WORDS) }
  }
  return result === undefined ? undefined : { result }
}

const QUANTITY = /^0x(0|[1-9a-fA-F][0-9a-fA-F]{0,63})$/
const WORD = /^0x[0-9a-fA-F]{64}$/

/** R3: a number as nodes write it. */
export function readQuantity(value: unknown): bigint | undefined {
  return typeof value === 'string' && QUANTITY.test(value) ? BigInt(value) : undefined
}

export function readCount(value: unknown): number | undefined {
  const count = readQuantity(value)
  return count !== undefined && count <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(count) : undefined
}

/** A number of 256 bits as a contract gives it. */
export function readWord(value: unknown): bigint | undefined {
  return typeof value === 'string' && WORD.test(value) ? BigInt(value) : undefined
}

export const writeQuantity = (value: number | bigint): string => `0x${value.toString(16)}`
