/** When a service turns away what is new. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { applyDelay, decideLoad, type Load } from './load.ts'

const NOW = 1_000_000

// biome-ignore format: a table is read by its columns
const rows: [rule: string, load: Load, limits: Load, taken: boolean][] = [
  ['below both limits it is taken',        { inFlight: 9,  delayMs: 100 }, { inFlight: 10, delayMs: 100 }, true],
  ['the last place is a place',            { inFlight: 10, delayMs: 0 },   { inFlight: 10, delayMs: 100 }, false],
  ['a delay above the limit closes',       { inFlight: 0,  delayMs: 101 }, { inFlight: 10, delayMs: 100 }, false],
  ['no limit on requests',                 { inFlight: 99, delayMs: 0 },   { inFlight: 0,  delayMs: 100 }, true],
  ['no limit on the delay',                { inFlight: 0,  delayMs: 999 }, { inFlight: 10, delayMs: 0 },   true],
]

describe('load', () => {
  for (const [rule, load, limits, taken] of rows) {
    test(rule, () => assert.equal(decideLoad(load, limits, NOW).ok, taken))
  }

  test('says when to come back', () => {
    const decision = decideLoad({ inFlight: 1, delayMs: 0 }, { inFlight: 1, delayMs: 0 }, NOW)
    assert.ok(!decision.ok)
    assert.equal(decision.particulars.retryAt, NOW + 1_000)
  })

  test('L2 one long pause counts for a third, and a lasting one for all', () => {
    assert.equal(applyDelay(0, 1_000), 300)
    let delayMs = 0
    for (let each = 0; each < 20; each += 1) delayMs = applyDelay(delayMs, 1_000)
    assert.ok(delayMs > 990 && delayMs <= 1_000)
  })

  test('a delay is never below nothing, nor above the longest sample', () => {
    const samples = fc.array(fc.integer({ min: -50, max: 5_000 }), { minLength: 1, maxLength: 50 })
    fc.assert(
      fc.property(samples, (all) => {
        const delayMs = all.reduce(applyDelay, 0)
        assert.ok(delayMs >= 0 && delayMs <= Math.max(0, ...all))
      }),
    )
  })
})
