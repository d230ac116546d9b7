/** `/v1/posts`: the outbox of the hub. The page of a post is in http/posts.ts. */
import * as ours from '@chimera/dialects/chimera'
import type { CorrelationId } from '@chimera/domain/ids'
import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { acceptPost, listPosts, showPost } from '../../act/posts.ts'
import { hubAddress } from '../access.ts'
import type { SubjectRoutes } from '../refuse.ts'

type ById = { readonly Params: { readonly id: string } }
export type PostRoutes = SubjectRoutes & { readonly publicUrl?: string | undefined }

export const postRoutes: FastifyPluginAsync<PostRoutes> = async (app, { hub, no, publicUrl }) => {
  const place = (request: FastifyRequest) => ({
    origin: hubAddress(request, publicUrl),
    now: hub.now(),
  })

  app.post('/posts', async (request, reply) => {
    const asked = ours.readNewPost(request.body)
    if (!asked.ok) return no(reply, asked)
    const correlation = request.id as CorrelationId
    const posted = await acceptPost(hub, request.caller, asked.value, { correlation })
    if (!posted.ok) return no(reply, posted)
    return reply.code(posted.made ? 201 : 200).send(ours.encodePost(posted, place(request)))
  })

  app.get('/posts', async (request, reply) => {
    const asked = ours.readPostQuery(request.query)
    if (!asked.ok) return no(reply, asked)
    const found = await listPosts(hub, request.caller, asked.value)
    return found.ok ? ours.encodePosts(found, place(request)) : no(reply, found)
  })

  app.get<ById>('/posts/:id', async (request, reply) => {
    const found = await showPost(hub, request.caller, request.params.id)
    return found.ok ? ours.encodePost(found, place(request)) : no(reply, found)
  })
}
