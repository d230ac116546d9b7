/**
 * A proxy on this machine that passes requests on, or does to them what networks do (SF-12, SF-14).
 *
 *   X1  What is passed on is passed on as it came: the same path, fields and bytes.
 *   X2  A request whose answer is lost has happened; one that is cut has not.
 *   X3  It listens on a loopback address only, so nobody else can use what it adds.
 */
import {
  createServer,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { type Clock, createClock } from '@chimera/host/clock'
import type { ClientTls } from '@chimera/host/guarded/dial'
import { type Duration, readDuration } from '@chimera/skill/duration'
import { HarnessError } from './error.ts'
import { askedIn, close, listen, readBody } from './listening.ts'
import { type Asked, type Plan, type Planned, readPlan } from './plan.ts'

/**
 * What befalls one request: a status that the proxy answers itself, no answer at all, a connection
 * that ends before it was passed on, an answer that never arrives, a request that arrives twice, or
 * late.
 */
export type Passing =
  | 'pass'
  | number
  | 'hang'
  | 'cut'
  | 'lose_answer'
  | 'double'
  | { readonly late: Duration }

export type FaultProxyOptions = {
  /** Where requests go on to; asked at each, since it may change. */
  readonly target: string | (() => string)
  /** Default: everything is passed on. */
  readonly plan?: Plan<Passing>
  /** Certificates towards the target, for one that wants to know who publishes. */
  readonly tls?: ClientTls
  /** Fields that are added on the way, such as a token that the sender does not hold. */
  readonly headers?: () => Readonly<Record<string, string>>
  /** Whether the target hears the name that the sender dialled. Default: its own. */
  readonly keepHost?: boolean
  /** Default: a free one. */
  readonly port?: number
  readonly clock?: Clock
}

export type FaultProxy = {
  readonly url: string
  /** From now on. */
  readonly plan: (plan: Plan<Passing>) => void
  /** Every request so far, and what befell it. */
  readonly seen: readonly Passed[]
  /** Ends all connections, as a broken cable does. */
  readonly breakOff: () => void
  readonly close: () => Promise<void>
}

export type Passed = Asked & { readonly befell: Passing }

// What was seen is for a test to look at; nobody looks at more.
const MOST_SEEN = 10_000

/** A proxy on this machine, listening by the time it is handed over. */
export async function createFaultProxy(options: FaultProxyOptions): Promise<FaultProxy> {
  const { target, clock = createClock(), tls = {} } = options
  const seen: Passed[] = []
  let planned: Planned<Passing> = readPlan(options.plan ?? 'pass', 'pass')
  const agents = {
    'http:': new HttpAgent({ keepAlive: true }),
    'https:': new HttpsAgent({ keepAlive: true, ...tls }),
  }

  function send(request: IncomingMessage, body: Buffer): Promise<IncomingMessage> {
    const base = new URL(typeof target === 'function' ? target() : target)
    const url = new URL(`${base.origin}${base.pathname.replace(/\/$/, '')}${request.url ?? '/'}`)
    const { host, connection: _, ...headers } = request.headers
    const secure = url.protocol === 'https:'
    const asking = (secure ? httpsRequest : httpRequest)(url, {
      method: request.method ?? 'GET',
      agent: agents[secure ? 'https:' : 'http:'],
      headers: {
        ...headers,
        ...options.headers?.(),
        ...(options.keepHost && host !== undefined && { host }),
        ...(body.length > 0 && { 'content-length': String(body.length) }),
      },
    })
    return new Promise((resolve, reject) => {
      asking.on('response', resolve)
      asking.on('error', reject)
      asking.end(body)
    })
  }

  async function pass(request: IncomingMessage, reply: ServerResponse, body: Buffer) {
    const answer = await send(request, body)
    reply.writeHead(answer.statusCode ?? 502, answer.headers)
    reply.on('close', () => answer.destroy())
    answer.on('error', () => reply.destroy())
    answer.pipe(reply)
  }

  async function treat(
    befell: Passing,
    request: IncomingMessage,
    reply: ServerResponse,
    body: Buffer,
  ): Promise<void> {
    if (typeof befell === 'number') return answerWith(reply, befell)
    if (typeof befell === 'object') {
      await clock.sleep(msOf(befell.late))
      return pass(request, reply, body)
    }
    switch (befell) {
      case 'pass':
        return pass(request, reply, body)
      case 'hang':
        return
      case 'cut':
        reply.destroy()
        return
      case 'lose_answer':
        await drain(send(request, body))
        reply.destroy()
        return
      case 'double':
        // The sender hears the answer to the first; the second comes after it.
        await pass(request, reply, body)
        await drain(send(request, body))
    }
  }

  const server = createServer((request, reply) => {
    void (async () => {
      const body = await readBody(request)
      if (body === undefined) {
        reply.destroy()
        return
      }
      const asked = askedIn(request, body)
      const befell = planned(asked)
      if (seen.push({ ...asked, befell }) > MOST_SEEN) seen.shift()
      // Whoever stands behind it is away: so is it, for the sender.
      await treat(befell, request, reply, body).catch(() => reply.destroy())
    })()
  })
  const port = await listen(server, options.port)

  return {
    url: `http://127.0.0.1:${port}`,
    plan: (plan) => {
      planned = readPlan(plan, 'pass')
    },
    seen,
    breakOff: () => server.closeAllConnections(),
    close: async () => {
      await close(server)
      for (const agent of Object.values(agents)) agent.destroy()
    },
  }
}

/** An answer of the proxy's own, in the one shape of every door. */
export function answerWith(reply: ServerResponse, status: number): void {
  const retryable = status >= 500 || [408, 425, 429].includes(status)
  const error = { code: `http_${status}`, message: 'The harness says so.', retryable }
  reply.writeHead(status, { 'content-type': 'application/json' })
  reply.end(status < 400 ? '{}' : JSON.stringify(error))
}

async function drain(sent: Promise<IncomingMessage>): Promise<void> {
  const answer = await sent.catch(() => undefined)
  if (answer === undefined) return
  answer.resume()
  await new Promise((resolve) => answer.on('close', resolve))
}

export function msOf(span: Duration): number {
  const ms = readDuration(span)
  if (ms === undefined) {
    throw new HarnessError('options_invalid', `a span of time such as '60s', not ${String(span)}`)
  }
  return ms
}
