/**
 * Asks a hub. The address is the user's own, so nothing is guarded here but the time that it takes
 * and the shape of what comes back.
 */
import { randomUUID } from 'node:crypto'
import { type Check, checker } from '@chimera/dialects/check'
import { ErrorBody } from '@chimera/dialects/error'
import { createClock } from '@chimera/host/clock'
import type { Secret } from '@chimera/host/settings/secret'
import { signRequest } from '@chimera/identity/http-signature'
import type { KeyPair } from '@chimera/identity/keys'
import { within } from './patience.ts'
import { plain } from './show.ts'
import { Trouble } from './trouble.ts'

// A hub answers in milliseconds; whoever waits this long waits for something else.
const PATIENCE_MS = 10_000

export type Sent = {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  readonly body?: unknown
  /** Who asks; without one, what CHIMERA_TOKEN says. */
  readonly token?: Secret | undefined
  /** Signs the request, as an agent does. */
  readonly key?: KeyPair | undefined
}

/** What the hub answers under this path, as it came; undefined where there is nothing to say. */
export async function askHub(hub: string, path: string, sent: Sent = {}): Promise<unknown> {
  const { status, text } = await send(hub, path, sent)
  if (status === 204) return undefined
  const body = parse(text)
  if (body === undefined) throw noHub(hub)
  if (status >= 200 && status < 300) return body
  const refusal = checker(ErrorBody)(body)
  if (!refusal.ok) throw noHub(hub)
  const { message, details, retry_after_seconds: wait } = refusal.message
  const issues = details?.issues ?? []
  throw new Trouble([
    plain(message),
    ...issues.map(({ path: at, expected, got }) =>
      plain(`${at}: expected ${expected}; got ${got}`),
    ),
    ...(wait === undefined ? [] : [`Ask again in ${wait} s.`]),
    ...(status === 401 ? ['A token is presented with --token-file or CHIMERA_TOKEN.'] : []),
  ])
}

/** The answer as what it should be; anything else comes from no hub that is known here. */
export function understand<Message>(
  answer: unknown,
  { check, hub }: { readonly check: Check<Message>; readonly hub: string },
): Message {
  const checked = check(answer)
  if (!checked.ok) throw noHub(hub)
  return checked.message
}

async function send(
  hub: string,
  path: string,
  sent: Sent,
): Promise<{ readonly status: number; readonly text: string }> {
  // As fetch will write it, since a signature is over the address.
  const address = new URL(`${hub.replace(/\/+$/, '')}${path}`).href
  const init = requestOf(address, sent)
  try {
    return await within(PATIENCE_MS, async (signal) => {
      const response = await fetch(address, { ...init, signal })
      return { status: response.status, text: await response.text() }
    })
  } catch (cause) {
    const late = cause instanceof Error && cause.name === 'TimeoutError'
    throw new Trouble([
      late
        ? `The hub on ${hub} did not answer within ${PATIENCE_MS / 1_000} s.`
        : `No hub answers on ${hub}.`,
      'Start one with `chimera hub` (in a checkout: `npm start -- hub`), or say where yours is',
      'with --hub or CHIMERA_HUB.',
    ])
  }
}

function requestOf(url: string, { method, body, token, key }: Sent) {
  const said = key === undefined ? process.env.CHIMERA_TOKEN || undefined : undefined
  const presented = token?.reveal() ?? said
  const text = body === undefined ? undefined : JSON.stringify(body)
  const request = {
    method: method ?? (text === undefined ? 'GET' : 'POST'),
    headers: {
      ...(text !== undefined && { 'content-type': 'application/json' }),
      ...(presented !== undefined && { authorization: `Bearer ${presented}` }),
    },
    ...(text !== undefined && { body: text }),
  }
  if (key === undefined) return request
  const signed = { ...request, url, body: text === undefined ? undefined : Buffer.from(text) }
  const fields = signRequest(signed, key, { now: createClock().now(), nonce: randomUUID() })
  return { ...request, headers: { ...request.headers, ...fields } }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const noHub = (hub: string) =>
  new Trouble([
    `What answers on ${hub} is not a hub that this version understands.`,
    'Say where yours is with --hub or CHIMERA_HUB.',
  ])
