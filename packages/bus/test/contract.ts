/** What every broker behind the bus must do: the promises B1 to B6 of the port, one by one. */
import { describe } from 'vitest'
import type { BusOptions } from '../src/bus.ts'
import type { Bus } from '../src/port.ts'
import { durableContract } from './contract-durable.ts'
import { handContract } from './contract-hand.ts'
import { lossContract } from './contract-loss.ts'
import { plainContract } from './contract-plain.ts'

export type OpenOptions = Pick<BusOptions, 'streams' | 'buckets' | 'limits'>

export type Rig = {
  /** A bus that is connected, and closed when the test is over. */
  readonly open: (options?: OpenOptions) => Promise<Bus>
  /** Names that no other test uses: the broker is shared. */
  readonly name: (word: string) => string
  /** As a crash does it. */
  readonly stopBroker: () => Promise<void>
  readonly startBroker: () => Promise<void>
}

export function busContract(broker: string, rig: Rig): void {
  describe(`the bus over ${broker}`, () => {
    plainContract(rig)
    durableContract(rig)
    handContract(rig)
    lossContract(rig)
  })
}
