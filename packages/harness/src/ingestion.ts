/**
 * A status feed's receiver for tests (SF-7, SF-12): takes what is right, refuses what is not,
 * remembers all of it, and answers, hangs or cuts as it is told.
 *
 *   G1  What it is told to answer comes first; then who publishes is proven, then the schema.
 *   G2  A message counts once, and never goes back in its sender's time; a repeat is accepted.
 *   G3  It listens on a loopback address only.
 */
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { TLSSocket } from 'node:tls'
import * as feed from '@chimera/dialects/feed'
import type { Alias, Instant, KeyId, PublicKey } from '@chimera/domain/ids'
import {
  applyIngest,
  decideIngest,
  type Heard,
  NOTHING_HEARD,
} from '@chimera/domain/presence/ingest'
import { createClock } from '@chimera/host/clock'
import { verifyDetached } from '@chimera/identity/detached-jws'
import { createKeyring } from '@chimera/identity/keyring'
import { keyIdOf } from '@chimera/identity/keys'
import { answerWith } from './fault-proxy.ts'
import { askedIn, close, listen, readBody } from './listening.ts'
import { type Asked, type Plan, type Planned, readPlan } from './plan.ts'

/** A status to answer with, `take` for what a receiver would say by itself, or no answer. */
export type Answering = 'take' | number | 'hang' | 'cut'

export type IngestionAuth =
  | { readonly by: 'nobody' }
  /** The token that counts now. */
  | { readonly by: 'bearer'; readonly token: () => string }
  /** A signature of one of these keys over the body, in `X-Signature`. */
  | { readonly by: 'jws'; readonly keys: () => readonly PublicKey[] }
  /** A certificate of this authority. Needs `tls`. */
  | { readonly by: 'mtls'; readonly ca: string }

export type IngestionOptions = {
  /** Default: nobody has to prove anything. */
  readonly auth?: IngestionAuth
  /** Its own certificate; with it only https:// is served. */
  readonly tls?: { readonly cert: string; readonly key: string }
  /** Default: takes what is right. */
  readonly answer?: Plan<Answering>
  readonly now?: () => Instant
  readonly port?: number
}

export type Received = Asked & {
  readonly at: Instant
  /** The status that was answered, or that none was. */
  readonly answered: number | 'hang' | 'cut'
  /** Absent where it was answered as told, and not looked at. */
  readonly verdict?: 'observed' | 'duplicate' | 'outdated' | 'refused'
  /** Who published, where that was proven: a certificate's name, or a key's. */
  readonly publisher?: string
  /** The message, where it is one. */
  readonly message?: feed.schema.Status
}

export type Ingestion = {
  /** Where to post: with the path. */
  readonly url: string
  readonly seen: readonly Received[]
  /** The statuses that were taken, in the order of their coming. */
  readonly statuses: (agent?: string) => readonly feed.schema.StatusWord[]
  /** From now on. */
  readonly answer: (plan: Plan<Answering>) => void
  readonly close: () => Promise<void>
}

const PATH = '/ingest/chimera-status'

/** A receiver of the status feed on this machine, listening by the time it is handed over. */
export async function createIngestion(options: IngestionOptions = {}): Promise<Ingestion> {
  const { auth = { by: 'nobody' }, tls, now = createClock().now } = options
  if (auth.by === 'mtls' && tls === undefined) throw new TypeError('mtls: needs tls as well')
  const seen: Received[] = []
  const heard = new Map<Alias, Heard>()
  const prove = createProof(auth)
  let planned: Planned<Answering> = readPlan(options.answer ?? 'take', 'take')

  type Judged = Pick<Received, 'verdict' | 'publisher' | 'message'> & {
    readonly status: number
    readonly says: object
  }

  async function judge(request: IncomingMessage, body: Buffer): Promise<Judged> {
    const refused = (status: number, code: string, details: object = {}) =>
      ({
        status,
        verdict: 'refused',
        says: { code, message: 'Not taken.', retryable: false, details },
      }) as const
    if (request.method !== 'POST' || request.url !== PATH) return refused(404, 'unknown')
    const publisher = await prove(request, body)
    if (publisher === undefined) return refused(401, 'unauthenticated')
    const read = feed.readStatus(parse(body))
    if (!read.ok) return { ...refused(400, 'schema_violation', read.particulars), publisher }
    const report = read.value
    const before = heard.get(report.alias) ?? NOTHING_HEARD
    const decision = decideIngest(before, { report }, now())
    if (!decision.ok) return { ...refused(425, decision.refusal), publisher }
    heard.set(report.alias, decision.facts.reduce(applyIngest, before))
    const says = feed.encodeAccepted(report.message, decision.facts)
    const message = feed.encodeReport(report)
    return { status: 202, says, verdict: says.result, message, publisher }
  }

  const serve: RequestListener = (request, reply) => {
    void (async () => {
      const body = await readBody(request)
      if (body === undefined) {
        reply.destroy()
        return
      }
      const asked = askedIn(request, body)
      const told = planned(asked)
      const common = { ...asked, at: now() }
      if (told !== 'take') {
        const message = feed.readStatus(parse(body))
        const what = message.ok ? { message: feed.encodeReport(message.value) } : {}
        seen.push({ ...common, answered: told, ...what })
        if (told === 'cut') reply.destroy()
        else if (told !== 'hang') answerWith(reply, told)
        return
      }
      const { status, says, ...judged } = await judge(request, body)
      seen.push({ ...common, answered: status, ...judged })
      reply.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(says))
    })()
  }
  const shown = auth.by === 'mtls' ? { ca: auth.ca, requestCert: true } : {}
  const server = tls
    ? createTlsServer({ ...tls, ...shown, rejectUnauthorized: false }, serve)
    : createServer(serve)
  const port = await listen(server, options.port)

  return {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}${PATH}`,
    seen,
    statuses: (agent) =>
      seen.flatMap(({ verdict, message }) =>
        verdict === 'observed' && message && (agent ?? message.agent_id) === message.agent_id
          ? [message.status]
          : [],
      ),
    answer: (plan) => {
      planned = readPlan(plan, 'take')
    },
    close: () => close(server),
  }
}

type Proof = (request: IncomingMessage, body: Buffer) => Promise<string | undefined>

/** Who published; undefined where that is not proven. */
function createProof(auth: IngestionAuth): Proof {
  switch (auth.by) {
    case 'nobody':
      return async () => ''
    case 'bearer':
      return async ({ headers }) =>
        headers.authorization === `Bearer ${auth.token()}` ? 'the token' : undefined
    case 'mtls':
      return async ({ socket }) =>
        socket instanceof TLSSocket && socket.authorized
          ? String(socket.getPeerCertificate().subject?.CN ?? '')
          : undefined
    case 'jws': {
      const keyring = createKeyring()
      return async ({ headers }, body) => {
        const byId = new Map(auth.keys().map((key) => [keyIdOf(key), key]))
        const policy = { keyOf: (id: KeyId) => byId.get(id), keyring }
        const verdict = await verifyDetached(String(headers['x-signature']), body, policy)
        return verdict.ok ? verdict.key : undefined
      }
    }
  }
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString())
  } catch {
    return undefined
  }
}
