/**
 * A feed that answers as told, under a virtual clock: the document's schedule to the second first,
 * then any answers against any changes.
 */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import {
  applyChange,
  applySpoken,
  MANNERS,
  openVoice,
  type Saying,
  type Spoken,
  type Voice,
} from './cadence.ts'
import {
  applyPublishing,
  decideOutcome,
  decidePublish,
  failureOf,
  isQueueLong,
  isTransient,
  nextPublishAt,
  PUBLISHING_READY,
  type Publishing,
  type PublishingFact,
  type PublishOutcome,
} from './publishing.ts'

const T0 = 1_000_000
const MINUTE = 60_000

const available: Saying<string> = { state: 'available', rhythm: 'steady' }
const busy: Saying<string> = { state: 'busy', rhythm: 'steady' }
const review: Saying<string> = { state: 'review', rhythm: 'silent' }
const cut: PublishOutcome = { type: 'unanswered' }
const status = (code: number): PublishOutcome => ({ type: 'answered', status: code })
const ok = status(204)

describe('SF-5 what is worth a retry', () => {
  // biome-ignore format: a table is read by its columns
  const rows: [outcome: PublishOutcome, reason: string | undefined, transient: boolean][] = [
    [cut,         'network',      true],
    [status(500), 'server',       true],
    [status(503), 'server',       true],
    [status(599), 'server',       true],
    [status(408), 'throttled',    true],
    [status(425), 'throttled',    true],
    [status(429), 'throttled',    true],
    [status(400), 'schema',       false],
    [status(422), 'schema',       false],
    [status(401), 'unauthorised', false],
    [status(403), 'unauthorised', false],
    [status(404), 'refused',      false],
    [status(409), 'refused',      false],
    [status(302), 'refused',      false],
    [status(200), undefined,      false],
    [status(299), undefined,      false],
  ]
  for (const [outcome, reason, transient] of rows) {
    const name = outcome.type === 'answered' ? String(outcome.status) : 'no answer'
    test(`${name}: ${reason ?? 'delivered'}${transient ? ', retried' : ''}`, () => {
      const failure = failureOf(outcome)
      assert.equal(failure, reason)
      assert.equal(failure !== undefined && isTransient(failure), transient)
    })
  }
})

type Change = { readonly at: number; readonly saying: Saying<string> }
type Scene = {
  readonly untilMs: number
  readonly answer: (message: Spoken<string>) => PublishOutcome
  readonly chance?: number
  /** By ascending time. */
  readonly changes?: readonly Change[]
}

/** Plays a scene; answers come at once. */
function play({ untilMs, answer, chance = 0, changes = [] }: Scene) {
  let voice: Voice<string> = openVoice(MANNERS.feed, available, T0)
  let publishing: Publishing = PUBLISHING_READY
  const sent: Spoken<string>[] = []
  const facts: PublishingFact[] = []
  const waiting = [...changes]
  let now = T0
  for (;;) {
    const message = decidePublish(publishing, voice, now).facts[0]
    if (message !== undefined) {
      voice = applySpoken(voice, message)
      sent.push(message)
      const outcome = answer(message)
      for (const fact of decideOutcome(publishing, { outcome, chance }, now).facts) {
        publishing = applyPublishing(publishing, fact)
        facts.push(fact)
      }
    }
    const publishAt = nextPublishAt(publishing, voice) ?? Infinity
    const changeAt = waiting[0]?.at ?? Infinity
    now = Math.min(publishAt, changeAt)
    if (now > T0 + untilMs) return { sent, facts, publishing, voice }
    if (changeAt <= publishAt) {
      const change = waiting.shift()
      assert.ok(change)
      voice = applyChange(voice, change.saying, now)
    }
  }
}

const alerts = (facts: readonly PublishingFact[]) =>
  facts.flatMap((fact) => (fact.type === 'publish_alerted' ? [fact.cause] : []))
const secondsOf = (sent: readonly Spoken<string>[]) => sent.map((each) => (each.at - T0) / 1_000)

describe('a feed that does not answer', () => {
  test('SF-5 one attempt and five retries, at 1, 2, 4, 8 and 16 s, then a probe a minute', () => {
    const { sent, publishing } = play({ untilMs: 160_000, answer: () => cut })
    assert.deepEqual(secondsOf(sent), [0, 1, 3, 7, 15, 31, 91, 151])
    assert.deepEqual(
      sent.map((each) => each.why),
      ['change', 'retry', 'retry', 'retry', 'retry', 'retry', 'probe', 'probe'],
    )
    assert.equal(publishing.is, 'paused')
  })

  test('SF-5 it is not paused before the sixth attempt failed', () => {
    assert.equal(play({ untilMs: 30_999, answer: () => cut }).publishing.is, 'retrying')
    assert.equal(play({ untilMs: 31_000, answer: () => cut }).publishing.is, 'paused')
  })

  test('SF-5 chance shortens the waits', () => {
    const { sent } = play({ untilMs: 30_000, answer: () => cut, chance: 0.5 })
    assert.deepEqual(secondsOf(sent), [0, 0.9, 2.7, 6.3, 13.5, 27.9])
  })

  test('SF-10 SF-5 an alert after three failures, one after the last retry; once each', () => {
    const { facts } = play({ untilMs: 10 * MINUTE, answer: () => cut })
    assert.deepEqual(alerts(facts), ['failures_in_row', 'retries_exhausted'])
    const third = facts.findIndex((fact) => fact.type === 'publish_alerted')
    const failed = facts.slice(0, third).filter((fact) => fact.type === 'publish_failed')
    assert.equal(failed.length, 3)
  })

  test('SF-10 two failures and a success are no alert, and the count starts over', () => {
    const answers = [cut, cut, ok, cut, cut, ok]
    const { facts } = play({ untilMs: 70_000, answer: () => answers.shift() ?? ok })
    assert.deepEqual(alerts(facts), [])
  })

  test('SF-5 recovery sends only what is so then, and the beat goes on from there', () => {
    const changes = [busy, available, busy, review, busy].map((saying, i) => ({
      at: T0 + 40_000 + i * 7_000,
      saying,
    }))
    const answer = (message: Spoken<string>) => (message.at < T0 + 60_000 ? cut : ok)
    const { sent, facts, publishing } = play({ untilMs: 160_000, answer, changes })
    assert.deepEqual(secondsOf(sent), [0, 1, 3, 7, 15, 31, 91, 151])
    assert.deepEqual(
      sent.slice(6).map((each) => each.state),
      ['busy', 'busy'],
    )
    const recovery = facts.find((fact) => fact.type === 'publish_succeeded')
    assert.equal(recovery?.recovered, true)
    assert.equal(publishing.is, 'ready')
  })

  test('SF-5 a plain refusal of a probe is no recovery', () => {
    const answer = (message: Spoken<string>) => (message.at < T0 + 60_000 ? cut : status(404))
    const { publishing } = play({ untilMs: 100_000, answer })
    assert.equal(publishing.is, 'paused')
  })

  test('SF-5 other 4xx are not retried: the next message is the next heartbeat', () => {
    const { sent, publishing } = play({ untilMs: 61_000, answer: () => status(404) })
    assert.deepEqual(secondsOf(sent), [0, 60])
    assert.equal(publishing.is, 'ready')
  })

  test('SF-10 three of them in a row are an alert all the same', () => {
    const { facts } = play({ untilMs: 121_000, answer: () => status(404) })
    assert.deepEqual(alerts(facts), ['failures_in_row'])
  })

  test('SF-5 a retry carries what changed meanwhile', () => {
    const changes = [{ at: T0 + 500, saying: busy }]
    const { sent } = play({ untilMs: 3_000, answer: () => cut, changes })
    assert.deepEqual(
      sent.map((each) => each.state),
      ['available', 'busy', 'busy'],
    )
  })

  test('U2 changes do not buy more retries', () => {
    const changes = Array.from({ length: 60 }, (_, i) => ({
      at: T0 + 500 + i * 500,
      saying: i % 2 === 0 ? busy : available,
    }))
    const { sent, publishing } = play({ untilMs: 31_000, answer: () => cut, changes })
    assert.equal(sent.length, 6)
    assert.equal(publishing.is, 'paused')
  })

  test('U5 a clock that is set back ends the wait', () => {
    const { publishing, voice } = play({ untilMs: 0, answer: () => cut })
    assert.equal(decidePublish(publishing, voice, T0 + 999).facts.length, 0)
    assert.equal(decidePublish(publishing, voice, T0 - 60 * MINUTE).facts.length, 1)
    const paused = play({ untilMs: 31_000, answer: () => cut })
    assert.equal(decidePublish(paused.publishing, paused.voice, T0 + 90_999).facts.length, 0)
    assert.equal(decidePublish(paused.publishing, paused.voice, T0 - 60 * MINUTE).facts.length, 1)
  })
})

describe('SF-10 the publish queue', () => {
  // biome-ignore format: a table is read by its columns
  const rows: [rule: string, waiting: number, told: boolean, stands: boolean][] = [
    ['at the threshold all is well',         10, false, false],
    ['past it somebody is told',             11, false, true],
    ['the alert stands until it is halved',  6,  true,  true],
    ['and then falls',                       5,  true,  false],
  ]
  for (const [rule, waiting, told, stands] of rows) {
    test(rule, () => assert.equal(isQueueLong({ waiting, told }, 10), stands))
  }
})

describe('any answers against any changes', () => {
  const codes = [200, 202, 400, 401, 404, 408, 425, 429, 500, 503]
  const anyOutcome = fc.oneof(fc.constant(cut), fc.constantFrom(...codes).map(status))
  const anyChanges = fc
    .array(
      fc.record({
        afterMs: fc.oneof(fc.nat(300), fc.nat(20_000)),
        saying: fc.constantFrom(available, busy, review),
      }),
      { maxLength: 60 },
    )
    .map((steps) => {
      let at = T0
      return steps.map(({ afterMs, saying }): Change => {
        at += afterMs
        return { at, saying }
      })
    })

  test('SF-4 SF-5 retries and probes count towards 60 a minute, and stamps never turn back', () => {
    const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
    fc.assert(
      fc.property(anyChanges, fc.array(anyOutcome), chance, (changes, outcomes, drawn) => {
        const answers = [...outcomes]
        const answer = () => answers.shift() ?? cut
        const { sent } = play({ untilMs: 20 * MINUTE, answer, changes, chance: drawn })
        for (const [i, each] of sent.entries()) {
          const next = sent[i + 1]
          if (next !== undefined) {
            if (next.why === 'retry')
              assert.deepEqual([next.stamp, next.state], [each.stamp, each.state])
            else assert.ok(next.stamp > each.stamp)
          }
          const later = sent[i + 60]
          assert.ok(later === undefined || later.at - each.at >= MINUTE)
        }
      }),
    )
  })

  test('SF-5 once the feed answers, it knows the present state within a minute', () => {
    const transient = fc.constantFrom(cut, status(503), status(429))
    fc.assert(
      fc.property(anyChanges, fc.array(transient), (changes, outcomes) => {
        const answers = [...outcomes]
        const healsAt = T0 + 20 * MINUTE
        const answer = (message: Spoken<string>) =>
          message.at >= healsAt ? ok : (answers.shift() ?? ok)
        const { sent, facts, publishing } = play({ untilMs: 21 * MINUTE, answer, changes })
        assert.equal(publishing.is, 'ready')
        assert.equal(facts.at(-1)?.type, 'publish_succeeded')
        assert.equal(sent.at(-1)?.state, changes.at(-1)?.saying.state ?? 'available')
      }),
    )
  })
})
