/** Who is alive by heartbeats, by presence, and by the feed (CH-3, AV-6, SF-3). */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type { AgentId, CorrelationId, InstanceId, Instant } from '../ids.ts'
import { LIMITS } from '../limits.ts'
import type { Brake } from './eviction.ts'
import { STEADY } from './flap.ts'
import {
  agentLiveness,
  feedAgesAt,
  heartbeatLiveness,
  heartbeatPulse,
  type Signs,
} from './liveness.ts'
import type { Sighting } from './presence.ts'

const NOW = 1_000_000
const OFF: Brake = { on: false }
const ON: Brake = { on: true, since: NOW, hearingSince: undefined }

describe('an agent that only registers and beats', () => {
  const registered: Signs = { registeredAt: NOW, heartbeatAt: undefined }
  const beaten: Signs = { registeredAt: NOW - 500_000, heartbeatAt: NOW }
  const again: Signs = { registeredAt: NOW, heartbeatAt: NOW - 500_000 }
  // biome-ignore format: a table is read by its columns
  const rows: [rule: string, signs: Signs, afterMs: number, brake: Brake, answer: string][] = [
    ['CH-3 registration is a sign of life',          registered, 89_999, OFF, 'online'],
    ['CH-3 for 90 s',                                registered, 90_000, OFF, 'offline'],
    ['CH-3 a heartbeat is one',                      beaten,     89_999, OFF, 'online'],
    ['CH-3 for 90 s too',                            beaten,     90_000, OFF, 'offline'],
    ['CH-3 registering again after a long silence',  again,      89_999, OFF, 'online'],
    ['P-13 under the brake it is suspected',         beaten,     90_000, ON,  'suspect'],
  ]
  for (const [rule, signs, afterMs, brake, answer] of rows) {
    test(rule, () => assert.equal(heartbeatLiveness(signs, NOW + afterMs, brake), answer))
  }

  test('its pulse lapses when it goes offline', () => {
    const pulse = heartbeatPulse('a1' as AgentId, beaten)
    assert.equal(heartbeatLiveness(beaten, pulse.lapsesAt - 1), 'online')
    assert.equal(heartbeatLiveness(beaten, pulse.lapsesAt), 'offline')
    assert.equal(pulse.cadenceMs * LIMITS.missedCadences, LIMITS.heartbeatSilenceMs)
  })
})

describe('an agent that posts presence', () => {
  const signs: Signs = { registeredAt: NOW, heartbeatAt: NOW + 200_000 }
  const instance = (seenAt: Instant): Sighting => ({
    last: {
      agent: 'a1' as AgentId,
      instance: `i${seenAt}` as InstanceId,
      availability: 'available',
      capabilities: [],
      slotsTotal: 1,
      slotsFree: 1,
      load: { cpu: 0, mem: 0 },
      signedAt: seenAt,
      expiresAt: seenAt + 30_000,
      correlation: 'c1' as CorrelationId,
    },
    seenAt,
    steadiness: STEADY,
  })
  const old = instance(NOW)
  const fresh = instance(NOW + 190_000)
  const fallen: Sighting = { ...old, steadiness: { is: 'down', fellAt: NOW } }
  // biome-ignore format: a table is read by its columns
  const rows: [rule: string, sightings: readonly Sighting[], brake: Brake, answer: string][] = [
    ['CH-3 without presence its heartbeat decides',         [],            OFF, 'online'],
    ['CH-3 with presence it does not outvote silence',      [old],         OFF, 'offline'],
    ['one live instance is enough',                         [old, fresh],  OFF, 'online'],
    ['P-13 under the brake a silent one is suspected',      [old, fallen], ON,  'suspect'],
    ['P-13 one that has fallen is not',                     [fallen],      ON,  'offline'],
    ['P-13 and one that is heard speaks for the agent',     [old, fresh],  ON,  'online'],
  ]
  for (const [rule, sightings, brake, answer] of rows) {
    test(rule, () => {
      assert.equal(agentLiveness({ signs, sightings }, NOW + 210_000, brake), answer)
    })
  }
})

describe('SF-3 what the feed said, and how long it stands', () => {
  test('a status that is not repeated is never aged out by silence', () => {
    assert.equal(feedAgesAt({ heardAt: NOW, repeats: false }), undefined)
  })

  test('a repeated one survives two late heartbeats, and not three', () => {
    const agesAt = feedAgesAt({ heardAt: NOW, repeats: true })
    assert.ok(agesAt !== undefined)
    assert.ok(agesAt > NOW + 2 * 65_000)
    assert.equal(agesAt, NOW + 3 * 65_000)
  })
})
