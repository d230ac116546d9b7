/**
 * The way to the status feed (SF-6): one address, one way to prove who publishes, no other host.
 *
 *   F1  Certificates, token and key are asked for at each attempt, so that they rotate without a
 *       restart.
 *   F2  Without TLS the feed is on this machine only: a token or a status does not cross a network
 *       in the clear.
 *   F3  Nothing is redirected, and the server's certificate must be that of the address.
 */
import { readFileSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { PublishOutcome } from '@chimera/domain/voice/publishing'
import type { Clock } from '@chimera/host/clock'
import { createGuardedClient, type Outcome } from '@chimera/host/guarded/client'
import type { ClientTls } from '@chimera/host/guarded/dial'
import { signDetached } from '@chimera/identity/detached-jws'
import type { KeyPair } from '@chimera/identity/keys'

export type FeedAuth =
  /** The production's choice: our certificate, and whom we believe; see `tlsFromFiles`. */
  | { readonly by: 'mtls'; readonly tls: () => ClientTls }
  /** See `secretFromFile`. */
  | { readonly by: 'bearer'; readonly token: () => string | Promise<string> }
  /** A signature over the body in `X-Signature`, by this key; the agent's own unless given. */
  | { readonly by: 'jws'; readonly key?: () => KeyPair }
  /** A proxy on this machine that asks for nothing. */
  | { readonly by: 'nobody' }

export type FeedDoor = {
  readonly post: (body: string, signal: AbortSignal) => Promise<Posted>
  readonly close: (signal?: AbortSignal) => Promise<void>
}

export type Posted = {
  readonly outcome: PublishOutcome
  /** A word for the log, where it was not taken. */
  readonly error?: string
}

export type FeedDoorOptions = {
  /** Such as `https://openclaw.example.org/ingest/chimera-status`. */
  readonly url: string
  readonly auth: FeedAuth
  /** Whom to believe beside the system's authorities, where no certificate of ours is shown. */
  readonly tls?: () => ClientTls
  /** The agent's own. */
  readonly key: () => KeyPair
  readonly clock: Clock
}

// A change is to arrive within five seconds; who takes longer to answer is tried again.
const ATTEMPT_MS = 5_000
const ANSWER_BYTES = 16 * 1024

/** Throws for a setting that cannot work, in one sentence. */
export function openFeedDoor({ url, auth, tls, key, clock }: FeedDoorOptions): FeedDoor {
  const host = readFeedAddress(url, auth)
  const shown = auth.by === 'mtls' ? auth.tls : tls
  const http = createGuardedClient({
    clock,
    // The operator named the address, so it may be anywhere, but only there.
    allowNet: ['*'],
    onlyHosts: [host],
    limits: {
      connectMs: ATTEMPT_MS,
      headersMs: ATTEMPT_MS,
      totalMs: ATTEMPT_MS,
      bodyBytes: ANSWER_BYTES,
      redirects: 0,
    },
    ...(shown && { tls: shown }),
  })

  async function proofOf(body: string): Promise<Record<string, string>> {
    switch (auth.by) {
      case 'bearer':
        return { authorization: `Bearer ${(await auth.token()).trim()}` }
      case 'jws':
        return { 'x-signature': signDetached(Buffer.from(body), (auth.key ?? key)()) }
      default:
        return {}
    }
  }

  return {
    post: async (body, signal) => {
      const headers = { 'content-type': 'application/json', ...(await proofOf(body)) }
      return read(await http.request({ url, method: 'POST', headers, body, signal }))
    },
    close: (signal) => http.close(signal),
  }
}

function read(answer: Outcome): Posted {
  if (!answer.ok) {
    const { code } = answer.failure
    // Somebody did answer, and named another place.
    if (code === 'too_many_redirects') {
      return { outcome: { type: 'answered', status: 302 }, error: 'redirect' }
    }
    return { outcome: { type: 'unanswered' }, error: code }
  }
  const { status, body } = answer
  const outcome = { type: 'answered', status } as const
  return status >= 200 && status < 300 ? { outcome } : { outcome, error: codeIn(body) }
}

/** Of the receiver's JSON error only the code is kept: what else it says is a stranger's text. */
function codeIn(body: Uint8Array): string {
  try {
    const said: unknown = JSON.parse(Buffer.from(body).toString())
    if (typeof said === 'object' && said !== null && 'code' in said) {
      return String(said.code).slice(0, 64)
    }
  } catch {
    // Not JSON: the status alone tells.
  }
  return 'refused'
}

const THIS_MACHINE = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/

function readFeedAddress(text: string, auth: FeedAuth): string {
  if (!URL.canParse(text)) throw new TypeError('feed.url: expected an address')
  const { protocol, hostname, username, password } = new URL(text)
  if (username !== '' || password !== '') throw new TypeError('feed.url: holds a password')
  if (protocol !== 'https:' && protocol !== 'http:') {
    throw new TypeError(`feed.url: expected https, got ${protocol}`)
  }
  if (protocol === 'http:' && auth.by === 'mtls') {
    throw new TypeError('feed.url: mTLS needs https')
  }
  const here = THIS_MACHINE.test(hostname)
  if (protocol === 'http:' && !here) {
    throw new TypeError('feed.url: http is for this machine only; use https')
  }
  if (auth.by === 'nobody' && !here) {
    throw new TypeError('feed.auth: only a proxy on this machine may ask for nothing')
  }
  return hostname
}

/** A secret as it stands in its file now: whoever rotates it writes the file anew. */
export function secretFromFile(path: string): () => Promise<string> {
  return async () => (await readFile(path, 'utf8')).trim()
}

export type TlsFiles = { readonly cert: string; readonly key: string; readonly ca?: string }

/** The same object as long as the files are the same, so that connections last. */
export function tlsFromFiles(files: TlsFiles): () => ClientTls {
  const paths = [files.cert, files.key, ...(files.ca === undefined ? [] : [files.ca])]
  let kept: { readonly stamp: string; readonly tls: ClientTls } | undefined
  return () => {
    const stamp = paths.map((path) => stampOf(path)).join()
    if (kept?.stamp !== stamp) {
      const tls: ClientTls = {
        cert: readFileSync(files.cert),
        key: readFileSync(files.key),
        ...(files.ca !== undefined && { ca: readFileSync(files.ca) }),
      }
      kept = { stamp, tls }
    }
    return kept.tls
  }
}

function stampOf(path: string): string {
  const { mtimeMs, size, ino } = statSync(path)
  return `${ino}/${mtimeMs}/${size}`
}
