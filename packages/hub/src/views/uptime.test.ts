/** The share of a day, asked for once a minute at most. */
import assert from 'node:assert/strict'
import type { AgentId } from '@chimera/domain/ids'
import { describe, test } from 'vitest'
import { createUptime } from './uptime.ts'

const DAY_MS = 86_400_000
const NOW = 10 * DAY_MS
const agent = (registeredAt: number, name = 'a') => ({ id: name as AgentId, registeredAt })

describe('SK-11 uptime', () => {
  // biome-ignore format: a table is read by its columns
  const rows: [rule: string, registeredAt: number, upMs: number, micro: number][] = [
    ['T1 of a day',                        0,                 DAY_MS / 4, 250_000],
    ['T1 since it registered',             NOW - DAY_MS / 2,  DAY_MS / 4, 500_000],
    ['never more than all of it',          NOW - 1_000,       DAY_MS,     1_000_000],
    ['of one that registered this moment', NOW,               5,          0],
  ]
  for (const [rule, registeredAt, upMs, micro] of rows) {
    test(rule, async () => {
      const uptime = createUptime(async (_, { since, until }) => {
        assert.deepEqual([since, until], [Math.max(NOW - DAY_MS, registeredAt), NOW])
        return upMs
      })
      assert.equal(await uptime.of(agent(registeredAt), NOW), micro)
    })
  }

  test('T2 a figure is good for a minute, and a failure for nothing', async () => {
    let asked = 0
    const uptime = createUptime(async () => {
      asked += 1
      if (asked === 2) throw new Error('no')
      return DAY_MS
    })
    const at = (now: number) => uptime.of(agent(0), now)
    await Promise.all([at(NOW), at(NOW), at(NOW + 59_999)])
    assert.equal(asked, 1)
    await assert.rejects(at(NOW + 60_000))
    assert.equal(await at(NOW + 60_001), 1_000_000)
    assert.equal(asked, 3)
  })
})
