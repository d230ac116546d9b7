/**
 * What a voice does when its message does not get through. The numbers and the decisions are the
 * domain's; here is only which of them apply to whom.
 *
 *   C1  To the hub: the wait doubles up to five minutes (AV-4), and what then goes out is a new
 *       message with what is so then. A refusal is no trouble of the network: a beat goes on; what
 *       is said only once is said again, since no beat would.
 *   C2  To the status feed: five retries of the same message, then a probe a minute (SF-5).
 */
import { type Accepted, accept } from '@chimera/domain/decision'
import type { Instant } from '@chimera/domain/ids'
import { BACKOFF, type BackoffPlan, backoffMs } from '@chimera/domain/voice/backoff'
import {
  decideRepeat,
  decideSpeak,
  nextRepeatAt,
  nextSpeakAt,
  type Spoken,
  type Voice,
} from '@chimera/domain/voice/cadence'
import {
  applyPublishing,
  decideOutcome,
  decidePublish,
  failureOf,
  isTransient,
  nextPublishAt,
  PUBLISHING_READY,
  type Publishing,
  type PublishingFact,
  type PublishOutcome,
} from '@chimera/domain/voice/publishing'

export type Course = {
  /** When to ask `decide`; never, where nothing is to be said. */
  readonly nextAt: (voice: Voice<string>) => Instant | undefined
  readonly decide: <State extends string>(
    voice: Voice<State>,
    now: Instant,
  ) => Accepted<Spoken<State>>
  readonly end: (outcome: PublishOutcome, now: Instant) => void
  /** Whether the last message did not get through. */
  readonly isFailing: () => boolean
}

export type HubCourseOptions = {
  readonly fraction: () => number
  /** `repeat` for what no beat would say again. */
  readonly refused: 'drop' | 'repeat'
  readonly plan?: BackoffPlan
}

type Trouble = { readonly failures: number; readonly until: Instant }

export function createHubCourse(options: HubCourseOptions): Course {
  const { fraction, refused, plan = BACKOFF.presence } = options
  let trouble: Trouble | undefined
  let failing = false

  return {
    nextAt: (voice) =>
      trouble === undefined ? nextSpeakAt(voice) : nextRepeatAt(voice, trouble.until),
    decide: (voice, now) => {
      if (trouble === undefined) return decideSpeak(voice, now)
      // A clock that is set back ends a wait rather than stretching it.
      const waits = now < trouble.until && trouble.until - now <= plan.mostMs
      return waits ? accept() : decideRepeat(voice, 'probe', now)
    },
    end: (outcome, now) => {
      const reason = failureOf(outcome)
      failing = reason !== undefined
      if (reason === undefined || (refused === 'drop' && !isTransient(reason))) {
        trouble = undefined
        return
      }
      const failures = (trouble?.failures ?? 0) + 1
      trouble = { failures, until: now + backoffMs(plan, { failures, chance: fraction() }) }
    },
    isFailing: () => failing,
  }
}

export type FeedCourse = Course & { readonly publishing: () => Publishing }

/** `tell` hears each fact after all of them were applied, and how things stood before them. */
export function createFeedCourse(
  fraction: () => number,
  tell: (fact: PublishingFact, before: Publishing) => void,
): FeedCourse {
  let publishing = PUBLISHING_READY
  return {
    nextAt: (voice) => nextPublishAt(publishing, voice),
    decide: (voice, now) => decidePublish(publishing, voice, now),
    end: (outcome, now) => {
      const { facts } = decideOutcome(publishing, { outcome, chance: fraction() }, now)
      const before = publishing
      publishing = facts.reduce(applyPublishing, publishing)
      for (const fact of facts) tell(fact, before)
    },
    isFailing: () => publishing.failures > 0,
    publishing: () => publishing,
  }
}
