/** A hire and what was hired for it, as facts. */
import assert from 'node:assert/strict'
import type { HoldId, OwnerId, TaskId, TransferId } from '@chimera/domain/ids'
import type { MoneyFact } from '@chimera/domain/money/ledger'
import { describe, test } from 'vitest'
import { tallyHires } from './tally.ts'

const fact = (more: object): MoneyFact => ({ at: 0, postings: [], ...more }) as unknown as MoneyFact
const held = (id: string, parent?: string): MoneyFact =>
  fact({ type: 'credits_held', hold: { id, task: `task of ${id}`, ...(parent && { parent }) } })
const captured = (id: string, amountCents: number, paidCents = amountCents): MoneyFact =>
  fact({
    type: 'hold_captured',
    hold: id as HoldId,
    payment: {
      kind: 'payment',
      transfer: 'x' as TransferId,
      payer: 'p' as OwnerId,
      amountCents,
      paidCents,
    },
  })
const released = (id: string): MoneyFact => fact({ type: 'hold_released', hold: id })
const lapsed = (id: string): MoneyFact => fact({ type: 'hold_lapsed', hold: id })

// biome-ignore format: a table is read by its columns
const rows: [what: string, facts: MoneyFact[], stage: string, cost: number, others: number, open: number][] = [
  ['a hire that was paid',            [held('r'), captured('r', 10)],                                          'captured', 10, 0, 0],
  ['one that is under way',           [held('r')],                                                             'open',      0, 0, 1],
  ['one that was given up',           [held('r'), released('r')],                                              'released',  0, 0, 0],
  ['others were paid out of it',      [held('r'), held('a', 'r'), captured('a', 3), captured('r', 10, 7)],     'captured', 10, 3, 0],
  ['others of others too',            [held('r'), held('a', 'r'), held('b', 'a'), captured('b', 1), captured('a', 3, 2), captured('r', 10, 7)], 'captured', 10, 3, 0],
  ['others were paid, and it failed', [held('r'), held('a', 'r'), captured('a', 3), released('r')],            'released',  3, 3, 0],
  ['one of others lapsed',            [held('r'), held('a', 'r'), lapsed('a'), captured('r', 10)],             'captured', 10, 0, 0],
  ['one of others is forgotten',      [held('r'), held('a', 'r'), captured('r', 10)],                          'captured', 10, 0, 1],
]

describe('what a hire has cost', () => {
  for (const [what, facts, stage, costCents, othersCents, open] of rows) {
    test(what, () => {
      const task = 'task of r' as TaskId
      const hires = tallyHires(facts)
      assert.deepEqual([...hires.values()], [{ task, stage, costCents, othersCents, open }])
    })
  }
})
