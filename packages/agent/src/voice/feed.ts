/**
 * The voice that the outside hears: the status feed (SF-1 to SF-13). When to speak, when to try
 * again and whether to speak at all are the domain's; here it meets the world: one message made,
 * checked, sent, counted and logged.
 *
 *   F1  What would breach the schema is not sent. It counts as a schema rejection: it is a fault of
 *       ours, and publishing is switched off before the receiver has to say so.
 *   F2  A retry is the same message, byte for byte.
 *   F3  Each trouble is an alert once: three failures in a row, retries used up, a long queue,
 *       publishing switched off.
 *   F4  A feed that cannot be reached never holds up the agent's work or its other voices.
 */
import * as feed from '@chimera/dialects/feed'
import type { Standing } from '@chimera/domain/agent/condition'
import { mayPublishUnder, type Steering } from '@chimera/domain/control'
import type { Alias, Instant, MessageId } from '@chimera/domain/ids'
import { MANNERS, type Spoken } from '@chimera/domain/voice/cadence'
import {
  failureOf,
  isQueueLong,
  isTransient,
  type PublishFailed,
  type Publishing,
  type PublishingFact,
  type PublishOutcome,
} from '@chimera/domain/voice/publishing'
import {
  applyPublishEnd,
  applyRollout,
  decideRollout,
  decideSwitchOff,
  openRollout,
  type Rollout,
  type RolloutCommand,
  type RolloutFact,
} from '@chimera/domain/voice/rollout'
import type { Chance } from '@chimera/host/chance'
import type { Clock } from '@chimera/host/clock'
import type { Log } from '@chimera/host/log'
import type { Metrics } from '@chimera/host/metrics'
import { digestOf } from '@chimera/identity/canonical'
import { createFeedCourse } from './course.ts'
import type { FeedDoor, Posted } from './feed-door.ts'
import type { RolloutKeep } from './rollout-file.ts'
import { feedSaying } from './sayings.ts'
import { createSpeaker } from './speaker.ts'

export type FeedTerms = {
  /** Whether it publishes at all (SF-11). Default: yes. */
  readonly enabled?: boolean
  /** `canary`: only a share of all agents, until an order opens it. Default: `everybody`. */
  readonly stage?: 'canary' | 'everybody'
  /** The canary's share, from 0 to 1. Default: 0.1. */
  readonly share?: number
  /** Changes that nobody could be told of, before it is an alert. Default: 100. */
  readonly queue?: number
}

/** What an operator must know; `words` name no host and no secret. */
export type VoiceAlert = {
  readonly kind: 'feed_failing' | 'feed_paused' | 'feed_queue' | 'feed_switched_off'
  readonly words: string
}

export type FeedHands = {
  readonly alias: Alias
  readonly door: FeedDoor
  readonly terms: FeedTerms
  readonly standing: () => Standing
  readonly capabilities: () => readonly string[]
  /** Where the stage of the roll-out is kept; absent: nowhere. */
  readonly kept?: RolloutKeep | undefined
  readonly clock: Clock
  readonly chance: Chance
  readonly log: Log
  readonly metrics: Metrics
  readonly alert: (alert: VoiceAlert) => void
}

export type FeedVoice = {
  readonly open: () => void
  /** The standing or the capabilities are others. */
  readonly changed: (urgency: 'urgent' | 'usual') => void
  /** What the orders that hold make of it, and what the latest one says to the roll-out. */
  readonly steer: (steering: Steering, command?: RolloutCommand) => void
  readonly settled: (signal: AbortSignal) => Promise<boolean>
  readonly close: (signal: AbortSignal) => Promise<void>
  readonly publishing: () => Publishing
  readonly rollout: () => Rollout
  /** The status as this machine shows it: paused while the feed cannot be reached (SF-5). */
  readonly local: () => feed.schema.StatusWord
  /** Whether it speaks now. */
  readonly speaks: () => boolean
}

export function createFeedVoice(hands: FeedHands): FeedVoice {
  const { alias, door, terms, clock, chance, log, alert } = hands
  const count = createCounters(hands.metrics)
  const digest = digestOf(Buffer.from(alias))
  const startedAt = clock.now()
  let rollout = hands.kept?.load() ?? begin(terms, startedAt)
  let steering: Steering = {}
  let opened = false
  let waiting = 0
  let queueTold = false
  let last: { readonly stamp: Instant; readonly message: feed.schema.Status } | undefined

  let saying = feedSaying(hands.standing(), hands.capabilities())

  const course = createFeedCourse(() => chance.fraction(), hear)
  const speaker = createSpeaker({
    clock,
    manner: MANNERS.feed,
    course,
    first: saying,
    send: attempt,
  })

  const speaks = (): boolean =>
    mayPublishUnder(steering, rollout, {
      digest,
      ...(terms.share !== undefined && { share: terms.share }),
    })

  async function attempt(spoken: Spoken<string>, signal: AbortSignal): Promise<PublishOutcome> {
    const message = messageFor(spoken)
    count.attempts.add({})
    const { outcome, error } = await post(message, signal)
    const httpStatus = outcome.type === 'answered' ? outcome.status : undefined
    const line = {
      message_id: message.message_id,
      agent_id: alias,
      status: message.status,
      http_status: httpStatus ?? null,
      ...(error !== undefined && { error }),
    }
    if (failureOf(outcome) === undefined) log.info(line, 'status published')
    else log.warn(line, 'status not published')
    return outcome
  }

  async function post(message: feed.schema.Status, signal: AbortSignal): Promise<Posted> {
    const checked = feed.checkEmitted(message)
    if (!checked.ok) {
      const fields = (checked.particulars.issues ?? []).map(({ path }) => path)
      return { outcome: { type: 'answered', status: 422 }, error: `not sent: ${fields.join()}` }
    }
    try {
      return await door.post(JSON.stringify(message), signal)
    } catch {
      // The token's file or the certificate could not be read; the cause may quote what it holds.
      return { outcome: { type: 'unanswered' }, error: 'credentials' }
    }
  }

  function messageFor({ why, stamp }: Spoken<string>): feed.schema.Status {
    if (why === 'retry' && last?.stamp === stamp) return last.message
    const message = feed.encodeStatus(
      {
        message: chance.uuid() as MessageId,
        alias,
        standing: hands.standing(),
        capabilities: hands.capabilities(),
        startedAt,
      },
      stamp,
    )
    last = { stamp, message }
    return message
  }

  function hear(fact: PublishingFact, before: Publishing): void {
    switch (fact.type) {
      case 'publish_succeeded':
        count.success.add({})
        count.lastSuccess.set({ agent_id: alias }, fact.at / 1_000)
        if (fact.recovered) log.info({ agent_id: alias }, 'the status feed answers again')
        waiting = 0
        queueTold = false
        endOne({ failure: undefined, at: fact.at })
        return
      case 'publish_failed':
        count.failures.add({ reason: fact.reason })
        if (hasEnded(fact, before)) endOne({ failure: fact.reason, at: fact.at })
        return
      case 'publish_alerted':
        alert(ALERTS[fact.cause])
    }
  }

  function endOne(end: Parameters<typeof applyPublishEnd>[1]): void {
    rollout = applyPublishEnd(rollout, end)
    const { facts } = decideSwitchOff(rollout, end.at)
    for (const fact of facts) move(fact)
  }

  function keep(): void {
    try {
      hands.kept?.save(rollout)
    } catch (error) {
      log.error({ err: error }, 'the stage of publishing could not be kept')
    }
  }

  function move(fact: RolloutFact): void {
    rollout = applyRollout(rollout, fact)
    keep()
    log.info({ stage: rollout.stage }, 'publishing to the status feed')
    if (fact.type === 'rollout_switched_off' && fact.cause !== 'operator') {
      const words = `Publishing was switched off by itself (${fact.cause}); it needs a new order.`
      alert({ kind: 'feed_switched_off', words })
    }
    if (opened) speaker.silence(!speaks())
  }

  return {
    open: () => {
      opened = true
      keep()
      if (!speaks()) speaker.silence(true)
      speaker.open()
    },
    changed: (urgency) => {
      const next = feedSaying(hands.standing(), hands.capabilities())
      if (next.state === saying.state) return
      saying = next
      speaker.change(next, urgency)
      if (!opened || !speaks() || !course.isFailing()) return
      waiting += 1
      if (!isQueueLong({ waiting, told: queueTold }, terms.queue)) return
      if (!queueTold) alert({ kind: 'feed_queue', words: 'The feed was not told of many changes.' })
      queueTold = true
    },
    steer: (next, command) => {
      steering = next
      const decision = command && decideRollout(rollout, command, clock.now())
      if (decision && !decision.ok) {
        log.warn({ command, refusal: decision.refusal }, 'an order to the roll-out has no effect')
      }
      for (const fact of decision?.ok ? decision.facts : []) move(fact)
      if (opened) speaker.silence(!speaks())
    },
    settled: speaker.settled,
    close: async (signal) => {
      await speaker.close(signal)
      await door.close(signal)
    },
    publishing: course.publishing,
    rollout: () => rollout,
    local: () => feed.encodeLocalStatus(hands.standing().condition, course.publishing()),
    speaks,
  }
}

/**
 * A message has ended when nothing of it is tried any more (decision 0008). A probe that nobody
 * answers is no message lost, or a feed that is down for minutes would be given up for good.
 */
function hasEnded({ reason, next }: PublishFailed, before: Publishing): boolean {
  return next.is !== 'retry' && (before.is !== 'paused' || !isTransient(reason))
}

const ALERTS = {
  failures_in_row: { kind: 'feed_failing', words: 'Three messages in a row did not get through.' },
  retries_exhausted: {
    kind: 'feed_paused',
    words: 'The status feed does not answer; it is asked once a minute whether it is back.',
  },
} as const satisfies Record<string, VoiceAlert>

/** As the settings have it. */
function begin({ enabled = true, stage = 'everybody' }: FeedTerms, at: Instant): Rollout {
  const off = openRollout(at)
  return enabled ? applyRollout(off, { type: 'rollout_moved', stage, at }) : off
}

function createCounters(metrics: Metrics) {
  return {
    attempts: metrics.counter({
      name: 'status_publish_attempts_total',
      help: 'Attempts to publish a status to the feed, retries included',
    }),
    success: metrics.counter({
      name: 'status_publish_success_total',
      help: 'Statuses that the feed has taken',
    }),
    failures: metrics.counter({
      name: 'status_publish_failures_total',
      help: 'Attempts to publish a status that failed, by reason',
      labels: ['reason'],
    }),
    lastSuccess: metrics.gauge({
      name: 'status_publish_last_success_timestamp_seconds',
      help: 'When the feed last took a status of the agent',
      labels: ['agent_id'],
    }),
  }
}
