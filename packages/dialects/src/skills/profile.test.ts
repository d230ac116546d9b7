/** Profiles: the projection of conditions, and that every agent has one that reads back. */
import assert from 'node:assert/strict'
import type { Agent } from '@chimera/domain/agent/agent'
import { CONDITIONS, type ConditionName } from '@chimera/domain/agent/condition'
import { NO_KEYS } from '@chimera/domain/agent/keys'
import type { AgentRecord } from '@chimera/domain/agent/record'
import type { OwnerId } from '@chimera/domain/ids'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import {
  AGENT,
  conditionOf,
  instant,
  maybe,
  NOW,
  plain,
  recordOf,
  WALLET,
  workload,
} from '../../test/samples.ts'
import * as checks from './checks.ts'
import * as skills from './index.ts'

const agentOf = (profile: Partial<Agent> = {}): Agent => ({
  id: AGENT,
  owner: 'acme' as OwnerId,
  name: 'Trend scout',
  skills: [skills.offerSkill('fetch_trends', 10)],
  keys: NO_KEYS,
  aliases: [],
  registeredAt: NOW,
  ...profile,
})
const viewOf = (record: AgentRecord, profile: Partial<Agent> = {}): skills.ProfileView => ({
  agent: agentOf(profile),
  record,
  kind: 'trend_analyst',
  scoreMicro: 923_500,
  uptimeMicro: 995_000,
  seenAt: NOW,
})

describe('X-2 the profile’s column', () => {
  // biome-ignore format: a table is read by its columns
  const rows: Record<ConditionName, [status: string, availability: string]> = {
    idle:         ['active', 'active'],
    working:      ['busy',   'busy'],
    human_review: ['busy',   'busy'],
    paused:       ['paused', 'unavailable'],
    draining:     ['paused', 'unavailable'],
    maintenance:  ['paused', 'maintenance'],
    error:        ['error',  'unavailable'],
    stopped:      ['paused', 'unavailable'],
  }
  for (const name of CONDITIONS) {
    for (const [work, slotsFree] of [
      [0, 5],
      [1, 4],
      [5, 0],
    ] as const) {
      const [status, availability] = rows[name]
      test(`${name} with ${work} at work, ${slotsFree} free → ${status}, ${availability}`, () => {
        const standing = { condition: conditionOf(name), workload: workload(work, slotsFree) }
        assert.deepEqual(skills.encodeCondition(standing), { status, availability })
        const profile = skills.encodeAgentProfile(viewOf({ ...recordOf(name), standing }))
        assert.equal(profile.status, status)
        assert.equal(profile.availability, availability)
      })
    }
  }
})

describe('profiles', () => {
  const name = fc.string({ minLength: 1, maxLength: 200, unit: 'grapheme' })
  const view = fc.record({
    condition: fc.constantFrom(...CONDITIONS),
    name: name.filter((each) => [...each].length <= 200),
    slots: fc.nat(1_000),
    pending: fc.nat(1_000),
    scoreMicro: fc.nat(1_000_000),
    uptimeMicro: fc.nat(1_000_000),
    seenAt: instant,
    lastExecutionAt: maybe(instant),
    walletBalance: maybe(fc.double({ min: 0, max: 1e9, noNaN: true })),
    version: fc.integer({ min: 1, max: 1e9 }),
  })

  test('X-3 every agent has a profile that its schema accepts, and it reads back as it was', () => {
    fc.assert(
      fc.property(view, (each) => {
        const record: AgentRecord = plain({
          agent: AGENT,
          version: each.version,
          standing: {
            condition: conditionOf(each.condition),
            workload: workload(0, 0, each.slots),
          },
          pendingTasks: each.pending,
          lastExecutionAt: each.lastExecutionAt,
          walletBalance: each.walletBalance,
        }) as AgentRecord
        const profile = skills.encodeAgentProfile({
          ...viewOf(record, { name: each.name }),
          scoreMicro: each.scoreMicro,
          uptimeMicro: each.uptimeMicro,
          seenAt: each.seenAt,
          wallet: WALLET,
        })
        const wire = JSON.parse(JSON.stringify(profile))
        const read = skills.readAgentProfile(wire)
        assert.ok(read.ok, JSON.stringify(read))
        const { shows, takesWork, inMaintenance, name: shown, ...rest } = read.value
        const length = [...each.name].length
        if (length >= 3 && length <= 100) assert.equal(shown, each.name)
        const isOpen = ['idle', 'working', 'human_review'].includes(each.condition)
        assert.equal(takesWork, isOpen)
        assert.equal(inMaintenance, each.condition === 'maintenance')
        assert.equal(shows === 'failed', each.condition === 'error')
        const slotsTotal = each.slots === 0 ? undefined : Math.min(each.slots, 100)
        assert.deepEqual(
          rest,
          plain({
            type: 'profile_observed',
            agent: AGENT,
            kind: 'trend_analyst',
            capabilities: ['trend_analysis'],
            pendingTasks: each.pending,
            claimedScoreMicro: each.scoreMicro,
            seenAt: each.seenAt,
            version: each.version,
            slotsTotal,
            lastExecutionAt: each.lastExecutionAt,
            wallet: WALLET,
            // JSON knows no minus nothing.
            walletBalance: each.walletBalance === undefined ? undefined : each.walletBalance + 0,
          }),
        )
        assert.ok(skills.readRegistration(skills.encodeRegistration(profile)).ok)
        const updated = skills.encodeUpdated({ ...viewOf(record, { name: each.name }) })
        assert.ok(checks.checkUpdateAgentStateOutput(updated).ok)
      }),
      { numRuns: 300 },
    )
  })

  // biome-ignore format: a table is read by its columns
  const names: [name: string, shown: string][] = [
    ['abc',             'abc'],
    ['ab',              'ab a3b8d1b6'],
    ['',                'a3b8d1b6'],
    ['n'.repeat(100),   'n'.repeat(100)],
    ['n'.repeat(101),   `${'n'.repeat(99)}…`],
    ['🧵'.repeat(101),  `${'🧵'.repeat(99)}…`],
  ]
  for (const [own, shown] of names) {
    test(`a name of ${[...own].length} is shown with ${[...shown].length}`, () => {
      assert.equal(skills.encodeAgentProfile(viewOf(recordOf('idle'), { name: own })).name, shown)
    })
  }

  test('the score is a share, the uptime out of 100', () => {
    const profile = skills.encodeAgentProfile(viewOf(recordOf('idle')))
    assert.equal(profile.reputation_score, 0.9235)
    assert.equal(profile.uptime_24h, 99.5)
  })

  test('SK-11 a stale copy says so', () => {
    const profile = skills.encodeAgentProfile(viewOf(recordOf('idle')))
    assert.deepEqual(skills.encodeProfileAnswer(profile, false), profile)
    const stale = skills.encodeProfileAnswer(profile, true)
    assert.equal(stale.stale, true)
    assert.ok(skills.readProfileAnswer(stale).ok)
  })

  test('seven words for all ten skills, and for strangers by their category', () => {
    const ten = (Object.keys(skills.SKILLS) as skills.SkillId[]).map((id) =>
      skills.offerSkill(id, 0),
    )
    assert.deepEqual(skills.capabilitiesOf(ten).sort(), [
      'budget_management',
      'content_writing',
      'quality_control',
      'social_engagement',
      'trend_analysis',
    ])
    const stranger = { name: 'paint', version: { major: 1, minor: 0 }, description: '' }
    const [plainOne, sorted] = [
      { ...stranger, priceCents: 0 },
      { ...stranger, priceCents: 0, category: 'content_validation' as const },
    ]
    assert.deepEqual(skills.capabilitiesOf([plainOne]), ['content_writing'])
    assert.deepEqual(skills.capabilitiesOf([sorted]), ['quality_control'])
  })
})
