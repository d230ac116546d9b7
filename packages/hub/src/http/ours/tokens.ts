/** `/v1/owners` and `/v1/tokens`. */
import * as ours from '@chimera/dialects/chimera'
import { refuse } from '@chimera/domain/decision'
import type { FastifyPluginAsync } from 'fastify'
import { openSession } from '../../act/sessions.ts'
import { listTokens, makeOwner, makeToken, revokeToken } from '../../act/tokens.ts'
import type { SubjectRoutes } from '../refuse.ts'

type ById = { readonly Params: { readonly id: string } }

export const tokenRoutes: FastifyPluginAsync<SubjectRoutes> = async (app, { hub, no }) => {
  app.post('/owners', async (request, reply) => {
    const asked = ours.readNewOwner(request.body)
    if (!asked.ok) return no(reply, asked)
    const made = await makeOwner(hub, request.caller, asked.value)
    if (!made.ok) return no(reply, made)
    return reply.code(201).send(ours.encodeTokenMade(made.text, made.terms))
  })

  app.post('/tokens', async (request, reply) => {
    const asked = ours.readNewToken(request.body ?? {})
    if (!asked.ok) return no(reply, asked)
    const made = await makeToken(hub, request.caller, asked.value)
    if (!made.ok) return no(reply, made)
    return reply.code(201).send(ours.encodeTokenMade(made.text, made.terms))
  })

  app.get('/tokens', async (request, reply) => {
    const asked = ours.readTokenQuery(request.query)
    if (!asked.ok) return no(reply, asked)
    const listed = await listTokens(hub, request.caller, asked.value.owner)
    return listed.ok ? ours.encodeTokens(listed.tokens) : no(reply, listed)
  })

  app.delete<ById>('/tokens/:id', async (request, reply) => {
    const revoked = await revokeToken(hub, request.caller, request.params.id)
    if (!revoked.ok) return no(reply, revoked)
    return revoked.known ? reply.code(204).send() : no(reply, refuse('token_unknown'))
  })

  app.post('/tokens/session', async (request, reply) => {
    const asked = ours.readNewSession(request.body ?? {})
    if (!asked.ok) return no(reply, asked)
    const session = await openSession(hub, request.caller, asked.value)
    if (!session.ok) return no(reply, session)
    return reply.code(201).send(ours.encodeSession(session))
  })
}
