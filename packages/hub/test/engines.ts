/** The two databases that a hub runs on, for tests: several hubs, each on its own data. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from '@chimera/store/testing/postgres-server'
import { type HubWanted, runHub, type TestHub } from './running.ts'

export type AuthEngine = {
  /** Hubs that name the same place share its data, and its key. */
  readonly start: (wanted: HubWanted, place?: string) => Promise<TestHub>
  /** Where a hub would keep what it keeps there. */
  readonly place: (name: string) => Promise<{ data: string; database: string | undefined }>
  /** Whether two hubs can run on one place at the same time. */
  readonly shares: boolean
  readonly end: () => Promise<void>
}

const newHome = () => mkdtempSync(join(tmpdir(), 'chimera-hub-'))

export async function onEmbedded(): Promise<AuthEngine> {
  const home = newHome()
  return {
    start: (wanted, place = 'main') => runHub({ ...wanted, data: join(home, place) }),
    place: async (name) => ({ data: join(home, name), database: undefined }),
    shares: false,
    end: async () => rmSync(home, { recursive: true, force: true }),
  }
}

export async function onPostgres(): Promise<AuthEngine> {
  const home = newHome()
  const server = await startPostgres()
  const addresses = new Map<string, Promise<string>>()
  const addressOf = (place: string) => {
    const address = addresses.get(place) ?? server.newAddress()
    addresses.set(place, address)
    return address
  }
  return {
    start: async (wanted, place = 'main') =>
      runHub({ keyFile: join(home, `${place}.json`), ...wanted, database: await addressOf(place) }),
    place: async (name) => ({ data: home, database: await addressOf(name) }),
    shares: true,
    async end() {
      await server.stop()
      rmSync(home, { recursive: true, force: true })
    },
  }
}
