/** When a reputation update is due (OC-9). */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import type { AgentId, OwnerId, WorkId } from '../ids.ts'
import type { Ending, Outcome } from './outcome.ts'
import { dueSince, isUpdateDue, nextUpdateAt, updateAfter } from './score-update.ts'

const DAY_MS = 86_400_000
const MINUTE_MS = 60_000

const outcome = (ending: Ending): Outcome => ({
  work: 'w1' as WorkId,
  agent: 'a1' as AgentId,
  owner: 'ann' as OwnerId,
  hirerOwner: 'ann' as OwnerId,
  ending,
  priceCents: 0,
  receivedAt: 0,
  respondedAt: 0,
  endedAt: 0,
  settledAt: 0,
})

describe('OC-9 when a reputation update is due', () => {
  // biome-ignore format: a table is read by its columns
  const rows: [rule: string, ending: Ending, update: string | undefined][] = [
    ['after each completion',          { how: 'done' },                      'done'],
    ['after a failure',                { how: 'failed', cause: 'agent' },    'failed'],
    ['after a missed deadline',        { how: 'failed', cause: 'deadline' }, 'failed'],
    ['after an overdue release',       { how: 'failed', cause: 'overdue' },  'failed'],
    ['not after a cancellation',       { how: 'cancelled' },                 undefined],
  ]
  for (const [rule, ending, update] of rows) {
    test(rule, () => assert.equal(updateAfter(outcome(ending)), update))
  }

  test('not before it is time, and from then on until it is sent', () => {
    const lastUpdateAt = 5_000
    const due = nextUpdateAt(lastUpdateAt)
    assert.equal(isUpdateDue({ lastUpdateAt }, due - 1), false)
    assert.equal(isUpdateDue({ lastUpdateAt }, due), true)
    assert.equal(isUpdateDue({ lastUpdateAt }, due + DAY_MS), true)
  })

  test('looked at from either side, the same ones are due', () => {
    fc.assert(
      fc.property(fc.nat(3 * DAY_MS), fc.nat(3 * DAY_MS), (lastUpdateAt, now) => {
        assert.equal(lastUpdateAt <= dueSince(now), isUpdateDue({ lastUpdateAt }, now))
      }),
    )
  })

  test('no 24 hours pass without one, though the clock is looked at only every few minutes', () => {
    const looks = fc.array(fc.integer({ min: 1, max: 5 * MINUTE_MS }), { minLength: 600 })
    fc.assert(
      fc.property(looks, fc.nat(DAY_MS), (waits, outcomeEvery) => {
        let now = 0
        let lastUpdateAt = 0
        let sent = 0
        for (const waitMs of [...waits, ...waits]) {
          now += waitMs
          // What happens in between sends an update of its own and starts the period anew.
          const happened = outcomeEvery > 0 && now % outcomeEvery < waitMs
          if (!happened && !isUpdateDue({ lastUpdateAt }, now)) continue
          assert.ok(now - lastUpdateAt <= DAY_MS, `${now - lastUpdateAt} ms without an update`)
          lastUpdateAt = now
          sent += 1
        }
        assert.ok(now - lastUpdateAt <= DAY_MS)
        if (now > 2 * DAY_MS) assert.ok(sent >= 2)
      }),
    )
  })
})
