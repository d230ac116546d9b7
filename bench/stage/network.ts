/** A hub that asks for proof, in a process of its own, with whoever is to be somebody there. */
import { randomUUID } from 'node:crypto'
import { type RequestWithBody, signRequest } from '@chimera/identity/http-signature'
import { generateKeyPair, type KeyPair } from '@chimera/identity/keys'
import { processOf } from '../load/process-of.ts'
import type { Ends } from './ends.ts'
import type { BenchHubWanted } from './hub.ts'

export type Owner = { readonly owner: string; readonly token: string }
/** An agent that only asks. */
export type Caller = Owner & { readonly agent: string; readonly key: KeyPair }

export type BenchNetwork = {
  readonly hub: string
  /** Seconds that the hub's threads have been on a core. */
  readonly cpuSeconds: () => Promise<number>
  readonly newOwner: () => Promise<Owner>
  readonly newCaller: () => Promise<Caller>
  /** For the door of one agent (decision 0056). */
  readonly passFor: (caller: Caller, agent: string) => Promise<string>
}

type Sent = {
  readonly body: Readonly<Record<string, unknown>>
  readonly token?: string
  readonly key?: KeyPair
}

export async function startNetwork(
  ends: Ends,
  settings: BenchHubWanted = {},
): Promise<BenchNetwork> {
  const child = await processOf(new URL('../load/hub-process.ts', import.meta.url))
  ends.add(child.close)
  const wanted: BenchHubWanted = {
    auth: 'required',
    allowNet: ['127.0.0.1'],
    grant: 1_000_000,
    ...settings,
  }
  const hub = await child.ask<string>(wanted)
  const operator = await child.ask<string>('operator')

  async function post(path: string, { body, token, key }: Sent): Promise<Record<string, unknown>> {
    const text = JSON.stringify(body)
    const headers: Record<string, string> = {
      'content-type': 'application/json',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    }
    const url = hub + path
    if (key !== undefined) Object.assign(headers, signedHeaders({ url, text, key }))
    const answer = await fetch(url, { method: 'POST', headers, body: text })
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
    return (await answer.json()) as Record<string, unknown>
  }

  async function newOwner(): Promise<Owner> {
    const owner = `owner-${randomUUID().slice(0, 8)}`
    const made = await post('/v1/owners', { token: operator, body: { owner_id: owner } })
    const token = String(made.token)
    await post('/accounts', { token, body: { owner_id: owner } })
    return { owner, token }
  }

  return {
    hub,
    cpuSeconds: child.cpuSeconds,
    newOwner,
    async newCaller() {
      const { owner, token } = await newOwner()
      const [agent, key] = [randomUUID(), generateKeyPair()]
      const body = {
        agent_id: agent,
        agent_name: 'Asks',
        owner_id: owner,
        api_endpoint: 'http://127.0.0.1:9/jobs',
        skills: [{ skill_name: 'ask', cost_per_call: 0 }],
      }
      await post('/register', { token, key, body })
      return { owner, token, agent, key }
    },
    async passFor({ key }, agent) {
      const { token } = await post('/v1/passes', { key, body: { agent_id: agent } })
      return String(token)
    },
  }
}

/** The fields that a signed request has beside its content type. */
export function signedHeaders(asked: {
  readonly url: string
  readonly text: string
  readonly key: KeyPair
}): Record<string, string> {
  const { url, text, key } = asked
  const own = { 'content-type': 'application/json', 'x-chimera-key': key.publicKey }
  const request: RequestWithBody = {
    method: 'POST',
    url,
    headers: own,
    body: Buffer.from(text),
  }
  const signed = signRequest(request, key, { now: Date.now(), nonce: randomUUID() })
  return { 'x-chimera-key': key.publicKey, ...signed }
}
