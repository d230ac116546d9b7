/**
 * The round trip and its peer, each in a process of its own: one request, from the ask to the
 * result. Ours asks who calls, validates, remembers the key, keeps the work, signs the result and
 * reports it to its hub; theirs has a task at once and keeps it in memory.
 */
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generateKeyPair, type KeyPair } from '@chimera/identity/keys'
import { PASS_TTL_MS } from '@chimera/identity/passes'
import type { AgentWanted } from '../load/agent-process.ts'
import { type Load, openLoad, requestText } from '../load/client.ts'
import { processOf } from '../load/process-of.ts'
import { number } from '../report.ts'
import type { Ends } from './ends.ts'
import { signedHeaders } from './network.ts'

export type RoundTrip = {
  /** Round trips a second, until the last result is also with the hub. */
  readonly ours: () => Promise<number>
  readonly theirs: () => Promise<number>
  /** Ours, each request signed (RFC 9421) instead of with a pass. */
  readonly signed: number
  /** A server that signs what it is sent, and does nothing else. */
  readonly bare: number
}

/** What is printed beside the ratio, once it is known. */
export function besides(trip: RoundTrip | undefined): string {
  if (trip === undefined) return ''
  return (
    ` With request signatures: ${number(trip.signed)}/s. A bare server that signs what it is ` +
    `sent, and does nothing else: ${number(trip.bare)}/s.`
  )
}

export const CONNECTIONS = 20
// One to three seconds of each.
const TIMES = 6_000
const SIGNED_TIMES = 2_000
const WARM_UPS = 4_000
/** At the end of a uuid: a number that is used once. */
const SERIAL = '0'.repeat(12)
const PATH = '/openclaw/v1/collaborations'
const TEXT = 'one two three'
const LOOK_MS = 2

const SIGNED_KIND = 1

const uuid = (kind: number): string => `f81d4fae-7dec-4a6b-8c7${kind.toString(16)}-${SERIAL}`

function bodyOf(caller: string, kind: number) {
  return {
    protocol_version: '1.0.0',
    request_id: uuid(kind),
    requester_agent_id: caller,
    capability_id: 'word_count',
    input_data: { text: TEXT },
    idempotency_key: `key-${kind}-${SERIAL}`,
    correlation_id: uuid(kind),
    timestamp: new Date().toISOString(),
  }
}

export async function openRoundTrip(
  ends: Ends,
  { durable }: { readonly durable: boolean },
): Promise<RoundTrip> {
  const still = await processOf(new URL('../load/still-process.ts', import.meta.url))
  ends.add(still.close)
  const hub = await still.ask<string>('listen')
  const agent = await processOf(new URL('../load/agent-process.ts', import.meta.url))
  ends.add(agent.close)
  const wanted: AgentWanted = { hub, owner: 'acme', slots: 5 * CONNECTIONS }
  const directory = durable ? mkdtempSync(join(tmpdir(), 'chimera-bench-')) : undefined
  if (directory !== undefined) ends.add(() => rmSync(directory, { recursive: true, force: true }))
  const { address, id } = await agent.ask<{ address: string; id: string }>({
    ...wanted,
    ...(directory !== undefined && { directory }),
  })
  const caller = { agent: randomUUID(), key: generateKeyPair() }
  const known = { agent: id, caller: caller.agent, key: caller.key.publicKey }
  const port = Number(new URL(address).port)
  const asked = { port, connections: CONNECTIONS, status: 200 }
  let asks: (Load & { readonly until: number }) | undefined
  let kind = SIGNED_KIND
  ends.add(() => asks?.close())

  /** A pass lives some minutes; under a new one the numbers begin anew, with other names. */
  async function withPass(): Promise<Load> {
    if (asks !== undefined && asks.until > Date.now()) return asks
    await asks?.close()
    const pass = await still.ask<string>(known)
    const headers = { authorization: `Bearer ${pass}`, prefer: 'wait=30' }
    kind += 1
    const ask = requestText('POST', PATH, bodyOf(caller.agent, kind), headers)
    const load = await openLoad({ ...asked, serial: SERIAL, requests: [ask] })
    asks = { ...load, until: Date.now() + PASS_TTL_MS / 2 }
    return asks
  }

  async function rateOf(load: Load, times: number): Promise<number> {
    const before = await still.ask<number>('results')
    const start = performance.now()
    await load.run(times)
    // What is still to be told belongs to whoever made it.
    while ((await still.ask<number>('results')) < before + times) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
    }
    return times / ((performance.now() - start) / 1_000)
  }

  await rateOf(await withPass(), WARM_UPS)
  const requests = signedAsks(`${address}${PATH}`, caller)
  const signedLoad = await openLoad({ ...asked, requests })
  await rateOf(signedLoad, SIGNED_TIMES / 2)
  const signed = await rateOf(signedLoad, SIGNED_TIMES / 2)
  await signedLoad.close()

  const signer = await processOf(new URL('../load/signer-process.ts', import.meta.url))
  const bareAsk = requestText('POST', PATH, bodyOf(caller.agent, SIGNED_KIND))
  const bareLoad = await openLoad({
    ...asked,
    port: await signer.ask<number>({}),
    requests: [bareAsk],
  })
  await bareLoad.run(WARM_UPS)
  const bare = await plainRate(bareLoad)
  await bareLoad.close()
  await signer.close()

  const messages = await openPeer(ends)
  await messages.run(WARM_UPS)
  return {
    ours: async () => rateOf(await withPass(), TIMES),
    theirs: () => plainRate(messages),
    signed,
    bare,
  }
}

async function plainRate(load: Load): Promise<number> {
  const start = performance.now()
  await load.run(TIMES)
  return TIMES / ((performance.now() - start) / 1_000)
}

/** A signature is for one request, so each is made before. */
function signedAsks(
  url: string,
  { agent, key }: { readonly agent: string; readonly key: KeyPair },
): string[] {
  return Array.from({ length: SIGNED_TIMES }, (_, at) => {
    const text = JSON.stringify(bodyOf(agent, SIGNED_KIND)).replaceAll(
      SERIAL,
      String(at).padStart(SERIAL.length, '0'),
    )
    const headers = { host: new URL(url).host, prefer: 'wait=30' }
    const body: unknown = JSON.parse(text)
    return requestText('POST', PATH, body, { ...headers, ...signedHeaders({ url, text, key }) })
  })
}

async function openPeer(ends: Ends): Promise<Load> {
  const peer = await processOf(new URL('../load/a2a-process.ts', import.meta.url))
  ends.add(peer.close)
  const port = await peer.ask<number>('task')
  const message = { messageId: uuid(SIGNED_KIND), role: 'ROLE_USER', parts: [{ text: TEXT }] }
  const body = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } }
  const request = requestText('POST', '/', body, { 'a2a-version': '1.0' })
  const load = await openLoad({
    port,
    connections: CONNECTIONS,
    status: 200,
    serial: SERIAL,
    requests: [request],
  })
  ends.add(load.close)
  return load
}
