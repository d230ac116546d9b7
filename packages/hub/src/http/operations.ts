/** What operators and load balancers ask: is it alive, can it work, how is it doing. */
import { asyncapi } from '@chimera/dialects/asyncapi'
import type { Metrics } from '@chimera/host/metrics'
import type { FastifyPluginAsync } from 'fastify'
import { forbidden, isOperator } from '../act/caller.ts'
import type { Hub } from '../act/hub.ts'
import type { BrokerState } from '../ports/carrier.ts'
import { Denied, PUBLIC, VITAL } from './access.ts'
import { openapi } from './openapi.ts'
import type { Overload } from './overload.ts'
import { schemaNames, schemaOf } from './published.ts'

type SchemaPath = { readonly Params: { readonly dialect: string; readonly message: string } }

export type OperationRoutes = {
  readonly hub: Hub
  readonly metrics: Metrics
  readonly overload: Overload
}

export const operationRoutes: FastifyPluginAsync<OperationRoutes> = async (app, options) => {
  const { hub, metrics, overload } = options

  // Chorus programs look for these two words; an orchestrator only for the status.
  app.get('/health', VITAL, async () => ({ service: 'chimera-hub', status: 'healthy' }))

  app.get('/ready', VITAL, async (request, reply) => {
    if (overload.look() !== undefined) {
      return reply.code(503).header('retry-after', '1').send({ ready: false, waiting_for: 'load' })
    }
    try {
      await hub.keep.check()
      return {
        ready: true,
        agents: hub.directory.size(),
        sealed: hub.scores.seq(),
        broker: wordsOf(hub.share.broker()),
      }
    } catch (error) {
      request.log.warn({ err: error }, 'not ready')
      return reply
        .code(503)
        .header('retry-after', '2')
        .send({ ready: false, waiting_for: 'database' })
    }
  })

  const document = openapi()
  app.get('/openapi.json', PUBLIC, async () => document)
  const topics = asyncapi()
  app.get('/asyncapi.json', PUBLIC, async () => topics)

  app.get('/schemas', PUBLIC, async () => ({ schemas: schemaNames() }))
  app.get<SchemaPath>('/schemas/:dialect/:message', PUBLIC, async (request, reply) => {
    const { dialect, message } = request.params
    const schema = schemaOf(dialect, message)
    if (schema === undefined) return reply.callNotFound()
    return reply.header('content-type', 'application/schema+json').send(JSON.stringify(schema))
  })

  app.get('/metrics', { config: { vital: true } }, async (request, reply) => {
    if (!isOperator(request.caller)) throw new Denied(forbidden())
    return reply.header('content-type', metrics.contentType).send(await metrics.text())
  })
}

/** A hub without its broker still works, so this is for people, not for the load balancer. */
function wordsOf(broker: BrokerState): string {
  if (broker.type === 'none') return 'none'
  return `${broker.type} since ${new Date(broker.since).toISOString()}`
}
