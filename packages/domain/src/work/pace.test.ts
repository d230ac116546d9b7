/** The limit per caller and minute, by table and, for P1 and P2, over any run of requests. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { applyPace, decidePace, isForgotten, NEVER_ASKED, type Pace } from './pace.ts'

const NOW = 1_000_000
const MINUTE_MS = 60_000

/** Asks at these times, and says at which it was let in. */
function run(perMinute: number, times: readonly number[]): { pace: Pace; letIn: number[] } {
  let pace = NEVER_ASKED
  const letIn: number[] = []
  for (const at of times) {
    const decision = decidePace(pace, perMinute, at)
    if (!decision.ok) continue
    letIn.push(at)
    pace = decision.facts.reduce(applyPace, pace)
  }
  return { pace, letIn }
}
const after = (...ms: readonly number[]) => ms.map((each) => NOW + each)

// biome-ignore format: a table is read by its columns
const rows: [rule: string, perMinute: number, asks: number[], letIn: number[]][] = [
  ['the limit may be used at once',              3, [0, 0, 0, 0],               [0, 0, 0]],
  ['or spread over the minute',                  2, [0, 30_000, 59_999],        [0, 30_000]],
  ['the first place is free after its minute',   2, [0, 500, 60_999, 61_000],   [0, 500, 61_000]],
  ['a later place is not',                       1, [0, 61_000, 61_500],        [0, 61_000]],
  ['who is turned away is not counted',          1, [0, 9, 60_500, 61_000],     [0, 61_000]],
  ['no limit is none',                           0, [0, 0, 0],                  [0, 0, 0]],
  ['a clock set back opens nothing',             1, [0, -90_000, -200_000],     [0]],
]

describe('requests of one caller', () => {
  for (const [rule, perMinute, asks, letIn] of rows) {
    test(rule, () => assert.deepEqual(run(perMinute, after(...asks)).letIn, after(...letIn)))
  }

  test('are forgotten when the last has left the minute', () => {
    const { pace } = run(5, after(0, 2_000))
    assert.equal(isForgotten(pace, NOW + 62_999), false)
    assert.equal(isForgotten(pace, NOW + 63_000), true)
  })

  test('P1, P2 and P4 hold over any run of requests', () => {
    const passes = fc.oneof(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 0, max: 20_000 }))
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9 }), fc.array(passes, { maxLength: 120 }), runs),
    )

    function runs(perMinute: number, pauses: readonly number[]): void {
      let pace = NEVER_ASKED
      let at = NOW
      const letIn: number[] = []
      for (const pause of pauses) {
        at += pause
        const decision = decidePace(pace, perMinute, at)
        if (decision.ok) {
          letIn.push(at)
          pace = decision.facts.reduce(applyPace, pace)
          const inMinute = letIn.filter((each) => each > at - MINUTE_MS)
          assert.ok(inMinute.length <= perMinute, `${inMinute.length} in the minute before ${at}`)
          assert.ok(pace.length <= 61)
          continue
        }
        const { retryAt = 0 } = decision.particulars
        // What an exact record would say: when the ask that blocks this one leaves its minute.
        const exact = (letIn.at(-perMinute) ?? 0) + MINUTE_MS
        assert.ok(retryAt > at)
        assert.ok(retryAt >= exact && retryAt <= exact + 1_000, `${retryAt} for ${exact}`)
        assert.ok(decidePace(pace, perMinute, retryAt).ok, 'let in at the time given')
        assert.ok(!decidePace(pace, perMinute, retryAt - 1).ok, 'and not before')
      }
    }
  })
})
