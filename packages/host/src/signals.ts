/**
 * SIGTERM and SIGINT stop the process in good order. Nothing is wired until this is called (A6).
 *
 *   N1  The first signal begins the stop; the process ends when it is done, with 0 if it was clean.
 *   N2  A second one ends the process at once.
 *   N3  The same key pressed once may come twice, from the terminal and from `npm start`, so what
 *       follows within half a second is not a second signal.
 */
import type { Clock } from './clock.ts'
import type { Stop, StopReport } from './stop.ts'

export type StopSignal = 'SIGTERM' | 'SIGINT'

/** As much of `process` as is needed. */
export type SignalSource = {
  readonly on: (signal: StopSignal, listener: () => void) => unknown
  readonly off: (signal: StopSignal, listener: () => void) => unknown
}

export type SignalOptions = {
  readonly clock: Clock
  readonly source: SignalSource
  /** Ends the process with this status. */
  readonly exit: (status: number) => void
  readonly onReport?: (report: StopReport) => void
}

const ECHO_MS = 500
// What shells report for a process that a signal has ended.
const FORCED = { SIGINT: 130, SIGTERM: 143 } as const

/** Returns the way to take the listeners off again. */
export function stopOnSignals(stop: Stop, options: SignalOptions): () => void {
  const { clock, source, exit, onReport } = options
  let firstAt: number | undefined

  async function end(signal: StopSignal): Promise<void> {
    const report = await stop.stop(signal)
    onReport?.(report)
    exit(report.notClosed.length === 0 ? 0 : 1)
  }

  function hear(signal: StopSignal): void {
    if (firstAt === undefined) {
      firstAt = clock.now()
      void end(signal)
    } else if (clock.now() - firstAt >= ECHO_MS) exit(FORCED[signal])
  }

  const onTerm = (): void => hear('SIGTERM')
  const onInt = (): void => hear('SIGINT')
  source.on('SIGTERM', onTerm)
  source.on('SIGINT', onInt)
  return () => {
    source.off('SIGTERM', onTerm)
    source.off('SIGINT', onInt)
  }
}
