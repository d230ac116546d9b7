/** How old a signed message may be, and that none is taken twice. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { createSeenNonces, judgeFreshness, type Span } from './freshness.ts'
import { NONCE_CONTRACT } from './nonce-contract.ts'

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

describe('nonces, remembered by one process', () => {
  for (const { rule, holds } of NONCE_CONTRACT) test(rule, () => holds(createSeenNonces()))

  test('W4 a full memory lets nothing pass until something lapses', () => {
    const seen = createSeenNonces(2)
    const ask = (nonce: string, afterMs: number) =>
      seen.remember({ key: 'k', nonce }, NOW + afterMs)
    assert.equal(ask('1', 0), 'fresh')
    assert.equal(ask('2', 1_000), 'fresh')
    assert.equal(ask('3', 2_000), 'full')
    assert.equal(ask('1', 2_000), 'seen')
    assert.equal(ask('3', 120_000), 'fresh')
    assert.equal(ask('4', 120_000), 'full')
  })

  test('W3 while a request is fresh its nonce is remembered', () => {
    const ms = fc.integer({ min: -100_000, max: 100_000 })
    let looked = 0
    fc.assert(
      fc.property(ms, ms, ms, (signed, first, later) => {
        const [one, two] = first < later ? [NOW + first, NOW + later] : [NOW + later, NOW + first]
        const fresh = (now: number) => judgeFreshness({ signedAt: NOW + signed }, now).ok
        if (!fresh(one) || !fresh(two)) return
        looked += 1
        const seen = createSeenNonces()
        const nonce = { key: 'k', nonce: 'n' }
        assert.equal(seen.remember(nonce, one), 'fresh')
        assert.equal(seen.remember(nonce, two), 'seen')
      }),
      { numRuns: 1_000 },
    )
    assert.ok(looked > 50, 'the run has looked at too few pairs')
  })
})
