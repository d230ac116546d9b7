/**
 * OpenClaw's results at the hub (OC-23): an agent hands one over, and both sides read them. They
 * move money, so they are no observation like what else is published.
 */
import * as openclaw from '@chimera/dialects/openclaw'
import { isUuid, readUuid } from '@chimera/dialects/wire'
import type { Refused } from '@chimera/domain/decision'
import type { AgentId, CorrelationId } from '@chimera/domain/ids'
import type { Refusal } from '@chimera/domain/refusals'
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Hub } from '../act/hub.ts'
import { listResults, recordResult } from '../act/results.ts'
import { tellHirer } from '../act/telling.ts'

type ById = { readonly Params: { readonly id: string } }

export type ResultRoutes = {
  readonly hub: Hub
  readonly no: (
    reply: FastifyReply,
    refused: Refused<Refusal>,
    correlation?: CorrelationId,
  ) => FastifyReply
  readonly correlationIn: (body: unknown) => CorrelationId | undefined
}

export function resultRoutes(app: FastifyInstance, { hub, no, correlationIn }: ResultRoutes): void {
  app.post('/results', async (request, reply) => {
    const correlation = correlationIn(request.body)
    const unspoken = openclaw.refuseVersion(request.body)
    if (unspoken !== undefined) return no(reply, unspoken, correlation)
    const said = openclaw.readResult(request.body)
    if (!said.ok) return no(reply, said, correlation)
    const { agent, work, how } = said.value
    const outcome = await recordResult(hub, request.caller, said.value)
    request.log.debug({ correlation, agent, work, how, taken: outcome.ok }, 'result')
    if (!outcome.ok) return no(reply, outcome, correlation)
    await tellHirer(hub, said.value, request.body as object)
    return reply.code(204).send()
  })

  app.get<ById>('/results/:id', async (request, reply) => {
    const asked = openclaw.readResultQuery(request.query)
    if (!asked.ok) return no(reply, asked)
    const { id } = request.params
    const agent = isUuid(id) ? readUuid<AgentId>(id) : (id as AgentId)
    const listed = await listResults(hub, request.caller, { ...asked.value, agent })
    return listed.ok ? openclaw.encodeResults(listed.results, listed.next) : no(reply, listed)
  })
}
