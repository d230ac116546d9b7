/** A hub hears of agents that another one has changed. */
import assert from 'node:assert/strict'
import type { Agent } from '@chimera/domain/agent/agent'
import { type AgentRecord, firstRecord } from '@chimera/domain/agent/record'
import type { Sealed } from '@chimera/domain/audit'
import type { AgentId, KeyId, OwnerId, PublicKey } from '@chimera/domain/ids'
import { describe, test } from 'vitest'
import { followAgents } from './agent-changes.ts'
import { createDirectory } from './directory.ts'
import { createScores } from './scores.ts'

const key = (name: string) => ({ id: name as KeyId, publicKey: name as PublicKey })
const agent = (id: string, name: string): Agent => ({
  id: id as AgentId,
  owner: 'own' as OwnerId,
  name: id,
  skills: [],
  keys: { periods: [{ ...key(name), from: 0 }] },
  aliases: [],
  registeredAt: 0,
})
const changed = (id: string, name: string) => ({
  fact: { type: 'key_changed', id, change: { type: 'key_rotated', key: key(name), at: 1 } },
})

function staged(stored: (id: string) => Agent | undefined) {
  const directory = createDirectory(createScores().standingOf)
  const [loaded, forgotten, noted]: [string[], string[], AgentRecord[]] = [[], [], []]
  const changes = followAgents({
    directory,
    observed: { forget: (id) => void forgotten.push(id) },
    records: { note: (record) => void noted.push(record) },
    load: async (id) => {
      loaded.push(id)
      return stored(id)
    },
    loadRecord: async (id) => firstRecord(id, { condition: { name: 'idle' } } as never),
  })
  const follow = (facts: readonly object[]) =>
    changes.follow(facts as unknown as readonly Sealed<unknown>[])
  return { directory, changes, follow, loaded, forgotten, noted }
}

describe('AV-12 keys that were changed elsewhere', () => {
  test('are read anew, where they are not known already', async () => {
    const { directory, changes, follow, loaded } = staged((id) => agent(id, 'new'))
    for (const id of ['a', 'b', 'c']) directory.enter(agent(id, 'old'))
    changes.begin()
    await follow([
      changed('a', 'new'),
      changed('b', 'old'),
      changed('stranger', 'new'),
      { fact: { type: 'key_changed', id: 'c', change: { type: 'recovery_called_off' } } },
      { fact: { type: 'transfer_made', id: 'b' } },
      { fact: null },
    ])
    assert.deepEqual(loaded, ['a', 'c'])
    const present = (id: string) => directory.find(id as AgentId)?.keys.periods[0]?.id
    assert.deepEqual([present('a'), present('b')], ['new', 'old'])
  })
})

describe('agents that were changed elsewhere', () => {
  const registered = { fact: { type: 'agent_registered', id: 'a' }, recordedAt: 5_000 }

  test('are found, and were heard when they registered (CH-3)', async () => {
    const { directory, changes, follow, loaded } = staged((id) => agent(id, 'k'))
    changes.begin()
    await follow([registered, changed('a', 'k')])
    assert.deepEqual(loaded, ['a'], 'read once')
    assert.equal(directory.heardAt('a' as AgentId), 5_000)
    assert.ok(directory.isOnline('a' as AgentId, 6_000))
  })

  test('are gone when they were removed', async () => {
    const { directory, changes, follow, forgotten } = staged((id) => ({
      ...agent(id, 'k'),
      removedAt: 7,
    }))
    directory.enter(agent('a', 'k'), 1)
    changes.begin()
    await follow([{ fact: { type: 'agent_removed', id: 'a', at: 7 } }])
    assert.equal(directory.find('a' as AgentId), undefined)
    assert.deepEqual(forgotten, ['a'])
  })

  test('what was ordered of them is noted', async () => {
    const { changes, follow, noted, loaded } = staged(() => undefined)
    changes.begin()
    await follow([{ fact: { type: 'record_updated', record: { agent: 'a' } } }])
    assert.deepEqual([noted.map((each) => each.agent), loaded], [['a'], []])
  })

  test('J3 before all agents were read, nothing is', async () => {
    const { follow, loaded } = staged((id) => agent(id, 'k'))
    await follow([registered])
    assert.deepEqual(loaded, [])
  })
})
