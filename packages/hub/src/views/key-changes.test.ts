/** A hub hears of keys that another one has changed. */
import assert from 'node:assert/strict'
import type { Agent } from '@chimera/domain/agent/agent'
import type { Sealed } from '@chimera/domain/audit'
import type { AgentId, KeyId, OwnerId, PublicKey } from '@chimera/domain/ids'
import { describe, test } from 'vitest'
import { createDirectory } from './directory.ts'
import { followKeys } from './key-changes.ts'
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

describe('AV-12 keys that were changed elsewhere', () => {
  test('are read anew, where they are not known already', async () => {
    const directory = createDirectory(createScores().standingOf)
    for (const id of ['a', 'b']) directory.enter(agent(id, 'old'))
    const loaded: string[] = []
    const follow = followKeys(directory, async (id) => {
      loaded.push(id)
      return agent(id, 'new')
    })
    const facts = [
      changed('a', 'new'),
      changed('b', 'old'),
      changed('stranger', 'new'),
      { fact: { type: 'key_changed', id: 'a', change: { type: 'recovery_called_off' } } },
      { fact: { type: 'agent_removed', id: 'b', at: 1 } },
      { fact: null },
    ]
    await follow(facts as unknown as readonly Sealed<unknown>[])
    assert.deepEqual(loaded, ['a'])
    const present = (id: string) => directory.find(id as AgentId)?.keys.periods[0]?.id
    assert.deepEqual([present('a'), present('b')], ['new', 'old'])
  })
})
