/**
 * The door of every route: who is asking is established before a handler runs.
 *
 *   D1  A route that does not call itself public needs a caller. Forgetting to say so closes it.
 *   D2  A signature is judged over the bytes that came and the address that the hub itself knows;
 *       what the caller says its target was is not believed, or a request signed for another hub
 *       would do.
 *   D3  A body of a kind whose bytes are not kept cannot be signed for.
 *   D4  Every denial is counted, and recorded once per caller and minute.
 */
import type { Refused } from '@chimera/domain/decision'
import { refuse } from '@chimera/domain/decision'
import type { CorrelationId } from '@chimera/domain/ids'
import type { Refusal } from '@chimera/domain/refusals'
import type { Scope } from '@chimera/domain/scopes'
import type { Metrics } from '@chimera/host/metrics'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ANYBODY, type Caller, nameOf, permit, STRANGER } from '../act/caller.ts'
import { createDenials } from '../act/denials.ts'
import type { Hub } from '../act/hub.ts'
import { type Callers, isSigned } from './caller.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The body as it came, where it is JSON. */
    bytes: Buffer | undefined
    caller: Caller
  }
  interface FastifyContextConfig {
    readonly public?: boolean
    readonly scope?: Scope
  }
}

/** For routes that anybody may ask: whether the hub is alive, and what agents publish. */
export const PUBLIC = { config: { public: true } } as const

/** For routes whose action does not ask for the scope itself. */
export const needs = (scope: Scope) => ({ config: { scope } }) as const

/** A refusal on its way to the error handler of the dialect, which has the word for it. */
export class Denied extends Error {
  readonly code = 'denied'
  readonly refused: Refused<Refusal>
  constructor(refused: Refused<Refusal>) {
    super(refused.refusal)
    this.refused = refused
  }
}

export type AccessOptions = {
  readonly hub: Hub
  readonly callers: Callers
  readonly metrics: Metrics
  readonly publicUrl?: string | undefined
}

const CHALLENGE = 'Bearer realm="chimera"'

export function guardAccess(app: FastifyInstance, options: AccessOptions): void {
  const { hub, callers, metrics, publicUrl } = options
  const open = hub.key === undefined
  const denials = createDenials()
  const denied = metrics.counter({
    name: 'authorization_denied_total',
    help: 'Requests whose caller was not established, or may not',
    labels: ['reason'],
  })
  keepBytes(app)
  app.decorateRequest('caller')

  // Before the body is read: who shows nothing at all is not listened to.
  app.addHook('onRequest', async (request) => {
    request.caller = open ? ANYBODY : STRANGER
    if (open || isFree(request)) return
    const { headers } = request
    if (headers.authorization === undefined && !isSigned(headers)) {
      throw new Denied(refuse('caller_unknown'))
    }
  })
  app.addHook('preHandler', async (request) => {
    if (isFree(request)) return
    const { body, bytes, headers, method } = request
    if (body !== undefined && bytes === undefined && isSigned(headers)) {
      throw new Denied(refuse('signature_invalid'))
    }
    const url = targetOf(request, publicUrl)
    const established = await callers.establish({ method, url, headers, body: bytes })
    if (!established.ok) throw new Denied(established)
    request.caller = established.caller
    const { scope } = request.routeOptions.config
    const permitted = scope === undefined || permit(request.caller, scope)
    if (permitted !== true && !permitted.ok) throw new Denied(permitted)
  })
  app.addHook('onSend', async (_, reply) => {
    if (reply.statusCode === 401) reply.header('www-authenticate', CHALLENGE)
  })
  app.addHook('onResponse', async (request, reply) => {
    if (reply.statusCode !== 401 && reply.statusCode !== 403) return
    const how = reply.statusCode === 401 ? 'unproven' : 'forbidden'
    denied.add({ reason: how })
    // Nobody can be told from another there, and nobody was authorised by anything.
    if (open) return
    const fact = denials.note(nameOf(request.caller), how, hub.now())
    if (fact === undefined) return
    try {
      await hub.keep.trail.append(fact, request.id as CorrelationId, fact.at)
    } catch (error) {
      request.log.warn({ err: error }, 'a denial could not be recorded')
    }
  })
}

const isFree = (request: FastifyRequest): boolean =>
  request.is404 || request.routeOptions.config.public === true

/** JSON is parsed as strictly as the server is set, from bytes that are kept for signatures. */
function keepBytes(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.decorateRequest('bytes')
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, bytes, done) => {
    request.bytes = bytes as Buffer
    void parse(request, bytes.toString('utf8'), done)
  })
}

/** D2. The `Host` field counts only where it names the very address that was dialled. */
function targetOf({ headers, raw, socket }: FastifyRequest, publicUrl?: string): string {
  const path = raw.url ?? '/'
  if (publicUrl !== undefined) return `${publicUrl.replace(/\/$/, '')}${path}`
  const { localAddress = '', localPort = 0 } = socket
  const address = localAddress.replace(/^::ffff:/, '')
  const dialled = `${address.includes(':') ? `[${address}]` : address}:${localPort}`
  const isLoopback = address === '::1' || address.startsWith('127.')
  const isLocal = isLoopback && headers.host === `localhost:${localPort}`
  return `http://${isLocal ? headers.host : dialled}${path}`
}
