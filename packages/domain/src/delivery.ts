/**
 * Bringing a message to an address that somebody gave (P-8): when to try again, when to give up.
 *
 *   E1  An answer of 2xx ends it; every other one is a failed attempt, a redirect too: the message
 *       is signed for the address that it was given.
 *   E2  Waits double from a second to two hours. All attempts together take about a day.
 *   E3  An address that is gone (410) or may not be dialled is given up at once.
 *   E4  A receiver that says when to come back is heard, as far as the longest wait goes; it cannot
 *       have us come earlier than planned.
 *   E5  Of a failure a word and a status are kept, never the peer's text nor a name of the inside.
 */
import { type Accepted, accept, type Decision, refuse } from './decision.ts'
import type { Instant } from './ids.ts'
import { LIMITS } from './limits.ts'
import { type BackoffPlan, backoffMs } from './voice/backoff.ts'

/** Few and fixed, each with the sentence that the owner of an undelivered message reads. */
// biome-ignore format: a table is read by its columns
export const TROUBLES = {
  answered_otherwise: 'The address answered with a status that is not a success.',
  gone:               'The address answered 410: it wants no more messages.',
  redirected:         'The address points elsewhere, and messages follow no redirect. Give the new address.',
  refused_address:    'The address is not one that the hub dials.',
  timeout:            'The address did not answer in time.',
  network:            'The address could not be reached, or broke off.',
  tls:                'A secure connection to the address could not be made.',
  too_large:          'The answer was larger than the limit.',
} as const satisfies Record<string, string>

export type Trouble = keyof typeof TROUBLES

export function isTrouble(text: string): text is Trouble {
  return Object.hasOwn(TROUBLES, text)
}

export type Attempted =
  | { readonly is: 'answered'; readonly status: number; readonly retryAfterMs?: number }
  | {
      readonly is: 'unanswered'
      readonly because: Exclude<Trouble, 'answered_otherwise' | 'gone'>
    }

export type Delivered = {
  readonly type: 'message_delivered'
  readonly at: Instant
  readonly status: number
}
export type AttemptFailed = {
  readonly type: 'attempt_failed'
  readonly at: Instant
  readonly trouble: Trouble
  readonly status?: number
  readonly nextAt: Instant
}
export type GivenUp = {
  readonly type: 'delivery_given_up'
  readonly at: Instant
  readonly trouble: Trouble
  readonly status?: number
}
export type DeliveryFact = Delivered | AttemptFailed | GivenUp

/** A fifth off at most: a crowd spreads out, and the day stays a day. */
export const DELIVERY_BACKOFF: BackoffPlan = {
  firstMs: 1_000,
  factor: 2,
  mostMs: LIMITS.deliveryWaitMs,
  spread: 0.2,
}

const FINAL: readonly Trouble[] = ['gone', 'refused_address']
const GONE = 410

export type Attempt = {
  /** This one included. */
  readonly attempts: number
  /** By hand: the one who asked decides about the next. */
  readonly byHand?: boolean
}

export function decideAttempt(
  { attempts, byHand = false }: Attempt,
  { attempted, chance }: { readonly attempted: Attempted; readonly chance: number },
  now: Instant,
): Accepted<DeliveryFact> {
  if (isSuccess(attempted)) {
    return accept({ type: 'message_delivered', at: now, status: attempted.status })
  }
  const failed = { at: now, ...troubleOf(attempted) }
  const isLast = byHand || attempts >= LIMITS.deliveryAttempts
  if (isLast || FINAL.includes(failed.trouble)) {
    return accept({ type: 'delivery_given_up', ...failed })
  }
  const plannedMs = backoffMs(DELIVERY_BACKOFF, { failures: attempts, chance })
  const askedMs = Math.min(retryAfterOf(attempted), LIMITS.deliveryWaitMs)
  return accept({ type: 'attempt_failed', ...failed, nextAt: now + Math.max(plannedMs, askedMs) })
}

export type EnqueueAsked = {
  /** Messages that wait for the same address. */
  readonly waiting: number
  readonly bytes: number
}

export function decideEnqueue({
  waiting,
  bytes,
}: EnqueueAsked): Decision<never, 'message_oversized' | 'queue_full'> {
  if (bytes > LIMITS.bodyBytes) {
    return refuse('message_oversized', { figures: { mostBytes: LIMITS.bodyBytes } })
  }
  if (waiting >= LIMITS.deliveriesPerTarget) {
    return refuse('queue_full', { figures: { current: waiting, most: LIMITS.deliveriesPerTarget } })
  }
  return accept()
}

type Answered = Extract<Attempted, { is: 'answered' }>

const isSuccess = (attempted: Attempted): attempted is Answered =>
  attempted.is === 'answered' && attempted.status >= 200 && attempted.status < 300

function troubleOf(attempted: Attempted): { readonly trouble: Trouble; readonly status?: number } {
  if (attempted.is === 'unanswered') return { trouble: attempted.because }
  const { status } = attempted
  if (status === GONE) return { trouble: 'gone', status }
  const isRedirect = status >= 300 && status < 400
  return { trouble: isRedirect ? 'redirected' : 'answered_otherwise', status }
}

const retryAfterOf = (attempted: Attempted): number =>
  attempted.is === 'answered' ? (attempted.retryAfterMs ?? 0) : 0
