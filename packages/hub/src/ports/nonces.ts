/** The nonces of signed requests, of all hubs that share what they keep. */
import type { Instant } from '@chimera/domain/ids'
import type { SeenNonces } from '@chimera/identity/freshness'

export type Nonces = SeenNonces & {
  /** Removes what has lapsed; answers how many. */
  readonly purge: (now: Instant) => Promise<number>
}
