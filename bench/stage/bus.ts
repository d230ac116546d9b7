/** A connection to a broker, as an agent has one. */
import { openBus } from '@chimera/bus/bus'
import { createNatsDial } from '@chimera/bus/nats/dial'
import type { Bus } from '@chimera/bus/port'
import { createChance } from '@chimera/host/chance'
import { createClock } from '@chimera/host/clock'

export async function connectBus(address: string): Promise<Bus> {
  const hands = { clock: createClock(), chance: createChance() }
  const bus = openBus({ ...hands, dial: createNatsDial({ ...hands, addresses: [address] }) })
  await new Promise<void>((resolve) => {
    const endWatch = bus.watch(({ type }) => {
      if (type !== 'connected') return
      endWatch()
      resolve()
    })
  })
  return bus
}
