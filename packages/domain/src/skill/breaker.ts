/**
 * A circuit breaker: a provider that is down is left alone, so that its callers hear so at once and
 * it can recover.
 *
 *   K1  Closed, everybody passes. So many failures in a row open it; any success begins anew.
 *   K2  Open, nobody passes until its time. Each time it opens again without having closed in
 *       between, the time doubles, up to a longest.
 *   K3  After that one call at a time passes, to try. Its success closes the breaker, its failure
 *       opens it again; when it ends without a word about the provider, the next one may try.
 *   K4  A call counts for the state that let it pass. What was sent before the breaker opened says
 *       nothing about how the provider is now.
 */
import type { Instant } from '../ids.ts'
import { LIMITS } from '../limits.ts'
import { type BackoffPlan, backoffMs } from '../voice/backoff.ts'

export type Breaker =
  | { readonly is: 'closed'; readonly round: number; readonly failures: number }
  | {
      readonly is: 'open'
      readonly round: number
      /** How often it has opened in a row. */
      readonly trips: number
      readonly until: Instant
    }
  | {
      readonly is: 'half_open'
      readonly round: number
      readonly trips: number
      readonly trying: boolean
    }

/** What a call is let pass with, and shows when it is back. */
export type Pass = { readonly round: number }

/** About the provider: it worked, it did not, or the call says nothing about it. */
export type Verdict = 'works' | 'fails' | 'unsaid'

export const CLOSED: Breaker = { is: 'closed', round: 0, failures: 0 }

// Chance takes off up to a fifth: of many processes, one tries first.
const OPEN_BACKOFF: BackoffPlan = {
  firstMs: LIMITS.breakerOpenMs,
  factor: 2,
  mostMs: LIMITS.breakerMostMs,
  spread: 0.2,
}

export type Passed =
  | { readonly ok: true; readonly breaker: Breaker; readonly pass: Pass }
  | { readonly ok: false; readonly breaker: Breaker; readonly retryAt: Instant }

export function decidePass(breaker: Breaker, now: Instant): Passed {
  const { round } = breaker
  if (breaker.is === 'closed') return { ok: true, breaker, pass: { round } }
  if (breaker.is === 'open') {
    if (now < breaker.until) return { ok: false, breaker, retryAt: breaker.until }
    const next = round + 1
    return {
      ok: true,
      breaker: { is: 'half_open', round: next, trips: breaker.trips, trying: true },
      pass: { round: next },
    }
  }
  if (breaker.trying) return { ok: false, breaker, retryAt: now + LIMITS.breakerTryMs }
  return { ok: true, breaker: { ...breaker, trying: true }, pass: { round } }
}

export type Returned = {
  readonly pass: Pass
  readonly verdict: Verdict
  /** From 0 up to, but not including, 1. */
  readonly chance: number
}

export function applyVerdict(
  breaker: Breaker,
  { pass, verdict, chance }: Returned,
  now: Instant,
): Breaker {
  if (pass.round !== breaker.round || breaker.is === 'open') return breaker
  if (breaker.is === 'half_open') {
    if (verdict === 'unsaid') return { ...breaker, trying: false }
    if (verdict === 'works') return { is: 'closed', round: breaker.round + 1, failures: 0 }
    return open(breaker.round, breaker.trips + 1, { chance, now })
  }
  if (verdict === 'unsaid') return breaker
  if (verdict === 'works') return breaker.failures === 0 ? breaker : { ...breaker, failures: 0 }
  const failures = breaker.failures + 1
  if (failures < LIMITS.breakerFailures) return { ...breaker, failures }
  return open(breaker.round, 1, { chance, now })
}

function open(round: number, trips: number, at: { chance: number; now: Instant }): Breaker {
  const waitMs = backoffMs(OPEN_BACKOFF, { failures: trips, chance: at.chance })
  return { is: 'open', round: round + 1, trips, until: at.now + waitMs }
}
