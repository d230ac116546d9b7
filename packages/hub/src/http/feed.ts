/**
 * The status feed's receiver. Every route is read, act, encode, and decides nothing. Who publishes
 * is proven as everywhere, or by a detached JWS over the body in `X-Signature` (SF-6, X-9). Whoever
 * proves nothing to an open hub is only observed.
 */
import * as feed from '@chimera/dialects/feed'
import type { Holder } from '@chimera/domain/agent/alias'
import { presentKey } from '@chimera/domain/agent/keys'
import { type Refused, refuse } from '@chimera/domain/decision'
import type { Alias } from '@chimera/domain/ids'
import type { Refusal } from '@chimera/domain/refusals'
import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import type { Caller } from '../act/caller.ts'
import { hear, readFeed } from '../act/feed.ts'
import type { Hub } from '../act/hub.ts'
import { type DetachedTerms, needs } from './access.ts'
import { isFault, refusalOf } from './failed.ts'

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
    if (isFault(error, refused)) request.log.error({ err: error }, 'feed failed')
    return no(reply, refused)
  })

  /** A signature that names no key is by the key of the agent that has claimed the name. */
  function detached(body: unknown): DetachedTerms {
    const read = feed.readStatus(body)
    if (!read.ok) return {}
    const { alias, updatedAt } = read.value
    const holder = hub.directory.holderOf(alias)
    const agent = holder === undefined ? undefined : hub.directory.find(holder)
    const key = agent === undefined ? undefined : presentKey(agent.keys)
    return { signedAt: updatedAt, ...(key && { unnamed: key.id }) }
  }
  const signed = { config: { ...needs('agents').config, detached } }

  app.post('/ingest/chimera-status', signed, async (request, reply) => {
    const read = feed.readStatus(request.body)
    if (!read.ok) return no(reply, read)
    const { value: report } = read
    const publisher = publisherOf(request.caller)
    const decision = await hear(hub, { report, ...(publisher && { publisher }) })
    // The message's own id serves as its correlation.
    const { message: correlation, alias } = report
    request.log.debug({ correlation, alias, heard: decision.ok }, 'status')
    if (!decision.ok) return no(reply, decision)
    return reply.code(202).send(feed.encodeAccepted(report.message, decision.facts))
  })

  app.get<ByAlias>('/ingest/chimera-status/:agent_id', needs('read'), async (request, reply) => {
    const known = await readFeed(hub, request.params.agent_id as Alias)
    const state = feed.encodeFeedState(known, hub.now())
    return state ?? no(reply, refuse('agent_unknown'))
  })
}

/** A token is renewed, its owner stays: an alias is held by the owner, not by one token. */
function publisherOf({ open, token, owner, agent }: Caller): Holder | undefined {
  if (agent !== undefined) return { by: 'agent', agent }
  if (open) return undefined
  return token && { by: 'credential', subject: owner ?? `token:${token.id}` }
}
