/**
 * What a process holds, once everything is gone that nobody needs: garbage is collected first, or
 * the figure would tell when it was last collected.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks'

export type Gauged = {
  /** Of the machine's memory, in bytes. */
  readonly rss: number
  /** What the program holds: objects, and buffers outside of them. */
  readonly held: number
  /** In milliseconds: what nearly everybody waited at most since the last look. */
  readonly delayMs: number
}

const NEARLY_ALL = 99

export function createGauge(): () => Promise<Gauged> {
  const delays = monitorEventLoopDelay({ resolution: 10 })
  delays.enable()
  return async () => {
    const delayMs = delays.percentile(NEARLY_ALL) / 1e6
    // The collection below is not part of the program.
    delays.disable()
    collect()
    // What is freed by a callback is freed in the next turn, and collected by the second time.
    await new Promise((resolve) => setImmediate(resolve))
    collect()
    const { rss, heapUsed, external } = process.memoryUsage()
    delays.reset()
    delays.enable()
    return { rss, held: heapUsed + external, delayMs }
  }
}

function collect(): void {
  if (globalThis.gc === undefined) throw new Error('start it with --expose-gc')
  globalThis.gc()
}
