/** What is written of alerts, webhooks and dead letters is what their schemas say. */
import assert from 'node:assert/strict'
import { ALERT_KINDS, ALERTS, type Alert } from '@chimera/domain/alert'
import { TROUBLES, type Trouble } from '@chimera/domain/delivery'
import type { CorrelationId, OwnerId } from '@chimera/domain/ids'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import {
  ALERT_MESSAGES,
  encodeAlert,
  encodeAlerts,
  encodeNotice,
  encodeWebhooks,
} from './alerts.ts'
import {
  encodeLetter,
  encodeLetters,
  encodeRedelivery,
  LETTER_MESSAGES,
  type LetterShown,
} from './letters.ts'
import { readPlace, writePlace } from './place.ts'

const instant = fc.integer({ min: 0, max: 4_000_000_000_000 })
const text = fc.string({ minLength: 1, maxLength: 100, unit: 'grapheme-ascii' })
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })

const alerts: fc.Arbitrary<Alert> = fc
  .record({
    id: fc.uuid(),
    kind: fc.constantFrom(...ALERT_KINDS),
    subject: text,
    words: text,
    raisedAt: instant,
    seenAt: instant,
    count: fc.integer({ min: 1, max: 1_000 }),
    clearedAt: maybe(instant),
    acknowledgedAt: maybe(instant),
  })
  .map(({ clearedAt, acknowledgedAt, ...alert }) => ({
    ...alert,
    severity: ALERTS[alert.kind].severity,
    ...(clearedAt !== undefined && { clearedAt }),
    ...(acknowledgedAt !== undefined && { acknowledgedAt, acknowledgedBy: 'token:1' }),
  }))

const letters: fc.Arbitrary<LetterShown> = fc
  .record({
    id: fc.uuid(),
    to: fc.webUrl(),
    about: fc.record({ kind: fc.constantFrom('work', 'webhook'), id: text }),
    owner: maybe(text),
    correlation: text,
    enqueuedAt: instant,
    attempts: fc.integer({ min: 1, max: 99 }),
    diedAt: instant,
    trouble: fc.constantFrom(...(Object.keys(TROUBLES) as Trouble[])),
    status: maybe(fc.integer({ min: 100, max: 599 })),
  })
  .map(({ owner, status, correlation, ...letter }) => ({
    ...letter,
    correlation: correlation as CorrelationId,
    ...(owner !== undefined && { owner: owner as OwnerId }),
    ...(status !== undefined && { status }),
  }))

type Read = (value: unknown) => { readonly ok: boolean }
const written = (value: unknown): unknown => JSON.parse(JSON.stringify(value))
const fits = (read: Read, value: unknown) =>
  assert.ok(read(written(value)).ok, JSON.stringify(value))

describe('X-3 what leaves fits its schema', () => {
  test('alerts, alone and listed', () => {
    fc.assert(
      fc.property(alerts, (alert) => {
        fits(ALERT_MESSAGES.alert.read, encodeAlert(alert))
        fits(ALERT_MESSAGES['alert-list'].read, encodeAlerts({ alerts: [alert], next: alert }))
      }),
    )
  })
  test('dead letters, alone and listed', () => {
    fc.assert(
      fc.property(letters, text, (letter, body) => {
        fits(LETTER_MESSAGES['dead-letter'].read, encodeLetter({ ...letter, body }))
        const listed = encodeLetters({ letters: [letter], next: letter })
        fits(LETTER_MESSAGES['dead-letter-list'].read, listed)
      }),
    )
  })
  test('notices, in their own words and without secrets', () => {
    fc.assert(
      fc.property(alerts, fc.constantFrom('raised', 'cleared'), (alert, change) => {
        const notice = encodeNotice(alert, change)
        if (notice !== undefined) fits(ALERT_MESSAGES['alert-notice'].read, JSON.parse(notice))
      }),
    )
    const [alert] = fc.sample(alerts, 1)
    assert.ok(alert)
    const host = encodeNotice({ ...alert, subject: 'a', words: 'no answer of 10.0.0.7' }, 'raised')
    assert.ok(host && !host.includes('10.0.0.7'))
    const planted = { ...alert, subject: `chm_owner_${'a1'.repeat(16)}` }
    assert.equal(encodeNotice(planted, 'raised'), undefined)
  })
  test('webhooks', () => {
    const webhook = { id: fc.sample(fc.uuid(), 1)[0] ?? '', url: 'https://a.example/', madeAt: 0 }
    const both = [webhook, { ...webhook, kinds: [...ALERT_KINDS] }]
    fits(ALERT_MESSAGES['webhook-list'].read, encodeWebhooks(both))
  })
})

test('a redelivery says what came of it, and 202 while that is not known', () => {
  const failed = { type: 'delivery_given_up', at: 0, trouble: 'timeout' } as const
  const rows = [
    encodeRedelivery(),
    encodeRedelivery({ type: 'message_delivered', at: 0, status: 204 }),
    encodeRedelivery(failed),
  ]
  assert.deepEqual(
    rows.map(({ status, body }) => `${status} ${body.state}`),
    ['202 under_way', '200 delivered', '200 failed'],
  )
  for (const { body } of rows) fits(LETTER_MESSAGES.redelivery.read, body)
})

test('a place in a list is read as it was written', () => {
  fc.assert(
    fc.property(instant, fc.uuid(), (at, id) => {
      assert.deepEqual(readPlace(writePlace({ at, id })), { at, id })
    }),
  )
})
