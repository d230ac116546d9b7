/**
 * MoltBook over HTTP, under /moltbook/v1. Every route is read, act, encode, and decides nothing.
 * Bodies are read from their bytes, since a signature is over what was sent and nothing else.
 */
import * as moltbook from '@chimera/dialects/moltbook'
import type { Refused } from '@chimera/domain/decision'
import type { Refusal } from '@chimera/domain/refusals'
import type { Metrics } from '@chimera/host/metrics'
import { readMessage } from '@chimera/identity/received'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { Hub } from '../act/hub.ts'
import { findInstances } from '../act/instances.ts'
import { announce, declare, type Received, readEvents } from '../act/presence.ts'
import { needs, PROVING, PUBLIC } from './access.ts'
import { isFault, refusalOf } from './failed.ts'

export type MoltbookRoutes = { readonly hub: Hub; readonly metrics: Metrics }

type Asked = { readonly Querystring: Record<string, string | string[]> }
type Read<Meaning> = (
  value: unknown,
) => { readonly ok: true; readonly value: Meaning } | Refused<Refusal>

export const moltbookRoutes: FastifyPluginAsync<MoltbookRoutes> = async (app, { hub, metrics }) => {
  const dropped = metrics.counter({
    name: 'presence_posts_dropped_total',
    help: 'Presence posts that were not believed, by reason',
    labels: ['reason'],
  })

  const no = (reply: FastifyReply, refused: Refused<Refusal>) => {
    const { status, body } = moltbook.encodeRefusal(refused, hub.now())
    if (body.retry_after_seconds !== undefined)
      reply.header('retry-after', body.retry_after_seconds)
    return reply.code(status).send(body)
  }
  const drop = (reply: FastifyReply, refused: Refused<Refusal>) => {
    dropped.add({ reason: moltbook.encodeRefusal(refused, hub.now()).body.code })
    return no(reply, refused)
  }

  app.removeContentTypeParser('application/json')
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, body: Buffer) => {
      request.bytes = body
      return body
    },
  )

  // A MoltBook caller hears only MoltBook, whatever went wrong.
  app.setErrorHandler((error, request, reply) => {
    const refused = refusalOf(error, hub.now())
    if (isFault(error, refused)) request.log.error({ err: error }, 'moltbook failed')
    return no(reply, refused)
  })

  // Both carry the agent's own signature, which is proof enough of who sent them.
  app.post('/presence', PROVING, async (request, reply) => {
    const read = receive(request.body, moltbook.readPresence)
    if (!read.ok) return drop(reply, read)
    const { agent, instance, correlation } = read.meaning.announcement
    const outcome = await announce(hub, read)
    const verdict = outcome.ok ? 'verified' : outcome.refusal
    request.log.debug({ agent, instance, correlation, verdict }, 'presence')
    return outcome.ok ? reply.code(204).send() : drop(reply, outcome)
  })

  app.post('/capability', PROVING, async (request, reply) => {
    const read = receive(request.body, moltbook.readCapability)
    if (!read.ok) return no(reply, read)
    const { agent, instance, correlation } = read.meaning
    const outcome = await declare(hub, read)
    const verdict = outcome.ok ? 'verified' : outcome.refusal
    request.log.debug({ agent, instance, correlation, verdict }, 'capability')
    return outcome.ok ? reply.code(204).send() : no(reply, outcome)
  })

  app.get<Asked>('/directory', PUBLIC, async (request, reply) => {
    const read = moltbook.readDirectoryQuery(request.query)
    if (!read.ok) return no(reply, read)
    return moltbook.encodeDirectory(findInstances(hub, read.value))
  })

  app.get<Asked>('/presence-events', needs('read'), async (request, reply) => {
    const read = moltbook.readEventsQuery(request.query)
    if (!read.ok) return no(reply, read)
    return moltbook.encodeEvents(await readEvents(hub, read.value))
  })
}

/** From bytes to what they mean; the message itself is kept for the signature. */
function receive<Meaning>(
  body: unknown,
  read: Read<Meaning>,
): ({ readonly ok: true } & Received<Meaning>) | Refused<Refusal> {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0)
  const received = readMessage(bytes)
  if (!received.ok) return received
  const { message } = received
  const meant = read(message)
  return meant.ok ? { ok: true, meaning: meant.value, message, raw: bytes.toString('utf8') } : meant
}
