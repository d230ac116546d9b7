/** Requests as callers make them: with a token, with a signature, or with something wrong. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { Clock } from '@chimera/host/clock'
import { type RequestWithBody, signRequest } from '@chimera/identity/http-signature'
import { generateKeyPair, type KeyPair } from '@chimera/identity/keys'
import type { Answered, TestHub } from './running.ts'

export type Sent = {
  readonly method?: string
  readonly token?: string
  readonly body?: unknown
  readonly key?: KeyPair
  /** Signed so much earlier. */
  readonly agoMs?: number
  /** What is signed, where that is not what is sent. */
  readonly signed?:
    | { readonly path?: string; readonly body?: unknown; readonly origin?: string }
    | undefined
  readonly offer?: boolean
}

export const registration = (owner: string, more: Record<string, unknown> = {}) => ({
  agent_id: randomUUID(),
  agent_name: 'Counter',
  owner_id: owner,
  api_endpoint: 'https://counter.example.org/jobs',
  skills: [{ skill_name: `skill_${randomUUID().slice(0, 8)}`, cost_per_call: 0.05 }],
  ...more,
})

export type Asker = ReturnType<typeof createAsker>

export function createAsker(hub: TestHub, clock: Clock) {
  const operator = hub.firstOperatorToken ?? ''
  function requestOf(path: string, sent: Sent) {
    const { token, body, key, agoMs = 0, signed = {}, offer = true } = sent
    const method = sent.method ?? (body === undefined ? 'GET' : 'POST')
    const headers: Record<string, string> = {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(key !== undefined && offer && { 'x-chimera-key': key.publicKey }),
    }
    if (key !== undefined) {
      const content = 'body' in signed ? signed.body : body
      const request: RequestWithBody = {
        method,
        url: (signed.origin ?? hub.address) + (signed.path ?? path),
        headers,
        body: content === undefined ? undefined : Buffer.from(JSON.stringify(content)),
      }
      const now = clock.now() - agoMs
      Object.assign(headers, signRequest(request, key, { now, nonce: randomUUID() }))
    }
    return { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
  }
  const send = (path: string, sent: Sent = {}): Promise<Answered> =>
    hub.call(path, requestOf(path, sent))

  async function newOwner(terms: Record<string, unknown> = {}) {
    const owner = `owner-${randomUUID()}`
    const { status, body } = await send('/v1/owners', {
      token: operator,
      body: { owner_id: owner, ...terms },
    })
    assert.equal(status, 201)
    return { owner, token: String(body.token), id: String(body.id) }
  }
  const narrower = async (token: string, terms: Record<string, unknown>) => {
    const { status, body } = await send('/v1/tokens', { token, body: terms })
    return { status, token: String(body.token), id: String(body.id) }
  }

  async function newAgent() {
    const { owner, token } = await newOwner()
    const key = generateKeyPair()
    const agent = registration(owner)
    const { status } = await send('/register', { token, key, body: agent })
    assert.equal(status, 201)
    return { owner, token, key, agent, id: agent.agent_id }
  }
  return { operator, requestOf, send, newOwner, narrower, newAgent }
}
