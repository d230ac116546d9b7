/** `/v1/approvals`: given by reviewers, used once by whoever publishes. */
import * as ours from '@chimera/dialects/chimera'
import type { CorrelationId } from '@chimera/domain/ids'
import type { FastifyPluginAsync } from 'fastify'
import { giveApproval, listApprovals, showApproval, useApproval } from '../../act/approvals.ts'
import type { SubjectRoutes } from '../refuse.ts'

type ById = { readonly Params: { readonly id: string } }

export const approvalRoutes: FastifyPluginAsync<SubjectRoutes> = async (app, { hub, no }) => {
  app.post('/approvals', async (request, reply) => {
    const asked = ours.readNewApproval(request.body)
    if (!asked.ok) return no(reply, asked)
    const correlation = request.id as CorrelationId
    const given = await giveApproval(hub, request.caller, asked.value, { correlation })
    if (!given.ok) return no(reply, given)
    return reply.code(201).send(ours.encodeApprovalMade(given.text, given.approval))
  })

  app.post('/approvals/uses', async (request, reply) => {
    const asked = ours.readApprovalUse(request.body)
    if (!asked.ok) return no(reply, asked)
    const correlation = request.id as CorrelationId
    const used = await useApproval(hub, request.caller, asked.value, { correlation })
    return used.ok ? used.receipt : no(reply, used)
  })

  app.get('/approvals', async (request, reply) => {
    const asked = ours.readApprovalQuery(request.query)
    if (!asked.ok) return no(reply, asked)
    const found = await listApprovals(hub, request.caller, asked.value)
    return found.ok ? ours.encodeApprovals(found, hub.now()) : no(reply, found)
  })

  app.get<ById>('/approvals/:id', async (request, reply) => {
    const found = await showApproval(hub, request.caller, request.params.id)
    return found.ok ? ours.encodeApproval(found, hub.now()) : no(reply, found)
  })
}
