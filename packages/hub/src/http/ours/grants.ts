/** `/v1/grants`: what lets an agent onto the broker. */
import * as ours from '@chimera/dialects/chimera'
import type { FastifyPluginAsync } from 'fastify'
import { giveGrant } from '../../act/grants.ts'
import type { SubjectRoutes } from '../refuse.ts'

export const grantRoutes: FastifyPluginAsync<SubjectRoutes> = async (app, { hub, no }) => {
  app.post('/grants', async (request, reply) => {
    const asked = ours.readNewGrant(request.body)
    if (!asked.ok) return no(reply, asked)
    const given = await giveGrant(hub, request.caller, asked.value)
    if (!given.ok) return no(reply, given)
    const { agent, connection, expiresAt } = given
    request.log.debug({ agent, connection, expiresAt }, 'grant')
    return reply.code(201).send(ours.encodeGrant(given))
  })
}
