/** `/v1/work`: what became of it, by its key. */
import * as ours from '@chimera/dialects/chimera'
import type { FastifyPluginAsync } from 'fastify'
import { cancelWork } from '../../act/cancel.ts'
import { deleteWorkContent, noteProgress, showWork } from '../../act/work.ts'
import type { SubjectRoutes } from '../refuse.ts'

type ByKey = {
  readonly Params: { readonly key: string }
  readonly Querystring: Readonly<Record<string, string>>
}

export const workRoutes: FastifyPluginAsync<SubjectRoutes> = async (app, { hub, no }) => {
  app.get<ByKey>('/work/:key', async (request, reply) => {
    const asked = ours.readWorkQuery({ ...request.query, ...request.params })
    if (!asked.ok) return no(reply, asked)
    const known = await showWork(hub, request.caller, asked.value)
    return known.ok ? ours.encodeWork(known) : no(reply, known)
  })

  app.post<ByKey>('/work/:key/cancel', async (request, reply) => {
    const asked = ours.readWorkQuery({ ...request.query, ...request.params })
    if (!asked.ok) return no(reply, asked)
    const known = await cancelWork(hub, request.caller, asked.value)
    return known.ok ? reply.code(202).send(ours.encodeWork(known)) : no(reply, known)
  })

  app.post<ByKey>('/work/:key/progress', async (request, reply) => {
    const asked = ours.readWorkQuery(request.params)
    if (!asked.ok) return no(reply, asked)
    const told = ours.readWorkProgress(request.body)
    if (!told.ok) return no(reply, told)
    const noted = noteProgress(hub, request.caller, { ...told.value, task: asked.value.key })
    return noted.ok ? reply.code(204).send() : no(reply, noted)
  })

  app.delete<ByKey>('/work/:key/content', async (request, reply) => {
    const asked = ours.readWorkQuery(request.params)
    if (!asked.ok) return no(reply, asked)
    const deleted = await deleteWorkContent(hub, request.caller, asked.value.key)
    return deleted.ok ? reply.code(204).send() : no(reply, deleted)
  })
}
