/**
 * The agent's HTTP server: bounds, ids, and one plugin per dialect. The few requests that it lives
 * by have a shorter way in beside it (lane.ts).
 *
 *   S1  A body is taken as it came: nothing is coerced, filled in or dropped.
 *   S2  Whatever goes wrong is answered with the one error, which names nothing of the inside.
 *   S3  A request has an id that is in its log lines and in the answer's `x-request-id`.
 */
import { encodeError } from '@chimera/dialects/error'
import { statusOf } from '@chimera/dialects/http-status'
import { LIMITS } from '@chimera/domain/limits'
import type { Log } from '@chimera/host/log'
import type { Metrics } from '@chimera/host/metrics'
import fastify, { type FastifyInstance, type FastifyRequest, LogController } from 'fastify'
import { chorusRoutes } from './chorus.ts'
import type { Doors } from './doors.ts'
import { isFault, refusalOf } from './failed.ts'
import { createGuard, guardAnswers } from './guard.ts'
import { createLane } from './lane.ts'
import { moltbookRoutes } from './moltbook.ts'
import { openclawRoutes } from './openclaw.ts'
import { ourRoutes } from './ours.ts'
import { createPasses } from './passes.ts'
import { requestLogs } from './request-log.ts'
import { createSigners } from './signer.ts'
import { skillRoutes } from './skills.ts'

export type ServerHands = Omit<Doors, 'signerOf' | 'bytesOf' | 'lane'> & {
  readonly log: Log
  /** Where callers think they are, if not where they dialled. */
  readonly publicUrl: () => string | undefined
  /** Whether the agent takes work, for whoever looks after it. */
  readonly state: () => string
  readonly metrics: Pick<Metrics, 'text' | 'contentType'>
}

export function createServer(hands: ServerHands): FastifyInstance {
  const { clock, chance, log, self, network, state, publicUrl, metrics } = hands
  const app: FastifyInstance = fastify({
    childLoggerFactory: requestLogs(log),
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: LIMITS.bodyBytes,
    routerOptions: { maxParamLength: LIMITS.keyChars },
    genReqId: () => chance.uuid(),
    onProtoPoisoning: 'error',
    onConstructorPoisoning: 'error',
    forceCloseConnections: true,
  })
  const passes = createPasses({ at: self.agent, network, now: clock.now })
  const { signerOf, bytesOf } = createSigners(app, { now: clock.now, publicUrl, passes })
  const guard = createGuard({ now: clock.now })
  const lane = createLane(app, { clock, chance, log, guard })
  const doors: Doors = { ...hands, signerOf, bytesOf, lane }

  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    done()
  })
  guardAnswers(app, guard)
  app.setNotFoundHandler((_, reply) =>
    reply.code(404).send({
      code: 'path_unknown',
      message: 'Nothing is served under this path and method.',
      retryable: false,
    }),
  )
  app.setErrorHandler((error, request, reply) => {
    const refused = refusalOf(error, clock.now())
    if (isFault(refused)) request.log.error({ err: error }, 'request failed')
    const body = encodeError(refused, refused.refusal, clock.now())
    return reply.code(statusOf(refused.refusal)).send(body)
  })

  // What a hub asks when it probes whether an instance can be reached.
  app.get('/health', async () => ({ status: 'ok', agent: self.agent, state: state() }))
  // How busy it is concerns whoever runs the machine, and no stranger.
  app.get('/metrics', async (request, reply) =>
    isFromHere(request)
      ? reply.header('content-type', metrics.contentType).send(await metrics.text())
      : reply.callNotFound(),
  )
  app.register(openclawRoutes, { doors, prefix: '/openclaw/v1' })
  app.register(moltbookRoutes, { doors, prefix: '/moltbook/v1' })
  app.register(ourRoutes, { doors, prefix: '/v1' })
  app.register(chorusRoutes, { doors })
  app.register(skillRoutes, { doors })
  return app
}

const HERE = /^(?:::ffff:)?127\.|^::1$/

/** Not through a proxy on this machine, which brings strangers in. */
function isFromHere({ socket, headers }: FastifyRequest): boolean {
  const isPassedOn = headers.forwarded ?? headers['x-forwarded-for'] ?? headers.via
  return HERE.test(socket.remoteAddress ?? '') && isPassedOn === undefined
}
