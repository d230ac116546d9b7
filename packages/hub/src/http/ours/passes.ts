/** `/v1/passes`: what stands for a signature at another agent's door. */
import * as ours from '@chimera/dialects/chimera'
import type { FastifyPluginAsync } from 'fastify'
import { givePass } from '../../act/passes.ts'
import type { SubjectRoutes } from '../refuse.ts'

export const passRoutes: FastifyPluginAsync<SubjectRoutes> = async (app, { hub, no }) => {
  app.post('/passes', async (request, reply) => {
    const asked = ours.readNewPass(request.body)
    if (!asked.ok) return no(reply, asked)
    const given = await givePass(hub, request.caller, asked.value)
    if (!given.ok) return no(reply, given)
    return reply.code(201).send(ours.encodePass(asked.value.at, given))
  })
}
