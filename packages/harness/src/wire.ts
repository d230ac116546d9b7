/** A way to a broker of this process that can be cut and mended, as a cable can. */
import { Failure } from '@chimera/bus/failure'
import type { Dial } from '@chimera/bus/link'

export type Wire = {
  readonly dial: Dial
  /** Ends what is connected, and takes nothing new until it is mended. */
  readonly cut: () => void
  readonly mend: () => void
}

export function createWire(broker: Dial): Wire {
  const cuts = new Set<() => void>()
  let whole = true
  return {
    dial: async (options) => {
      if (!whole) throw new Failure('broker_away', 'the harness has cut it off')
      const link = await broker(options)
      const cut = new Promise<string>((resolve) => {
        const lose = (): void => {
          cuts.delete(lose)
          void link.close()
          resolve('the harness has cut it off')
        }
        cuts.add(lose)
        void link.lost.then(() => cuts.delete(lose))
      })
      return { ...link, lost: Promise.race([link.lost, cut]) }
    },
    cut: () => {
      whole = false
      for (const lose of cuts) lose()
    },
    mend: () => {
      whole = true
    },
  }
}
