/**
 * How much of the machine this process uses: its own processor time and memory, as shares of what
 * it may use. Planners weigh it (AV-7).
 *
 *   G1  Figures are measured, never made up: a machine that says nothing of itself is full.
 *   G2  The processor's share is over the time since the last look; a look that comes too soon
 *       after it repeats the last figure, since a share of nothing is noise.
 */
import { availableParallelism, totalmem } from 'node:os'

export type Load = { readonly cpu: number; readonly mem: number }

/** What a process says of itself at one moment. */
export type Measured = {
  /** Processor time used since the process began, all threads together. */
  readonly usedMs: number
  /** Since the process began. */
  readonly atMs: number
  readonly memoryBytes: number
  readonly cores: number
  /** The most that it may have. */
  readonly mostBytes: number
}

// Processor time is counted in steps of some milliseconds.
const LEAST_SPAN_MS = 250

export function createLoad(measure: () => Measured = measureProcess): () => Load {
  let last: Pick<Measured, 'usedMs' | 'atMs'> = { usedMs: 0, atMs: 0 }
  let cpu: number | undefined
  return () => {
    const now = measure()
    const spanMs = now.atMs - last.atMs
    if (cpu === undefined || spanMs >= LEAST_SPAN_MS) {
      cpu = shareOf(now.usedMs - last.usedMs, spanMs * now.cores)
      last = now
    }
    return { cpu, mem: shareOf(now.memoryBytes, now.mostBytes) }
  }
}

/** From 0 to 1. */
export function shareOf(part: number, whole: number): number {
  const share = part / whole
  return share >= 0 && share <= 1 ? share : share < 0 ? 0 : 1
}

export function measureProcess(): Measured {
  const { user, system } = process.cpuUsage()
  return {
    usedMs: (user + system) / 1_000,
    atMs: process.uptime() * 1_000,
    memoryBytes: process.memoryUsage.rss(),
    cores: availableParallelism(),
    mostBytes: Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY),
  }
}
