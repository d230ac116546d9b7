/**
 * The one way to ask an address that somebody else gave (P-8): callbacks, probes, media.
 *
 *   C1  Every hop is judged anew: its scheme, its host, and each address that its name resolves to.
 *       What is judged is what is dialled.
 *   C2  Everything is bounded: time to connect, to the first answer, between pieces, and in all;
 *       redirects; headers; the size of the body.
 *   C3  The world not answering is a value, never an exception. What is thrown is a mistake of the
 *       caller, such as a header that cannot be sent.
 *   C4  Certificates are asked for anew with each request, and changed ones get connections of
 *       their own, so that they rotate without a restart (SF-6).
 */
import { Agent, type buildConnector, type Dispatcher, errors } from 'undici'
import type { Clock } from '../clock.ts'
import { type Allowance, readAllowance } from './allowance.ts'
import { type Body, discard, readBody } from './body.ts'
import { type ClientTls, dial, type Resolve, resolveBySystem } from './dial.ts'
import { type Failed, GuardFailure, toFailed } from './failure.ts'
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
  /** Our certificate and whom we believe, as it is now; the same object as long as it is the same. */
  readonly tls?: () => ClientTls
  readonly resolve?: Resolve
}

export type GuardedRequest = {
  readonly url: string
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly headers?: Headers
  readonly body?: string | Uint8Array
  readonly signal?: AbortSignal
  readonly limits?: Partial<GuardLimits>
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

// More at once to one host would be our attack on it.
const CONNECTIONS = 16
const IDLE_MS = 10_000
const HEAD_BYTES = 16 * 1024
const OURS =
  /^(?:host|connection|keep-alive|upgrade|expect|te|trailer|transfer-encoding|content-length|proxy-.*)$/i
const NO_TLS: ClientTls = {}

type Pool = { readonly agent: Agent; readonly tls: ClientTls }
type Asking = {
  readonly agent: Agent
  readonly limits: GuardLimits
  readonly body: string | Uint8Array | null
  readonly stop: AbortController
}

export function createGuardedClient(options: GuardedClientOptions): GuardedClient {
  const { clock, onlyHosts, tls = () => NO_TLS, resolve = resolveBySystem } = options
  const usual = { ...GUARD_LIMITS, ...options.limits }
  const allowance = allowanceOf(options.allowNet ?? [])
  const rules = onlyHosts ? { onlyHosts } : {}
  const closing = new AbortController()
  const running = new Set<Promise<Outcome>>()
  let closed = false
  let pool: Pool | undefined

  function agentNow(): Agent {
    const wanted = tls()
    if (pool?.tls === wanted) return pool.agent
    // The old connections end when what runs on them has ended.
    void pool?.agent.close()
    const { connectMs } = usual
    const signal = closing.signal
    const connect = connector({ clock, allowance, resolve, connectMs, tls: wanted, signal })
    pool = { agent: agentWith(connect), tls: wanted }
    return pool.agent
  }

  /** One hop: asks, and waits for the head of the answer. */
  async function ask(hop: Hop, asking: Asking): Promise<Dispatcher.ResponseData> {
    const { agent, limits, stop, body } = asking
    const { url } = readTarget(hop.url.href, rules)
    const timer = clock.after(limits.headersMs, () => {
      stop.abort(new GuardFailure('timeout', `no answer within ${limits.headersMs} ms`))
    })
    try {
      return await agent.request({
        origin: url.origin,
        path: url.pathname + url.search,
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
      const { statusCode: status, headers, body } = await ask(hop, asking)
      const plain = joined(headers)
      const next = nextHop(hop, status, plain, body)
      if (!next) {
        const bytes = await readBody(body, plain['content-length'], limits, clock)
        return { ok: true, status, headers: plain, body: bytes, url: hop.url.href }
      }
      const tooMany = new GuardFailure('too_many_redirects', `more than ${limits.redirects}`)
      discard(body, tooMany)
      if (redirects >= limits.redirects) throw tooMany
      hop = next
    }
  }

  async function run(asked: GuardedRequest): Promise<Outcome> {
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
      const first = { url, method: asked.method ?? 'GET', headers: headersOf(asked.headers) }
      const body = asked.body ?? null
      return await follow(first, { agent: agentNow(), limits, body, stop })
    } catch (error) {
      if (error instanceof errors.InvalidArgumentError || error instanceof TypeError) throw error
      return toFailed(error)
    } finally {
      timer.cancel()
      for (const each of signals) each.removeEventListener('abort', giveUp)
    }
  }

  return {
    request: async (asked) => {
      if (closed) return toFailed(new GuardFailure('cancelled', 'the client is closed'))
      const outcome = run(asked)
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
      giveUp()
      signal?.removeEventListener('abort', giveUp)
      await pool?.agent.destroy()
    },
  }
}

function nextHop(hop: Hop, status: number, headers: Headers, body: Body): Hop | undefined {
  try {
    return decideRedirect(hop, { status, location: headers.location })
  } catch (error) {
    throw error instanceof Error ? discard(body, error) : error
  }
}

function agentWith(connect: buildConnector.connector): Agent {
  return new Agent({
    connect,
    connections: CONNECTIONS,
    pipelining: 1,
    keepAliveTimeout: IDLE_MS,
    keepAliveMaxTimeout: IDLE_MS,
    maxHeaderSize: HEAD_BYTES,
    // Time is bounded here, by the clock that was handed in.
    headersTimeout: 0,
    bodyTimeout: 0,
  })
}

/** Every connection of the pool is opened by the guarded dial, also one to a literal address. */
function connector(options: Parameters<typeof dial>[1]): buildConnector.connector {
  return ({ hostname, port, protocol }, callback) => {
    const secure = protocol === 'https:'
    const usual = secure ? 443 : 80
    const place = { host: hostname, port: port === '' ? usual : Number(port), secure }
    dial(place, options).then(
      (socket) => callback(null, socket),
      (error: Error) => callback(error, null),
    )
  }
}

function allowanceOf(allowNet: readonly string[]): Allowance {
  const read = readAllowance(allowNet)
  if (!read.ok) throw new TypeError(`not a network to allow: ${read.wrong.join(', ')}`)
  return read.allowance
}

/** Compressed answers are not asked for: a small one could unfold beyond every bound. */
function headersOf(headers: Headers = {}): Headers {
  const ours = Object.keys(headers).find((name) => OURS.test(name))
  if (ours) throw new TypeError(`the header ${ours} is not the caller's to set`)
  return { 'accept-encoding': 'identity', 'user-agent': 'chimera', ...headers }
}

function joined(headers: Readonly<Record<string, string | string[] | undefined>>): Headers {
  const entries = Object.entries(headers).map(([name, value]) => [name, String(value ?? '')])
  return Object.fromEntries(entries)
}
