/**
 * A hub and a fleet in processes of their own, each of which may be killed and is started again on
 * the same data; owners, a hirer and a person who approves whatever lies on the desk.
 */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { createAuthority, encodeServerConfig, granterOf } from '@chimera/bus/nats/authority'
import { encodeHubCreds } from '@chimera/bus/nats/hub-creds'
import { startNats } from '@chimera/bus/testing/nats-server'
import type { CampaignSeen, ReviewSeen } from '@chimera/dialects/chimera'
import type { Sealed } from '@chimera/domain/audit'
import type { CorrelationId, Digest } from '@chimera/domain/ids'
import { createChance } from '@chimera/host/chance'
import { callsTo } from '@chimera/hub/testing/running'
import { fillMigrated } from '@chimera/store/testing/embedded'
import { startPostgres } from '@chimera/store/testing/postgres-server'
import { commandLine, readyBundle, testProgram } from '@chimera/tools/bundle'
import type { Role } from '../src/roles.ts'
import { createDoomed, type Doomed } from './doomed.ts'
import type { MortalFleet } from './mortal-fleet.ts'
import { until } from './until.ts'

/** What a hub stands on. */
export type Ground = {
  readonly flags: readonly string[]
  readonly end: () => Promise<void>
}

export async function embedded(home: string): Promise<Ground> {
  const data = join(home, 'hub')
  await mkdir(data)
  await fillMigrated(data)
  return { flags: flagsOf({ data }), end: async () => undefined }
}

/** A NATS that knows nobody but its authority: whoever is on it was let on by the hub. */
export async function served(home: string): Promise<Ground> {
  const { bytes } = createChance()
  const seeds = createAuthority(bytes)
  const granter = granterOf(seeds)
  const limits = { now: Date.now(), diskBytes: 2 * 1024 ** 3, memoryBytes: 100_000_000 }
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
  const creds = encodeHubCreds(granter, { draw: bytes, now: Date.now() })
  const database = await postgres.newAddress()
  const flags = flagsOf({
    data: join(home, 'hub'),
    database,
    bus: broker.address,
    'bus-creds': write('hub.creds', creds),
    'bus-held': 'true',
    'bus-granter': write('granter.json', JSON.stringify({ account, signing_seed: signingSeed })),
  })
  return {
    flags,
    end: async () => void (await Promise.all([broker.stop(), postgres.stop()])),
  }
}

/** A person is slower. */
const REVIEW_MS = 300

export type MortalTown = Awaited<ReturnType<typeof openTown>>

const flagsOf = (said: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries(said).flatMap(([name, value]) => [`--${name}`, value])

const HUB_FLAGS = flagsOf({
  auth: 'required',
  'allow-net': '127.0.0.1',
  grant: '100',
  'log-level': 'error',
  'requests-per-minute': '0',
  'strangers-per-minute': '0',
})

export async function openTown(home: string, ground: Ground) {
  const chimera = await readyBundle(commandLine('sources'))
  const mortal = await readyBundle(testProgram(new URL('mortal-fleet.ts', import.meta.url)))
  const listen = `127.0.0.1:${await freePort()}`
  const address = `http://${listen}`
  const hub = createDoomed(
    'hub',
    [chimera, 'hub', '--listen', listen, ...HUB_FLAGS, ...ground.flags],
    {
      cwd: home,
      ready: /ready on/,
    },
  )
  await hub.start()
  const operator = await until(async () => /^(chm_operator_\S+)\n/m.exec(hub.said())?.[1])
  const { call } = callsTo(address)

  async function send(path: string, token: string, body?: unknown) {
    const text = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    return call(path, { headers, ...text })
  }

  async function newOwner(owner_id: string) {
    const made = await send('/v1/owners', operator, { owner_id })
    assert.equal(made.status, 201, JSON.stringify(made.body))
    const token = String(made.body.token)
    await send('/accounts', token, { owner_id })
    return { owner: owner_id, token }
  }
  const fleet = await newOwner('fleet')
  const hirer = await newOwner('hirer')
  const tokenFile = join(home, 'fleet.token')
  writeFileSync(tokenFile, fleet.token, { mode: 0o600 })
  const runs = join(home, 'runs')
  writeFileSync(runs, '')
  const processes: Doomed[] = [hub]

  /** Asks until the hub is there to answer. */
  async function ask(path: string, token: string, body?: unknown) {
    return until(async () => send(path, token, body).catch(() => undefined))
  }

  return {
    hub,
    address,
    fleet,
    hirer,
    runs,
    processes,
    ask,
    /** Roles in a process of the test's own making. */
    async startMortal(name: string, roles: readonly Role[], bus: boolean): Promise<Doomed> {
      const directory = join(home, name)
      await mkdir(directory)
      const told: MortalFleet = { hub: address, ...fleet, directory, roles, runs, bus }
      const one = createDoomed(name, [mortal, JSON.stringify(told)], {
        cwd: home,
        ready: /at work/,
      })
      await one.start()
      processes.push(one)
      return one
    },
    /** Roles as a user runs them on another machine. */
    async startVerb(name: string, roles: readonly Role[]): Promise<Doomed> {
      const flags = ['--hub', address, '--owner', fleet.owner, '--token-file', tokenFile]
      const words = ['fleet', ...roles, ...flags, '--data', join(home, name), '--bus']
      const one = createDoomed(name, [chimera, ...words], {
        cwd: home,
        ready: /The fleet is at work/,
      })
      await one.start()
      processes.push(one)
      return one
    },
    campaign: async (id: string): Promise<CampaignSeen | undefined> => {
      const { status, body } = await ask(`/v1/campaigns/${id}`, fleet.token)
      return status === 200 ? (body as unknown as CampaignSeen) : undefined
    },
    /** The whole chain of facts, as an operator reads it. */
    async trail(): Promise<readonly Sealed<unknown>[]> {
      const rows: Sealed<unknown>[] = []
      for (;;) {
        const path = `/v1/facts?topics=audit&limit=100&after=${rows.length}`
        const page = (await ask(path, operator)).body.facts as readonly Record<string, unknown>[]
        if (page.length === 0) return rows
        for (const told of page) {
          rows.push({
            seq: Number(told.seq),
            prev: told.prev as Digest,
            hash: told.hash as Digest,
            fact: told.fact,
            recordedAt: Number(told.recorded_at),
            correlation: told.correlation as CorrelationId,
          })
        }
      }
    },
    /** A person who agrees to everything, until told to go. */
    reviewing(): () => Promise<void> {
      const leaving = new AbortController()
      const going = (async () => {
        while (!leaving.signal.aborted) {
          const { body } = await ask('/v1/reviews', fleet.token)
          for (const review of (body.reviews ?? []) as readonly ReviewSeen[]) {
            const { review_id, content_hash } = review
            const said = { verdict: 'approve', content_hash, reviewer_id: 'Ada' }
            await ask(`/v1/reviews/${review_id}/answer`, fleet.token, said)
          }
          await new Promise((resolve) => setTimeout(resolve, REVIEW_MS))
        }
      })()
      return async () => {
        leaving.abort()
        await going
      }
    },
    async end(): Promise<void> {
      for (const each of [...processes].reverse()) await each.stop()
    },
  }
}

async function freePort(): Promise<number> {
  const probe = createServer()
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve))
  const address = probe.address()
  await new Promise((resolve) => probe.close(resolve))
  assert.ok(address !== null && typeof address !== 'string')
  return address.port
}
