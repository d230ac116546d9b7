/**
 * The door of every route: who is asking is established before a handler runs.
 *
 *   D1  A route that does not call itself public needs a caller. Forgetting to say so closes it.
 *   D2  A signature is judged over the bytes that came and the address that the hub itself knows;
 *       what the caller says its target was is not believed, or a request signed for another hub
 *       would do.
 *   D3  A body of a kind whose bytes are not kept cannot be signed for.
 *   D4  Every denial is counted, and recorded once per caller and minute.
 *   D5  Nobody asks more often than its rate allows: who is established by its own name, strangers
 *       by their address. A stranger's is looked at before anything is verified or looked up, and
 *       a proof that fails is one of its requests.
 */
import type { Refused } from '@chimera/domain/decision'
import { refuse } from '@chimera/domain/decision'
import type { CorrelationId, Instant, KeyId } from '@chimera/domain/ids'
import type { Refusal } from '@chimera/domain/refusals'
import type { Scope } from '@chimera/domain/scopes'
import type { Metrics } from '@chimera/host/metrics'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { createDenialWatch } from '../act/alerts.ts'
import { ANYBODY, type Caller, nameOf, permit, STRANGER } from '../act/caller.ts'
import { createDenials } from '../act/denials.ts'
import type { Hub } from '../act/hub.ts'
import { type Callers, type Detached, isSigned } from './caller.ts'
import { originOf, type Paced, type Rate } from './rate.ts'
import type { Rates } from './rates.ts'
import { type Certificate, createCertificates } from './tls.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The body as it came, where it is JSON. */
    bytes: Buffer | undefined
    caller: Caller
    /** The stranger's rate is used up: only an established caller is let in. */
    pressed: boolean
  }
  interface FastifyContextConfig {
    readonly public?: boolean
    readonly scope?: Scope
    /** Asked by operators and load balancers, who must be answered when others are not. */
    readonly vital?: boolean
    /** The message itself proves who sent it: it is a stranger's only if it is not taken. */
    readonly proving?: boolean
    /** Takes a JWS over the body, and knows what the body says about it. */
    readonly detached?: (body: unknown) => DetachedTerms
  }
}

export type DetachedTerms = { readonly signedAt?: Instant; readonly unnamed?: KeyId }

/** For routes that anybody may ask: whether the hub is alive, and what agents publish. */
export const PUBLIC = { config: { public: true } } as const

/** For routes that anybody may ask at any time. */
export const VITAL = { config: { public: true, vital: true } } as const

/** For routes whose messages carry their sender's own signature. */
export const PROVING = { config: { public: true, proving: true } } as const

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
  readonly rates: Rates
}

/** Where a status feed's publisher puts its signature (X-9). */
const DETACHED_FIELD = 'x-signature'
const CHALLENGE = 'Bearer realm="chimera"'

export function guardAccess(app: FastifyInstance, options: AccessOptions): void {
  const { hub, callers, metrics, publicUrl, rates } = options
  const open = hub.key === undefined
  const denials = createDenials()
  const watchDenials = createDenialWatch(() => hub.alerts)
  const denied = metrics.counter({
    name: 'authorization_denied_total',
    help: 'Requests whose caller was not established, or may not',
    labels: ['reason'],
  })
  const limited = metrics.counter({
    name: 'http_rate_refused_total',
    help: 'Requests that came faster than their caller may ask',
    labels: ['who'],
  })
  const certificateOf = createCertificates()
  const { byCaller, byOrigin } = rates
  const takeAs = (rate: Rate, { ip }: FastifyRequest) => rate.take(originOf(ip), hub.now())
  const lookAt = ({ ip }: FastifyRequest) => byOrigin.look(originOf(ip), hub.now())

  function paced(who: 'caller' | 'stranger', pace: Paced): void {
    if (pace.ok) return
    if (pace.refusal === 'rate_exceeded') limited.add({ who })
    throw new Denied(pace)
  }

  keepBytes(app)
  app.decorateRequest('caller')
  app.decorateRequest('pressed', false)

  // Before the body is read: who shows nothing at all is not listened to.
  app.addHook('onRequest', async (request) => {
    request.caller = open ? ANYBODY : STRANGER
    const { vital = false, proving = false } = request.routeOptions.config
    if (open) {
      if (!vital) paced('caller', await takeAs(byCaller, request))
      return
    }
    const proof = proofIn(request, certificateOf(request.socket))
    if (isFree(request)) {
      if (vital) return
      const pace = proving ? lookAt(request) : await takeAs(byOrigin, request)
      request.pressed = !pace.ok && proof !== 'none'
      if (!request.pressed) paced('stranger', pace)
      return
    }
    if (proof === 'none') {
      paced('stranger', await takeAs(byOrigin, request))
      throw new Denied(refuse('caller_unknown'))
    }
    // A certificate was verified with the connection; looking up a token costs little. So nobody
    // at the same address can lock those out, nor whoever reads the metrics.
    const isCheap = proof === 'certificate' || (vital && proof === 'token')
    if (!isCheap) paced('stranger', lookAt(request))
  })
  app.addHook('preHandler', async (request) => {
    if (isFree(request) && !request.pressed) return
    const { body, bytes, headers, method } = request
    if (body !== undefined && bytes === undefined && isSigned(headers)) {
      throw new Denied(refuse('signature_invalid'))
    }
    const url = targetOf(request, publicUrl)
    const established = await callers.establish({
      method,
      url,
      headers,
      body: bytes,
      certificate: certificateOf(request.socket),
      detached: detachedIn(request),
    })
    if (!established.ok) {
      // Another hub may know of more than this one did before it verified.
      paced('stranger', await takeAs(byOrigin, request))
      if (request.pressed) return
      throw new Denied(established)
    }
    const { vital, scope } = request.routeOptions.config
    if (!open && !vital) {
      paced('caller', await byCaller.take(nameOf(established.caller), hub.now()))
    }
    // On a public route who it is only counts for the rate.
    if (request.pressed) return
    request.caller = established.caller
    const permitted = scope === undefined || permit(request.caller, scope)
    if (permitted !== true && !permitted.ok) throw new Denied(permitted)
  })
  app.addHook('onSend', async (request, reply) => {
    if (reply.statusCode === 401) reply.header('www-authenticate', CHALLENGE)
    const isTaken = reply.statusCode < 400 || reply.statusCode >= 500
    const { proving } = request.routeOptions.config
    // Before the answer goes out, so that the next one finds it counted.
    if (proving && !open && !isTaken) await takeAs(byOrigin, request)
  })
  app.addHook('onResponse', async (request, reply) => {
    if (reply.statusCode !== 401 && reply.statusCode !== 403) return
    const how = reply.statusCode === 401 ? 'unproven' : 'forbidden'
    denied.add({ reason: how })
    // Nobody can be told from another there, and nobody was authorised by anything.
    if (open) return
    watchDenials(hub.now())
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

/** What a request shows to prove who sent it, told apart by what looking at it costs. */
function proofIn(
  request: FastifyRequest,
  certificate: Certificate | undefined,
): 'certificate' | 'token' | 'signature' | 'none' {
  const { headers } = request
  if (isSigned(headers) || detachedIn(request) !== undefined) return 'signature'
  // One that is not believed is looked at too, and refused by its own name.
  if (certificate !== undefined) return 'certificate'
  return headers.authorization === undefined ? 'none' : 'token'
}

function detachedIn({ headers, body, routeOptions }: FastifyRequest): Detached | undefined {
  const { detached } = routeOptions.config
  const text = headers[DETACHED_FIELD]
  if (detached === undefined || text === undefined) return undefined
  // Two lines of it are none that fits.
  return { text: String(text), ...detached(body) }
}

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
const targetOf = (request: FastifyRequest, publicUrl?: string): string =>
  `${hubAddress(request, publicUrl)}${request.raw.url ?? '/'}`

/** Where the hub is, as its caller knows it: not by what the caller says of it. */
export function hubAddress({ headers, socket }: FastifyRequest, publicUrl?: string): string {
  if (publicUrl !== undefined) return publicUrl.replace(/\/$/, '')
  const { localAddress = '', localPort = 0 } = socket
  const address = localAddress.replace(/^::ffff:/, '')
  const dialled = `${address.includes(':') ? `[${address}]` : address}:${localPort}`
  const isLoopback = address === '::1' || address.startsWith('127.')
  const isLocal = isLoopback && headers.host === `localhost:${localPort}`
  const scheme = 'encrypted' in socket ? 'https' : 'http'
  return `${scheme}://${isLocal ? headers.host : dialled}`
}
