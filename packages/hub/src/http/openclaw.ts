/**
 * OpenClaw over HTTP, under /openclaw/v1: what agents publish, and what the hub knows of them.
 * Every route is read, act, encode, and decides nothing. What is posted is an observation (A4).
 */
import * as openclaw from '@chimera/dialects/openclaw'
import { isUuid, readUuid } from '@chimera/dialects/wire'
import type { Refused } from '@chimera/domain/decision'
import type { AgentId, CorrelationId } from '@chimera/domain/ids'
import type { Refusal } from '@chimera/domain/refusals'
import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import type { Hub } from '../act/hub.ts'
import { observe, type Portrait, portray } from '../act/observations.ts'
import type { Topic } from '../ports/bus.ts'
import type { Observation } from '../views/observed.ts'
import { PUBLIC } from './access.ts'
import { isFault, refusalOf } from './failed.ts'
import { resultRoutes } from './results.ts'

export type OpenclawRoutes = { readonly hub: Hub }

type ById = { readonly Params: { readonly id: string } }
type Read = (
  value: unknown,
) => { readonly ok: true; readonly value: Observation } | Refused<Refusal>
type Told = Portrait & { readonly correlation: CorrelationId }

export const openclawRoutes: FastifyPluginAsync<OpenclawRoutes> = async (app, { hub }) => {
  const no = (reply: FastifyReply, refused: Refused<Refusal>, correlation?: CorrelationId) => {
    const { status, body } = openclaw.encodeRefusal(refused, hub.now(), correlation)
    if (body.retry_after_seconds !== undefined)
      reply.header('retry-after', body.retry_after_seconds)
    return reply.code(status).send(body)
  }

  app.setErrorHandler((error, request, reply) => {
    const refused = refusalOf(error, hub.now())
    if (isFault(error, refused)) request.log.error({ err: error }, 'openclaw failed')
    return no(reply, refused)
  })

  /** The same three steps for everything that an agent publishes of itself. */
  function publishes(
    path: string,
    read: Read,
    encode: (told: Told) => object,
    topic?: Topic,
  ): void {
    app.post(path, async (request, reply) => {
      const correlation = correlationIn(request.body)
      const unspoken = openclaw.refuseVersion(request.body)
      if (unspoken !== undefined) return no(reply, unspoken, correlation)
      const said = read(request.body)
      if (!said.ok) return no(reply, said, correlation)
      const outcome = await observe(hub, request.caller, said.value)
      const { agent, type } = said.value
      request.log.debug({ correlation, agent, type, taken: outcome.ok }, 'observed')
      if (!outcome.ok) return no(reply, outcome, correlation)
      // Under the same name as on the bus, and the same JSON (OC-23).
      if (topic !== undefined) hub.publish(topic, request.body as object)
      return reply.code(204).send()
    })

    app.get<ById>(`${path}/:id`, PUBLIC, async (request, reply) => {
      const { id } = request.params
      // What is not a uuid names no agent, and is answered like any other unknown one.
      const portrait = portray(hub, isUuid(id) ? readUuid<AgentId>(id) : (id as AgentId))
      const correlation = request.id as CorrelationId
      return portrait.ok ? encode({ ...portrait, correlation }) : no(reply, portrait, correlation)
    })
  }

  publishes(
    '/identities',
    openclaw.readIdentity,
    (told) => openclaw.encodeIdentity(told, hub.now()),
    'identity',
  )
  publishes(
    '/status',
    openclaw.readStatusUpdate,
    (told) => openclaw.encodeStatusUpdate({ ...told, agent: told.agent.id }, hub.now()),
    'status',
  )
  publishes('/reputation', openclaw.readReputationUpdate, (told) =>
    openclaw.encodeReputationUpdate(
      { ...told, agent: told.agent.id, update: 'periodic' },
      hub.now(),
    ),
  )
  resultRoutes(app, { hub, no, correlationIn })
}

/** Also of a message that is refused, so that its sender knows which one (OC-22). */
function correlationIn(body: unknown): CorrelationId | undefined {
  if (typeof body !== 'object' || body === null || !('correlation_id' in body)) return undefined
  const { correlation_id: id } = body
  return typeof id === 'string' && isUuid(id) ? readUuid<CorrelationId>(id) : undefined
}
