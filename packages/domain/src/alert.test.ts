/** What is raised, what is the same alert, and who is told: one row, one rule. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import {
  ALERT_KINDS,
  ALERTS,
  type AlertKind,
  applyRaising,
  isDenialAlert,
  isTold,
  type Sighted,
  stands,
  subjectOf,
} from './alert.ts'
import { findInside, findSecrets } from './disclosure.ts'
import { LIMITS } from './limits.ts'

const NOW = 1_000_000
const raised = (more: Partial<Sighted> = {}): Sighted => ({
  ...applyRaising(undefined, { kind: 'books_stalled', subject: 'hub' }, NOW),
  ...more,
})

describe('the table', () => {
  for (const kind of ALERT_KINDS) {
    test(`${kind} says what it means and what to do, and nothing of the inside`, () => {
      const { means, act } = ALERTS[kind]
      for (const sentence of [means, act]) {
        assert.match(sentence, /^[A-Z].*\.$/)
        assert.ok(sentence.length <= LIMITS.alertChars)
        assert.deepEqual([...findInside(sentence), ...findSecrets(sentence)], [])
      }
    })
  }
})

describe('A1 raising', () => {
  test('the first time gives it its time and the words of the table', () => {
    assert.deepEqual(raised(), {
      kind: 'books_stalled',
      subject: 'hub',
      words: ALERTS.books_stalled.means,
      raisedAt: NOW,
      seenAt: NOW,
      count: 1,
    })
  })
  test('again confirms it, with the latest words', () => {
    const again = { kind: 'books_stalled', subject: 'hub', words: 'still so' } as const
    const { words, raisedAt, seenAt, count } = applyRaising(raised(), again, NOW + 5)
    assert.deepEqual([words, raisedAt, seenAt, count], ['still so', NOW, NOW + 5, 2])
  })
  test('with a time ends by itself, unless raised again', () => {
    const echo = { kind: 'denials_frequent', subject: 'hub', lastsMs: 10 } as const
    const first = applyRaising(undefined, echo, NOW)
    assert.deepEqual([stands(first, NOW + 9), stands(first, NOW + 10)], [true, false])
    assert.ok(stands(applyRaising(first, echo, NOW + 9), NOW + 18))
    assert.ok(stands(raised(), Number.MAX_SAFE_INTEGER))
  })
  test('words are bounded', () => {
    const long = { kind: 'feed_silent', subject: 'a', words: 'x'.repeat(9_999) } as const
    assert.equal(applyRaising(undefined, long, NOW).words.length, LIMITS.alertChars)
  })
})

describe('A3 subjects', () => {
  const some = (count: number) => new Set(Array.from({ length: count }, (_, at) => `s${at}`))
  // biome-ignore format: a table is read by its columns
  const rows: [rule: string, subject: string | undefined, standing: number, answer: string][] = [
    ['none is the hub itself',        undefined,         0,                    'hub'],
    ['a new one has its own',         'new',             0,                    'new'],
    ['the last that fits too',        'new',             LIMITS.alertSubjects - 1, 'new'],
    ['one more shares a name',        'new',             LIMITS.alertSubjects, 'others'],
    ['one that stands keeps its own', 's1',              LIMITS.alertSubjects, 's1'],
    ['a long one is cut',             'x'.repeat(9_999), 0,                    'x'.repeat(LIMITS.keyChars)],
  ]
  for (const [rule, subject, standing, answer] of rows) {
    test(rule, () => {
      const raising = { kind: 'feed_silent', ...(subject !== undefined && { subject }) } as const
      assert.equal(subjectOf(raising, some(standing)), answer)
    })
  }
})

describe('A4 a webhook', () => {
  // biome-ignore format: a table is read by its columns
  const rows: [rule: string, kinds: readonly AlertKind[] | undefined, kind: AlertKind, subject: string, told: boolean][] = [
    ['without kinds is told of all',        undefined,           'database_away',   'hub',   true],
    ['with kinds of those',                 ['database_away'],   'database_away',   'hub',   true],
    ['and of no others',                    ['database_away'],   'eviction_braked', 'hub',   false],
    ['never of its own failure',            undefined,           'webhook_failing', 'own',   false],
    ['not even if it asks',                 ['webhook_failing'], 'webhook_failing', 'own',   false],
    ['but of that of another',              undefined,           'webhook_failing', 'other', true],
  ]
  for (const [rule, kinds, kind, subject, told] of rows) {
    test(rule, () => {
      const webhook = { id: 'own', ...(kinds && { kinds }) }
      assert.equal(isTold(webhook, { kind, subject }), told)
    })
  }
})

test('denials are raised at the threshold and at each further lot', () => {
  const most = LIMITS.denialsPerMinute
  const counts = [0, 1, most - 1, most, most + 1, 2 * most]
  assert.deepEqual(counts.map(isDenialAlert), [false, false, false, true, false, true])
})
