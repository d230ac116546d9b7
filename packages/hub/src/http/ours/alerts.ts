/** `/v1/alerts`, and `/v1/webhooks` that are told of them. */
import * as ours from '@chimera/dialects/chimera'
import type { CorrelationId } from '@chimera/domain/ids'
import type { FastifyPluginAsync } from 'fastify'
import { acknowledgeAlert, listAlerts } from '../../act/alerts.ts'
import { listWebhooks, makeWebhook, removeWebhook } from '../../act/webhooks.ts'
import type { SubjectRoutes } from '../refuse.ts'

type ById = { readonly Params: { readonly id: string } }

export const alertRoutes: FastifyPluginAsync<SubjectRoutes> = async (app, { hub, no }) => {
  app.get('/alerts', async (request, reply) => {
    const asked = ours.readAlertQuery(request.query)
    if (!asked.ok) return no(reply, asked)
    const found = await listAlerts(hub, request.caller, asked.value)
    return found.ok ? ours.encodeAlerts(found) : no(reply, found)
  })

  app.post<ById>('/alerts/:id/acknowledge', async (request, reply) => {
    const target = { id: request.params.id, correlation: request.id as CorrelationId }
    const done = await acknowledgeAlert(hub, request.caller, target)
    return done.ok ? ours.encodeAlert(done.alert) : no(reply, done)
  })

  app.post('/webhooks', async (request, reply) => {
    const asked = ours.readNewWebhook(request.body)
    if (!asked.ok) return no(reply, asked)
    const wanted = { ...asked.value, correlation: request.id as CorrelationId }
    const made = await makeWebhook(hub, request.caller, wanted)
    return made.ok ? reply.code(201).send(ours.encodeWebhook(made.webhook)) : no(reply, made)
  })

  app.get('/webhooks', async (request, reply) => {
    const found = await listWebhooks(hub, request.caller)
    return found.ok ? ours.encodeWebhooks(found.webhooks) : no(reply, found)
  })

  app.delete<ById>('/webhooks/:id', async (request, reply) => {
    const target = { id: request.params.id, correlation: request.id as CorrelationId }
    const removed = await removeWebhook(hub, request.caller, target)
    return removed.ok ? reply.code(204).send() : no(reply, removed)
  })
}
