/**
 * Opens the hub to its callers: who may come in, how often and how many, on which ports, and
 * whether what is said there can be overheard.
 *
 *   O1  With TLS nothing is served without it, and the address that callers sign for says so.
 *   O2  Every port has the same routes, bounds and certificates.
 */
import { lookup } from 'node:dns/promises'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Clock } from '@chimera/host/clock'
import type { Log } from '@chimera/host/log'
import type { Values } from '@chimera/host/settings/declare'
import type { Stop } from '@chimera/host/stop'
import { createSeenNonces, type SeenNonces } from '@chimera/identity/freshness'
import type { FastifyInstance } from 'fastify'
import type { Hub } from '../act/hub.ts'
import type { HUB_SETTINGS } from '../settings.ts'
import { createCallers } from './caller.ts'
import { createListeners, type Listeners } from './listen.ts'
import { createLoopWatch } from './overload.ts'
import { openRates } from './rates.ts'
import { createHttp, type ServerOptions } from './server.ts'
import { loadTls, type Tls, TlsUnusable, watchTls } from './tls.ts'

export type ServeOptions = {
  readonly settings: Values<typeof HUB_SETTINGS>
  readonly clock: Clock
  readonly log: Log
  readonly stop: Stop
  readonly extend?: (app: FastifyInstance) => void
}

/** What else the server needs, and this file does not know. */
export type ServeParts = Omit<
  ServerOptions,
  'hub' | 'log' | 'callers' | 'publicUrl' | 'listeners' | 'proxies' | 'rates' | 'load' | 'delayMs'
> & { readonly tls?: Tls | undefined }

/** Where it listens: the first is the one to tell. */
export type Served = { readonly address: string; readonly also: readonly string[] }

export async function serveHub(
  hub: Hub,
  options: ServeOptions,
  parts: ServeParts,
): Promise<Served> {
  const { settings, clock, log, stop } = options
  const { tls, ...others } = parts
  const listeners = createListeners(
    {
      requestMs: settings.requestTimeout,
      idleMs: settings.idleTimeout,
      connections: settings.maxConnections,
    },
    { metrics: others.metrics, tls },
  )
  const loop = createLoopWatch()
  stop.register({ name: 'loop watch', close: loop.close })
  const { tokens, agents, nonces } = hub.keep
  const rates = {
    perCaller: settings.requestsPerMinute,
    perStranger: settings.strangersPerMinute,
  }
  const app = createHttp({
    ...others,
    hub,
    log,
    callers: createCallers({
      tokens,
      holderOf: agents.withKey,
      now: clock.now,
      nonces: remembering(createSeenNonces(), nonces),
      ...(hub.key && { key: hub.key }),
    }),
    publicUrl: settings.publicUrl,
    listeners,
    proxies: settings.proxies,
    rates: openRates(hub, rates, options),
    load: { inFlight: settings.maxInFlight, delayMs: settings.maxDelay },
    delayMs: loop.delayMs,
  })
  options.extend?.(app)
  return listen(app, { ...options, listeners, scheme: tls === undefined ? 'http' : 'https' })
}

/** A replay at the same hub is found without asking the database. */
export function remembering(own: SeenNonces, shared: SeenNonces): SeenNonces {
  return {
    async remember(nonce, now) {
      const first = await own.remember(nonce, now)
      return first === 'fresh' ? shared.remember(nonce, now) : first
    },
  }
}

/** Before anything else is opened: what is wrong here is wrong at once. */
export async function openTls(options: ServeOptions): Promise<Tls | undefined> {
  const { settings, clock, log, stop } = options
  const { tlsCert: cert, tlsKey: key, clientCa, publicUrl } = settings
  if (cert === undefined && key === undefined && clientCa === undefined) return undefined
  if (cert === undefined || key === undefined) {
    throw new TlsUnusable('TLS needs both --tls-cert and --tls-key; --client-ca needs them too.')
  }
  if (publicUrl?.startsWith('http:')) {
    throw new TlsUnusable('The hub serves https:// only, so --public-url must begin with it.')
  }
  const tls = await loadTls({ cert, key, ...(clientCa !== undefined && { clientCa }) }, log)
  stop.register({ name: 'tls files', close: watchTls(tls, { clock }) })
  return tls
}

type Listening = ServeOptions & { readonly listeners: Listeners; readonly scheme: string }

async function listen(app: FastifyInstance, options: Listening): Promise<Served> {
  const { settings, stop, listeners, scheme, log } = options
  const { host, port } = settings.listen
  const [first = host, ...others] = await familiesOf(host)
  // Where it listens is said by whoever started it; Fastify's own line would be one too many.
  await app.listen({ host: first, port, listenTextResolver: () => 'listening' })
  stop.register({ name: 'http', close: () => app.close() })

  const also = async (place: { readonly host: string; readonly port: number }) => {
    const server = listeners.create((request, response) => app.routing(request, response))
    await listening(server, place)
    stop.register({
      name: `port ${place.port}`,
      close: () => new Promise<void>((closed) => void server.close(() => closed())),
    })
    return server
  }
  const own = placeOf(app.server)
  for (const each of others) {
    // A machine may know the name in a family that it cannot speak.
    await also({ host: each, port: own.port }).catch((error: unknown) =>
      log.debug({ err: error }, 'not listening in another address family'),
    )
  }
  const extra: string[] = []
  for (const each of settings.extraPorts) {
    extra.push(addressOf(scheme, placeOf(await also({ host: first, port: each }))))
  }
  return { address: addressOf(scheme, own), also: extra }
}

/** `localhost` is two addresses on most machines, and a caller may try either. */
async function familiesOf(host: string): Promise<readonly string[]> {
  if (host !== 'localhost') return [host]
  const found = await lookup(host, { all: true })
  return [...new Set(found.map(({ address }) => address))]
}

function listening(
  server: Server,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

function placeOf(server: Server): AddressInfo {
  return server.address() as AddressInfo
}

function addressOf(scheme: string, { address, family, port }: AddressInfo): string {
  return `${scheme}://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}
