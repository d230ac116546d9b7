/**
 * How often a platform may still be asked: so many times in any hour (SK-6).
 *
 *   H1  What is refused does not count.
 */
import type { Instant } from '@chimera/domain/ids'

export type Hourly = {
  /** Undefined: go on. Else when there is room again. */
  readonly take: (platform: string, now: Instant) => Instant | undefined
}

const HOUR_MS = 3_600_000

export function createHourly(most: number): Hourly {
  const asked = new Map<string, Instant[]>()
  return {
    take(platform, now) {
      const recent = (asked.get(platform) ?? []).filter((at) => at > now - HOUR_MS)
      asked.set(platform, recent)
      const [oldest] = recent
      if (oldest !== undefined && recent.length >= most) return oldest + HOUR_MS
      recent.push(now)
      return undefined
    },
  }
}
