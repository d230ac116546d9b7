/**
 * The suites that start a hub on the embedded database, on PostgreSQL and NATS instead, where
 * CHIMERA_TEST_SERVED says so: each directory is a place of its own, and one that is named again is
 * a restart. One server of each kind for a test file; they end with it.
 */
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type NatsServer, startNats } from '@chimera/bus/testing/nats-server'
import { type PostgresServer, startPostgres } from '@chimera/store/testing/postgres-server'
import { afterAll } from 'vitest'

export const SERVED = process.env.CHIMERA_TEST_SERVED !== undefined

export type ServedPlace = {
  readonly database: string
  readonly bus: string[]
  readonly keyFile: string
}

const places = new Map<string, Promise<ServedPlace>>()
const brokers: NatsServer[] = []
let server: Promise<PostgresServer> | undefined
let home: string | undefined

async function open(): Promise<ServedPlace> {
  server ??= startPostgres()
  home ??= mkdtempSync(join(tmpdir(), 'chimera-served-'))
  const keyFile = join(home, `${randomUUID()}.json`)
  const [database, broker] = await Promise.all([(await server).newAddress(), startNats()])
  brokers.push(broker)
  return { database, bus: [broker.address], keyFile }
}

export function servedPlace(data: string = randomUUID()): Promise<ServedPlace> {
  const place = places.get(data) ?? open()
  places.set(data, place)
  return place
}

if (SERVED) {
  afterAll(async () => {
    await Promise.all(brokers.map((each) => each.stop()))
    await (await server)?.stop()
    if (home !== undefined) rmSync(home, { recursive: true, force: true })
  }, 60_000)
}
