/** Declarations of instances: their order and times, and what they say against later posts. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type { AgentId, CorrelationId, InstanceId, PublicKey } from '../ids.ts'
import { type Declaration, decideDeclaration, declaredAvailability } from './declaration.ts'
import { applyPresence, type Sighting } from './presence.ts'

const NOW = 1_770_000_000_000

const declaration = (changed: Partial<Declaration> = {}): Declaration => ({
  agent: 'a' as AgentId,
  instance: 'i' as InstanceId,
  availability: 'available',
  capabilities: ['draw'],
  claimedKey: 'k' as PublicKey,
  signedAt: NOW,
  expiresAt: NOW + 30_000,
  ...changed,
})

const sighting = (agent = 'a', signedAt = NOW): Sighting =>
  applyPresence(undefined, {
    type: 'instance_seen',
    announcement: {
      ...declaration({ signedAt, expiresAt: signedAt + 30_000, agent: agent as AgentId }),
      slotsTotal: 1,
      slotsFree: 1,
      load: { cpu: 0, mem: 0 },
      correlation: 't' as CorrelationId,
    },
    at: signedAt,
  })

describe('a declaration', () => {
  // biome-ignore format: a table is read by its columns
  const rows = [
    ['the first is taken',           undefined,                            {},                                                   'taken'],
    ['a later one is taken',         declaration({ signedAt: NOW - 1 }),   {},                                                   'taken'],
    ['the same again',               declaration(),                        {},                                                   'message_replayed'],
    ['one signed before',            declaration({ signedAt: NOW + 1 }),   {},                                                   'message_outdated'],
    ['of an instance of another',    declaration({ agent: 'b' as AgentId, signedAt: NOW - 1 }), {},                              'caller_forbidden'],
    ['at its expiry',                undefined,                            { signedAt: NOW - 10, expiresAt: NOW },               'message_expired'],
    ['that ends before it begins',   undefined,                            { signedAt: NOW + 5, expiresAt: NOW + 5 },            'message_expired'],
    ['at the edge of the skew',      undefined,                            { signedAt: NOW + 30_000, expiresAt: NOW + 40_000 },  'taken'],
    ['beyond the skew',              undefined,                            { signedAt: NOW + 30_001, expiresAt: NOW + 40_000 },  'message_early'],
    ['valid for 120 s',              undefined,                            { expiresAt: NOW + 120_000 },                         'taken'],
    ['valid for longer',             undefined,                            { expiresAt: NOW + 120_001 },                         'expiry_too_far'],
  ] as const
  for (const [title, declared, changed, expected] of rows) {
    test(`AV-2 ${title}: ${expected}`, () => {
      const decision = decideDeclaration({ declared, seen: undefined }, declaration(changed), NOW)
      assert.equal(decision.ok ? 'taken' : decision.refusal, expected)
    })
  }

  test('an instance that another agent posts for cannot be declared', () => {
    const known = { declared: undefined, seen: sighting('b') }
    const decision = decideDeclaration(known, declaration(), NOW)
    assert.equal(!decision.ok && decision.refusal, 'caller_forbidden')
  })

  test('AV-5 draining counts at once, until a later post says otherwise', () => {
    const declared = declaration({ availability: 'draining', signedAt: NOW + 1 })
    assert.equal(declaredAvailability({ seen: sighting(), declared }, NOW + 2), 'draining')
    const later = sighting('a', NOW + 3)
    assert.equal(declaredAvailability({ seen: later, declared }, NOW + 4), 'available')
  })

  test('does not bring back an instance that fell silent', () => {
    const declared = declaration({ signedAt: NOW + 29_999, expiresAt: NOW + 60_000 })
    assert.equal(declaredAvailability({ seen: sighting(), declared }, NOW + 30_000), 'offline')
  })
})
