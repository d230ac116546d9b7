/**
 * The tables are the specification of the door and of the clock behind it. The runs below play
 * posts in any order and any number of times, as a bus may, and hold D1, D3 and D5 to them.
 */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import type { AgentId, CorrelationId, InstanceId, Instant } from '../ids.ts'
import { LIMITS } from '../limits.ts'
import type { Brake } from './eviction.ts'
import { STEADY } from './flap.ts'
import {
  type Announcement,
  type Availability,
  applyLost,
  applyPresence,
  availabilityOf,
  decidePresence,
  forgetsAt,
  lapsesAt,
  livenessOf,
  presenceExpiry,
  pulsesOf,
  type Sighting,
} from './presence.ts'

const NOW = 1_000_000
const SECOND = 1_000

const post = (over: Partial<Announcement> = {}): Announcement => ({
  agent: 'a1' as AgentId,
  instance: 'i1' as InstanceId,
  availability: 'available',
  capabilities: ['summarise'],
  slotsTotal: 8,
  slotsFree: 3,
  load: { cpu: 0.12, mem: 0.48 },
  signedAt: NOW,
  expiresAt: (over.signedAt ?? NOW) + 30 * SECOND,
  correlation: 'c1' as CorrelationId,
  ...over,
})
const sighting = (over: Partial<Announcement> = {}, seenAt: Instant = NOW): Sighting => ({
  last: post(over),
  seenAt,
  steadiness: STEADY,
})
const lost = (before: Sighting, at: Instant): Sighting =>
  applyLost(before, { type: 'pulse_lost', who: before.last.instance, at, cause: 'lapsed' })

/** Through the door; what is refused changes nothing. */
function hear(seen: Sighting | undefined, announcement: Announcement, at: Instant) {
  const decision = decidePresence(seen, announcement, at)
  if (!decision.ok) return seen
  return decision.facts.reduce<Sighting | undefined>(applyPresence, seen)
}

describe('the door', () => {
  const known = sighting({ signedAt: NOW - 10 * SECOND }, NOW - 10 * SECOND)
  const far = NOW + LIMITS.skewMs
  // biome-ignore format: a table is read by its columns
  const rows: [rule: string, seen: Sighting | undefined, came: Partial<Announcement>, answer: string][] = [
    ['AV-3 a first post is taken',                     undefined, {},                              'instance_seen'],
    ['AV-3 a later one is taken',                      known,     {},                              'instance_seen'],
    ['AV-3 the same post again is a replay',           known,     { signedAt: NOW - 10 * SECOND }, 'message_replayed'],
    ['AV-3 one signed before it is outdated',          known,     { signedAt: NOW - 10_001 },      'message_outdated'],
    ['AV-3 a millisecond later is later',              known,     { signedAt: NOW - 9_999 },       'instance_seen'],
    ['AV-3 a post is stale at its expiry',             undefined, { signedAt: NOW - 5, expiresAt: NOW }, 'message_expired'],
    ['AV-3 and good until then',                       undefined, { expiresAt: NOW + 1 },          'instance_seen'],
    ['AV-3 one that never was valid is stale',         undefined, { signedAt: NOW + 9, expiresAt: NOW + 9 }, 'message_expired'],
    ['AV-3 skew is allowed for',                       undefined, { signedAt: far },               'instance_seen'],
    ['AV-3 beyond it a post is not yet valid',         undefined, { signedAt: far + 1 },           'message_early'],
    ['AV-1 two minutes are the longest validity',      undefined, { expiresAt: NOW + 120_000 },    'instance_seen'],
    ['AV-1 a longer one is refused',                   undefined, { expiresAt: NOW + 120_001 },    'expiry_too_far'],
    ['AV-3 a signed offline revokes',                  known,     { availability: 'offline' },     'instance_revoked'],
    ['AV-3 a first-ever offline is remembered',        undefined, { availability: 'offline' },     'instance_revoked'],
    ['AV-3 a replayed offline revokes nothing',        known,     { availability: 'offline', signedAt: NOW - 20 * SECOND }, 'message_outdated'],
    ['a full instance is taken',                       undefined, { slotsFree: 0 },                'instance_seen'],
    ['an instance without slots is taken',             undefined, { slotsFree: 0, slotsTotal: 0 }, 'instance_seen'],
    ['more free than there are is refused',            undefined, { slotsFree: 9 },                'slots_invalid'],
    ['fewer than none is refused',                     undefined, { slotsFree: -1 },               'slots_invalid'],
    ['half a slot is refused',                         undefined, { slotsFree: 1.5 },              'slots_invalid'],
    ['slots beyond the limit are refused',             undefined, { slotsTotal: LIMITS.slotsPerInstance + 1 }, 'slots_invalid'],
    ['D4 another agent cannot speak for the instance', known,     { agent: 'a2' as AgentId },      'caller_forbidden'],
    ['D4 nor revoke it',                               known,     { agent: 'a2' as AgentId, availability: 'offline' }, 'caller_forbidden'],
    ['the strongest refusal is the one given',         known,     { slotsFree: 9, signedAt: far + 1 }, 'slots_invalid'],
  ]

  for (const [rule, seen, came, answer] of rows) {
    test(rule, () => {
      const decision = decidePresence(seen, post(came), NOW)
      assert.equal(decision.ok ? decision.facts[0]?.type : decision.refusal, answer)
    })
  }

  test('an early post says from when on it would be heard', () => {
    const early = post({ signedAt: far + 500 })
    const decision = decidePresence(undefined, early, NOW)
    assert.ok(!decision.ok)
    assert.equal(decision.particulars.retryAt, NOW + 500)
    assert.ok(decidePresence(undefined, early, NOW + 500).ok)
  })
})

describe('AV-1 how long a post is valid', () => {
  const rows: [availability: Availability, validMs: number][] = [
    ['available', 30 * SECOND],
    ['busy', 30 * SECOND],
    ['draining', 90 * SECOND],
    ['offline', 30 * SECOND],
  ]
  for (const [availability, validMs] of rows) {
    test(`${availability}: three cadences`, () => {
      const expiresAt = presenceExpiry(availability, NOW)
      assert.equal(expiresAt - NOW, validMs)
      assert.ok(decidePresence(undefined, post({ availability, expiresAt }), NOW).ok)
    })
  }
})

describe('who is online', () => {
  const draining: Partial<Announcement> = { availability: 'draining', expiresAt: NOW + 90 * SECOND }
  const long: Partial<Announcement> = { expiresAt: NOW + 120 * SECOND }
  const braked: Brake = { on: true, since: NOW, hearingSince: undefined }
  // biome-ignore format: a table is read by its columns
  const rows: [rule: string, before: Sighting, afterMs: number, brake: Brake, answer: string][] = [
    ['AV-6 two missed cadences are borne',          sighting(long),         29_999,  { on: false }, 'online'],
    ['AV-6 three are not, however long the expiry', sighting(long),         30_000,  { on: false }, 'offline'],
    ['AV-6 draining has slower cadences',           sighting(draining),     89_999,  { on: false }, 'online'],
    ['AV-6 three of them too',                      sighting(draining),     90_000,  { on: false }, 'offline'],
    ['AV-3 expiry ends it before',                  sighting({ expiresAt: NOW + 5_000 }), 5_000, { on: false }, 'offline'],
    ['AV-3 but not sooner',                         sighting({ expiresAt: NOW + 5_000 }), 4_999, { on: false }, 'online'],
    ['P-13 under the brake silence is a suspicion', sighting(long),         30_000,  braked,        'suspect'],
    ['P-13 and who is heard is not suspected',      sighting(long),         29_999,  braked,        'online'],
    ['P-13 the brake does not bring back the fallen', lost(sighting(long), NOW), 1,  braked,        'offline'],
  ]
  for (const [rule, before, afterMs, brake, answer] of rows) {
    test(rule, () => assert.equal(livenessOf(before, NOW + afterMs, brake), answer))
  }

  test('AV-3 an offline post revokes at once', () => {
    const revoked = hear(sighting(), post({ availability: 'offline', signedAt: NOW + 1 }), NOW + 1)
    assert.ok(revoked)
    assert.equal(livenessOf(revoked, NOW + 1), 'offline')
    assert.deepEqual(pulsesOf([revoked]), [])
  })
})

describe('AV-6 P-13 what the directory says of one that is back', () => {
  const at = (step: number) => NOW + step * 10 * SECOND
  const heard = (seen: Sighting | undefined, step: number, availability: Availability) =>
    hear(seen, post({ availability, signedAt: at(step) }), at(step))
  const says = (seen: Sighting | undefined, step: number) => {
    assert.ok(seen)
    return availabilityOf(seen, at(step))
  }

  test('a first-ever post counts at once', () => {
    assert.equal(says(heard(undefined, 0, 'available'), 0), 'available')
  })

  test('after a loss the second post counts', () => {
    const first = heard(lost(sighting(), at(3)), 4, 'available')
    assert.equal(says(first, 4), 'offline')
    assert.equal(says(heard(first, 5, 'available'), 5), 'available')
  })

  test('after its own offline as well', () => {
    const gone = heard(sighting(), 1, 'offline')
    const first = heard(gone, 2, 'available')
    assert.equal(says(first, 2), 'offline')
    assert.equal(says(heard(first, 3, 'available'), 3), 'available')
  })

  test('busy is no rise to available: it is shown, and counts as the first of the two', () => {
    const first = heard(lost(sighting(), at(3)), 4, 'busy')
    assert.equal(says(first, 4), 'busy')
    assert.equal(says(heard(first, 5, 'available'), 5), 'available')
  })

  test('from busy or draining it rises at once', () => {
    const seen = heard(heard(undefined, 0, 'busy'), 1, 'draining')
    assert.equal(says(heard(seen, 2, 'available'), 2), 'available')
  })

  test('who was only kept by the brake has not fallen', () => {
    assert.equal(says(heard(sighting(), 9, 'available'), 9), 'available')
  })
})

describe('any order, any number of times', () => {
  const anyPost = fc.record({
    signedAt: fc.integer({ min: NOW - 150 * SECOND, max: NOW + 150 * SECOND }),
    validMs: fc.integer({ min: 1, max: 130 * SECOND }),
    availability: fc.constantFrom<Availability>('available', 'busy', 'draining', 'offline'),
  })
  const anyRun = fc.array(
    fc.record({
      came: anyPost,
      afterMs: fc.integer({ min: 0, max: 40 * SECOND }),
      again: fc.nat(),
    }),
    { minLength: 1, maxLength: 30 },
  )

  test('AV-3 signed_at rises strictly, and nothing stale, early or too long gets in', () => {
    fc.assert(
      fc.property(anyRun, (run) => {
        let now = NOW - 150 * SECOND
        let seen: Sighting | undefined
        const sent: Announcement[] = []
        for (const { came, afterMs, again } of run) {
          now += afterMs
          const { validMs, ...rest } = came
          sent.push(post({ ...rest, expiresAt: rest.signedAt + validMs }))
          // Half of the time an older post is played once more.
          const next = again % 2 === 0 ? sent.at(-1) : sent[again % sent.length]
          assert.ok(next)
          const after = hear(seen, next, now)
          if (after !== seen) {
            assert.ok(after)
            assert.ok(seen === undefined || after.last.signedAt > seen.last.signedAt)
            assert.ok(after.last.expiresAt > now)
            assert.ok(after.last.signedAt <= now + LIMITS.skewMs)
            assert.ok(after.last.expiresAt - after.last.signedAt <= LIMITS.presenceTtlMs)
            assert.ok(lapsesAt(after) <= Math.min(after.last.expiresAt, now + 90 * SECOND))
          }
          seen = after
        }
      }),
    )
  })

  test('D3 nothing signed before an offline post brings the instance back', () => {
    fc.assert(
      fc.property(anyPost, fc.nat(300 * SECOND), ({ signedAt, validMs, availability }, laterMs) => {
        const gone = hear(undefined, post({ availability: 'offline' }), NOW)
        const older = post({ availability, signedAt, expiresAt: signedAt + validMs })
        const at = NOW + laterMs
        const after = hear(gone, older, at)
        assert.ok(after)
        if (signedAt <= NOW) assert.equal(livenessOf(after, at), 'offline')
      }),
    )
  })

  test('D5 what is forgotten cannot be replayed', () => {
    fc.assert(
      fc.property(
        anyPost,
        fc.nat(LIMITS.skewMs),
        fc.nat(),
        ({ signedAt, validMs }, aheadMs, mod) => {
          // The last post may be signed ahead of the directory's clock, by as much as skew allows.
          const last = sighting({ signedAt: NOW + aheadMs, availability: 'offline' })
          const fallen: Sighting = { ...last, steadiness: { is: 'down', fellAt: NOW } }
          const until = forgetsAt(fallen)
          assert.ok(until !== undefined)
          const older = post({ signedAt, expiresAt: signedAt + validMs })
          if (signedAt > last.last.signedAt) return
          assert.ok(!decidePresence(undefined, older, until + (mod % 1_000)).ok)
        },
      ),
    )
  })

  test('D5 even if the fall itself is long past', () => {
    const signedAt = NOW + LIMITS.flapMemoryMs
    const last = sighting({ signedAt, availability: 'offline' }, signedAt)
    const fallen: Sighting = { ...last, steadiness: { is: 'down', fellAt: NOW } }
    assert.equal(forgetsAt(fallen), signedAt + LIMITS.presenceTtlMs)
  })

  test('who has not fallen is not forgotten', () => {
    assert.equal(forgetsAt(sighting()), undefined)
  })
})
