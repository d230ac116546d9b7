/** An agent on the bus: its line, what it says and hears there, in one place for `createAgent`. */
import type { Chance } from '@chimera/host/chance'
import type { Clock } from '@chimera/host/clock'
import type { Log } from '@chimera/host/log'
import type { Metrics } from '@chimera/host/metrics'
import type { Stop } from '@chimera/host/stop'
import type { HubClient } from '../hub/client.ts'
import type { Network, Self } from '../ports.ts'
import type { Orders } from '../voice/orders.ts'
import { createBusOutlet, createHubOutlet, type Outlet } from '../voice/outlet.ts'
import { type BusDoorsHands, hearOrders, openBusDoors } from './doors.ts'
import { createGranting } from './grant.ts'
import { createLine } from './line.ts'
import { KEPT_STREAMS, withBus } from './network.ts'
import type { BusOption } from './port.ts'

export type JoinHands = {
  readonly name: string
  readonly self: Self
  readonly hub: Pick<HubClient, 'post'>
  readonly network: Network
  readonly clock: Clock
  readonly chance: Chance
  readonly log: Log
  readonly metrics: Metrics
  readonly stop: Stop
}

export type OnBus = {
  readonly network: Network
  readonly outlet: Outlet
  readonly serve: (parts: Pick<BusDoorsHands, 'workshop' | 'reserving' | 'released'>) => void
  readonly obey: (orders: Orders) => void
  /** Nothing more is heard. */
  readonly deafen: () => Promise<void>
}

/** Closed after whatever is registered later: results are said until the end. */
export function joinBus(bus: BusOption, hands: JoinHands): OnBus {
  const { self, hub, clock, chance, log, stop } = hands
  const grant = createGranting(hub, self.instance)
  const { instance } = self
  const needs = { name: hands.name, instance, clock, chance, streams: KEPT_STREAMS, grant }
  const line = createLine({ bus, needs, clock, log })
  stop.register({ name: 'bus', close: () => line.close() })
  const network = withBus(hands.network, { line, self, clock, chance })
  return {
    network,
    outlet: createBusOutlet({
      line,
      hub: createHubOutlet(hub),
      believed: async () => network.isOpen(),
    }),
    serve: (parts) => openBusDoors({ ...hands, ...parts, line, network }),
    obey: (orders) => hearOrders(line, self.agent, orders),
    deafen: line.deafen,
  }
}
