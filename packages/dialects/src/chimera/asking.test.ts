/** What one side writes the other reads, and means the same by it. */
import assert from 'node:assert/strict'
import type { AgentId, HoldId, OwnerId, TaskId } from '@chimera/domain/ids'
import { test } from 'vitest'
import {
  encodeHoldRelease,
  encodeNewHold,
  readHoldAnswer,
  readKeyHistory,
  readWork,
} from './asking.ts'
import { type HoldWanted, readHoldRelease, readNewHold } from './holds.ts'

const AGENT = '0b6f2ab0-5f0e-4c1e-9f43-0c7a5b9d2e11' as AgentId
const TASK = '4f8a1f3c-2f5e-4e58-8a37-0a3f6c1d9b22' as TaskId
const HOLD = '7c2d9e10-8b4a-4f6d-a1c3-5e7f9a0b1c33' as HoldId
const AT = Date.UTC(2026, 0, 1)

const wanted: HoldWanted = { agent: AGENT, task: TASK, amountCents: 105, lapsesAt: AT }

// biome-ignore format: a table is read by its columns
const holds: [what: string, hold: HoldWanted][] = [
  ['a hold',                    wanted],
  ['with its own name',         { ...wanted, hold: HOLD }],
  ['for somebody and by whom',  { ...wanted, payer: 'acme' as OwnerId, hirer: AGENT }],
  ['cut out of another',        { ...wanted, parent: HOLD, deadline: AT + 1_000 }],
]
for (const [what, hold] of holds) {
  test(`${what} is read as it was meant`, () => {
    assert.deepEqual(readNewHold(encodeNewHold(hold)), { ok: true, value: hold })
  })
}

test('so is its end', () => {
  const read = readHoldRelease(encodeHoldRelease('withdrawn'))
  assert.deepEqual(read, { ok: true, value: { because: 'withdrawn' } })
})

const shown = {
  hold_id: HOLD,
  payer_id: 'acme',
  payee_id: 'them',
  funder_id: 'acme',
  agent_id: AGENT,
  task_id: TASK,
  state: 'confirmed',
  amount: 1.05,
  left: 1.05,
  price: 1.05,
  paid: 0,
  cost: 0,
  ends_at: '2026-01-01T00:00:00.000Z',
}

test('a hold is read in whole hundredths', () => {
  const read = readHoldAnswer({ hold: shown })
  assert.ok(read.ok)
  assert.deepEqual(read.value.hold, {
    id: HOLD,
    agent: AGENT,
    payer: 'acme',
    payee: 'them',
    task: TASK,
    stage: 'confirmed',
    amountCents: 105,
    priceCents: 105,
    costCents: 0,
  })
})

test('an answer without a hold is none', () => {
  assert.equal(readHoldAnswer({}).ok, false)
  assert.equal(readHoldAnswer({ hold: { ...shown, state: 'lost' } }).ok, false)
})

test('work that failed is told with its fault, and without an output', () => {
  const result = {
    collaboration_id: HOLD,
    recorded_at: '2026-01-01T00:00:00.000Z',
    content: 'kept',
    error: { code: 'BROKEN', message: 'no', error_type: 'permanent' },
  }
  const read = readWork({ key: TASK, state: 'settled', ended: { how: 'failed' }, result })
  assert.ok(read.ok)
  assert.deepEqual(read.value, {
    task: TASK,
    state: 'settled',
    end: 'failed',
    fault: { code: 'BROKEN', message: 'no', lasting: 'permanent' },
  })
})

test('keys are read with their periods', () => {
  const key = { key_id: 'A'.repeat(43), public_key: 'A'.repeat(43) }
  const from = '2026-01-01T00:00:00.000Z'
  const until = '2026-01-02T00:00:00.000Z'
  const read = readKeyHistory({
    agent_id: AGENT,
    keys: [
      { ...key, from, until },
      { ...key, from },
    ],
  })
  assert.ok(read.ok)
  assert.deepEqual(
    read.value.periods.map((each) => [each.from, each.until]),
    [
      [AT, AT + 86_400_000],
      [AT, undefined],
    ],
  )
})
