/**
 * Trying again what may succeed the second time: transactions that the database broke off because
 * of others.
 *
 *   Y1  What is tried again has not happened. Whoever may repeat more than that says so.
 *   Y2  The number of tries is bounded, and waits between them are spread by chance, so that two
 *       who were in each other's way do not meet again.
 */
import { type BackoffPlan, backoffMs } from '@chimera/domain/voice/backoff'
import { Failure } from '../failure.ts'

/** What a process gives: time to wait with, and chance. */
export type RetryHands = {
  readonly sleep: (ms: number) => Promise<void>
  /** From 0 up to, but not including, 1. */
  readonly fraction: () => number
}

export type RetryOptions = {
  readonly most?: number
  /** What else than conflicts is worth another try. */
  readonly also?: (failure: Failure) => boolean
}

// A conflict ends when the other's commit does, within a few ms. Eight tries take half a second.
const PLAN: BackoffPlan = { firstMs: 4, factor: 2, mostMs: 250, spread: 0.75 }
const MOST = 8

/** Serialization failure, and deadlock: of two that wait for each other one is chosen to go. */
const BROKEN_OFF = ['40001', '40P01']

export async function retrying<T>(
  attempt: () => Promise<T>,
  { sleep, fraction }: RetryHands,
  { most = MOST, also = () => false }: RetryOptions = {},
): Promise<T> {
  for (let failures = 1; ; failures += 1) {
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof Failure) || failures >= most) throw error
      if (!isConflict(error) && !also(error)) throw error
    }
    await sleep(backoffMs(PLAN, { failures, chance: fraction() }))
  }
}

export function isConflict({ sqlState }: Failure): boolean {
  return sqlState !== undefined && BROKEN_OFF.includes(sqlState)
}
