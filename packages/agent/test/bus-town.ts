/**
 * A hub on PostgreSQL and a NATS that knows nobody but its authority: whoever is on it was let on
 * by the hub. And hirers that speak there and nowhere else.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAuthority, encodeServerConfig, granterOf } from '@chimera/bus/nats/authority'
import { onNats } from '@chimera/bus/nats/for-agents'
import { encodeHubCreds } from '@chimera/bus/nats/hub-creds'
import type { Bus, Received } from '@chimera/bus/port'
import { startNats } from '@chimera/bus/testing/nats-server'
import { readGrant } from '@chimera/dialects/chimera'
import { createChance } from '@chimera/host/chance'
import { createClock } from '@chimera/host/clock'
import type { Party } from '@chimera/hub/testing/hiring'
import { createHolding } from '@chimera/hub/testing/holding'
import { runHub, type TestHub } from '@chimera/hub/testing/running'
import { createKeyring } from '@chimera/identity/keyring'
import { signMessage, verifyMessage } from '@chimera/identity/message'
import { startPostgres } from '@chimera/store/testing/postgres-server'
import { KEPT_STREAMS } from '../src/bus/network.ts'
import type { Body } from './serving.ts'
import { until } from './serving.ts'

const clock = createClock()
const chance = createChance()
const hands = { name: 'test', clock, chance, streams: KEPT_STREAMS }

export type Said = { readonly subject: string; readonly message: Body; readonly byHub: boolean }
export type BusTown = Awaited<ReturnType<typeof openBusTown>>

export async function openBusTown() {
  const home = mkdtempSync(join(tmpdir(), 'chimera-bus-town-'))
  const seeds = createAuthority(chance.bytes)
  const granter = granterOf(seeds)
  const limits = { now: clock.now(), diskBytes: 2 * 1024 ** 3, memoryBytes: 100_000_000 }
  const [postgres, broker] = await Promise.all([
    startPostgres(),
    startNats({ config: () => encodeServerConfig(seeds, limits) }),
  ])
  const write = (name: string, text: string): string => {
    const path = join(home, name)
    writeFileSync(path, text, { mode: 0o600 })
    return path
  }
  const { account, signingSeed } = granter
  const creds = encodeHubCreds(granter, { draw: chance.bytes, now: clock.now() })
  const settings = {
    auth: 'required',
    allowNet: ['127.0.0.1'],
    database: await postgres.newAddress(),
    keyFile: join(home, 'hub.json'),
    bus: [broker.address],
    busCreds: write('hub.creds', creds),
    busGranter: write('granter.json', JSON.stringify({ account, signing_seed: signingSeed })),
    busHeld: true,
  } as const
  const open = async (more: object = {}): Promise<TestHub> => {
    const hub = await runHub({ ...settings, bus: [...settings.bus], ...more })
    await until(async () => hub.hub.share.broker().type === 'connected')
    return hub
  }
  let hub = await open()
  const { port, hostname: host } = new URL(hub.address)
  const holding = createHolding(hub, clock)
  const buses: Bus[] = []

  const opened = async <Opened extends Bus>(bus: Opened): Promise<Opened> => {
    buses.push(bus)
    await until(async () => bus.state().type === 'connected')
    return bus
  }

  return {
    broker,
    database: settings.database,
    on: holding,
    hub: () => hub,
    /** At the same address, on the same database. */
    stopHub: () => hub.stop(),
    restartHub: async () => {
      hub = await open({ listen: { host, port: Number(port) }, seed: 7 })
    },
    /** Somebody who hears everything, as a hub does. */
    overhear: async (...patterns: readonly string[]) => {
      const credentials = () => ({ kind: 'creds', text: creds }) as const
      const grant = () => assert.fail('it has an address')
      const bus = await opened(onNats(broker.address, { credentials })({ ...hands, grant }))
      const heard: Said[] = []
      for (const each of patterns) await hear(bus, each, heard)
      return heard
    },
    /** An agent that hires, by its own grant. */
    newHirer: async () => {
      const party = await holding.newParty()
      const grant = async (public_key: string) => {
        const body = { public_key }
        const answer = await holding.send('/v1/grants', { key: party.key, body })
        const read = readGrant(answer.body)
        assert.ok(read.ok, JSON.stringify(answer.body))
        return { ...read.value, jwt: read.value.grant }
      }
      const bus = await opened(onNats()({ ...hands, grant }))
      return createHirer(bus, party)
    },
    end: async () => {
      await Promise.all(buses.map((each) => each.close()))
      await hub.stop()
      await Promise.all([broker.stop(), postgres.stop()])
      rmSync(home, { recursive: true, force: true })
    },
  }
}

async function hear(bus: Bus, pattern: string, heard: Said[] = []) {
  const hearing = bus.subscribe(pattern)
  void (async () => {
    for await (const each of hearing) heard.push(saidIn(each))
  })()
  await bus.flush()
  return { heard, leave: () => hearing.close() }
}

const saidIn = ({ subject, bytes, headers }: Received): Said => ({
  subject,
  message: JSON.parse(Buffer.from(bytes).toString()) as Body,
  byHub: headers.id?.startsWith('hub:') ?? false,
})

const bytesOf = (message: object): Uint8Array => Buffer.from(JSON.stringify(message))

export type BusHirer = ReturnType<typeof createHirer>

function createHirer(bus: Bus, party: Party) {
  const time = (ms = 0) => new Date(clock.now() + ms).toISOString()
  const sign = (message: object, key = party.key): Body => signMessage(message, key)

  /** Asks under the subject, and reads what was answered. */
  async function ask(subject: string, message: object): Promise<Body> {
    const { bytes } = await bus.request({ subject, bytes: bytesOf(message) }, { timeoutMs: 12_000 })
    return JSON.parse(Buffer.from(bytes).toString()) as Body
  }
  const request = (more: Body = {}): Body => ({
    request_id: randomUUID(),
    requester_agent_id: party.id,
    capability_id: 'word_count',
    input_data: { text: 'one two three' },
    correlation_id: randomUUID(),
    timestamp: time(),
    ...more,
  })
  const cancel = (request_id: unknown, more: Body = {}): Body => ({
    request_id,
    requester_agent_id: party.id,
    correlation_id: randomUUID(),
    timestamp: time(),
    ...more,
  })
  return {
    party,
    bus,
    time,
    sign,
    request,
    cancel,
    hear: (pattern: string) => hear(bus, pattern),
    say: (subject: string, message: object) => bus.publish({ subject, bytes: bytesOf(message) }),
    ask,
    /** To an agent, as its requester. */
    askFor: (agent: string, message: Body) => ask(`openclaw.request.${party.id}.${agent}`, message),
    takeBack: (agent: string, message: Body) =>
      ask(`openclaw.cancel.${party.id}.${agent}`, message),
    offer: (instance: string, message: Body) => ask(`moltbook.reserve.${instance}`, message),
  }
}

/** Whether this key has signed it. */
export function isSignedBy(message: object, publicKey: string): boolean {
  return verifyMessage(message, publicKey as Party['key']['publicKey'], createKeyring(1)).ok
}
