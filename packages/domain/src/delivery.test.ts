/** The schedule of deliveries: one row, one rule; and the day that it adds up to. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { type Attempt, type Attempted, decideAttempt, decideEnqueue } from './delivery.ts'
import { LIMITS } from './limits.ts'

const NOW = 1_000_000
const HOUR_MS = 3_600_000
const FRACTION = fc.double({ min: 0, max: 0.999, noNaN: true })
const LAST = LIMITS.deliveryAttempts

const answered = (status: number, retryAfterMs?: number): Attempted => ({
  is: 'answered',
  status,
  ...(retryAfterMs !== undefined && { retryAfterMs }),
})
const unanswered = (because: Extract<Attempted, { is: 'unanswered' }>['because']): Attempted => ({
  is: 'unanswered',
  because,
})

/** What comes of it, in one line: the word, the wait and the status. */
function outcomeOf(attempt: Attempt, attempted: Attempted, chance = 0): string {
  const [fact] = decideAttempt(attempt, { attempted, chance }, NOW).facts
  assert.equal(fact?.at, NOW)
  if (fact?.type === 'message_delivered') return `delivered ${fact.status}`
  const trouble = fact?.status === undefined ? fact?.trouble : `${fact.trouble} ${fact.status}`
  return fact?.type === 'attempt_failed' ? `${trouble}, +${fact.nextAt - NOW}` : `dead: ${trouble}`
}

describe('P-8 an attempt', () => {
  // biome-ignore format: a table is read by its columns
  const rows: [rule: string, attempt: Attempt, attempted: Attempted, outcome: string][] = [
    ['200 is delivered',                      { attempts: 1 },    answered(200),                 'delivered 200'],
    ['299 is delivered',                      { attempts: LAST }, answered(299),                 'delivered 299'],
    ['1xx is not',                            { attempts: 1 },    answered(199),                 'answered_otherwise 199, +1000'],
    ['a redirect is not followed',            { attempts: 1 },    answered(302),                 'redirected 302, +1000'],
    ['a refusal is tried again',              { attempts: 1 },    answered(400),                 'answered_otherwise 400, +1000'],
    ['a failing server is tried again',       { attempts: 1 },    answered(500),                 'answered_otherwise 500, +1000'],
    ['the wait doubles',                      { attempts: 5 },    answered(500),                 'answered_otherwise 500, +16000'],
    ['to two hours',                          { attempts: 20 },   answered(500),                 'answered_otherwise 500, +7200000'],
    ['the last one gives up',                 { attempts: LAST }, answered(500),                 'dead: answered_otherwise 500'],
    ['and so does one beyond it',             { attempts: 99 },   unanswered('timeout'),         'dead: timeout'],
    ['the one before it does not',            { attempts: LAST - 1 }, answered(500),             'answered_otherwise 500, +7200000'],
    ['gone is gone',                          { attempts: 1 },    answered(410),                 'dead: gone 410'],
    ['a refused address is dead at once',     { attempts: 1 },    unanswered('refused_address'), 'dead: refused_address'],
    ['a silent one is not',                   { attempts: 1 },    unanswered('timeout'),         'timeout, +1000'],
    ['nor one that cuts',                     { attempts: 1 },    unanswered('network'),         'network, +1000'],
    ['nor one with a bad certificate',        { attempts: 1 },    unanswered('tls'),             'tls, +1000'],
    ['retry-after is respected',              { attempts: 1 },    answered(503, 90_000),         'answered_otherwise 503, +90000'],
    ['also when it throttles',                { attempts: 1 },    answered(429, 60_000),         'answered_otherwise 429, +60000'],
    ['but not beyond the longest wait',       { attempts: 1 },    answered(429, 99 * HOUR_MS),   'answered_otherwise 429, +7200000'],
    ['nor for coming earlier than planned',   { attempts: 8 },    answered(503, 1_000),          'answered_otherwise 503, +128000'],
    ['nor for living longer',                 { attempts: LAST }, answered(503, 1_000),          'dead: answered_otherwise 503'],
    ['by hand it is one attempt',             { attempts: 1, byHand: true }, answered(500),      'dead: answered_otherwise 500'],
    ['which may succeed',                     { attempts: 99, byHand: true }, answered(204),     'delivered 204'],
  ]
  for (const [rule, attempt, attempted, outcome] of rows) {
    test(rule, () => assert.equal(outcomeOf(attempt, attempted), outcome))
  }

  test('all of them take about a day, whatever chance does', () => {
    fc.assert(
      fc.property(fc.array(FRACTION, { minLength: LAST }), (chances) => {
        let now = 0
        for (let attempts = 1; ; attempts += 1) {
          const chance = chances[attempts - 1] ?? 0
          const facts = decideAttempt({ attempts }, { attempted: answered(500), chance }, now).facts
          const [fact] = facts
          if (fact?.type !== 'attempt_failed') break
          assert.ok(fact.nextAt > now)
          now = fact.nextAt
          assert.ok(attempts < LAST)
        }
        assert.ok(now > 19 * HOUR_MS && now < 25 * HOUR_MS, `${now / HOUR_MS} h`)
      }),
    )
  })
})

describe('a place in the queue', () => {
  // biome-ignore format: a table is read by its columns
  const rows: [rule: string, waiting: number, bytes: number, answer: string][] = [
    ['is there while there is room',  LIMITS.deliveriesPerTarget - 1, LIMITS.bodyBytes,     'ok'],
    ['and not beyond',                LIMITS.deliveriesPerTarget,     10,                   'queue_full'],
    ['nor for too much at once',      0,                              LIMITS.bodyBytes + 1, 'message_oversized'],
  ]
  for (const [rule, waiting, bytes, answer] of rows) {
    test(rule, () => {
      const decision = decideEnqueue({ waiting, bytes })
      assert.equal(decision.ok ? 'ok' : decision.refusal, answer)
    })
  }
})
