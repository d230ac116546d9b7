/** What was ordered of agents, as whoever lists them sees it. */
import assert from 'node:assert/strict'
import type { AgentRecord } from '@chimera/domain/agent/record'
import type { AgentId } from '@chimera/domain/ids'
import type { Candidate } from '@chimera/domain/matching/candidate'
import { describe, test } from 'vitest'
import { createRecords, recallRecords } from './records.ts'

const workload = { running: 0, awaiting: 0, slotsTotal: 4, slotsFree: 4 }
const IDLE = { condition: { name: 'idle', since: 0 }, workload } as const
const record = (agent: string, version: number, name: 'idle' | 'paused'): AgentRecord => ({
  agent: agent as AgentId,
  version,
  standing: { condition: { name, since: 0 }, workload },
  pendingTasks: 0,
})
const id = (name: string) => name as AgentId

describe('records', () => {
  test('B2 of two versions the higher counts, whichever is heard of first', () => {
    const records = createRecords()
    records.note(record('a', 3, 'paused'))
    records.note(record('a', 2, 'idle'))
    assert.equal(records.standingOf(id('a'), IDLE).condition.name, 'paused')
    records.note(record('a', 4, 'idle'))
    assert.equal(records.standingOf(id('a'), IDLE).condition.name, 'idle')
    assert.equal(records.standingOf(id('nobody'), IDLE).condition.name, 'idle')
  })

  test('who was ordered to take nothing on is a candidate that accepts nothing', async () => {
    const records = createRecords()
    async function* pages() {
      yield [record('a', 1, 'paused')]
      yield [record('b', 1, 'idle')]
    }
    const profiles = { loadAll: pages } as unknown as Parameters<
      typeof recallRecords
    >[0]['profiles']
    await recallRecords({ profiles }, records)
    const candidates = ['a', 'b', 'c'].map((agent) => ({ agent, accepting: true }))
    const seen = [...records.restrain(candidates as unknown as Candidate[])]
    assert.deepEqual(
      seen.map(({ accepting }) => accepting),
      [false, true, true],
    )
  })
})
