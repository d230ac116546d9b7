/**
 * Publishing one agent's state to the status feed when the feed does not answer.
 *
 * Ready, it speaks when its voice is due. A transient failure makes it retry, five times; then the
 * feed's local status reads paused, somebody is told, and one probe a minute asks whether the feed
 * is back. There is no backlog: whatever gets through carries the state of that moment.
 *
 *   U1  One message is under way at a time: nothing is decided between a message and its outcome.
 *   U2  Retries are counted from the first failure, not per message: a stream of changes does not
 *       keep a dead feed in retry.
 *   U3  Each alert is given once per trouble, and only a success ends a trouble.
 *   U4  Being paused here is the feed's affair; the agent's own condition does not move.
 *   U5  A clock that is set back ends a wait rather than stretching it.
 */

import { type Accepted, accept } from '../decision.ts'
import type { Instant } from '../ids.ts'
import { LIMITS } from '../limits.ts'
import { BACKOFF, backoffMs } from './backoff.ts'
import {
  decideRepeat,
  decideSpeak,
  nextRepeatAt,
  nextSpeakAt,
  type Spoken,
  type Voice,
} from './cadence.ts'

/** What came of a message; no answer is no answer, be it refused, cut or timed out. */
export type PublishOutcome =
  | { readonly type: 'unanswered' }
  | { readonly type: 'answered'; readonly status: number }

/** Few and fixed, since metrics carry them as a label. */
export type FailureReason =
  | 'network'
  | 'server'
  | 'throttled'
  | 'unauthorised'
  | 'schema'
  | 'refused'

/** `failures` are those in a row since the last success. */
export type Publishing =
  | { readonly is: 'ready'; readonly failures: number }
  | {
      readonly is: 'retrying'
      readonly failures: number
      /** Attempts in a row that failed in a way worth a retry. */
      readonly attempts: number
      readonly retryAt: Instant
    }
  | { readonly is: 'paused'; readonly failures: number; readonly probeAt: Instant }

export const PUBLISHING_READY: Publishing = { is: 'ready', failures: 0 }

export type PublishSucceeded = {
  readonly type: 'publish_succeeded'
  readonly at: Instant
  /** Whether this ended a pause. */
  readonly recovered: boolean
}
export type PublishFailed = {
  readonly type: 'publish_failed'
  readonly at: Instant
  readonly reason: FailureReason
  readonly next:
    | { readonly is: 'retry'; readonly at: Instant }
    | { readonly is: 'probe'; readonly at: Instant }
    | { readonly is: 'drop' }
}
export type PublishAlerted = {
  readonly type: 'publish_alerted'
  readonly at: Instant
  readonly cause: 'failures_in_row' | 'retries_exhausted'
}
export type PublishingFact = PublishSucceeded | PublishFailed | PublishAlerted

const THROTTLED: readonly number[] = [408, 425, 429]
const UNAUTHORISED: readonly number[] = [401, 403]
const SCHEMA: readonly number[] = [400, 422]
const TRANSIENT: readonly FailureReason[] = ['network', 'server', 'throttled']

/** Why it failed; nothing, when it did not. A redirect is a failure: no other host is trusted. */
export function failureOf(outcome: PublishOutcome): FailureReason | undefined {
  if (outcome.type === 'unanswered') return 'network'
  const { status } = outcome
  if (status >= 200 && status < 300) return undefined
  if (status >= 500) return 'server'
  if (THROTTLED.includes(status)) return 'throttled'
  if (UNAUTHORISED.includes(status)) return 'unauthorised'
  return SCHEMA.includes(status) ? 'schema' : 'refused'
}

export function isTransient(reason: FailureReason): boolean {
  return TRANSIENT.includes(reason)
}

/** When to call `decidePublish`. */
export function nextPublishAt(publishing: Publishing, voice: Voice<string>): Instant | undefined {
  switch (publishing.is) {
    case 'ready':
      return nextSpeakAt(voice)
    case 'retrying':
      return nextRepeatAt(voice, publishing.retryAt)
    case 'paused':
      return nextRepeatAt(voice, publishing.probeAt)
  }
}

/** What to send now, if anything. */
export function decidePublish<State extends string>(
  publishing: Publishing,
  voice: Voice<State>,
  now: Instant,
): Accepted<Spoken<State>> {
  switch (publishing.is) {
    case 'ready':
      return decideSpeak(voice, now)
    case 'retrying':
      return isWaiting({ until: publishing.retryAt, mostMs: BACKOFF.feed.mostMs }, now)
        ? accept()
        : decideRepeat(voice, 'retry', now)
    case 'paused':
      return isWaiting({ until: publishing.probeAt, mostMs: LIMITS.feedProbeMs }, now)
        ? accept()
        : decideRepeat(voice, 'probe', now)
  }
}

export function decideOutcome(
  publishing: Publishing,
  { outcome, chance }: { readonly outcome: PublishOutcome; readonly chance: number },
  now: Instant,
): Accepted<PublishingFact> {
  const reason = failureOf(outcome)
  if (reason === undefined) {
    return accept({ type: 'publish_succeeded', at: now, recovered: publishing.is === 'paused' })
  }

  const next = followUp(publishing, { reason, chance }, now)
  const facts: PublishingFact[] = [{ type: 'publish_failed', at: now, reason, next }]
  if (publishing.failures + 1 === LIMITS.alertFailures) {
    facts.push({ type: 'publish_alerted', at: now, cause: 'failures_in_row' })
  }
  if (publishing.is !== 'paused' && next.is === 'probe') {
    facts.push({ type: 'publish_alerted', at: now, cause: 'retries_exhausted' })
  }
  return accept(...facts)
}

export function applyPublishing(publishing: Publishing, fact: PublishingFact): Publishing {
  if (fact.type === 'publish_alerted') return publishing
  if (fact.type === 'publish_succeeded') return PUBLISHING_READY
  const failures = publishing.failures + 1
  switch (fact.next.is) {
    case 'retry':
      return {
        is: 'retrying',
        failures,
        attempts: attemptsOf(publishing) + 1,
        retryAt: fact.next.at,
      }
    case 'probe':
      return { is: 'paused', failures, probeAt: fact.next.at }
    case 'drop':
      return { is: 'ready', failures }
  }
}

/** Whether the alert of a long queue stands (SF-10); once told, until the queue is half of it. */
export function isQueueLong(
  { waiting, told }: { readonly waiting: number; readonly told: boolean },
  threshold: number = LIMITS.feedQueue,
): boolean {
  return waiting > (told ? threshold / 2 : threshold)
}

function followUp(
  publishing: Publishing,
  { reason, chance }: { readonly reason: FailureReason; readonly chance: number },
  now: Instant,
): PublishFailed['next'] {
  // While paused even a plain refusal leaves things as they are: only a success is a recovery.
  if (publishing.is === 'paused') return { is: 'probe', at: now + LIMITS.feedProbeMs }
  if (!isTransient(reason)) return { is: 'drop' }
  const attempts = attemptsOf(publishing) + 1
  if (attempts > LIMITS.feedRetries) return { is: 'probe', at: now + LIMITS.feedProbeMs }
  return { is: 'retry', at: now + backoffMs(BACKOFF.feed, { failures: attempts, chance }) }
}

function isWaiting(
  { until, mostMs }: { readonly until: Instant; readonly mostMs: number },
  now: Instant,
): boolean {
  return now < until && until - now <= mostMs
}

function attemptsOf(publishing: Publishing): number {
  return publishing.is === 'retrying' ? publishing.attempts : 0
}
