/**
 * The hub's HTTP server: bounds, ids, metrics and the answer to whatever no dialect has answered.
 *
 *   S1  A body is taken as it came: nothing is coerced, filled in or dropped.
 *   S2  Whatever goes wrong is answered with the one error, which names nothing of the inside.
 *   S3  A request has an id that is in its log lines and in the answer's `x-request-id`.
 *   S4  Whoever is told to come back later is told when, in `retry-after`.
 *   S5  What comes in one turn is begun together (host's burst.ts), and so goes the same way side
 *       by side: twice as much is answered in the same time.
 */
import { encodeError } from '@chimera/dialects/error'
import { statusOf } from '@chimera/dialects/http-status'
import { LIMITS } from '@chimera/domain/limits'
import type { LoadLimits } from '@chimera/domain/work/load'
import { createBurst } from '@chimera/host/burst'
import type { Log } from '@chimera/host/log'
import type { Metrics } from '@chimera/host/metrics'
import fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify'
import type { Hub } from '../act/hub.ts'
import type { Guard } from '../guard.ts'
import { guardAccess } from './access.ts'
import type { Callers } from './caller.ts'
import { chorusRoutes } from './chorus.ts'
import { type ConsolePage, consoleRoutes } from './console.ts'
import { guardOrigin } from './console-origin.ts'
import { docsRoutes } from './docs.ts'
import { isFault, refusalOf } from './failed.ts'
import { feedRoutes } from './feed.ts'
import { bodyOf, type Listeners } from './listen.ts'
import { moltbookRoutes } from './moltbook.ts'
import { openclawRoutes } from './openclaw.ts'
import { operationRoutes } from './operations.ts'
import { ourRoutes } from './ours/routes.ts'
import { guardMessages } from './outgoing.ts'
import { guardOverload } from './overload.ts'
import { postPages } from './posts.ts'
import type { Rates } from './rates.ts'

export type ServerOptions = {
  readonly hub: Hub
  readonly log: Log
  readonly metrics: Metrics
  readonly callers: Callers
  readonly guard: Guard
  /** Where callers think they are, if not where they dialled. */
  readonly publicUrl?: string | undefined
  readonly listeners: Listeners
  /** Whose word on where a request came from is believed. */
  readonly proxies: readonly string[]
  readonly rates: Rates
  readonly load: LoadLimits
  readonly delayMs: () => number
  /** The page under `/console`; none is served without it. */
  readonly page?: ConsolePage | undefined
}

// Where nothing else is known: about the time in which a database restarts.
const RETRY_SECONDS = 2

export function createHttp(options: ServerOptions): FastifyInstance {
  const { hub, log, metrics, callers, guard, publicUrl, listeners, rates, load, delayMs } = options
  // Named as what Fastify asks for, or its routes would be typed by our logger.
  const loggerInstance: FastifyBaseLogger = log
  const begin = createBurst()
  const app: FastifyInstance = fastify({
    loggerInstance,
    // One line per request of our own instead of Fastify's two.
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: LIMITS.bodyBytes,
    // S5.
    serverFactory: (handler) =>
      listeners.create((request, response) => begin(() => handler(request, response))),
    // Every server has its own answer to what is no request; a second one would be too many.
    clientErrorHandler: () => undefined,
    trustProxy: options.proxies.length > 0 ? [...options.proxies] : false,
    routerOptions: { maxParamLength: LIMITS.keyChars },
    genReqId: () => hub.uuid(),
    // A name that would change what every object is, is refused and not dropped.
    onProtoPoisoning: 'error',
    onConstructorPoisoning: 'error',
  })
  const requests = metrics.counter({
    name: 'http_requests_total',
    help: 'Requests by route and status',
    labels: ['route', 'status'],
  })
  const seconds = metrics.histogram({
    name: 'http_request_seconds',
    help: 'Time to answer by route',
    labels: ['route'],
    // From an answer out of memory to one that waited for the disk of a busy machine.
    buckets: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
  })

  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id)
    // What came beyond one more than the limit was not read at all.
    if (request.raw.rawHeaders.length > 2 * LIMITS.headerFields) {
      return reply.code(431).send(bodyOf(431))
    }
  })
  app.addHook('onSend', async (_, reply) => {
    const isLater = reply.statusCode === 429 || reply.statusCode === 503
    if (isLater && !reply.hasHeader('retry-after')) reply.header('retry-after', RETRY_SECONDS)
  })
  app.addHook('onResponse', async (request, reply) => {
    if (request.method !== 'GET') hub.live.nudge()
    const route = request.routeOptions.url ?? 'unknown'
    requests.add({ route, status: String(reply.statusCode) })
    seconds.observe({ route }, reply.elapsedTime / 1_000)
    request.log.debug({ route, status: reply.statusCode, ms: reply.elapsedTime }, 'answered')
  })
  app.setNotFoundHandler((request, reply) => {
    request.log.debug('no such path')
    return reply.code(404).send({
      code: 'path_unknown',
      message: 'Nothing is served under this path and method.',
      retryable: false,
    })
  })
  app.setErrorHandler((error, request, reply) => {
    const refused = refusalOf(error, hub.now())
    if (isFault(error, refused)) request.log.error({ err: error }, 'request failed')
    const body = encodeError(refused, refused.refusal, hub.now())
    if (body.retry_after_seconds !== undefined) {
      reply.header('retry-after', body.retry_after_seconds)
    }
    return reply.code(statusOf(refused.refusal)).send(body)
  })

  const overload = guardOverload(app, { limits: load, now: hub.now, delayMs, metrics, log })
  guardAccess(app, { hub, callers, metrics, publicUrl, rates })
  guardOrigin(app, { open: hub.key === undefined, publicUrl })
  guardMessages(app, guard)
  app.register(operationRoutes, { hub, metrics, overload })
  app.register(docsRoutes)
  if (options.page !== undefined) app.register(consoleRoutes, { page: options.page })
  app.register(chorusRoutes, { hub, guard })
  app.register(ourRoutes, { hub, publicUrl, prefix: '/v1' })
  app.register(postPages, { hub })
  app.register(feedRoutes, { hub })
  app.register(openclawRoutes, { hub, prefix: '/openclaw/v1' })
  app.register(moltbookRoutes, { hub, metrics, prefix: '/moltbook/v1' })
  return app
}
