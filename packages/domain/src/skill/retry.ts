/**
 * Whether a skill that failed is tried again, and when (SK-2). Time and chance are handed in.
 *
 *   R1  What cannot succeed later is never tried again, whatever number stands beside it.
 *   R2  An error's own number binds, and three is the most for one call, whichever errors it met.
 *   R3  Waits are 1, 2, 4 s and up to a second more by chance, as the document has it. Who asked us
 *       to wait longer is heard up to a minute; then it is the caller who comes back.
 *   R4  A try that could only begin at or after the deadline is not made.
 *   R5  What may happen once only is not tried again while nobody knows how the last try ended.
 */
import type { Instant } from '../ids.ts'
import { LIMITS } from '../limits.ts'
import { type BackoffPlan, backoffMs } from '../voice/backoff.ts'

/** Who is asked instead, and from which retry on. */
export type Fallback = { readonly to: 'source' | 'model'; readonly fromRetry: number }

/** What an error's recovery says about trying again. */
export type Recovery = {
  readonly retryable: boolean
  readonly retries: number
  readonly fallback?: Fallback
}

export type Tried = {
  readonly recovery: Recovery
  /** Retries that were made so far. */
  readonly retries: number
  /** The try may have done its deed, and a second deed would be one too many (R5). */
  readonly hazardous: boolean
  readonly deadline?: Instant
  readonly retryAfterMs?: number
  /** From 0 up to, but not including, 1. */
  readonly chance: number
}

export type Retry =
  | {
      readonly again: true
      readonly at: Instant
      /** The first is 1. */
      readonly retry: number
      readonly fallback?: Fallback['to']
    }
  | {
      readonly again: false
      readonly because: 'final' | 'hazardous' | 'used_up' | 'too_long' | 'too_late'
    }

/** 1, 2, 4 s; the document's jitter comes on top, so chance takes nothing off. */
export const RETRY_BACKOFF: BackoffPlan = { firstMs: 1_000, factor: 2, mostMs: 4_000, spread: 0 }
const JITTER_MS = 1_000

export function decideRetry(tried: Tried, now: Instant): Retry {
  const { recovery, retries, chance, deadline, retryAfterMs = 0 } = tried
  if (!recovery.retryable) return { again: false, because: 'final' }
  if (tried.hazardous) return { again: false, because: 'hazardous' }
  if (retries >= Math.min(recovery.retries, LIMITS.skillRetries)) {
    return { again: false, because: 'used_up' }
  }
  if (retryAfterMs > LIMITS.skillWaitMs) return { again: false, because: 'too_long' }
  const retry = retries + 1
  const plannedMs =
    backoffMs(RETRY_BACKOFF, { failures: retry, chance: 0 }) + Math.floor(JITTER_MS * chance)
  const at = now + Math.max(plannedMs, retryAfterMs)
  if (deadline !== undefined && at >= deadline) return { again: false, because: 'too_late' }
  const { fallback } = recovery
  return fallback !== undefined && retry >= fallback.fromRetry
    ? { again: true, at, retry, fallback: fallback.to }
    : { again: true, at, retry }
}
