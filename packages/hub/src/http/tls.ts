/**
 * The hub's own certificate, and the certificates of those who call it.
 *
 *   L1  The files are read again and again; a changed one takes effect for new connections, without
 *       a restart. While a file is missing or does not fit, the last good ones stay in force.
 *   L2  When the authority of the callers changes, connections that were believed by the old one
 *       end: what it vouched for has to be shown again.
 *   L3  Who shows no certificate is heard all the same, and has to prove itself otherwise. Who
 *       shows one that does not hold is refused (caller.ts), and not taken for somebody without.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Server } from 'node:https'
import type { Socket } from 'node:net'
import { createSecureContext, TLSSocket } from 'node:tls'
import type { Instant, PublicKey } from '@chimera/domain/ids'
import type { Clock } from '@chimera/host/clock'
import type { Log } from '@chimera/host/log'
import { decodePublicKey } from '@chimera/identity/keys'

export type TlsFiles = {
  readonly cert: string
  readonly key: string
  /** The authority whose certificates name callers; without it none are asked for. */
  readonly clientCa?: string
}

/** What a caller's certificate says, if it shows one. */
export type Certificate = {
  /** It leads to the authority, and the caller has its private key. */
  readonly believed: boolean
  readonly from: Instant
  readonly until: Instant
  /** Absent where it is no Ed25519 key: such a certificate names nobody here. */
  readonly publicKey?: PublicKey
}

export type Refreshed = 'same' | 'changed' | 'failed'

export type Tls = {
  readonly options: () => TlsOptions
  /** From now on the server has whatever the files say. */
  readonly attach: (server: Server) => void
  readonly refresh: () => Promise<Refreshed>
}

type TlsOptions = Contents & {
  readonly minVersion: 'TLSv1.2'
  readonly requestCert: boolean
  readonly rejectUnauthorized: false
}

type Contents = { readonly cert: string; readonly key: string; readonly ca?: string }

export class TlsUnusable extends Error {
  readonly code = 'tls_unusable'
}

/** Rejects when the files cannot be used: a hub must not start without what it was told to use. */
export async function loadTls(files: TlsFiles, log: Log): Promise<Tls> {
  const servers = new Set<Server>()
  let contents = await read(files)

  async function refresh(): Promise<Refreshed> {
    try {
      const found = await read(files)
      const { cert, key, ca } = contents
      if (found.cert === cert && found.key === key && found.ca === ca) return 'same'
      contents = found
      for (const server of servers) server.setSecureContext(optionsOf(contents))
      if (found.ca !== ca) for (const server of servers) server.emit(AUTHORITY_CHANGED)
      log.info('the TLS files have changed and are in use')
      return 'changed'
    } catch (error) {
      log.warn({ err: error }, 'the TLS files cannot be used; the last good ones stay')
      return 'failed'
    }
  }

  return {
    options: () => optionsOf(contents),
    refresh,
    attach(server) {
      servers.add(server)
      const believed = new Set<Socket>()
      server.on('secureConnection', (socket) => {
        if (!socket.authorized) {
          clearErrors(socket)
          return
        }
        believed.add(socket)
        socket.once('close', () => believed.delete(socket))
      })
      server.on(AUTHORITY_CHANGED, () => {
        for (const socket of believed) socket.destroy()
      })
      server.once('close', () => servers.delete(server))
    },
  }
}

/**
 * A chain that does not verify leaves an error with OpenSSL, which the next read takes for its own:
 * a good request was answered as one that cannot be read. Looking at the certificate clears it.
 */
function clearErrors(socket: TLSSocket): void {
  socket.getPeerX509Certificate()
}

const AUTHORITY_CHANGED = 'authority changed'

function optionsOf(contents: Contents): TlsOptions {
  // TLS 1.2 is the oldest that is not broken.
  const { ca } = contents
  return {
    ...contents,
    minVersion: 'TLSv1.2',
    requestCert: ca !== undefined,
    rejectUnauthorized: false,
  }
}

async function read({ cert, key, clientCa }: TlsFiles): Promise<Contents> {
  const contents: Contents = {
    cert: await readText('tlsCert', cert),
    key: await readText('tlsKey', key),
    ...(clientCa !== undefined && { ca: await readText('clientCa', clientCa) }),
  }
  try {
    createSecureContext(contents)
    if (contents.ca !== undefined) void new X509Certificate(contents.ca)
    // OpenSSL takes a key of another certificate without a word, and then fails every handshake.
    if (new X509Certificate(contents.cert).checkPrivateKey(createPrivateKey(contents.key))) {
      return contents
    }
  } catch (cause) {
    throw new TlsUnusable(`The TLS files cannot be used: ${reasonOf(cause)}`, { cause })
  }
  throw new TlsUnusable('tlsKey is not the key of the certificate in tlsCert.')
}

async function readText(setting: string, file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (cause) {
    throw new TlsUnusable(`${setting}: the file cannot be read: ${reasonOf(cause)}`, { cause })
  }
}

const reasonOf = (cause: unknown) => (cause instanceof Error ? cause.message : String(cause))

// A new certificate is valid beside the old one for days; half a minute is soon.
const LOOK_MS = 30_000

/** Looks at the files until the hub stops. */
export function watchTls(tls: Tls, { clock }: { readonly clock: Clock }): () => void {
  let stopped = false
  const look = async () => {
    await tls.refresh()
    if (!stopped) timer = clock.after(LOOK_MS, () => void look())
  }
  let timer = clock.after(LOOK_MS, () => void look())
  return () => {
    stopped = true
    timer.cancel()
  }
}

export type CertificateOf = (socket: Socket) => Certificate | undefined

/** Read once per connection: a certificate does not change while it lasts. */
export function createCertificates(): CertificateOf {
  const shown = new WeakMap<Socket, Certificate | 'none'>()
  return (socket) => {
    if (!(socket instanceof TLSSocket)) return undefined
    const known = shown.get(socket)
    if (known !== undefined) return known === 'none' ? undefined : known
    const certificate = readCertificate(socket)
    shown.set(socket, certificate ?? 'none')
    return certificate
  }
}

function readCertificate(socket: TLSSocket): Certificate | undefined {
  const certificate = socket.getPeerX509Certificate()
  if (certificate === undefined) return undefined
  const { validFrom, validTo, publicKey } = certificate
  const isEd25519 = publicKey.asymmetricKeyType === 'ed25519'
  const key = isEd25519 ? decodePublicKey(publicKey.export({ format: 'jwk' }).x) : undefined
  return {
    believed: socket.authorized,
    from: Date.parse(validFrom),
    until: Date.parse(validTo),
    ...(key !== undefined && { publicKey: key }),
  }
}
