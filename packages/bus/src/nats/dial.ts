/**
 * Dials a NATS server, and makes a link of the connection. The client's own reconnecting is turned
 * off: it forgets what it buffered with every try, and its clock and chance cannot be handed in.
 *
 *   N1  Credentials are shown only over TLS once TLS was asked for: a server that does not speak it
 *       is refused, whatever it claims.
 *   N2  A link exists only when everything planned does; a broker that cannot keep what must not be
 *       lost is as good as none.
 */
import { isIP } from 'node:net'
import { type JetStreamClient, type JetStreamManager, jetstream } from '@nats-io/jetstream'
import {
  connect,
  errors,
  type Msg,
  type NatsConnection,
  type NodeConnectionOptions,
} from '@nats-io/transport-node'
import { createAsking } from '../asking.ts'
import { Failure, reasonOf } from '../failure.ts'
import { createLifeline } from '../lifeline.ts'
import type { BusChance, BusClock, Dial, DialOptions, Link, Listened, Listening } from '../link.ts'
import type { Message } from '../message.ts'
import type { Bucket } from '../port.ts'
import { openBucket } from './buckets.ts'
import { authenticatorFrom, type GetCredentials } from './credentials.ts'
import { handOut } from './handing.ts'
import { deliveryOf, writeHeaders } from './headers.ts'
import { failureOf, headOf, makeStream, readAck, readStream } from './streams.ts'

export type NatsTls = {
  /** PEM: whose certificates are believed, instead of the system's. */
  readonly ca?: string
  /** PEM: what this client shows of itself, where the server asks. */
  readonly cert?: string
  readonly key?: string
  /** Speaks TLS from the first byte, where the server is set to. */
  readonly handshakeFirst?: boolean
}

export type NatsOptions = {
  /** `nats://host:port`, or `tls://…` which insists on TLS; several for a cluster. */
  readonly addresses: readonly string[]
  readonly clock: BusClock
  readonly chance: BusChance
  /** What the server's own monitoring calls this client. */
  readonly name?: string
  readonly credentials?: GetCredentials
  readonly tls?: NatsTls
  /** Where answers come in; a grant allows one of its own. */
  readonly inbox?: string
  /** Off for clients that may not make streams, and only write into those of others. */
  readonly makesPlanned?: boolean
}

const CONNECT_MS = 5_000
// A connection that is dead without saying so is noticed within 30 s.
const PING_MS = 10_000
const PINGS_UNANSWERED = 2
const ADDRESS = /^(nats|tls):\/\/[^\s/@?#]+$/

export function createNatsDial(options: NatsOptions): Dial {
  const { addresses, tls } = options
  if (addresses.length === 0 || !addresses.every((each) => ADDRESS.test(each))) {
    // An address may hold a password, so it is not repeated.
    throw new Failure('address_malformed', 'expected nats://host:port or tls://host:port')
  }
  const secure = tls !== undefined || addresses.some((each) => each.startsWith('tls://'))
  if (secure && addresses.some(isNumbered)) {
    // The client would hold the certificate against the name "localhost".
    throw new Failure('address_malformed', 'TLS needs the name of a host, not its number')
  }

  return async (dialOptions) => {
    const connection = await connectTo(options, secure)
    try {
      return await createLink(connection, options, dialOptions)
    } catch (error) {
      await connection.close()
      throw failureOf(error, 'dialling')
    }
  }
}

function isNumbered(address: string): boolean {
  return isIP(new URL(address).hostname.replace(/^\[|\]$/g, '')) !== 0
}

async function connectTo(options: NatsOptions, secure: boolean): Promise<NatsConnection> {
  const { addresses, name, credentials, tls, inbox } = options
  const wanted: NodeConnectionOptions = {
    servers: [...addresses],
    reconnect: false,
    timeout: CONNECT_MS,
    pingInterval: PING_MS,
    maxPingOut: PINGS_UNANSWERED,
    noAsyncTraces: true,
    ...(name !== undefined && { name }),
    ...(inbox !== undefined && { inboxPrefix: inbox }),
    ...(secure && { tls: { ...tls } }),
    ...(credentials && { authenticator: await authenticatorFrom(credentials) }),
  }
  try {
    return await connect(wanted)
  } catch (cause) {
    throw new Failure('broker_away', reasonOf(cause), { cause })
  }
}

async function createLink(
  connection: NatsConnection,
  { clock, chance, inbox: prefix = '_INBOX', makesPlanned = true }: NatsOptions,
  { plans, messageBytes, requests, forbidden }: DialOptions,
): Promise<Link> {
  const carries = connection.info?.max_payload ?? 0
  if (carries < messageBytes) {
    throw new Failure('broker_lacking', `max_payload is ${carries}, wanted ${messageBytes}`)
  }
  const line = createLifeline()
  const gone = new AbortController()
  const inbox = `${prefix}.${Buffer.from(chance.bytes(12)).toString('hex')}`
  const asking = createAsking({ clock, inbox, most: requests, send })
  const closed = connection.closed()
  const lost = closed.then((error) => {
    const reason = error ? reasonOf(error) : 'the connection ended'
    gone.abort()
    asking.abandon(reason)
    line.cut(new Failure('broker_away', reason))
    return reason
  })

  function send({ subject, bytes, headers }: Message, reply?: string): void {
    if (gone.signal.aborted) return
    const written = writeHeaders(headers)
    connection.publish(subject, bytes, {
      ...(reply !== undefined && { reply }),
      ...(written && { headers: written }),
    })
  }

  function listen({ pattern, queue, deliver, refused }: Listening): Listened {
    const subscription = connection.subscribe(pattern, {
      ...(queue !== undefined && { queue }),
      callback: (error: Error | null, message: Msg) => {
        if (error === null) deliver(deliveryOf(message))
        else refused(failureOf(error, pattern))
      },
    })
    const over = (): boolean => subscription.isClosed() || gone.signal.aborted
    return {
      stop: () => {
        if (!over()) subscription.unsubscribe()
      },
      drain: async () => {
        if (!over()) await line.within(subscription.drain())
      },
    }
  }

  function hearAnswers(): void {
    connection.subscribe(`${inbox}.*`, {
      callback: (error: Error | null, message: Msg) => {
        if (error !== null) return forbidden(`answers under ${inbox}`)
        // The server itself says so when nobody listens.
        if (message.headers?.code === 503 && message.data.length === 0) {
          return asking.nobody(message.subject)
        }
        asking.answered(deliveryOf(message))
      },
    })
  }

  async function hearTrouble(): Promise<void> {
    for await (const status of connection.status()) {
      if (status.type !== 'error') continue
      const { error } = status
      if (!(error instanceof errors.PermissionViolationError)) continue
      forbidden(`${error.operation} on ${error.subject}`)
      if (error.operation === 'publish') asking.forbid(error.subject)
    }
  }

  hearAnswers()
  void hearTrouble()
  const client = jetstream(connection)
  const manager = await client.jetstreamManager(false)
  const buckets = new Map<string, Bucket>()
  if (makesPlanned) await line.within(makePlanned(client, manager, { plans, buckets }))

  return {
    send,
    listen,
    ask: asking.ask,
    append: async (message, withinMs) => {
      const accepts = (delivery: Parameters<typeof readAck>[0]) => readAck(delivery) !== undefined
      const answer = readAck(await asking.ask(message, { timeoutMs: withinMs, accepts }))
      if (answer instanceof Failure) throw answer
      if (answer === undefined) throw new Failure('broker_lacking', 'no acknowledgement')
      return answer
    },
    head: (stream) => line.within(headOf(manager, stream)),
    read: (stream, from, signal) => {
      const until = AbortSignal.any([signal, gone.signal])
      return readStream({ manager, client, stream, from, until })
    },
    handOut: (asked, signal) => {
      const until = AbortSignal.any([signal, gone.signal])
      return handOut({ ...asked, manager, client, until })
    },
    bucket: (name) => {
      const bucket = buckets.get(name)
      if (bucket === undefined) throw new Failure('bucket_unknown', name)
      return bucketWithin(bucket, line.within)
    },
    flush: () => line.within(connection.flush()),
    lost,
    close: async () => {
      await connection.close()
      await lost
    },
  }
}

type Made = { readonly plans: DialOptions['plans']; readonly buckets: Map<string, Bucket> }

async function makePlanned(
  client: JetStreamClient,
  manager: JetStreamManager,
  { plans, buckets }: Made,
): Promise<void> {
  for (const plan of plans.streams) await makeStream(manager, plan)
  for (const plan of plans.buckets) buckets.set(plan.name, await openBucket(client, manager, plan))
}

function bucketWithin(bucket: Bucket, within: <T>(promise: Promise<T>) => Promise<T>): Bucket {
  return {
    put: (key, bytes) => within(bucket.put(key, bytes)),
    add: (key, bytes) => within(bucket.add(key, bytes)),
    get: (key) => within(bucket.get(key)),
    remove: (key) => within(bucket.remove(key)),
    all: () => within(bucket.all()),
  }
}
