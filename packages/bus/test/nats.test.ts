/** NATS keeps the contract of the bus, with a real server. */
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import { openBus } from '../src/bus.ts'
import { createNatsDial } from '../src/nats/dial.ts'
import type { Bus } from '../src/port.ts'
import { busContract } from './contract.ts'
import { connected, realChance, realClock } from './hands.ts'
import { type NatsServer, startNats } from './nats-server.ts'

const opened: Bus[] = []
let server: NatsServer
let round = 0

beforeAll(async () => {
  server = await startNats()
})
afterAll(() => server.stop())
beforeEach(() => {
  round += 1
})
afterEach(async () => {
  await Promise.all(opened.splice(0).map((bus) => bus.close()))
})

busContract('NATS', {
  open: async ({ limits, ...options } = {}) => {
    const dial = createNatsDial({
      addresses: [server.address],
      clock: realClock,
      chance: realChance,
    })
    const bus = openBus({
      ...options,
      dial,
      clock: realClock,
      chance: realChance,
      limits: { redialMs: 10, redialMostMs: 50, ...limits },
    })
    opened.push(bus)
    return connected(bus)
  },
  name: (word) => `t${round}-${word}`,
  stopBroker: () => server.kill(),
  startBroker: () => server.start(),
})
