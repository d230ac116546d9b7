/** The OpenClaw column of the lifecycle, cell by cell, and what an announced end is. */
import assert from 'node:assert/strict'
import {
  CONDITIONS,
  type Condition,
  type ConditionName,
  type Standing,
  type Workload,
} from '@chimera/domain/agent/condition'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { checker } from '../check.ts'
import { decodeStatus, encodeStatus, rhythmOf, statusWord } from './condition.ts'
import { clip } from './names.ts'
import { Status, type StatusWord } from './schema.ts'

const SINCE = Date.UTC(2026, 1, 6, 16)
const NOW = SINCE + 60_000
const HOUR = 3_600_000

const NO_WORK: Workload = { running: 0, awaiting: 0, slotsTotal: 4, slotsFree: 4 }
const SOME_WORK: Workload = { running: 2, awaiting: 0, slotsTotal: 4, slotsFree: 2 }
const FULL: Workload = { running: 4, awaiting: 0, slotsTotal: 4, slotsFree: 0 }
const WAITING: Workload = { running: 1, awaiting: 2, slotsTotal: 4, slotsFree: 3 }
const FAULT = { code: 'QUOTA', message: 'No quota left', lasting: 'transient' } as const

function conditionOf(name: ConditionName): Condition {
  return name === 'error' ? { name, since: SINCE, fault: FAULT } : { name, since: SINCE }
}
const standingOf = (name: ConditionName, workload: Workload): Standing => ({
  condition: conditionOf(name),
  workload,
})

const HOUR_AHEAD = '2026-02-06T17:01:00Z'
const DAY_AHEAD = '2026-02-07T16:01:00Z'
const ERROR = { error_code: 'QUOTA', error_message: 'No quota left', error_type: 'transient' }

// biome-ignore format: a table is read by its columns
const cells: [name: ConditionName, workload: Workload, word: StatusWord, details: object | undefined][] = [
  ['idle',         NO_WORK,   'idle',        undefined],
  ['working',      SOME_WORK, 'busy',        { active_tasks: 2 }],
  ['working',      FULL,      'busy',        { active_tasks: 4 }],
  ['human_review', WAITING,   'busy',        { active_tasks: 3 }],
  ['paused',       NO_WORK,   'maintenance', { maintenance_until: HOUR_AHEAD }],
  ['paused',       SOME_WORK, 'maintenance', { active_tasks: 2, maintenance_until: HOUR_AHEAD }],
  ['draining',     SOME_WORK, 'busy',        { active_tasks: 2 }],
  ['draining',     NO_WORK,   'maintenance', { maintenance_until: HOUR_AHEAD }],
  ['maintenance',  NO_WORK,   'maintenance', { maintenance_until: HOUR_AHEAD }],
  ['maintenance',  SOME_WORK, 'maintenance', { active_tasks: 2, maintenance_until: HOUR_AHEAD }],
  ['error',        NO_WORK,   'error',       ERROR],
  ['error',        SOME_WORK, 'error',       { active_tasks: 2, ...ERROR }],
  ['stopped',      NO_WORK,   'maintenance', { maintenance_until: DAY_AHEAD }],
]

describe('X-2 the OpenClaw column', () => {
  for (const [name, workload, word, details] of cells) {
    test(`${name} with ${workload.running + workload.awaiting} tasks → ${word}`, () => {
      const standing = standingOf(name, workload)
      assert.equal(statusWord(standing), word)
      const status = encodeStatus(standing, NOW)
      assert.equal(status.current_status, word)
      assert.deepEqual(status.status_details, details)
    })
  }
  test('every condition has a row', () => {
    const shown = new Set(cells.map(([name]) => name))
    assert.deepEqual([...shown].sort(), [...CONDITIONS].sort())
  })
})

describe('X-2 the announced end of a maintenance', () => {
  const maintenance = (until?: number): Standing => ({
    condition: {
      name: 'maintenance',
      since: SINCE,
      ...(until !== undefined && { until }),
      reason: 'new models',
    },
    workload: NO_WORK,
  })
  test('is the known end, and the status is as old as the maintenance', () => {
    assert.deepEqual(encodeStatus(maintenance(SINCE + 2 * HOUR), NOW), {
      current_status: 'maintenance',
      status_timestamp: '2026-02-06T16:00:00Z',
      status_details: {
        maintenance_until: '2026-02-06T18:00:00Z',
        maintenance_reason: 'new models',
      },
    })
  })
  for (const [why, until] of [
    ['unknown', undefined],
    ['past', SINCE + 1],
    ['just reached', NOW],
  ] as const) {
    test(`is an hour after the status time when it is ${why}, and moves with it`, () => {
      for (const now of [NOW, NOW + HOUR, NOW + 9 * HOUR]) {
        const { status_timestamp, status_details } = encodeStatus(maintenance(until), now)
        assert.equal(Date.parse(status_timestamp), now)
        assert.equal(Date.parse(status_details?.maintenance_until ?? ''), now + HOUR)
      }
    })
  }
})

test('OC-4 idle and busy are repeated, maintenance is renewed, an error is said once', () => {
  const rhythms = (['idle', 'busy', 'maintenance', 'error'] as const).map(rhythmOf)
  assert.deepEqual(rhythms, ['steady', 'steady', 'slow', 'silent'])
})

test('OC-2 whatever is so is encoded with all that its status requires, and reads back', () => {
  const check = checker(Status)
  // Some of it too long for the document.
  const text = fc.string({ maxLength: 30, unit: 'grapheme' }).map((each) => each.repeat(50))
  const workload = fc.record({
    running: fc.nat(100),
    awaiting: fc.nat(100),
    slotsTotal: fc.nat(100),
    slotsFree: fc.nat(100),
  })
  const condition = fc.oneof(
    fc.constantFrom(...CONDITIONS).map(conditionOf),
    fc.record({
      name: fc.constant('maintenance' as const),
      since: fc.integer({ min: 0, max: NOW }),
      until: fc.integer({ min: 0, max: 4_000_000_000_000 }),
      reason: text,
    }),
    fc.record({
      name: fc.constant('error' as const),
      since: fc.integer({ min: 0, max: NOW }),
      fault: fc.record({
        code: text,
        message: text,
        lasting: fc.constantFrom('transient', 'permanent'),
      }),
    }),
  )
  fc.assert(
    fc.property(condition, workload, (each, work) => {
      const standing = { condition: each, workload: work }
      const status = encodeStatus(standing, NOW)
      const checked = check(status)
      assert.ok(checked.ok, checked.ok ? '' : JSON.stringify(checked.particulars.issues))
      const read = decodeStatus(status)
      assert.equal(read.stated === 'working' ? 'busy' : read.stated, status.current_status)
      assert.equal(read.details.tasks ?? 0, work.running + work.awaiting)
      if (each.name === 'error') {
        const { code, message, lasting } = each.fault
        const fault = { code: clip(code, 128), message: clip(message, 1_000), lasting }
        assert.deepEqual(read.details.fault, fault)
      }
    }),
  )
})
