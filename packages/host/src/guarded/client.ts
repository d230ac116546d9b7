/**
 * The one way to ask an address that somebody else gave (P-8): callbacks, probes, media.
 *
 *   C1  Every hop is judged anew: its scheme, its host, and each address that its name resolves to.
 *       What is judged is what is dialled.
 *   C2  Everything is bounded: time to connect, to the first answer, between pieces, and in all;
 *       redirects; headers; the size of the body.
 *   C3  The world not answering is a value, never an exception. What is thrown is a mistake of the
 *       caller, such as a header that cannot be sent.
 */
import { setMaxListeners } from 'node:events'
import { validateHeaderName, validateHeaderValue } from 'node:http'
import type { Agent, Dispatcher } from 'undici'
import type { Clock } from '../clock.ts'
import { type Allowance, readAllowance } from './allowance.ts'
import { discard, readBody } from './body.ts'
import { type ClientTls, type Resolve, resolveBySystem } from './dial.ts'
import { type Failed, GuardFailure, toFailed } from './failure.ts'
import { createPool } from './pool.ts'
import { decideRedirect, type Headers, type Hop } from './redirect.ts'
import { readTarget } from './target.ts'

export type GuardLimits = {
  /** To a usable connection, the name resolved and the certificate checked. */
  readonly connectMs: number
  /** From asking to the head of the answer, connecting included; for each hop. */
  readonly headersMs: number
  /** Between two pieces of the body. */
  readonly pauseMs: number
  /** In all. */
  readonly totalMs: number
  readonly bodyBytes: number
  readonly redirects: number
}

/** Half a minute for a slow callback; a body as large as those that we take ourselves. */
export const GUARD_LIMITS: GuardLimits = {
  connectMs: 5_000,
  headersMs: 15_000,
  pauseMs: 10_000,
  totalMs: 30_000,
  bodyBytes: 256 * 1024,
  redirects: 3,
}

export type GuardedClientOptions = {
  readonly clock: Clock
  /** What may be dialled beside public addresses: `127.0.0.1`, `10.0.0.0/8`, `localhost`, `*`. */
  readonly allowNet?: readonly string[]
  /** If given, the only hosts that are dialled, on every hop. */
  readonly onlyHosts?: readonly string[]
  readonly limits?: Partial<GuardLimits>
  /** Our certificate and whom we believe, as it is now; the same object while it is the same. */
  readonly tls?: () => ClientTls
  readonly resolve?: Resolve
}

export type GuardedRequest = {
  readonly url: string
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly headers?: Headers
  readonly body?: string | Uint8Array
  readonly signal?: AbortSignal
  /** Hears the body as it comes, which is then not in the answer: for streams. */
  readonly onPiece?: (piece: Uint8Array) => void
  /** For this request only. */
  readonly limits?: Partial<Omit<GuardLimits, 'connectMs'>>
}

export type Answer = {
  readonly ok: true
  readonly status: number
  /** By names in lower case; what came several times is joined by commas. */
  readonly headers: Headers
  readonly body: Uint8Array
  /** Where the answer came from in the end. */
  readonly url: string
}

export type Outcome = Answer | Failed

export type GuardedClient = {
  readonly request: (asked: GuardedRequest) => Promise<Outcome>
  /** Waits for what is under way; gives that up when the signal is aborted. */
  readonly close: (signal?: AbortSignal) => Promise<void>
}

const OURS =
  /^(?:host|connection|keep-alive|upgrade|expect|te|trailer|transfer-encoding|content-length|proxy-.*)$/i
const NO_TLS: ClientTls = {}

type Asking = {
  readonly agent: Agent
  readonly limits: GuardLimits
  readonly body: string | Uint8Array | null
  readonly stop: AbortController
  readonly hear?: (piece: Uint8Array) => void
}

export function createGuardedClient(options: GuardedClientOptions): GuardedClient {
  const { clock, onlyHosts, tls = () => NO_TLS, resolve = resolveBySystem } = options
  const usual = { ...GUARD_LIMITS, ...options.limits }
  const rules = onlyHosts ? { onlyHosts } : {}
  const closing = new AbortController()
  // Every request under way listens, which is no leak.
  setMaxListeners(0, closing.signal)
  const running = new Set<Promise<Outcome>>()
  const pool = createPool({
    clock,
    allowance: allowanceOf(options.allowNet ?? []),
    resolve,
    connectMs: usual.connectMs,
    signal: closing.signal,
    tls,
  })
  let closed = false

  /** One hop: asks, and waits for the head of the answer. */
  async function ask(hop: Hop, asking: Asking): Promise<Dispatcher.ResponseData> {
    const { agent, limits, stop, body } = asking
    const timer = clock.after(limits.headersMs, () => {
      stop.abort(new GuardFailure('timeout', `no answer within ${limits.headersMs} ms`))
    })
    try {
      return await agent.request({
        origin: hop.url.origin,
        path: hop.url.pathname + hop.url.search,
        method: hop.method,
        headers: hop.headers,
        body,
        signal: stop.signal,
      })
    } finally {
      timer.cancel()
    }
  }

  async function follow(first: Hop, asking: Asking): Promise<Answer> {
    const { limits } = asking
    let hop = first
    for (let redirects = 0; ; redirects += 1) {
      const { url } = readTarget(hop.url.href, rules)
      const { statusCode: status, headers, body } = await ask({ ...hop, url }, asking)
      const plain = joined(headers)
      try {
        const next = decideRedirect({ ...hop, url }, { status, location: plain.location })
        if (!next) {
          const announced = hop.method === 'HEAD' ? undefined : plain['content-length']
          const bytes = await readBody(body, announced, limits, clock, asking.hear)
          return { ok: true, status, headers: plain, body: bytes, url: url.href }
        }
        if (redirects >= limits.redirects) {
          throw new GuardFailure('too_many_redirects', `more than ${limits.redirects}`)
        }
        hop = next
      } finally {
        discard(body)
      }
    }
  }

  async function run(asked: GuardedRequest, headers: Headers): Promise<Outcome> {
    const limits = { ...usual, ...asked.limits }
    const stop = new AbortController()
    const giveUp = (): void => stop.abort(new GuardFailure('cancelled', 'given up by the caller'))
    const signals = [closing.signal, ...(asked.signal ? [asked.signal] : [])]
    for (const each of signals) each.addEventListener('abort', giveUp, { once: true })
    if (signals.some(({ aborted }) => aborted)) giveUp()
    const timer = clock.after(limits.totalMs, () => {
      stop.abort(new GuardFailure('timeout', `not done within ${limits.totalMs} ms`))
    })
    try {
      const { url } = readTarget(asked.url, rules)
      const first = { url, method: asked.method ?? 'GET', headers }
      const asking = { agent: pool.agent(), limits, body: asked.body ?? null, stop }
      return await follow(first, { ...asking, ...(asked.onPiece && { hear: asked.onPiece }) })
    } catch (error) {
      // Once we have ended it, whatever else broke broke for that.
      return toFailed(stop.signal.aborted ? stop.signal.reason : error)
    } finally {
      timer.cancel()
      for (const each of signals) each.removeEventListener('abort', giveUp)
    }
  }

  return {
    request: async (asked) => {
      const headers = headersOf(asked.headers)
      if (closed) return toFailed(new GuardFailure('cancelled', 'the client is closed'))
      const outcome = run(asked, headers)
      running.add(outcome)
      try {
        return await outcome
      } finally {
        running.delete(outcome)
      }
    },
    close: async (signal) => {
      closed = true
      const giveUp = (): void => closing.abort()
      if (signal?.aborted) giveUp()
      signal?.addEventListener('abort', giveUp, { once: true })
      await Promise.allSettled(running)
      signal?.removeEventListener('abort', giveUp)
      giveUp()
      await pool.destroy()
    },
  }
}

function allowanceOf(allowNet: readonly string[]): Allowance {
  const read = readAllowance(allowNet)
  if (!read.ok) throw new TypeError(`not a network to allow: ${read.wrong.join(', ')}`)
  return read.allowance
}

/** Compressed answers are not asked for: a small one could unfold beyond every bound. */
function headersOf(headers: Headers = {}): Headers {
  for (const [name, value] of Object.entries(headers)) {
    if (OURS.test(name)) throw new TypeError(`the header ${name} is not the caller's to set`)
    validateHeaderName(name)
    validateHeaderValue(name, value)
  }
  return { 'accept-encoding': 'identity', 'user-agent': 'chimera', ...headers }
}

function joined(headers: Readonly<Record<string, string | string[] | undefined>>): Headers {
  const entries = Object.entries(headers).map(([name, value]) => [name, String(value ?? '')])
  return Object.fromEntries(entries)
}
