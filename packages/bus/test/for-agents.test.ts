/** NATS for an agent: a grant is asked for when it is needed, used while it lasts, and replaced. */
import assert from 'node:assert/strict'
import { afterEach, describe, test } from 'vitest'
import { createAuthority, encodeServerConfig, granterOf } from '../src/nats/authority.ts'
import { onNats } from '../src/nats/for-agents.ts'
import { inboxOf, signGrant } from '../src/nats/grants.ts'
import type { Bus } from '../src/port.ts'
import { connected, createHandClock, realChance, realClock } from './hands.ts'
import { startNats } from './nats-server.ts'

const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})
const streams: [] = []

describe('AV-12 grants', () => {
  test('let the agent on, and hold it to its own', async () => {
    const seeds = createAuthority(realChance.bytes)
    const now = Date.now()
    const limits = { now, diskBytes: 1024 ** 3, memoryBytes: 100_000_000 }
    const server = await startNats({ config: () => encodeServerConfig(seeds, limits) })
    ends.push(() => server.stop())
    const keys: string[] = []
    const grant = async (user: string) => {
      keys.push(user)
      const expiresAt = now + 600_000
      const subjects = { publish: ['own.said'], subscribe: ['own.heard'] }
      const jwt = signGrant(granterOf(seeds), { user, name: 'agent', now, expiresAt, ...subjects })
      return { jwt, inbox: inboxOf(user), addresses: [server.address], expiresAt }
    }
    const needs = { name: 'agent', clock: realClock, chance: realChance, streams, grant }
    const bus = onNats()(needs)
    ends.push(() => bus.close())
    await connected(bus)
    assert.equal(bus.held, true)
    const forbidden = new Promise((resolve) => {
      bus.watch(({ type }) => type === 'forbidden' && resolve(type))
    })
    bus.publish({ subject: 'others.said', bytes: new Uint8Array(1) })
    assert.equal(await forbidden, 'forbidden')
    await server.kill()
    await server.start()
    await connected(bus)
    assert.equal(keys.length, 1, 'the grant has not ended')
  })

  test('of a broker that is away for long are few, and one that ends is replaced', async () => {
    const clock = createHandClock()
    let asked = 0
    const grant = async (user: string) => {
      asked += 1
      const addresses = ['nats://127.0.0.1:1']
      return { jwt: 'x', inbox: inboxOf(user), addresses, expiresAt: clock.now() + 900_000 }
    }
    const bus: Bus = onNats()({ name: 'agent', clock, chance: realChance, streams, grant })
    ends.push(() => bus.close())
    let dials = 0
    for (let each = 0; each < 60; each += 1) {
      await clock.pass(5_000)
      // A refused connection takes the time of the real world.
      await new Promise((resolve) => setTimeout(resolve, 5))
      dials += 1
    }
    assert.equal(bus.state().type, 'away')
    assert.ok(asked >= 2 && asked <= dials / 5, `${asked} for ${dials}`)
    const before = asked
    await clock.pass(850_000)
    const isAsked = (): boolean => asked > before
    for (let each = 0; !isAsked() && each < 100; each += 1) {
      await clock.pass(1_000)
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    assert.ok(asked > before)
  })

  test('are not asked for where an address is given', async () => {
    const server = await startNats({ config: () => 'authorization { token: "let-me-in" }' })
    ends.push(() => server.stop())
    const grant = async () => assert.fail('nobody asks')
    const needs = { name: 'agent', clock: realClock, chance: realChance, streams, grant }
    const withToken = server.address.replace('nats://', 'nats://let-me-in@')
    const credentials = () => ({ kind: 'token', token: 'let-me-in' }) as const
    for (const open of [onNats(withToken), onNats(server.address, { credentials })]) {
      const bus = open(needs)
      ends.push(() => bus.close())
      await connected(bus)
      assert.equal(bus.held, false)
    }
    assert.throws(() => onNats('http://127.0.0.1'), /address/)
  })
})
