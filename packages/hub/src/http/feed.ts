/**
 * The status feed's receiver. Every route is read, act, encode, and decides nothing. On an open hub
 * nobody proves who publishes, so what is heard stays an observation.
 */
import * as feed from '@chimera/dialects/feed'
import { type Refused, refuse } from '@chimera/domain/decision'
import type { Alias } from '@chimera/domain/ids'
import type { Holder } from '@chimera/domain/presence/ingest'
import type { Refusal } from '@chimera/domain/refusals'
import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import type { Caller } from '../act/caller.ts'
import type { Hub } from '../act/hub.ts'
import { needs } from './access.ts'
import { refusalOf } from './failed.ts'

export type FeedRoutes = { readonly hub: Hub }

type ByAlias = { readonly Params: { readonly agent_id: string } }

export const feedRoutes: FastifyPluginAsync<FeedRoutes> = async (app, { hub }) => {
  const no = (reply: FastifyReply, refused: Refused<Refusal>) => {
    const { status, body } = feed.encodeRefusal(refused, hub.now())
    if (body.retry_after_seconds !== undefined)
      reply.header('retry-after', body.retry_after_seconds)
    return reply.code(status).send(body)
  }

  app.setErrorHandler((error, request, reply) => {
    const refused = refusalOf(error, hub.now())
    if (refused.refusal === 'service_unavailable') request.log.error({ err: error }, 'feed failed')
    return no(reply, refused)
  })

  app.post('/ingest/chimera-status', needs('agents'), async (request, reply) => {
    const read = feed.readStatus(request.body)
    if (!read.ok) return no(reply, read)
    const { value: report } = read
    const publisher = publisherOf(request.caller)
    const decision = hub.feed.hear({ report, ...(publisher && { publisher }) }, hub.now())
    // The message's own id serves as its correlation.
    const { message: correlation, alias } = report
    request.log.debug({ correlation, alias, heard: decision.ok }, 'status')
    if (!decision.ok) return no(reply, decision)
    return reply.code(202).send(feed.encodeAccepted(report.message, decision.facts))
  })

  app.get<ByAlias>('/ingest/chimera-status/:agent_id', needs('read'), async (request, reply) => {
    const state = feed.encodeFeedState(hub.feed.of(request.params.agent_id as Alias), hub.now())
    return state ?? no(reply, refuse('agent_unknown'))
  })
}

/** A token is renewed, its owner stays: an alias is held by the owner, not by one token. */
function publisherOf({ open, token, owner, agent }: Caller): Holder | undefined {
  if (open) return undefined
  if (agent !== undefined) return { by: 'agent', agent }
  return token && { by: 'credential', subject: owner ?? `token:${token.id}` }
}
