/** Several hubs on one PostgreSQL and one NATS, as a test wants them. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openBus } from '@chimera/bus/bus'
import { createNatsDial } from '@chimera/bus/nats/dial'
import type { Bus } from '@chimera/bus/port'
import { type NatsServer, startNats } from '@chimera/bus/testing/nats-server'
import { createChance } from '@chimera/host/chance'
import { createClock } from '@chimera/host/clock'
import { type PostgresServer, startPostgres } from '@chimera/store/testing/postgres-server'
import { vi } from 'vitest'
import { type HubWanted, runHub, type TestHub } from './running.ts'

export type Cluster = {
  readonly broker: NatsServer
  readonly postgres: PostgresServer
  /** On the same database as the others, with a seed of its own. */
  readonly start: (wanted?: HubWanted) => Promise<TestHub>
  /** Somebody else on the broker. */
  readonly speaker: () => Promise<Bus>
  readonly end: () => Promise<void>
}

// To follow the one that the hubs have made; what it says here is not looked at.
const KEPT = {
  name: 'chimera-kept',
  subjects: ['chimera.reputation.*'],
  keepMs: 60_000,
  keepMessages: 1,
  keepBytes: 1,
  dedupeMs: 60_000,
}

export async function openCluster(common: HubWanted = {}): Promise<Cluster> {
  const home = mkdtempSync(join(tmpdir(), 'chimera-cluster-'))
  const [postgres, broker] = await Promise.all([startPostgres(), startNats()])
  const database = await postgres.newAddress()
  const ends: (() => Promise<void>)[] = []
  let seed = 100
  return {
    broker,
    postgres,
    async start(wanted = {}) {
      seed += 1
      const keyFile = join(home, 'hub.json')
      const settings = { seed, keyFile, database, bus: [broker.address], ...common, ...wanted }
      const hub = await runHub(settings)
      const stop = once(hub.stop)
      ends.push(stop)
      if (settings.bus.length > 0) await connected(hub)
      return { ...hub, stop }
    },
    async speaker() {
      const hands = { clock: createClock(), chance: createChance() }
      const bus = openBus({
        ...hands,
        dial: createNatsDial({ ...hands, addresses: [broker.address], makesPlanned: false }),
        streams: [KEPT],
      })
      ends.push(() => bus.close())
      await soon(() => bus.flush())
      return bus
    },
    async end() {
      for (const end of ends.splice(0).reverse()) await end()
      await Promise.all([postgres.stop(), broker.stop()])
      rmSync(home, { recursive: true, force: true })
    },
  }
}

const once = (run: () => Promise<void>): (() => Promise<void>) => {
  let running: Promise<void> | undefined
  return () => {
    running ??= run()
    return running
  }
}

async function connected({ hub }: TestHub): Promise<void> {
  await soon(() => {
    if (hub.share.broker().type !== 'connected') throw new Error('not connected yet')
  })
}

/** Until it holds. That takes milliseconds; a machine that is busy with others takes longer. */
export function soon<T>(holds: () => T | Promise<T>, timeout = 5_000): Promise<T> {
  return vi.waitFor(holds, { timeout, interval: 10 })
}
