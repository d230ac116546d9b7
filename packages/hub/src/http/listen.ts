/**
 * The servers that carry the routes, one for each port, all with the same bounds.
 *
 *   B1  Nothing about a connection is unbounded: how many there are, how long one may take to say
 *       what it wants, how large that is, and how long it may then be silent.
 *   B2  What is no request that a route could answer is answered all the same, with the one error
 *       and without a word of the inside.
 */
import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { Duplex } from 'node:stream'
import type { ErrorBody } from '@chimera/dialects/error'
import { LIMITS } from '@chimera/domain/limits'
import type { Metrics } from '@chimera/host/metrics'
import type { Tls } from './tls.ts'

export type Bounds = {
  /** For a whole request, its body included. */
  readonly requestMs: number
  /** Between two requests on one connection. */
  readonly idleMs: number
  /** Open connections of each port. */
  readonly connections: number
}

export type Listeners = { readonly create: (handler: RequestListener) => Server }

// The head of a request is one packet or two; it needs no longer than a slow line takes for them.
const HEAD_MS = 10_000
// How far over its time a connection may be. Only those that are over are looked at.
const LOOK_MS = 1_000

export function createListeners(
  { requestMs, idleMs, connections }: Bounds,
  { metrics, tls }: { readonly metrics: Metrics; readonly tls?: Tls | undefined },
): Listeners {
  const dropped = metrics.counter({
    name: 'http_connections_dropped_total',
    help: 'Connections that were closed at once because there were too many',
  })
  const malformed = metrics.counter({
    name: 'http_requests_malformed_total',
    help: 'Requests that could not be read, or not in time',
    labels: ['status'],
  })
  const options = {
    maxHeaderSize: LIMITS.headerBytes,
    headersTimeout: Math.min(HEAD_MS, requestMs),
    requestTimeout: requestMs,
    keepAliveTimeout: idleMs,
    connectionsCheckingInterval: LOOK_MS,
  }

  function create(handler: RequestListener): Server {
    const server =
      tls === undefined
        ? createServer(options, handler)
        : secured(
            createTlsServer({ ...options, ...tls.options(), handshakeTimeout: HEAD_MS }, handler),
            tls,
          )
    server.maxConnections = connections
    // One more than is allowed, so that it shows when there are too many; the rest is not read.
    server.maxHeadersCount = LIMITS.headerFields + 1
    server.on('drop', () => dropped.add({}))
    server.on('clientError', (error: { readonly code?: string }, socket: Duplex) => {
      const status = STATUS_OF[error.code ?? ''] ?? 400
      malformed.add({ status: String(status) })
      say(socket, status)
    })
    return server
  }
  return { create }
}

const secured = (server: ReturnType<typeof createTlsServer>, tls: Tls) => {
  tls.attach(server)
  return server
}

const STATUS_OF: Readonly<Record<string, 408 | 431>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_HEADER_OVERFLOW: 431,
}

// biome-ignore format: a table is read by its columns
const WORDS = {
  400: { name: 'Bad Request',                      code: 'request_malformed', retryable: false, message: 'This is no HTTP request that can be read.' },
  408: { name: 'Request Timeout',                  code: 'request_slow',      retryable: true,  message: 'The request did not arrive in time. Send it again, faster.' },
  431: { name: 'Request Header Fields Too Large',  code: 'headers_oversized', retryable: false, message: 'The header fields are too many or too large. Send fewer.' },
} as const

export type Unreadable = keyof typeof WORDS

export function bodyOf(status: Unreadable): ErrorBody {
  const { code, message, retryable } = WORDS[status]
  return { code, message, retryable }
}

function say(socket: Duplex, status: Unreadable): void {
  if (!socket.writable) {
    socket.destroy()
    return
  }
  const body = JSON.stringify(bodyOf(status))
  const head = [
    `HTTP/1.1 ${status} ${WORDS[status].name}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy())
}
