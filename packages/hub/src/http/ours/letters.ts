/** `/v1/dead-letters`: what could not be delivered. */
import * as ours from '@chimera/dialects/chimera'
import type { FastifyPluginAsync } from 'fastify'
import { listLetters, readLetter, redeliver, removeLetter } from '../../act/deliveries.ts'
import type { SubjectRoutes } from '../refuse.ts'

type ById = { readonly Params: { readonly id: string } }

export const letterRoutes: FastifyPluginAsync<SubjectRoutes> = async (app, { hub, no }) => {
  app.get('/dead-letters', async (request, reply) => {
    const asked = ours.readLetterQuery(request.query)
    if (!asked.ok) return no(reply, asked)
    const found = await listLetters(hub, request.caller, asked.value)
    return found.ok ? ours.encodeLetters(found) : no(reply, found)
  })

  app.get<ById>('/dead-letters/:id', async (request, reply) => {
    const found = await readLetter(hub, request.caller, request.params.id)
    return found.ok ? ours.encodeLetter(found.letter) : no(reply, found)
  })

  app.post<ById>('/dead-letters/:id/redeliver', async (request, reply) => {
    const done = await redeliver(hub, request.caller, request.params.id)
    if (!done.ok) return no(reply, done)
    const { status, body } = ours.encodeRedelivery(done.is === 'done' ? done.fact : undefined)
    return reply.code(status).send(body)
  })

  app.delete<ById>('/dead-letters/:id', async (request, reply) => {
    const removed = await removeLetter(hub, request.caller, request.params.id)
    return removed.ok ? reply.code(204).send() : no(reply, removed)
  })
}
