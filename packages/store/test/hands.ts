/**
 * What a process would hand in: time, chance and digests, such as the tests want them.
 */
import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { DigestOf } from '@chimera/domain/audit'
import type { Digest, Instant } from '@chimera/domain/ids'

export const START: Instant = Date.UTC(2026, 0, 15, 12)

/** Time stands still until it is set. Waiting for a database that works is real. */
export function createHands(seed = 1) {
  let now = START
  let state = seed
  const fraction = () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
  return {
    clock: {
      now: () => now,
      sleep: (ms: number) => sleep(ms),
    },
    chance: { fraction, below: (most: number) => Math.floor(fraction() * most) },
    setNow: (at: Instant) => {
      now = at
    },
  }
}

/** RFC 8785 for values that JSON.parse made and whose keys are ASCII. */
export const digestOf: DigestOf = (value) =>
  createHash('sha256').update(canonical(value)).digest('hex') as Digest

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))
  return `{${entries.map(([key, each]) => `${JSON.stringify(key)}:${canonical(each)}`).join(',')}}`
}
