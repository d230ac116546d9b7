/**
 * The two databases that a hub runs on, for tests. Hubs that name the same place share its data and
 * its key; a start on a place that was used before is a restart.
 *
 * On PostgreSQL a start is of as many hubs as HUBS says, with a real NATS between them.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type NatsServer, startNats } from '@chimera/bus/testing/nats-server'
import { type PostgresServer, startPostgres } from '@chimera/store/testing/postgres-server'
import { type HubWanted, runHub, type TestHub } from './running.ts'
import { runHubs } from './several.ts'

export type Engine = {
  /** What is not named is on a place that all such share. */
  readonly start: (wanted?: HubWanted, place?: string) => Promise<TestHub>
  /** The name of a place that is empty, and of nobody else. */
  readonly newPlace: () => string
  /** Where a hub would keep what it keeps there. */
  readonly place: (name: string) => Promise<Pick<HubWanted, 'data' | 'database'>>
  /** The embedded database is of one process; a server is of as many hubs as want to. */
  readonly shares: boolean
  readonly end: () => Promise<void>
}

/** How many hubs one start on PostgreSQL is: what holds of one holds of them all. */
const HUBS = Number(process.env.CHIMERA_TEST_HUBS ?? 3)

const MAIN = 'main'
const newHome = () => mkdtempSync(join(tmpdir(), 'chimera-hub-'))

function numbered(): () => string {
  let last = 0
  return () => {
    last += 1
    return `place-${last}`
  }
}

export function onEmbedded(): Engine {
  const home = newHome()
  return {
    start: (wanted, place = MAIN) => runHub({ ...wanted, data: join(home, place) }),
    newPlace: numbered(),
    place: async (name) => ({ data: join(home, name) }),
    shares: false,
    end: async () => rmSync(home, { recursive: true, force: true }),
  }
}

/** One server, with a database for each place; and for each a broker, as hubs of one share it. */
export function onPostgres(): Engine {
  const home = newHome()
  let server: Promise<PostgresServer> | undefined
  const databases = new Map<string, Promise<string>>()
  const brokers = new Map<string, Promise<NatsServer>>()

  const databaseOf = (place: string): Promise<string> =>
    once(databases, place, async () => {
      server ??= startPostgres()
      return (await server).newAddress()
    })
  async function placeOf(name: string) {
    const [database, broker] = await Promise.all([
      databaseOf(name),
      once(brokers, name, () => startNats()),
    ])
    return { database, bus: [broker.address], keyFile: join(home, `${name}.json`) }
  }
  return {
    start: async (wanted, place = MAIN) => runHubs({ ...(await placeOf(place)), ...wanted }, HUBS),
    newPlace: numbered(),
    place: async (name) => ({ data: home, database: await databaseOf(name) }),
    shares: true,
    async end() {
      await Promise.all([...brokers.values()].map(async (each) => (await each).stop()))
      await (await server)?.stop()
      rmSync(home, { recursive: true, force: true })
    },
  }
}

function once<T>(made: Map<string, Promise<T>>, name: string, make: () => Promise<T>): Promise<T> {
  const known = made.get(name) ?? make()
  made.set(name, known)
  return known
}
