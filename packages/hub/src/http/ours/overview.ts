/**
 * What a picture of the whole needs: the agents, the past of the live feed, the books as sums, and
 * the hub itself. One file, since each is one short route.
 */
import * as ours from '@chimera/dialects/chimera'
import { isUuid, readUuid } from '@chimera/dialects/wire'
import type { AgentId } from '@chimera/domain/ids'
import type { FastifyPluginAsync } from 'fastify'
import { showHub } from '../../act/about.ts'
import { showBooks } from '../../act/books.ts'
import { listFacts } from '../../act/facts.ts'
import { listAgents, showPresence } from '../../act/network.ts'
import { showProviders } from '../../act/providers.ts'
import type { SubjectRoutes } from '../refuse.ts'

type ById = { readonly Params: { readonly id: string } }

export const overviewRoutes: FastifyPluginAsync<SubjectRoutes> = async (app, { hub, no }) => {
  app.get('/agents', async (request, reply) => {
    const asked = ours.readAgentQuery(request.query)
    if (!asked.ok) return no(reply, asked)
    const found = listAgents(hub, request.caller, asked.value)
    return found.ok ? ours.encodeAgents(found) : no(reply, found)
  })

  app.get<ById>('/agents/:id/presence', async (request, reply) => {
    const { id } = request.params
    const agent = isUuid(id) ? readUuid<AgentId>(id) : (id as AgentId)
    const shown = await showPresence(hub, request.caller, agent)
    return shown.ok ? ours.encodePresenceHistory(shown) : no(reply, shown)
  })

  app.get('/facts', async (request, reply) => {
    const asked = ours.readFactQuery(request.query)
    if (!asked.ok) return no(reply, asked)
    const found = await listFacts(hub, request.caller, asked.value)
    return found.ok ? ours.encodeFacts(found) : no(reply, found)
  })

  app.get('/books', async (request, reply) => {
    const asked = ours.readBookQuery(request.query)
    if (!asked.ok) return no(reply, asked)
    const books = await showBooks(hub, request.caller, asked.value)
    return books.ok ? ours.encodeBooks(books) : no(reply, books)
  })

  app.get('/providers', async (request, reply) => {
    const shown = await showProviders(hub, request.caller, 'last')
    return shown.ok ? ours.encodeProviders(shown) : no(reply, shown)
  })

  app.post('/providers/check', async (request, reply) => {
    const shown = await showProviders(hub, request.caller, 'anew')
    return shown.ok ? ours.encodeProviders(shown) : no(reply, shown)
  })

  app.get('/hub', async (request, reply) =>
    reply.send(ours.encodeHub(showHub(hub, request.caller))),
  )
}
