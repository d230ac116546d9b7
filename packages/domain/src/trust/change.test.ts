/** Changes of scores with their reasons: what is kept, and how it is read page by page. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import type { AgentId, CorrelationId, OwnerId, WorkId } from '../ids.ts'
import { LIMITS } from '../limits.ts'
import { changeOf, keepLatest, pageOf, type ScoreChange } from './change.ts'
import type { Outcome } from './outcome.ts'
import { NO_PAIR_HISTORY } from './pair-limit.ts'
import { applyOutcome, NEWCOMER } from './trust.ts'

const outcome: Outcome = {
  work: 'w1' as WorkId,
  agent: 'a1' as AgentId,
  owner: 'ann' as OwnerId,
  hirerOwner: 'bob' as OwnerId,
  hirerAgent: 'b1' as AgentId,
  ending: { how: 'done' },
  priceCents: 10,
  receivedAt: 0,
  respondedAt: 0,
  endedAt: 50,
  settledAt: 60,
}
const change = (seq: number, given: Outcome = outcome): ScoreChange =>
  changeOf(given, applyOutcome(NEWCOMER, given, 80_000_000, NO_PAIR_HISTORY), {
    seq,
    correlation: 'c1' as CorrelationId,
  })
const many = (count: number) =>
  Array.from({ length: count }, (_, index) => change(index + 1)).reduce<readonly ScoreChange[]>(
    keepLatest,
    [],
  )

describe('P-6 a change of a score says why', () => {
  test('which work, for whom, how it ended, and both scores before and after', () => {
    const { window, running, ...rest } = change(7)
    assert.deepEqual(rest, {
      seq: 7,
      correlation: 'c1',
      at: 60,
      agent: 'a1',
      work: 'w1',
      hirerOwner: 'bob',
      hirerAgent: 'b1',
      ending: { how: 'done' },
    })
    assert.deepEqual(running, {
      counted: true,
      beforeMicro: 50_000_000,
      afterMicro: 51_600_000,
      reasons: ['done'],
    })
    assert.deepEqual([window.beforeMicro, window.afterMicro], [500_000, 1_000_000])
  })

  test('a hirer that is no agent is not named as one', () => {
    const { hirerAgent: _, ...unregistered } = outcome
    assert.ok(!('hirerAgent' in change(1, unregistered)))
  })
})

describe('H2 the latest are kept, and read page by page', () => {
  test('never more than the limit', () => {
    const kept = many(LIMITS.scoreChanges + 3)
    assert.equal(kept.length, LIMITS.scoreChanges)
    assert.deepEqual([kept[0]?.seq, kept.at(-1)?.seq], [4, LIMITS.scoreChanges + 3])
  })

  test('the pages together are all of them, the latest first, whatever their size', () => {
    fc.assert(
      fc.property(fc.nat(60), fc.integer({ min: 1, max: 60 }), (count, limit) => {
        const kept = many(count)
        const read: number[] = []
        let before: number | undefined
        do {
          const page = pageOf(kept, { limit, ...(before !== undefined && { before }) })
          assert.ok(page.changes.length <= limit)
          read.push(...page.changes.map(({ seq }) => seq))
          before = page.nextBefore
        } while (before !== undefined)
        assert.deepEqual(read, kept.map(({ seq }) => seq).reverse())
      }),
    )
  })
})
