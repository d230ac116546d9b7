/**
 * How approvals and posts reach a hub: through the guarded client, signed by the agent's key or
 * with a token, and to the address of the settings only.
 *
 *   A1  `HubUnasked` says that the request never left or was answered by no hub at all; with
 *       `sent` false nothing can have come of it.
 *   A2  No word of a token or key is in what is thrown.
 */
import { randomUUID } from 'node:crypto'
import type { Instant } from '@chimera/domain/ids'
import type { GuardedClient } from '@chimera/host/guarded/client'
import type { GuardFailureCode } from '@chimera/host/guarded/failure'
import type { Secret } from '@chimera/host/settings/secret'
import { signRequest } from '@chimera/identity/http-signature'
import type { KeyPair } from '@chimera/identity/keys'

export type HubDoor = {
  readonly address: string
  readonly ask: (asked: HubAsked, signal: AbortSignal) => Promise<HubAnswer>
}
export type HubAsked = {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly body?: object
}
export type HubAnswer = { readonly status: number; readonly body: unknown }

export type HubDoorOptions = {
  /** The hub's address, such as `http://127.0.0.1:4600`. */
  readonly address: string
  readonly token?: Secret
  /** The agent's own key. */
  readonly key?: KeyPair
  readonly client: GuardedClient
  readonly now: () => Instant
  readonly nonce?: () => string
}

export class HubUnasked extends Error {
  override readonly name = 'HubUnasked'
  readonly sent: boolean

  constructor(code: GuardFailureCode) {
    super(`the hub was not reached: ${code}`)
    // Neither a refused address nor a failed handshake carries a body.
    this.sent = code !== 'refused_address' && code !== 'tls'
  }
}

export function createHubDoor(options: HubDoorOptions): HubDoor {
  const { token, key, client, now, nonce = randomUUID } = options
  const address = options.address.replace(/\/+$/, '')

  return {
    address,
    async ask({ method, path, body }, signal) {
      const url = address + path
      const text = body === undefined ? undefined : JSON.stringify(body)
      const headers: Record<string, string> = {
        accept: 'application/json',
        ...(text !== undefined && { 'content-type': 'application/json' }),
        ...(token && { authorization: `Bearer ${token.reveal()}` }),
        // For a hub that does not know the key yet.
        ...(key && { 'x-chimera-key': key.publicKey }),
      }
      if (key !== undefined) {
        const signed = text === undefined ? {} : { body: Buffer.from(text) }
        const request = { method, url, headers, ...signed }
        Object.assign(headers, signRequest(request, key, { now: now(), nonce: nonce() }))
      }
      const outcome = await client.request({
        url,
        method,
        headers,
        signal,
        ...(text !== undefined && { body: text }),
        limits: { redirects: 0 },
      })
      if (!outcome.ok) throw new HubUnasked(outcome.failure.code)
      return { status: outcome.status, body: parsed(outcome.body) }
    },
  }
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8'))
  } catch {
    return undefined
  }
}
