/** Where hubs keep what they keep, on each engine. Several starts on one place are restarts. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDirectories } from '@chimera/store/testing/embedded'
import { type PostgresServer, startPostgres } from '@chimera/store/testing/postgres-server'
import type { HubWanted } from './running.ts'

/** With the key that hubs on it share. */
export type Place = Pick<HubWanted, 'data' | 'database' | 'keyFile'>

export type Places = {
  readonly start: () => Promise<void>
  /** Empty, and of nobody else. */
  readonly newPlace: () => Promise<Place>
  /** The embedded database is of one process; a server is of as many hubs as want to. */
  readonly severalHubs: boolean
  readonly end: () => Promise<void>
}

export function embeddedPlaces(): Places {
  const directories = createDirectories()
  return {
    start: async () => undefined,
    newPlace: async () => ({ data: await directories.newDirectory() }),
    severalHubs: false,
    end: directories.removeAll,
  }
}

/** One server, and a database on it for each place. */
export function postgresPlaces(): Places {
  const made: string[] = []
  let server: PostgresServer | undefined
  return {
    start: async () => {
      server = await startPostgres()
    },
    newPlace: async () => {
      if (server === undefined) throw new Error('not started')
      const keys = await mkdtemp(join(tmpdir(), 'chimera-keys-'))
      made.push(keys)
      return { database: await server.newAddress(), keyFile: join(keys, 'hub.json') }
    },
    severalHubs: true,
    end: async () => {
      for (const each of made) await rm(each, { recursive: true, force: true })
      await server?.stop()
    },
  }
}
