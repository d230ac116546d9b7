/** The in-process broker keeps the contract of the bus. */
import { afterEach, beforeEach } from 'vitest'
import { openBus } from '../src/bus.ts'
import { type Broker, createBroker } from '../src/memory/broker.ts'
import type { Bus } from '../src/port.ts'
import { busContract } from './contract.ts'
import { connected, realChance, realClock } from './hands.ts'

const opened: Bus[] = []
let broker: Broker

beforeEach(() => {
  broker = createBroker({ clock: realClock })
})
afterEach(async () => {
  await Promise.all(opened.splice(0).map((bus) => bus.close()))
})

busContract('the broker in this process', {
  open: async ({ limits, ...options } = {}) => {
    const bus = openBus({
      ...options,
      dial: (dialOptions) => broker.dial(dialOptions),
      clock: realClock,
      chance: realChance,
      limits: { redialMs: 5, redialMostMs: 20, ...limits },
    })
    opened.push(bus)
    return connected(bus)
  },
  name: (word) => word,
  stopBroker: async () => broker.stop(),
  startBroker: async () => broker.start(),
})
