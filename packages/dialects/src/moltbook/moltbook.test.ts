/** What the vectors cannot show: round trips, the projection, the words, and every refusal. */
import assert from 'node:assert/strict'
import {
  CONDITIONS,
  type Condition,
  type ConditionName,
  type Standing,
  type Workload,
} from '@chimera/domain/agent/condition'
import { refuse } from '@chimera/domain/decision'
import type {
  AgentId,
  CorrelationId,
  InstanceId,
  OwnerId,
  ReservationId,
  TaskId,
} from '@chimera/domain/ids'
import { LIMITS } from '@chimera/domain/limits'
import type { Candidate } from '@chimera/domain/matching/candidate'
import { rankForPlanner } from '@chimera/domain/matching/planner-rank'
import { type Announcement, decidePresence } from '@chimera/domain/presence/presence'
import { REFUSALS, type Refusal } from '@chimera/domain/refusals'
import { decideReserve } from '@chimera/domain/work/capacity'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { checker } from '../check.ts'
import * as moltbook from './index.ts'
import { ErrorAnswer } from './schema.ts'

const NOW = Date.UTC(2026, 1, 6, 12)
const SIGNATURE = `${'A'.repeat(85)}A==`
const AGENT = 'a3b8d1b6-0b3b-4b1a-9c1a-1a2b3c4d5e6f' as AgentId
const INSTANCE = '550e8400-e29b-41d4-a716-446655440000' as InstanceId
const TASK = 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6' as TaskId
const TRACE = 'trace-1' as CorrelationId

const uuid = fc.uuid()
const instant = fc.integer({ min: 0, max: 4_000_000_000_000 })
const trace = fc.string({ minLength: 1, maxLength: 256, unit: 'grapheme-ascii' })
const names = fc.array(fc.stringMatching(/^[a-z][a-z_]{0,20}$/), { maxLength: 5 })
const share = fc.double({ min: 0, max: 1, noNaN: true }).map((each) => each + 0)
const load = fc.record({ cpu: share, mem: share })
const state = fc.constantFrom(...moltbook.STATES)
const signature = fc
  .uint8Array({ minLength: 64, maxLength: 64 })
  .map((bytes) => Buffer.from(bytes).toString('base64'))
const key = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .map((bytes) => Buffer.from(bytes).toString('base64url'))
const slots = fc
  .tuple(fc.nat(LIMITS.slotsPerInstance), fc.nat(LIMITS.slotsPerInstance))
  .map(([one, two]) => ({ slotsTotal: Math.max(one, two), slotsFree: Math.min(one, two) }))
const callback = fc.constantFrom('https://agent.example.org/reserve', 'http://127.0.0.1:4600/r')
const maybe = <Value>(each: fc.Arbitrary<Value>) => fc.option(each, { nil: undefined })

/** As it looks after a trip over the wire: absent members are absent, objects are plain. */
const plain = <Value>(value: unknown): Value => JSON.parse(JSON.stringify(value))

const announcement = fc
  .record({
    agent: uuid,
    instance: uuid,
    availability: state,
    capabilities: names,
    slots,
    load,
    signedAt: instant,
    expiresAt: instant,
    correlation: trace,
  })
  .map(({ slots: room, ...rest }) => plain<Announcement>({ ...rest, ...room }))

type RoundTrip = {
  readonly of: string
  readonly sent: fc.Arbitrary<unknown>
  readonly trip: (sent: never) => unknown
}

const handshake = { task: uuid, instance: uuid, correlation: trace, signature }
const offered = {
  ...handshake,
  type: fc.constant('reserve_slots'),
  planner: uuid,
  slots: fc.integer({ min: 1, max: LIMITS.slotsPerInstance }),
  deadline: instant,
  maxCostCents: fc.integer({ min: 0, max: LIMITS.amountCents }),
  signedAt: instant,
  expiresAt: instant,
}
const found = fc.record({
  announcement,
  seenAt: instant,
  callback: maybe(callback),
  key: maybe(key),
})

const trips: readonly RoundTrip[] = [
  {
    of: 'AV-1 presence',
    sent: fc.record({ type: fc.constant('announce_presence'), announcement, signature }),
    trip: (sent: moltbook.PresencePosted) => {
      const { signature: proof } = sent
      const message = { ...moltbook.encodePresence(sent.announcement), signature: proof }
      return moltbook.readPresence(message)
    },
  },
  {
    of: 'AV-2 declarations',
    sent: fc.record({
      type: fc.constant('declare_capabilities'),
      agent: uuid,
      instance: uuid,
      availability: state,
      capabilities: names,
      callback: maybe(callback),
      claimedKey: key,
      correlation: trace,
      signedAt: instant,
      expiresAt: instant,
      signature,
    }),
    trip: (sent: moltbook.CapabilitiesDeclared) =>
      moltbook.readCapability({ ...moltbook.encodeCapability(sent), signature: sent.signature }),
  },
  {
    of: 'AV-8 offers',
    sent: fc.record(offered),
    trip: (sent: moltbook.ReserveOffered) =>
      moltbook.readReserveOffer({
        ...moltbook.encodeReserveOffer(sent),
        signature: sent.signature,
      }),
  },
  {
    of: 'AV-8 accepting acks',
    sent: fc.record({
      ...handshake,
      type: fc.constant('reserve_answered'),
      accepted: fc.constant(true),
      reservation: uuid,
      lapsesAt: instant,
      signedAt: instant,
    }),
    trip: (sent: moltbook.ReserveAnswered & { reservation: ReservationId; lapsesAt: number }) => {
      const reservation = { id: sent.reservation, lapsesAt: sent.lapsesAt }
      const ack = moltbook.encodeReserveAck(sent, { ok: true, reservation }, sent.signedAt ?? 0)
      return moltbook.readReserveAck({ ...ack, signature: sent.signature })
    },
  },
  {
    of: 'OC-15 release notices',
    sent: fc.record({
      ...handshake,
      type: fc.constant('release_reservation'),
      reservation: uuid,
      planner: uuid,
      by: fc.constantFrom('planner', 'instance'),
      signedAt: instant,
    }),
    trip: (sent: moltbook.ReservationReleased) =>
      moltbook.readRelease({ ...moltbook.encodeRelease(sent), signature: sent.signature }),
  },
  {
    of: 'AV-6 directory queries',
    sent: fc.record({
      type: fc.constant('find_instances'),
      capabilities: names,
      availability: maybe(state),
      minSlotsFree: maybe(fc.nat(LIMITS.slotsPerInstance)),
      agent: maybe(uuid),
      limit: fc.integer({ min: 1, max: LIMITS.hitsPerPage }),
      offset: fc.nat(100_000),
    }),
    trip: (sent: moltbook.InstancesSought) =>
      moltbook.readDirectoryQuery(moltbook.encodeDirectoryQuery(sent)),
  },
  {
    of: 'AV-6 directory answers',
    sent: fc.record({
      instances: fc.array(
        found.map(({ announcement: posted, seenAt, callback: address, key: publicKey }) => {
          const { signedAt: _, correlation: __, ...rest } = posted
          return {
            ...rest,
            seenAt,
            liveness: 'online',
            verdict: 'verified',
            callback: address,
            publicKey,
            why: ['3 of 8 slots free'],
          }
        }),
        { maxLength: 3 },
      ),
      total: fc.nat(1_000),
    }),
    trip: (sent: moltbook.InstancesFound) => moltbook.readDirectory(moltbook.encodeDirectory(sent)),
  },
  {
    of: 'AV-10 event queries',
    sent: fc.record({
      type: fc.constant('read_presence_events'),
      agent: maybe(uuid),
      instance: maybe(uuid),
      availability: maybe(state),
      since: maybe(instant),
      until: maybe(instant),
      after: maybe(uuid),
      limit: fc.integer({ min: 1, max: moltbook.EVENTS_PER_PAGE }),
    }),
    trip: (sent: moltbook.EventsSought) =>
      moltbook.readEventsQuery(moltbook.encodeEventsQuery(sent)),
  },
  {
    of: 'AV-10 events',
    sent: fc.record({
      events: fc.array(
        fc.record({
          id: uuid,
          announcement,
          receivedAt: instant,
          verdict: fc.constantFrom(...Object.values(moltbook.VERDICTS)),
          signature,
          raw: fc.constant({ state: 'available', hint: 'a field that nobody knows' }),
        }),
        { maxLength: 3 },
      ),
      nextAfter: maybe(uuid),
    }),
    trip: (sent: moltbook.EventsFound) => moltbook.readEvents(moltbook.encodeEvents(sent)),
  },
]

describe('what is encoded is decoded to the same', () => {
  for (const { of, sent, trip } of trips) {
    test(of, () => {
      fc.assert(
        fc.property(sent.map(plain), (each) => {
          assert.deepEqual(plain(trip(each as never)), { ok: true, value: each })
        }),
      )
    })
  }
})

const fault = { code: 'GONE', message: 'away', lasting: 'permanent' } as const
const conditionOf = (name: ConditionName): Condition =>
  name === 'error' ? { name, since: 0, fault } : { name, since: 0 }
const none: Workload = { running: 0, awaiting: 0, slotsTotal: 4, slotsFree: 4 }
const some: Workload = { running: 1, awaiting: 0, slotsTotal: 4, slotsFree: 3 }
const full: Workload = { running: 4, awaiting: 0, slotsTotal: 4, slotsFree: 0 }
const asks: Workload = { running: 0, awaiting: 1, slotsTotal: 4, slotsFree: 4 }

describe('X-2 the presence column', () => {
  // biome-ignore format: a table is read by its columns
  const cells: [name: ConditionName, doing: string, workload: Workload, state: string][] = [
    ['idle',         'nothing',          none, 'available'],
    ['working',      'slots free',       some, 'available'],
    ['working',      'no slot free',     full, 'busy'],
    ['human_review', 'slots free',       asks, 'available'],
    ['human_review', 'no slot free',     { ...full, awaiting: 1 }, 'busy'],
    ['paused',       'work in flight',   some, 'draining'],
    ['paused',       'a person asked',   asks, 'draining'],
    ['paused',       'nothing',          none, 'offline'],
    ['draining',     'work in flight',   full, 'draining'],
    ['draining',     'a person asked',   asks, 'draining'],
    ['draining',     'nothing',          none, 'offline'],
    ['maintenance',  'work in flight',   some, 'draining'],
    ['maintenance',  'nothing',          none, 'offline'],
    ['error',        'work in flight',   some, 'draining'],
    ['error',        'nothing',          none, 'offline'],
    ['stopped',      'nothing',          none, 'offline'],
    ['stopped',      'work left behind', some, 'offline'],
  ]
  for (const [name, doing, workload, expected] of cells) {
    test(`${name}, ${doing} → ${expected}`, () => {
      assert.equal(moltbook.encodeStanding({ condition: conditionOf(name), workload }), expected)
    })
  }
  test('every condition has its cells', () => {
    assert.deepEqual(new Set(cells.map(([name]) => name)), new Set(CONDITIONS))
  })
})

describe('what an instance says of itself', () => {
  const announcing = (standing: Standing, cpu = 0.1) => ({
    agent: AGENT,
    instance: INSTANCE,
    standing,
    capabilities: ['trend_analysis'],
    load: { cpu, mem: 0.5 },
    correlation: TRACE,
  })
  // biome-ignore format: a table is read by its columns
  const expiries: [name: ConditionName, workload: Workload, afterMs: number][] = [
    ['idle', none, 30_000], ['working', full, 30_000], ['draining', some, 90_000],
  ]
  for (const [name, workload, afterMs] of expiries) {
    test(`AV-1 a post of ${name} ends ${afterMs} ms after it was signed`, () => {
      const post = moltbook.announce(announcing({ condition: conditionOf(name), workload }), NOW)
      assert.equal(post.expiresAt - post.signedAt, afterMs)
      assert.ok(decidePresence(undefined, post, NOW).ok)
    })
  }
  test('AV-5 who drains has no free slot to give', () => {
    const leaving = { condition: conditionOf('draining'), workload: some }
    assert.equal(moltbook.announce(announcing(leaving), NOW).slotsFree, 0)
  })
  test('a load outside 0–1 is brought back, so that the post is valid', () => {
    const rows: [cpu: number, told: number][] = [
      [3.7, 1],
      [-0.1, 0],
      [Number.NaN, 1],
      [0.25, 0.25],
    ]
    for (const [cpu, told] of rows) {
      const still = { condition: conditionOf('idle'), workload: none }
      const post = moltbook.encodePresence(moltbook.announce(announcing(still, cpu), NOW))
      assert.equal(post.load.cpu, told)
      assert.ok(moltbook.readPresence({ ...post, signature: SIGNATURE }).ok)
    }
  })
  test('AV-5 draining is repeated slowly, offline once', () => {
    assert.deepEqual(moltbook.RHYTHMS, {
      available: 'steady',
      busy: 'steady',
      draining: 'slow',
      offline: 'silent',
    })
  })
})

describe('AV-8 an offer', () => {
  const offer = {
    planner: AGENT,
    task: TASK,
    instance: INSTANCE,
    slots: 2,
    deadline: NOW + 60_000,
    maxCostCents: 0,
    correlation: TRACE,
    signedAt: NOW,
    expiresAt: NOW + 30_000,
    type: 'reserve_slots',
  } as const
  const capacity = { instance: INSTANCE, slots: 2, draining: false, reservations: [], running: [] }
  const id = '0b1f2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d' as ReservationId

  test('goes from the wire to the rule and back as an ack', () => {
    const read = moltbook.readReserveOffer({
      ...moltbook.encodeReserveOffer(offer),
      signature: SIGNATURE,
    })
    assert.ok(read.ok)
    const decision = decideReserve(capacity, { ...read.value, id }, NOW)
    assert.ok(decision.ok)
    const [fact] = decision.facts
    assert.ok(fact?.type === 'slots_reserved')
    const ack = moltbook.encodeReserveAck(read.value, { ok: true, ...fact }, NOW)
    const answer = moltbook.readReserveAck({ ...ack, signature: SIGNATURE })
    assert.ok(answer.ok && answer.value.accepted)
    assert.equal(answer.value.reservation, id)
    assert.equal(answer.value.lapsesAt, NOW + LIMITS.reservationMs)
  })

  for (const refusal of Object.keys(REFUSALS) as Refusal[]) {
    test(`${refusal} is a reject with a reason, and says when to come again`, () => {
      const refused = refuse(refusal, { retryAt: NOW + 1_001 })
      const ack = moltbook.encodeReserveAck(offer, refused, NOW)
      const read = moltbook.readReserveAck(plain({ ...ack, signature: SIGNATURE }))
      assert.ok(read.ok && !read.value.accepted)
      assert.equal(moltbook.rejectReason(read.value.refusal), moltbook.rejectReason(refusal))
      assert.equal(read.value.retryAfterMs, 2_000)
    })
  }
  test('the refusals of a reservation have the reasons that the Decision names', () => {
    // biome-ignore format: a table is read by its columns
    const rows: [refusal: Refusal, reason: string][] = [
      ['slots_exhausted',   'no_slot'],         ['draining',          'draining'],
      ['planner_unknown',   'unknown_planner'], ['signature_invalid', 'bad_signature'],
      ['funds_short',       'no_credit'],       ['hold_missing',      'no_credit'],
      ['message_expired',   'expired'],         ['deadline_too_soon', 'expired'],
      ['task_conflict',     'conflict'],        ['not_accepting',     'draining'],
    ]
    for (const [refusal, reason] of rows) assert.equal(moltbook.rejectReason(refusal), reason)
  })
  test('a reason is read as a refusal that is told by the same reason', () => {
    for (const reason of moltbook.REJECT_REASONS) {
      assert.equal(moltbook.rejectReason(moltbook.REASON_MEANS[reason]), reason)
    }
  })
})

describe('X-6 every other refusal', () => {
  const check = checker(ErrorAnswer)
  for (const refusal of Object.keys(REFUSALS) as Refusal[]) {
    test(refusal, () => {
      const { status, body } = moltbook.encodeRefusal(refuse(refusal, { retryAt: NOW + 1 }), NOW)
      assert.ok(check(plain(body)).ok)
      assert.ok(status >= 400 && status < 600)
      assert.match(body.code, /^[a-z_]+$/)
    })
  }
})

test('verdicts and their words are one to one', () => {
  for (const [verdict, word] of Object.entries(moltbook.VERIFICATION_WORDS)) {
    assert.equal(moltbook.VERDICTS[word], verdict)
  }
})

test('the topics are those of the document', () => {
  assert.equal(moltbook.PRESENCE_TOPIC, 'moltbook.presence.openswarm')
  assert.equal(moltbook.CAPABILITY_TOPIC, 'moltbook.capability.chimera')
})

test('P-6 a place says what was weighed and what put it behind', () => {
  const candidate = (name: string, slotsFree: number): Candidate => ({
    agent: AGENT,
    instance: name as InstanceId,
    owner: 'acme' as OwnerId,
    offers: [{ skill: 'sum', costCents: 0 }],
    scoreMicro: 50_000_000,
    successes: 0,
    failures: 0,
    settledCount: 0,
    slotsFree,
    slotsTotal: 8,
    load: { cpu: 0.25, mem: 0.5 },
    seenAt: NOW - 4_000,
    online: true,
    accepting: true,
  })
  const hits = rankForPlanner(
    { required: ['sum'], slots: 1 },
    [candidate('i1', 1), candidate('i2', 3)],
    NOW,
  )
  const why = hits.map((hit) => moltbook.explainPlace(hit, NOW))
  assert.deepEqual(why[0], [
    'match 100 %, which weighs 500 in 1000',
    'room 75 %, which weighs 300 in 1000',
    'idle 50 %, which weighs 200 in 1000',
    '3 of 8 slots free',
    'heard 4 s ago',
  ])
  assert.match(why[1]?.at(-1) ?? '', /^behind i2 by points: \d+ against \d+$/)
})
