/** The directory by itself: whoever was let go for silence stays gone, and disturbs nobody. */
import assert from 'node:assert/strict'
import type { Agent } from '@chimera/domain/agent/agent'
import { NO_KEYS } from '@chimera/domain/agent/keys'
import type { AgentId, CorrelationId, InstanceId, OwnerId } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import { NEWCOMER } from '@chimera/domain/trust/trust'
import { test } from 'vitest'
import { createDirectory } from './directory.ts'
import { createPresence } from './presence.ts'
import { createProbes } from './probes.ts'

const NOW = 1_770_000_000_000
const SILENCE = LIMITS.heartbeatSilenceMs

const agent = (id: string): Agent => ({
  id: id as AgentId,
  owner: 'bolt' as OwnerId,
  name: id,
  skills: [],
  keys: NO_KEYS,
  aliases: [],
  registeredAt: NOW,
})

function open() {
  const presence = createPresence()
  const directory = createDirectory(() => NEWCOMER, presence)
  const judge = (id: string, now: number) => directory.livenessOf(id as AgentId, now)
  return { presence, directory, judge }
}

test('P-13 the brake keeps who was there, not who had gone or was never heard', () => {
  const { directory, judge } = open()
  directory.enter(agent('unheard'))
  directory.enter(agent('gone'), NOW)
  const many = ['a', 'b', 'c', 'd', 'e']
  for (const id of many) directory.enter(agent(id), NOW + SILENCE)
  directory.sweep(NOW + SILENCE)
  assert.equal(judge('gone', NOW + SILENCE), 'offline')

  const cut = NOW + 2 * SILENCE
  const { facts } = directory.sweep(cut)
  assert.deepEqual(
    facts.map(({ type }) => type),
    ['brake_set'],
  )
  assert.deepEqual(
    [...many, 'gone', 'unheard'].map((id) => judge(id, cut)),
    [...many.map(() => 'suspect'), 'offline', 'offline'],
  )
  directory.beat('gone' as AgentId, cut)
  assert.equal(judge('gone', cut), 'online')
})

test('P-13 instances that are forgotten do not look like a cut', () => {
  const { presence, directory } = open()
  const posting = ['p', 'q', 'r']
  for (const id of posting) {
    directory.enter(agent(id), NOW)
    const announcement = {
      agent: id as AgentId,
      instance: `${id}1` as InstanceId,
      availability: 'offline',
      capabilities: [],
      slotsTotal: 1,
      slotsFree: 0,
      load: { cpu: 0, mem: 0 },
      signedAt: NOW,
      expiresAt: NOW + 30_000,
      correlation: 't' as CorrelationId,
    } as const
    assert.ok(presence.announce(announcement, NOW).ok)
  }
  const forgotten = NOW + LIMITS.flapMemoryMs
  for (const id of ['a', 'b', 'c']) directory.enter(agent(id), forgotten)
  directory.sweep(forgotten - 1)
  directory.sweep(forgotten)
  assert.deepEqual(presence.of('p' as AgentId), [])
  directory.sweep(forgotten + 1)
  assert.equal(presence.brake().on, false)
})

test('P-13 under the brake who was asked in vain goes, once the hub hears most again', () => {
  const presence = createPresence()
  const probes = createProbes(() => 0)
  const directory = createDirectory(() => NEWCOMER, presence, probes)
  const ids = ['a', 'b', 'c', 'd', 'dead', 'quiet']
  const post = (id: string, at: number) =>
    presence.announce(
      {
        agent: id as AgentId,
        instance: `${id}1` as InstanceId,
        availability: 'available',
        capabilities: [],
        slotsTotal: 1,
        slotsFree: 1,
        load: { cpu: 0, mem: 0 },
        signedAt: at,
        expiresAt: at + 30_000,
        correlation: 't' as CorrelationId,
      },
      at,
    )
  for (const id of ids) {
    directory.enter({ ...agent(id), endpoint: `https://${id}.example/jobs` }, NOW)
    post(id, NOW)
  }
  const cut = NOW + 30_000
  directory.sweep(cut)
  assert.equal(presence.brake().on, true)
  const lost = (now: number) =>
    directory
      .sweep(now)
      .facts.flatMap((fact) => (fact.type === 'pulse_lost' ? [[fact.who, fact.cause]] : []))

  const sent = directory.dueProbes(cut).map(({ place }) => place)
  assert.equal(sent.length, 6, 'suspects are asked too')
  const ended = (at: number) =>
    sent.map((address) => ({
      address,
      sentAt: at,
      result: address === 'https://dead.example' ? ('unanswered' as const) : ('answered' as const),
    }))
  directory.noteProbes(ended(cut), cut)
  for (const id of ids.slice(0, 4)) post(id, cut + 10_000)
  assert.deepEqual(lost(cut + 10_001), [], 'what was sent before it heard anybody proves nothing')
  assert.deepEqual(lost(cut + 10_002), [])
  directory.noteProbes(ended(cut + 10_003), cut + 10_003)
  assert.deepEqual(lost(cut + 10_004), [['dead1', 'unanswered']])
  assert.deepEqual(
    ['dead', 'quiet'].map((id) => directory.livenessOf(id as AgentId, cut + 10_004)),
    ['offline', 'suspect'],
  )
})
