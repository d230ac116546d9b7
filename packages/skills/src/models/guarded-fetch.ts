/**
 * The `fetch` that an SDK is given: the guarded client, bound to one model's address.
 *
 *   G1  Only the host of the model's own address is dialled, and no redirect is followed: a key
 *       goes nowhere else.
 *   G2  The key is put on the request here, as it is valid now. The SDK never has it, so nothing
 *       that the SDK throws, keeps or logs can hold it.
 *   G3  A key goes over a secure connection, or to a network that the user has allowed.
 *   G4  An address on this machine is allowed by being configured; one in a private network must be
 *       allowed in so many words (`allowNet`).
 */
import type { Clock } from '@chimera/host/clock'
import { createGuardedClient, type GuardedClient } from '@chimera/host/guarded/client'
import type { Secret } from '@chimera/host/settings/secret'
import { ModelFailure } from './model.ts'

export type FetchSettings = {
  /** The model's base address. */
  readonly url: string
  readonly key?: Secret
  /** How the provider wants the key. */
  readonly keyHeader: (key: string) => readonly [name: string, value: string]
  readonly allowNet?: readonly string[]
}

export type GuardedFetch = {
  readonly fetch: typeof globalThis.fetch
  readonly close: () => Promise<void>
}

// The question's own limit is always shorter; these end what no limit of ours would.
const LONGEST_MS = 120_000
// A thousand words are some 6 KB; what is larger is not the answer to any question of ours.
const ANSWER_BYTES = 512 * 1024
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/
const KEY = /^[\x21-\x7e]{1,1024}$/
const NEEDED = new Set(['user-agent', 'content-type', 'accept'])

export function createGuardedFetch(settings: FetchSettings, clock: Clock): GuardedFetch {
  const base = readBase(settings)
  const client: GuardedClient = createGuardedClient({
    clock,
    allowNet: [...(settings.allowNet ?? []), ...(isLoopback(base) ? ['localhost'] : [])],
    onlyHosts: [base.hostname.replace(/^\[|\]$/g, '')],
    limits: {
      headersMs: LONGEST_MS,
      pauseMs: LONGEST_MS,
      totalMs: LONGEST_MS,
      bodyBytes: ANSWER_BYTES,
      redirects: 0,
    },
  })

  return {
    async fetch(input, init = {}) {
      const { body, signal, headers } = init
      if (typeof body !== 'string') throw new ModelFailure('unusable', 'a body that is no text')
      const outcome = await client.request({
        url: input instanceof Request ? input.url : input.toString(),
        method: 'POST',
        headers: headersFor(settings, headers),
        body,
        ...(signal && { signal }),
      })
      if (!outcome.ok) throw failureOf(outcome.failure.code)
      const { status } = outcome
      // A page without a body may not be given one.
      const text = status === 204 || status === 304 ? null : Buffer.from(outcome.body)
      return new Response(text, { status, headers: { ...outcome.headers } })
    },
    close: () => client.close(AbortSignal.abort()),
  }
}

/** G3, G4. */
function readBase({ url, key, allowNet = [] }: FetchSettings): URL {
  if (!URL.canParse(url)) throw new ModelFailure('bad_address', 'it is not an address')
  const base = new URL(url)
  const isPlain = base.protocol === 'http:'
  if (base.protocol !== 'https:' && !isPlain) {
    throw new ModelFailure('bad_address', 'it must begin with https:// or http://')
  }
  if (base.username !== '' || base.password !== '' || base.search !== '') {
    throw new ModelFailure('bad_address', 'it must not carry a name, a password or a query')
  }
  if (isPlain && key !== undefined && !isLoopback(base) && allowNet.length === 0) {
    throw new ModelFailure('bad_address', 'a key goes over https:// only')
  }
  return base
}

const isLoopback = ({ hostname }: URL): boolean => LOOPBACK.test(hostname)

/** Only what the provider needs to read the request; the SDK adds more about itself. */
function headersFor(
  { key, keyHeader }: FetchSettings,
  headers: RequestInit['headers'],
): Readonly<Record<string, string>> {
  const given = [...new Headers(headers ?? {})].filter(([name]) => NEEDED.has(name))
  const shown = key?.reveal()
  if (shown !== undefined && !KEY.test(shown)) {
    throw new ModelFailure('no_key', 'what was given cannot be a key')
  }
  const [name, value] = shown === undefined ? [] : keyHeader(shown)
  return { ...Object.fromEntries(given), ...(name && value !== undefined && { [name]: value }) }
}

function failureOf(code: string): ModelFailure {
  if (code === 'refused_address') {
    return new ModelFailure('bad_address', 'it may not be dialled from here; allow its network')
  }
  if (code === 'too_many_redirects') return new ModelFailure('bad_address', 'it redirects')
  if (code === 'too_large') return new ModelFailure('unusable', 'larger than an answer may be')
  return new ModelFailure(code === 'timeout' ? 'timeout' : 'unavailable', code)
}
