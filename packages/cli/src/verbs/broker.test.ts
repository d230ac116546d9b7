/** `chimera broker`, by the real command line; a real nats-server is given what it wrote. */
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openBus } from '@chimera/bus/bus'
import type { Credentials } from '@chimera/bus/nats/credentials'
import { createNatsDial } from '@chimera/bus/nats/dial'
import { createConnectionKey, signGrant } from '@chimera/bus/nats/grants'
import type { Bus } from '@chimera/bus/port'
import { startNats } from '@chimera/bus/testing/nats-server'
import { createChance } from '@chimera/host/chance'
import { createClock } from '@chimera/host/clock'
import { test, vi } from 'vitest'
import { chimera } from '../../test/command.ts'

// Each call starts Node and loads the sources; a busy machine takes seconds for that.
vi.setConfig({ testTimeout: 120_000 })

const FILES = ['authority.json', 'granter.json', 'hub.creds', 'nats.conf']
const hands = { clock: createClock(), chance: createChance() }

test('AV-12 a server with its lines lets in the hub, and whom the hub lets in', async () => {
  const home = await mkdtemp(join(tmpdir(), 'chimera-cli-broker-'))
  const folder = join(home, 'broker')
  const read = (name: string) => readFile(join(folder, name), 'utf8')
  const [made, ...wrong] = await Promise.all([
    chimera(['broker', 'init', folder]),
    chimera(['broker', 'init', join(home, 'other'), '--disk', 'much']),
    chimera(['broker', 'init']),
  ])
  assert.equal(made.status, 0, made.err)
  assert.deepEqual(
    wrong.map(({ status }) => status),
    [2, 2],
  )
  const texts = await Promise.all(FILES.map(read))
  const again = await chimera(['broker', 'init', folder])
  assert.equal(again.status, 2)
  assert.match(again.err, /there already/)
  assert.deepEqual(await Promise.all(FILES.map(read)), texts, 'nothing was overwritten')

  const [authority = '', granter = '', creds = '', config = ''] = texts
  const seeds = Object.values<string>(JSON.parse(authority))
  for (const seed of seeds) {
    assert.ok(!config.includes(seed) && !made.out.includes(seed) && !made.err.includes(seed))
  }
  if (process.platform !== 'win32') {
    for (const name of FILES.slice(0, 3)) {
      assert.equal((await stat(join(folder, name))).mode & 0o777, 0o600, name)
    }
  }

  const next = join(home, 'next')
  const renewed = await chimera(['broker', 'renew', join(folder, 'authority.json'), next])
  assert.equal(renewed.status, 0, renewed.err)
  const misread = await chimera(['broker', 'renew', join(folder, 'nats.conf'), join(home, 'no')])
  assert.equal(misread.status, 2)
  const kept = (text: string) => JSON.parse(text)
  const after = await readFile(join(next, 'authority.json'), 'utf8')
  assert.deepEqual({ ...kept(after), signing: '' }, { ...kept(authority), signing: '' })
  assert.notEqual(kept(after).signing, kept(authority).signing)

  const server = await startNats({ config: () => config })
  const { account, signing_seed: signingSeed } = JSON.parse(granter)
  const { publicKey: user, seed } = createConnectionKey(hands.chance.bytes)
  const now = hands.clock.now()
  const grant = { user, name: 'a', publish: ['a'], subscribe: [], now, expiresAt: now + 60_000 }
  const jwt = signGrant({ account, signingSeed }, grant)
  const shown: (Credentials | undefined)[] = [
    { kind: 'creds', text: creds },
    { kind: 'grant', jwt, seed },
    undefined,
  ]
  const renewedConfig = await readFile(join(next, 'nats.conf'), 'utf8')
  const later = await startNats({ config: () => renewedConfig })
  const newCreds = { kind: 'creds', text: await readFile(join(next, 'hub.creds'), 'utf8') } as const
  const buses = [
    ...shown.map((credentials) => dialled(server.address, credentials)),
    dialled(later.address, newCreds),
    ...shown.slice(0, 2).map((credentials) => dialled(later.address, credentials)),
  ]
  try {
    const IN = 'connected'
    const OUT = 'kept out'
    await vi.waitFor(() => {
      const states = buses.map((bus) => {
        const text = JSON.stringify(bus.state())
        return /away.*authorization/i.test(text) ? OUT : bus.state().type
      })
      assert.deepEqual(states, [IN, IN, OUT, IN, OUT, OUT])
    }, 10_000)
  } finally {
    await Promise.all(buses.map((bus) => bus.close()))
    await Promise.all([server.stop(), later.stop()])
    await rm(home, { recursive: true, force: true })
  }
})

function dialled(address: string, credentials: Credentials | undefined): Bus {
  const shown = credentials && { credentials: () => credentials }
  const dial = createNatsDial({ ...hands, addresses: [address], makesPlanned: false, ...shown })
  return openBus({ ...hands, dial })
}
