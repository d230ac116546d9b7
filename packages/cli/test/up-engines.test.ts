/** The network of `chimera up` on a PostgreSQL and a NATS: the same, and there after a stop. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openBus } from '@chimera/bus/bus'
import { createNatsDial } from '@chimera/bus/nats/dial'
import { type NatsServer, startNats } from '@chimera/bus/testing/nats-server'
import { PRESENCE_TOPIC } from '@chimera/dialects/moltbook'
import { createChance } from '@chimera/host/chance'
import { createClock } from '@chimera/host/clock'
import { createLog } from '@chimera/host/log'
import { resolveSettings } from '@chimera/host/settings/resolve'
import { createStop } from '@chimera/host/stop'
import { HUB_SETTINGS } from '@chimera/hub/settings'
import { openDatabase } from '@chimera/store/engine/open'
import { type PostgresServer, startPostgres } from '@chimera/store/testing/postgres-server'
import { afterAll, beforeAll, test } from 'vitest'
import { startNetwork } from '../src/up/network.ts'

const clock = createClock()
let directory: string
let postgres: PostgresServer
let broker: NatsServer
let database: string

beforeAll(async () => {
  ;[postgres, broker] = await Promise.all([startPostgres(), startNats()])
  database = await postgres.newAddress()
  directory = await mkdtemp(join(tmpdir(), 'chimera-engines-'))
}, 120_000)
afterAll(async () => {
  await Promise.all([postgres?.stop(), broker?.stop()])
  await rm(directory, { recursive: true, force: true })
}, 60_000)

async function start() {
  const flags = { listen: '127.0.0.1:0', auth: 'required', database, bus: broker.address }
  const settings = await resolveSettings(HUB_SETTINGS, { flags, env: {} })
  assert.ok(settings.ok)
  const stop = createStop({ clock })
  const network = await startNetwork({
    settings: { ...settings.values, data: join(directory, 'hub') },
    providers: {},
    owner: 'me',
    directory,
    clock,
    log: createLog({ clock, name: 'test', level: 'silent' }),
    stop,
    onStep: () => undefined,
  })
  return { network, end: () => stop.stop('the test is over') }
}

async function rowsOf(sql: string): Promise<readonly unknown[]> {
  const opened = await openDatabase(database)
  try {
    return await opened.query(sql, [])
  } finally {
    await opened.close()
  }
}

test('six agents on both engines, and the same six again', { timeout: 180_000 }, async () => {
  const chance = createChance()
  const dial = createNatsDial({ addresses: [broker.address], clock, chance })
  const bus = openBus({ dial, clock, chance })
  const presence = bus.subscribe(PRESENCE_TOPIC)

  const first = await start()
  assert.equal(first.network.isNew, true)
  const agents = await rowsOf('SELECT id FROM agents ORDER BY id')
  assert.equal(agents.length, 6)
  const told = new Set<string>()
  for await (const { bytes } of presence) {
    told.add(JSON.parse(Buffer.from(bytes).toString()).instance_id)
    if (told.size === 6) break
  }
  await bus.close()
  assert.deepEqual((await first.end()).notClosed, [])

  const second = await start()
  assert.deepEqual([second.network.isNew, second.network.token], [false, first.network.token])
  assert.deepEqual(await rowsOf('SELECT id FROM agents ORDER BY id'), agents)
  assert.deepEqual((await second.end()).notClosed, [])
})
