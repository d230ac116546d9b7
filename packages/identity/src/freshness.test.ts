import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { createSeenNonces, judgeFreshness, type Span } from './freshness.ts'

const NOW = 1_700_000_000_000

describe('X-9 a signed request in time', () => {
  // biome-ignore format: a table is read by its columns
  const rows: readonly (readonly [rule: string, span: Span, outcome: string])[] = [
    ['signed now',                         { signedAt: NOW },                               'fresh'],
    ['signed 60 s ago',                    { signedAt: NOW - 60_000 },                      'fresh'],
    ['signed more than 60 s ago',          { signedAt: NOW - 60_001 },                      'message_expired'],
    ['signed 30 s ahead: skew',            { signedAt: NOW + 30_000 },                      'fresh'],
    ['signed more than 30 s ahead',        { signedAt: NOW + 30_001 },                      'message_early'],
    ['before its own expiry',              { signedAt: NOW - 10, expiresAt: NOW + 1 },      'fresh'],
    ['at its own expiry',                  { signedAt: NOW - 10, expiresAt: NOW },          'message_expired'],
    ['a far expiry does not prolong',      { signedAt: NOW - 60_001, expiresAt: NOW + 1e9 }, 'message_expired'],
  ]
  for (const [rule, span, outcome] of rows) {
    test(rule, () => {
      const judged = judgeFreshness(span, NOW)
      assert.equal(judged.ok ? 'fresh' : judged.refusal, outcome)
    })
  }

  test('who is early hears from when on it may be sent', () => {
    const judged = judgeFreshness({ signedAt: NOW + 90_000 }, NOW)
    assert.ok(!judged.ok)
    assert.equal(judged.particulars.retryAt, NOW + 60_000)
  })
})

describe('X-9 nonces', () => {
  const nonce = { key: 'k', nonce: 'n' }

  test('one passes once, for 120 s', () => {
    const seen = createSeenNonces()
    assert.equal(seen.remember(nonce, NOW), 'fresh')
    assert.equal(seen.remember(nonce, NOW), 'seen')
    assert.equal(seen.remember(nonce, NOW + 119_999), 'seen')
    assert.equal(seen.remember(nonce, NOW + 120_000), 'fresh')
  })

  test('two keys may draw the same one, and no pair is mistaken for another', () => {
    const seen = createSeenNonces()
    assert.equal(seen.remember({ key: 'a', nonce: 'bc' }, NOW), 'fresh')
    assert.equal(seen.remember({ key: 'ab', nonce: 'c' }, NOW), 'fresh')
    assert.equal(seen.remember({ key: 'a","b', nonce: 'c' }, NOW), 'fresh')
    assert.equal(seen.remember({ key: 'a', nonce: 'b","c' }, NOW), 'fresh')
  })

  test('W4 a full memory lets nothing pass until something lapses', () => {
    const seen = createSeenNonces(2)
    seen.remember({ key: 'k', nonce: '1' }, NOW)
    seen.remember({ key: 'k', nonce: '2' }, NOW + 1_000)
    assert.equal(seen.remember({ key: 'k', nonce: '3' }, NOW + 2_000), 'full')
    assert.equal(seen.remember({ key: 'k', nonce: '1' }, NOW + 2_000), 'seen')
    assert.equal(seen.remember({ key: 'k', nonce: '3' }, NOW + 120_000), 'fresh')
    assert.equal(seen.remember({ key: 'k', nonce: '4' }, NOW + 120_000), 'full')
  })

  test('W3 while a request is fresh its nonce is remembered', () => {
    const ms = (max: number) => fc.integer({ min: -max, max })
    fc.assert(
      fc.property(ms(200_000), ms(200_000), ms(200_000), (signed, first, later) => {
        const signedAt = NOW + signed
        const [one, two] = first < later ? [first, later] : [later, first]
        const seen = createSeenNonces()
        const fresh = (now: number) => judgeFreshness({ signedAt }, now).ok
        if (!fresh(NOW + one)) return
        seen.remember(nonce, NOW + one)
        if (fresh(NOW + two)) assert.equal(seen.remember(nonce, NOW + two), 'seen')
      }),
    )
  })
})
