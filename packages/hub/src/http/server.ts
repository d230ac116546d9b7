/**
 * The hub's HTTP server: bounds, ids, metrics and the answer to whatever no dialect has answered.
 *
 *   S1  A body is taken as it came: nothing is coerced, filled in or dropped.
 *   S2  Whatever goes wrong is answered with the one error, which names nothing of the inside.
 *   S3  A request has an id that is in its log lines and in the answer's `x-request-id`.
 */
import { createServer, type Server } from 'node:http'
import { encodeError } from '@chimera/dialects/error'
import { statusOf } from '@chimera/dialects/http-status'
import { LIMITS } from '@chimera/domain/limits'
import type { Log } from '@chimera/host/log'
import type { Metrics } from '@chimera/host/metrics'
import fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify'
import type { Hub } from '../act/hub.ts'
import { guardAccess } from './access.ts'
import type { Callers } from './caller.ts'
import { chorusRoutes } from './chorus.ts'
import { refusalOf } from './failed.ts'
import { feedRoutes } from './feed.ts'
import { moltbookRoutes } from './moltbook.ts'
import { openclawRoutes } from './openclaw.ts'
import { operationRoutes } from './operations.ts'
import { ourRoutes } from './ours/routes.ts'

export type ServerOptions = {
  readonly hub: Hub
  readonly log: Log
  readonly metrics: Metrics
  readonly callers: Callers
  /** Where callers think they are, if not where they dialled. */
  readonly publicUrl?: string | undefined
}

// A request that sends its body more slowly than this holds a connection for nothing.
const REQUEST_MS = 15_000

export function createHttp(options: ServerOptions): FastifyInstance {
  const { hub, log, metrics, callers, publicUrl } = options
  // Named as what Fastify asks for, or its routes would be typed by our logger.
  const loggerInstance: FastifyBaseLogger = log
  const app: FastifyInstance = fastify({
    loggerInstance,
    // One line per request of our own instead of Fastify's two.
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: LIMITS.bodyBytes,
    requestTimeout: REQUEST_MS,
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
  })
  app.addHook('onResponse', async (request, reply) => {
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
    if (refused.refusal === 'service_unavailable')
      request.log.error({ err: error }, 'request failed')
    const body = encodeError(refused, refused.refusal, hub.now())
    return reply.code(statusOf(refused.refusal)).send(body)
  })

  guardAccess(app, { hub, callers, metrics, publicUrl })
  app.register(operationRoutes, { hub, metrics })
  app.register(chorusRoutes, { hub })
  app.register(ourRoutes, { hub, prefix: '/v1' })
  app.register(feedRoutes, { hub })
  app.register(openclawRoutes, { hub, prefix: '/openclaw/v1' })
  app.register(moltbookRoutes, { hub, metrics, prefix: '/moltbook/v1' })
  return app
}

/** Listens on more ports with the same routes: Chorus programs look on 8001 and 8002. */
export async function listenAlso(
  app: FastifyInstance,
  place: { readonly host: string; readonly port: number },
): Promise<Server> {
  const server = createServer((request, response) => app.routing(request, response))
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(place.port, place.host, () => {
      server.off('error', reject)
      resolve()
    })
  })
  return server
}
