/**
 * Load over HTTP from a thread of its own, so that what is measured is the server and not whoever
 * asks. Each connection has one request under way, as a client that waits for its answer has.
 *
 *   L1  Requests are bytes that were made before: nothing is encoded while the clock runs.
 *   L2  An answer that is not the status expected ends the run: a fast refusal is no result.
 */
import { once } from 'node:events'
import { threadOf } from './thread-of.ts'

export type LoadWanted = {
  readonly port: number
  readonly connections: number
  readonly status: number
  /** Whole requests, head and body, each sent in turn. */
  readonly requests: readonly string[]
  /** How long a connection waits before each request, on average: as who comes by chance. */
  readonly pauseMs?: number
  /** Zeros that stand in the requests for a number, which is another one each time it is sent. */
  readonly serial?: string
}

export type Load = {
  /** So many requests over all connections; answers when the last is answered. */
  readonly run: (times: number) => Promise<Answered>
  readonly close: () => Promise<void>
}

export type Answered = {
  /** Of each request, from sending to the end of its answer. */
  readonly latenciesMs: Float64Array
}

export function requestText(
  method: string,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): string {
  const content = body === undefined ? '' : JSON.stringify(body)
  const fields = {
    host: '127.0.0.1',
    ...(body !== undefined && {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(content)),
    }),
    ...headers,
  }
  const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} ${path} HTTP/1.1\r\n${head.join('')}\r\n${content}`
}

export async function openLoad(wanted: LoadWanted): Promise<Load> {
  const worker = threadOf(new URL('./thread.ts', import.meta.url), wanted)
  const heard = async <Message>(): Promise<Message> => {
    const [message] = (await once(worker, 'message')) as [Message]
    return message
  }
  await heard()
  return {
    async run(times) {
      const answer = heard<Answered>()
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has none
      worker.postMessage(times)
      return answer
    },
    close: async () => void (await worker.terminate()),
  }
}

/** The least latency that this share of all does not exceed. */
export function percentile(latenciesMs: Float64Array, share: number): number {
  const sorted = latenciesMs.slice().sort()
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN
}
