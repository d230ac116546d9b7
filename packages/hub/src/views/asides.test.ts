/** What is remembered of a hire beside its facts, and for how long. */
import assert from 'node:assert/strict'
import type { AgentId, CorrelationId, TaskId } from '@chimera/domain/ids'
import { describe, test } from 'vitest'
import { createAsides } from './asides.ts'

const ann = 'ann' as AgentId
const bob = 'bob' as AgentId
const task = 'task' as TaskId
const trace = 'trace' as CorrelationId
const search = (at: number, ...agents: readonly AgentId[]) => ({
  at,
  skill: 'count',
  agents,
  total: 7,
})

describe('a search', () => {
  const asides = createAsides()
  asides.noteSearch(trace, search(10, bob, ann))
  asides.noteSearch(trace, search(30, ann))
  asides.noteAsked({ task, correlation: trace, at: 20 })

  test('X-4 is found by its trace: the last one before the agent was asked', () => {
    const { found } = asides.of({ task, agent: ann, before: 99 })
    assert.deepEqual(found, { at: 10, skill: 'count', place: 2, of: 7 })
  })
  test('of work without credits it is found by the trace of the result', () => {
    const other = { task: 'free' as TaskId, agent: ann, correlation: trace, before: 40 }
    assert.equal(asides.of(other).found?.at, 30)
  })
  for (const [why, heard] of [
    ['another agent', { task, agent: 'eve' as AgentId, before: 99 }],
    ['no agent', { task, before: 99 }],
    ['another task', { task: 'other' as TaskId, agent: ann, before: 99 }],
  ] as const) {
    test(`says nothing of ${why}`, () => assert.equal(asides.of(heard).found, undefined))
  }
})

describe('progress', () => {
  test('B2 is shown for the agent that told it alone', () => {
    const asides = createAsides()
    asides.noteAdvance(task, bob, { at: 1, share: 0.5, note: 'lies' })
    assert.deepEqual(asides.of({ task, agent: ann, before: 9 }).progress, [])
    asides.noteAdvance(task, ann, { at: 2, share: 0.5, note: 'half' })
    const { progress } = asides.of({ task, agent: ann, before: 9 })
    assert.deepEqual(progress, [{ at: 2, share: 0.5, note: 'half' }])
  })
  test('B2 on an open hub nobody can be told from another', () => {
    const asides = createAsides()
    asides.noteAdvance(task, undefined, { at: 1, share: 1 })
    assert.equal(asides.of({ task, agent: ann, before: 9 }).progress.length, 1)
  })
  test('B3 keeps the last words, and the latest hires', () => {
    const asides = createAsides()
    for (let at = 0; at < 30; at += 1) asides.noteAdvance(task, ann, { at, share: at / 30 })
    const { progress } = asides.of({ task, agent: ann, before: 99 })
    assert.deepEqual([progress.length, progress.at(-1)?.at], [20, 29])
    for (let each = 0; each < 2_000; each += 1) {
      asides.noteAdvance(`t${each}` as TaskId, ann, { at: 1, share: 0 })
    }
    assert.deepEqual(asides.of({ task, agent: ann, before: 99 }).progress, [])
  })
})
