/** The view of instances by itself: its bounds, what it forgets, and the brake over both kinds. */
import assert from 'node:assert/strict'
import type { AgentId, CorrelationId, InstanceId, PublicKey } from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import { type Announcement, presenceExpiry } from '@chimera/domain/presence/presence'
import { describe, test } from 'vitest'
import { createPresence } from './presence.ts'

const NOW = 1_770_000_000_000
const AGENT = 'a' as AgentId

const post = (instance: string, changed: Partial<Announcement> = {}): Announcement => {
  const { signedAt = NOW, availability = 'available' } = changed
  return {
    agent: AGENT,
    instance: instance as InstanceId,
    availability,
    capabilities: ['draw'],
    slotsTotal: 1,
    slotsFree: 1,
    load: { cpu: 0, mem: 0 },
    signedAt,
    expiresAt: presenceExpiry(availability, signedAt),
    correlation: 't' as CorrelationId,
    ...changed,
  }
}
const declaration = (instance: string, signedAt = NOW) => ({
  ...post(instance, { signedAt }),
  claimedKey: 'k' as PublicKey,
})

describe('the instances of one agent', () => {
  test('are bounded, and one that is long gone makes room', () => {
    const presence = createPresence()
    for (let count = 0; count < LIMITS.instancesPerAgent; count += 1) {
      assert.ok(presence.announce(post(`i${count}`), NOW).ok)
    }
    const crowded = presence.announce(post('new'), NOW)
    assert.equal(!crowded.ok && crowded.refusal, 'rate_exceeded')
    const declared = presence.declare(declaration('new'), NOW)
    assert.equal(!declared.ok && declared.refusal, 'rate_exceeded')
    assert.ok(
      presence.announce(post('i0', { signedAt: NOW + 1, availability: 'offline' }), NOW + 1).ok,
    )
    assert.equal(presence.announce(post('new', { signedAt: NOW + 2 }), NOW + 2).ok, false)

    const later = NOW + 1 + LIMITS.flapMemoryMs
    assert.ok(presence.announce(post('new', { signedAt: later }), later).ok)
    assert.equal(presence.of(AGENT).length, LIMITS.instancesPerAgent)
  })

  test('a declared instance is not there before it posts, and keeps its owner', () => {
    const presence = createPresence()
    assert.ok(presence.declare(declaration('i'), NOW).ok)
    assert.deepEqual(presence.of(AGENT), [])
    const stranger = presence.announce(post('i', { agent: 'b' as AgentId }), NOW)
    assert.equal(!stranger.ok && stranger.refusal, 'caller_forbidden')
  })

  test('are forgotten when nothing of theirs can be replayed; their address is not', () => {
    const presence = createPresence()
    presence.announce(post('plain'), NOW)
    presence.announce(post('declared'), NOW)
    presence.declare(declaration('declared'), NOW)
    presence.sweep([], NOW + 30_000)
    const forgotten = NOW + 30_000 + LIMITS.flapMemoryMs
    presence.sweep([], forgotten - 1)
    assert.equal(presence.of(AGENT).length, 2)
    presence.sweep([], forgotten)
    assert.deepEqual(presence.of(AGENT), [])
    presence.announce(post('declared', { signedAt: forgotten }), forgotten)
    assert.equal([...presence.instances()][0]?.declared?.signedAt, NOW)
  })
})

describe('the brake', () => {
  test('P-13 looks at instances and at agents that beat together', () => {
    const presence = createPresence()
    presence.announce(post('i'), NOW)
    const beating = ['b', 'c', 'd', 'e'].map((who) => ({
      who: who as AgentId,
      seenAt: NOW + 25_000,
      cadenceMs: 30_000,
      lapsesAt: NOW + 115_000,
    }))
    const calm = presence.sweep(beating, NOW + 30_000)
    assert.deepEqual(
      calm.facts.map((fact) => fact.type),
      ['pulse_lost'],
    )
    assert.equal(calm.nextAt, NOW + 115_000)

    presence.announce(post('i', { signedAt: NOW + 60_000 }), NOW + 60_000)
    const cut = presence.sweep(beating, NOW + 90_000)
    assert.deepEqual(
      cut.facts.map((fact) => fact.type),
      ['brake_set'],
    )
    assert.equal(presence.brake().on, true)
  })
})

test('a post from before the restart counts while it is valid, and later is no flap', () => {
  const presence = createPresence()
  presence.restore({ announcement: post('old', { signedAt: NOW - 60_000 }), at: NOW - 60_000 }, NOW)
  presence.restore({ announcement: post('young', { signedAt: NOW - 5_000 }), at: NOW - 5_000 }, NOW)
  const steadiness = () => presence.of(AGENT).map((each) => each.steadiness.is)
  assert.deepEqual(steadiness(), ['down', 'steady'])
  presence.announce(post('old'), NOW)
  assert.deepEqual(steadiness(), ['steady', 'steady'])
})
