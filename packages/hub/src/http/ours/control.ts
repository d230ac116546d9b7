/** `/v1/control`: orders to agents, signed by the hub. */
import * as ours from '@chimera/dialects/chimera'
import { isUuid, readUuid } from '@chimera/dialects/wire'
import { refuse } from '@chimera/domain/decision'
import type { AgentId, ControlId, CorrelationId } from '@chimera/domain/ids'
import type { FastifyPluginAsync } from 'fastify'
import {
  acknowledgeOrder,
  fetchOrders,
  giveOrder,
  listObeyed,
  listOrders,
} from '../../act/control.ts'
import type { SubjectRoutes } from '../refuse.ts'

type ById = { readonly Params: { readonly id: string } }

export const controlRoutes: FastifyPluginAsync<SubjectRoutes> = async (app, { hub, no }) => {
  app.post('/control', async (request, reply) => {
    const asked = ours.readNewControl(request.body)
    if (!asked.ok) return no(reply, asked)
    const wanted = { ...asked.value, correlation: request.id as CorrelationId }
    const given = await giveOrder(hub, request.caller, wanted)
    return given.ok ? reply.code(201).send(given.message) : no(reply, given)
  })

  app.get('/control', async (request, reply) => {
    const found = await listOrders(hub, request.caller)
    return found.ok ? ours.encodeControlList(found.orders) : no(reply, found)
  })

  app.get<ById>('/control/:id', async (request, reply) => {
    const asked = ours.readControlQuery(request.query)
    if (!asked.ok) return no(reply, asked)
    const { id } = request.params
    if (!isUuid(id)) return no(reply, refuse('agent_unknown'))
    const wanted = { id: readUuid<AgentId>(id), ...asked.value }
    const found = await fetchOrders(hub, request.caller, wanted)
    return found.ok ? ours.encodeControlOrders(found.messages) : no(reply, found)
  })

  app.post<ById>('/control/:id/seen', async (request, reply) => {
    const { id } = request.params
    if (!isUuid(id)) return no(reply, refuse('order_unknown'))
    const target = { id: readUuid<ControlId>(id), correlation: request.id as CorrelationId }
    const done = await acknowledgeOrder(hub, request.caller, target)
    return done.ok ? reply.code(204).send() : no(reply, done)
  })

  app.get<ById>('/control/:id/seen', async (request, reply) => {
    const asked = ours.readControlSeenQuery(request.query)
    if (!asked.ok) return no(reply, asked)
    if (!isUuid(request.params.id)) return no(reply, refuse('order_unknown'))
    const id = readUuid<ControlId>(request.params.id)
    const found = await listObeyed(hub, request.caller, { id, ...asked.value })
    return found.ok ? ours.encodeControlSeen(id, found) : no(reply, found)
  })
}
