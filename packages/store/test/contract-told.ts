/** What was told of reputations: each thing once, whoever asks at the same moment (OC-9). */
import assert from 'node:assert/strict'
import type { AgentId } from '@chimera/domain/ids'
import { describe, test } from 'vitest'
import type { Database } from '../src/engine/database.ts'
import { openDatabase } from '../src/engine/open.ts'
import { createTold } from '../src/told.ts'
import type { Stage } from './contract.ts'
import { START } from './hands.ts'

const DAY_MS = 86_400_000
const id = (name: string) => name as AgentId

async function enter(database: Database, name: string, registeredAt: number, removedAt?: number) {
  await database.query('INSERT INTO owners VALUES ($1, 0) ON CONFLICT DO NOTHING', ['ann'])
  await database.query('INSERT INTO agents VALUES ($1, $2, $3, $4::json)', [
    name,
    'ann',
    removedAt ?? null,
    JSON.stringify({ registeredAt }),
  ])
}

export function toldContract({ engine, fresh }: Stage): void {
  describe('OC-9 what was told', () => {
    test('outcomes are claimed once, in the order of the chain', async () => {
      const { database } = await fresh()
      const told = createTold({ database })
      assert.equal(await told.through(), 0)
      const first = [
        { agent: id('a'), seq: 4 },
        { agent: id('b'), seq: 7 },
      ]
      assert.equal(await told.claimOutcomes(first, START), 0)
      assert.equal(await told.claimOutcomes([{ agent: id('a'), seq: 9 }], START + 1), 7)
      // A hub that is behind learns how far the others are, and takes nothing back.
      assert.equal(await told.claimOutcomes(first, START), 9)
      assert.equal(await told.through(), 9)
      const rows = await database.query('SELECT * FROM told_agents ORDER BY agent', [])
      assert.deepEqual(rows, [
        { agent: 'a', told_at: START + 1, told_seq: 9 },
        { agent: 'b', told_at: START, told_seq: 7 },
      ])
    })

    test('an agent is due so long after its registration, and after each telling', async () => {
      const { database } = await fresh()
      const told = createTold({ database })
      await enter(database, 'old', START)
      await enter(database, 'young', START + 10)
      await enter(database, 'gone', START, START + 1)
      const due = (lastBy: number) =>
        told.claimDue({ lastBy, now: lastBy + DAY_MS, limit: 10 }).then((ids) => [...ids].sort())
      assert.deepEqual(await due(START - 1), [])
      assert.deepEqual(await due(START), ['old'])
      assert.deepEqual(await due(START + 10), ['young'])
      assert.deepEqual(await due(START + DAY_MS - 1), [])
      await told.claimOutcomes([{ agent: id('old'), seq: 3 }], START + DAY_MS + 5)
      assert.deepEqual(await due(START + DAY_MS), [])
      assert.deepEqual(await due(START + DAY_MS + 10), ['old', 'young'])
    })

    test('of those that claim at the same moment one has each agent', async () => {
      const { database, address } = await fresh()
      const second = engine.name === 'PostgreSQL' ? await openDatabase(address) : undefined
      for (let at = 0; at < 30; at += 1) await enter(database, `agent-${at}`, START)
      const hubs = [createTold({ database }), createTold({ database: second ?? database })]
      const due = { lastBy: START, now: START + DAY_MS, limit: 20 }
      const claimed: AgentId[] = []
      for (let round = 0; round < 3; round += 1) {
        const got = await Promise.all(hubs.map((hub) => hub.claimDue(due)))
        claimed.push(...got.flat())
      }
      assert.equal(claimed.length, 30)
      assert.equal(new Set(claimed).size, 30)
      await second?.close()
    })
  })
}
