/**
 * One instance of a small agent, as far as planners see it: it announces itself and takes reserve
 * offers, or breaks the handshake at one step.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { signRequest } from '@chimera/identity/http-signature'
import { generateKeyPair, type KeyPair } from '@chimera/identity/keys'
import { signMessage } from '@chimera/identity/message'

export type Handshake =
  | 'promises'
  | 'declines'
  | 'hangs up'
  /** Takes the slot and the hold, and breaks the connection instead of saying so. */
  | 'promises and hangs up'
  /** Whoever answers there has another key. */
  | 'is impersonated'

type Json = Record<string, unknown>

export async function runSmallInstance(options: {
  readonly hub: string
  readonly agent: { readonly id: string; readonly key: KeyPair }
  readonly skill: string
  readonly slots: number
  readonly handshake: Handshake
}) {
  const { hub, agent, skill, slots, handshake } = options
  const { key } = agent
  const instance = randomUUID()
  const offers: Json[] = []

  async function toHub(path: string, body: Json): Promise<{ status: number; body: Json }> {
    const text = JSON.stringify(body)
    const headers = { 'content-type': 'application/json', 'x-chimera-key': key.publicKey }
    const request = { method: 'POST', url: hub + path, headers, body: Buffer.from(text) }
    const signed = signRequest(request, key, { now: Date.now(), nonce: randomUUID() })
    const answer = await fetch(hub + path, {
      method: 'POST',
      headers: { ...headers, ...signed },
      body: text,
    })
    const came = await answer.text()
    return { status: answer.status, body: came === '' ? {} : JSON.parse(came) }
  }

  async function ackTo(offer: Json): Promise<Json> {
    const told = { instance_id: instance, task_id: offer.task_id, trace_id: offer.trace_id }
    const ack = { ...told, signed_at: new Date().toISOString() }
    if (handshake === 'declines') {
      return signMessage({ ...ack, accepted: false, reason: 'no_slot' }, key)
    }
    if (handshake === 'is impersonated') {
      const promise = { reservation_id: randomUUID(), expires_at: inSeconds(30) }
      return signMessage({ ...ack, accepted: true, ...promise }, generateKeyPair())
    }
    const { status, body } = await toHub('/v1/holds', { offer })
    assert.equal(status, 201, JSON.stringify(body))
    const { reservation_id, expires_at } = body.reservation as Json
    return signMessage({ ...ack, accepted: true, reservation_id, expires_at }, key)
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const offer = await bodyOf(request)
    offers.push(offer)
    if (handshake === 'hangs up') return void request.socket.destroy()
    const ack = await ackTo(offer)
    if (handshake === 'promises and hangs up') return void request.socket.destroy()
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(ack))
  }
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(error as Error))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo

  const common = {
    agent_id: agent.id,
    instance_id: instance,
    state: 'available',
    capabilities: [skill],
    trace_id: randomUUID(),
    signed_at: new Date().toISOString(),
    expires_at: inSeconds(30),
  }
  const capacity = { slots_total: slots, slots_free: slots }
  const presence = { ...common, capacity, load: { cpu: 0.1, mem: 0.1 } }
  const callback = { callback_url: `http://127.0.0.1:${port}/offers`, public_key: key.publicKey }
  const posts: [path: string, message: Json][] = [
    ['/moltbook/v1/presence', signMessage(presence, key)],
    ['/moltbook/v1/capability', signMessage({ ...common, ...callback }, key)],
  ]
  for (const [path, message] of posts) {
    const { status, body } = await toHub(path, message)
    assert.equal(status, 204, JSON.stringify(body))
  }

  return {
    instance,
    offers,
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

const inSeconds = (seconds: number): string => new Date(Date.now() + seconds * 1_000).toISOString()

async function bodyOf(request: IncomingMessage): Promise<Json> {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece as Buffer)
  return JSON.parse(Buffer.concat(pieces).toString())
}
