/**
 * Opens a connection to a host that a stranger named.
 *
 *   G1  The name is resolved once; every address that comes back must be allowed, and one of those
 *       very addresses is dialled. A name that changes its answer in between changes nothing.
 *   G2  One refused address refuses the name: who mixes public and private ones is trying.
 *   G3  Resolving, connecting and securing share one time bound. An address that hangs does not
 *       use up the time of the next.
 *   G4  The certificate must be that of the name, or of the address if no name was given.
 */
import { lookup } from 'node:dns/promises'
import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls, type SecureContextOptions } from 'node:tls'
import type { Clock } from '../clock.ts'
import { checkAddress } from './address.ts'
import type { Allowance } from './allowance.ts'
import { codeOf, GuardFailure } from './failure.ts'
import { isWebPort } from './ports.ts'

/** Every address of a name. */
export type Resolve = (host: string) => Promise<readonly string[]>

/** Certificates: whom to believe beside the system's authorities, and who we are (mTLS). */
export type ClientTls = Pick<SecureContextOptions, 'ca' | 'cert' | 'key' | 'passphrase'>

export type Place = { readonly host: string; readonly port: number; readonly secure: boolean }

export type DialOptions = {
  readonly clock: Clock
  readonly allowance: Allowance
  readonly resolve: Resolve
  readonly connectMs: number
  readonly tls: ClientTls
  /** Gives up when aborted. */
  readonly signal: AbortSignal
}

// A name with more addresses than this has them for load, and the first few will do.
const MOST_TRIED = 4

export async function resolveBySystem(host: string): Promise<readonly string[]> {
  const found = await lookup(host, { all: true, order: 'verbatim' })
  return found.map(({ address }) => address)
}

export async function dial(place: Place, options: DialOptions): Promise<Socket> {
  const { clock, connectMs } = options
  const until = clock.now() + connectMs
  const addresses = await checkedAddresses(place, options)
  const tried = addresses.slice(0, MOST_TRIED)
  let last: unknown
  for (const [index, address] of tried.entries()) {
    const ms = (until - clock.now()) / (tried.length - index)
    try {
      return await within(ms, options, (signal) => open(address, place, options.tls, signal))
    } catch (error) {
      last = error
      if (isFinal(error) || options.signal.aborted) break
    }
  }
  throw last
}

export async function checkedAddresses(
  place: Place,
  options: DialOptions,
): Promise<readonly string[]> {
  const { host, port } = place
  const { allowance, connectMs } = options
  const found = isIP(host)
    ? [host]
    : await within(connectMs, options, () => resolved(host, options))
  if (found.length === 0) throw new GuardFailure('network', `${host} has no address`)
  return found.map((text) => {
    const checked = checkAddress(text, allowance)
    if (!checked.ok) {
      throw new GuardFailure('refused_address', `${host} is ${text}: ${checked.why}`)
    }
    if (!checked.listed && !isWebPort(port)) {
      throw new GuardFailure('refused_address', `port ${port} is not one for the web`)
    }
    return checked.address
  })
}

async function resolved(host: string, { resolve }: DialOptions): Promise<readonly string[]> {
  try {
    return await resolve(host)
  } catch (error) {
    throw new GuardFailure('network', `${host} was not resolved: ${codeOf(error)}`, error)
  }
}

/** What another address of the same host would not mend. */
function isFinal(error: unknown): boolean {
  return error instanceof GuardFailure && error.code === 'tls'
}

/** Runs one step under a time bound and under the signal; both end it, and what it holds open. */
async function within<T>(
  ms: number,
  { clock, signal }: DialOptions,
  step: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const over = new AbortController()
  const stop = (): void => over.abort(signal.reason)
  if (signal.aborted) stop()
  signal.addEventListener('abort', stop, { once: true })
  const timer = clock.after(ms, () => {
    over.abort(new GuardFailure('timeout', 'not connected in time'))
  })
  try {
    return await Promise.race([step(over.signal), aborted(over.signal)])
  } finally {
    timer.cancel()
    signal.removeEventListener('abort', stop)
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}

async function open(
  address: string,
  place: Place,
  tls: ClientTls,
  signal: AbortSignal,
): Promise<Socket> {
  // A literal address is not looked up again (G1).
  const plain = connectTcp({ host: address, port: place.port, noDelay: true, keepAlive: true })
  await ready(plain, 'connect', signal).catch((error: unknown) => {
    throw toFailure(error, 'network', `${place.host} (${address}) port ${place.port}`)
  })
  if (!place.secure) return plain
  const secured = connectTls({
    ...tls,
    socket: plain,
    host: place.host,
    // The name is for certificates only; an address is not a name that could be indicated.
    ...(isIP(place.host) ? {} : { servername: place.host }),
    ALPNProtocols: ['http/1.1'],
    minVersion: 'TLSv1.2',
    rejectUnauthorized: true,
  })
  await ready(secured, 'secureConnect', signal).catch((error: unknown) => {
    throw toFailure(error, 'tls', place.host)
  })
  return secured
}

/** Waits for the event; on an error or the signal nothing is left open. */
function ready(socket: Socket, event: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (error: unknown): void => {
      signal.removeEventListener('abort', stop)
      // An error may follow the first one; it has been told already.
      socket.on('error', () => {})
      socket.destroy()
      reject(error)
    }
    const stop = (): void => end(signal.reason)
    socket.once('error', end)
    socket.once(event, () => {
      signal.removeEventListener('abort', stop)
      socket.off('error', end)
      resolve()
    })
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })
}

function toFailure(error: unknown, code: 'network' | 'tls', detail: string): GuardFailure {
  if (error instanceof GuardFailure) return error
  const message = error instanceof Error ? error.message : String(error)
  return new GuardFailure(code, `${detail}: ${codeOf(error)} ${message}`, error)
}
