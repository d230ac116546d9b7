/** A profile in the shape of the Skills API, and updates that mean what that skill's mean. */
import assert from 'node:assert/strict'
import type { Agent, Skill } from '@chimera/domain/agent/agent'
import type { AgentId, OwnerId } from '@chimera/domain/ids'
import { describe, test } from 'vitest'
import { checkAgentProfile, checkUpdateAgentStateOutput } from '../skills/checks.ts'
import { readStateUpdate } from '../skills/decode.ts'
import { encodeProfile, encodeProfileUpdated, kindOf, readProfileUpdate } from './profiles.ts'

const AGENT = '7d0c3c0a-5b1e-4a52-9a53-6f1f0f6f7d11' as AgentId
const skill = (name: string): Skill => ({
  name,
  version: { major: 1, minor: 0 },
  description: '',
  priceCents: 5,
})
const agent = (...skills: readonly Skill[]): Agent => ({
  id: AGENT,
  owner: 'alice' as OwnerId,
  name: 'Draw',
  skills,
  keys: { periods: [] },
  aliases: [],
  registeredAt: 0,
})

describe('SK-11 a profile', () => {
  // biome-ignore format: a table is read by its columns
  const kinds: [skills: readonly string[], kind: string][] = [
    [['fetch_trends'],                     'trend_analyst'],
    [['generate_content', 'fetch_trends'], 'content_creator'],
    [['publish_content'],                  'distribution_manager'],
    [['validate_content'],                 'judge'],
    [['debit_wallet'],                     'orchestrator'],
    [['something_else'],                   'content_creator'],
    [[],                                   'content_creator'],
  ]
  for (const [skills, kind] of kinds) {
    test(`of ${skills[0] ?? 'nothing'} is of a ${kind}`, () => {
      assert.equal(kindOf(skills.map(skill)), kind)
    })
  }

  test('fits its published shape, alone and after an update', () => {
    const workload = { running: 0, awaiting: 0, slotsTotal: 4, slotsFree: 4 }
    const shown = {
      agent: agent(skill('draw')),
      record: {
        agent: AGENT,
        version: 3,
        standing: { condition: { name: 'paused', since: 0 }, workload },
        pendingTasks: 2,
        walletBalance: 1.5,
      },
      scoreMicro: 923_500,
      uptimeMicro: 999_000,
      seenAt: 1_800_000_000_000,
    } as const
    const profile = encodeProfile(shown)
    assert.ok(checkAgentProfile(profile).ok)
    assert.deepEqual(
      [profile.status, profile.uptime_24h, profile.reputation_score, profile.version],
      ['paused', 99.9, 0.9235, 3],
    )
    assert.ok(checkUpdateAgentStateOutput(encodeProfileUpdated(shown)).ok)
  })
})

test('SK-12 an update means what it means in the skill', () => {
  const state_updates = { status: 'error', reason: 'out of paint', pending_tasks: 4 }
  const ours = readProfileUpdate({ ...state_updates, expected_version: 2 })
  const skills = readStateUpdate({ agent_id: AGENT, state_updates, expected_version: 2 })
  assert.ok(ours.ok && skills.ok)
  assert.deepEqual(ours.value, skills.value.update)
})
