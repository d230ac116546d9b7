/** Orders, one row per rule; then the invariants over whatever arrives, in whatever order. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import type { ConditionName } from './agent/condition.ts'
import {
  type Addressee,
  applyObeyed,
  type ControlAction,
  type ControlOrder,
  type ControlWanted,
  conditionCommands,
  decideIssue,
  decideObey,
  type IssueState,
  mayPublishUnder,
  nextExpiryAt,
  type Obedience,
  openObedience,
  ordersFor,
  ordersInForce,
  rolloutCommandOf,
  type Steering,
  steeringOf,
} from './control.ts'
import type { AgentId, ControlId, Digest, KeyId, OwnerId } from './ids.ts'
import { LIMITS } from './limits.ts'
import { applyRollout, decideRollout, mayPublish, openRollout } from './voice/rollout.ts'

const NOW = 1_000_000_000
const HUB = 'hub-key' as KeyId
const me = { agent: 'a1' as AgentId, owner: 'ann' as OwnerId }
const toMe: Addressee = { kind: 'agent', agent: me.agent }
const toMine: Addressee = { kind: 'owner', owner: me.owner }
const toAll: Addressee = { kind: 'all' }
const toOther: Addressee = { kind: 'agent', agent: 'a2' as AgentId }

const PAUSE: ControlAction = { type: 'pause' }
const RESUME: ControlAction = { type: 'resume' }
const DRAIN: ControlAction = { type: 'drain' }
const ON: ControlAction = { type: 'publishing', on: true }
const OFF: ControlAction = { type: 'publishing', on: false }
const share = (each: number): ControlAction => ({ type: 'canary', share: each })

function order(sequence: number, more: Partial<ControlOrder> = {}): ControlOrder {
  return {
    id: `o${sequence}` as ControlId,
    to: toMe,
    action: PAUSE,
    issuedAt: NOW,
    expiresAt: NOW + 60_000,
    sequence,
    key: HUB,
    ...more,
  }
}

describe('giving an order', () => {
  const fresh: IssueState = { known: undefined, last: 7, addressed: 1 }
  const nobody: IssueState = { ...fresh, addressed: 0 }
  const wanted: ControlWanted = { id: 'o1' as ControlId, to: toMine, action: OFF, reason: 'spam' }
  const given = order(9, { id: wanted.id, to: toMine, action: OFF, reason: 'spam' })
  const again: IssueState = { known: given, last: 9, addressed: 0 }
  const issue = (state: IssueState, asked: ControlWanted, now = NOW) =>
    decideIssue(state, { wanted: asked, key: HUB, by: 'op' }, now)

  // biome-ignore format: a table is read by its columns
  const rows: [rule: string, state: IssueState, asked: ControlWanted, answer: string][] = [
    ['a new one is given',                     fresh, wanted,                                        'control_issued'],
    ['its end may be named',                   fresh, { ...wanted, expiresAt: NOW + 1 },              'control_issued'],
    ['the longest that is allowed',            fresh, { ...wanted, expiresAt: NOW + LIMITS.controlMs }, 'control_issued'],
    ['but no longer',                          fresh, { ...wanted, expiresAt: NOW + LIMITS.controlMs + 1 }, 'expiry_too_far'],
    ['nor one that is over already',           fresh, { ...wanted, expiresAt: NOW },                  'deadline_too_soon'],
    ['to nobody at all is a slip',             nobody, wanted,                                       'agent_unknown'],
    ['all may be none yet',                    nobody, { ...wanted, to: toAll },                      'control_issued'],
    ['the same again is nothing new',          again, wanted,                                        'nothing new'],
    ['also with its end',                      again, { ...wanted, expiresAt: given.expiresAt },      'nothing new'],
    ['the same id with another end',           again, { ...wanted, expiresAt: given.expiresAt + 1 },  'key_conflict'],
    ['the same id to somebody else',           again, { ...wanted, to: toAll },                       'key_conflict'],
    ['the same id for the opposite',           again, { ...wanted, action: ON },                      'key_conflict'],
    ['the same id for something else',         again, { ...wanted, action: PAUSE },                   'key_conflict'],
    ['the same id with another reason',        again, { ...wanted, reason: 'ham' },                   'key_conflict'],
  ]
  for (const [rule, state, asked, answer] of rows) {
    test(rule, () => {
      const decision = issue(state, asked)
      const said = decision.ok ? (decision.facts[0]?.type ?? 'nothing new') : decision.refusal
      assert.equal(said, answer)
    })
  }

  test('the usual time, the key, and who gave it', () => {
    const decision = issue(fresh, wanted)
    assert.ok(decision.ok)
    const { key, expiresAt, issuedAt } = decision.facts[0]?.order ?? order(0)
    assert.deepEqual([key, issuedAt, expiresAt], [HUB, NOW, NOW + LIMITS.controlDefaultMs])
    assert.equal(decision.facts[0]?.by, 'op')
  })

  test('O2 numbers rise, also with a clock that goes back or a database that is new', () => {
    const numbered = (last: number, now: number) => {
      const decision = issue({ ...fresh, last }, { ...wanted, expiresAt: now + 1 }, now)
      return decision.ok ? decision.facts[0]?.order.sequence : decision.refusal
    }
    assert.equal(numbered(0, NOW), NOW)
    assert.equal(numbered(NOW, NOW), NOW + 1)
    assert.equal(numbered(NOW + 5, NOW - 100), NOW + 6)
    assert.equal(numbered(NOW, NOW + 500), NOW + 500)
  })
})

describe('obeying an order', () => {
  const obeyed = (...orders: readonly ControlOrder[]): Obedience =>
    orders.reduce<Obedience>(
      (state, each) => applyObeyed(state, { type: 'order_obeyed', at: NOW, order: each }),
      openObedience(me),
    )
  const nothing = obeyed()
  const paused = obeyed(order(5))
  const forged = 'another-key' as KeyId

  // biome-ignore format: a table is read by its columns
  const rows: [rule: string, state: Obedience, order: ControlOrder, answer: string, signedBy?: KeyId | 'nobody'][] = [
    ['to this agent',                         nothing, order(1),                                        'order_obeyed'],
    ['to the agents of its owner',            nothing, order(1, { to: toMine }),                        'order_obeyed'],
    ['to all',                                nothing, order(1, { to: toAll }),                         'order_obeyed'],
    ['not to another agent',                  nothing, order(1, { to: toOther }),                       'order_misaddressed'],
    ['not to those of another owner',         nothing, order(1, { to: { kind: 'owner', owner: 'bob' as OwnerId } }), 'order_misaddressed'],
    ['not by another key',                    nothing, order(1, { key: forged }),                       'signature_invalid', forged],
    ['not by another key that claims to be',  nothing, order(1),                                        'signature_invalid', forged],
    ['not of the hub under another name',     nothing, order(1, { key: forged }),                       'signature_invalid'],
    ['not unsigned',                          nothing, order(1),                                        'signature_invalid', 'nobody'],
    ['not when it has expired',               nothing, order(1, { expiresAt: NOW }),                    'message_expired'],
    ['in its last moment',                    nothing, order(1, { expiresAt: NOW + 1 }),                'order_obeyed'],
    ['not from a time to come',               nothing, order(1, { issuedAt: NOW + LIMITS.skewMs + 1 }), 'message_early'],
    ['by a clock that is a little ahead',     nothing, order(1, { issuedAt: NOW + LIMITS.skewMs }),     'order_obeyed'],
    ['not for longer than any may hold',      nothing, order(1, { expiresAt: NOW + LIMITS.controlMs + 1 }), 'expiry_too_far'],
    ['a newer one replaces',                  paused,  order(6, { action: RESUME }),                    'order_obeyed'],
    ['whoever else it is for',                paused,  order(6, { action: RESUME, to: toAll }),         'order_obeyed'],
    ['an older one that comes late does not', paused,  order(4, { action: RESUME }),                    'message_outdated'],
    ['nor another under the same number',     paused,  order(5, { id: 'x' as ControlId }),              'message_outdated'],
    ['the same again is nothing new',         paused,  order(5),                                        'nothing new'],
    ['another lever has its own order',       paused,  order(4, { action: OFF }),                       'order_obeyed'],
    ['the strongest refusal is the one given', paused, order(4, { key: forged, to: toOther, expiresAt: NOW }), 'signature_invalid'],
  ]
  for (const [rule, state, each, answer, signedBy = HUB] of rows) {
    test(rule, () => {
      const received = { order: each, signedBy: signedBy === 'nobody' ? undefined : signedBy }
      const decision = decideObey(state, received, { hubKey: HUB, now: NOW })
      const said = decision.ok ? (decision.facts[0]?.type ?? 'nothing new') : decision.refusal
      assert.equal(said, answer)
    })
  }

  test('O2 what was replaced does not come back when its successor has expired', () => {
    const state = obeyed(order(5, { action: RESUME, expiresAt: NOW + 10 }))
    const late = { order: order(4), signedBy: HUB }
    const decision = decideObey(state, late, { hubKey: HUB, now: NOW + 20 })
    assert.equal(decision.ok || decision.refusal, 'message_outdated')
    assert.deepEqual(steeringOf(state, NOW + 20), {})
  })

  test('O3 steering is what holds now, and says when that changes by itself', () => {
    const state = obeyed(
      order(1, { expiresAt: NOW + 30 }),
      order(2, { action: OFF, expiresAt: NOW + 10 }),
      order(3, { action: share(0.25), expiresAt: NOW + 20 }),
    )
    const all: Steering = { running: 'pause', publishing: false, canaryShare: 0.25 }
    assert.deepEqual([steeringOf(state, NOW), nextExpiryAt(state, NOW)], [all, NOW + 10])
    assert.deepEqual(steeringOf(state, NOW + 10), { running: 'pause', canaryShare: 0.25 })
    assert.deepEqual([steeringOf(state, NOW + 30), nextExpiryAt(state, NOW + 30)], [{}, undefined])
  })

  const action = fc.constantFrom(PAUSE, RESUME, DRAIN, ON, OFF, share(0), share(0.5), share(1))
  const to = fc.constantFrom(toMe, toMine, toAll, toOther)
  const any = fc
    .uniqueArray(fc.integer({ min: 1, max: 1_000 }), { minLength: 1, maxLength: 20 })
    .chain((numbers) =>
      fc.tuple(
        ...numbers.map((sequence) =>
          fc
            .record({ action, to, endsIn: fc.integer({ min: -5, max: 50 }), signed: fc.boolean() })
            .map(({ endsIn, signed, ...more }) => ({
              order: order(sequence, { ...more, expiresAt: NOW + endsIn }),
              signedBy: signed ? HUB : forged,
            })),
        ),
      ),
    )
  const run = (received: readonly { order: ControlOrder; signedBy: KeyId }[]) =>
    received.reduce((state, each) => {
      const decision = decideObey(state, each, { hubKey: HUB, now: NOW })
      return decision.ok ? decision.facts.reduce(applyObeyed, state) : state
    }, openObedience(me))

  test('O1, O2 in any order, with any replays, an agent ends where the hub says it stands', () => {
    const arriving = any.chain((orders) =>
      fc.record({
        orders: fc.constant(orders),
        first: fc.shuffledSubarray(orders, { minLength: orders.length }),
        replayed: fc.array(fc.constantFrom(...orders), { maxLength: 30 }),
      }),
    )
    fc.assert(
      fc.property(arriving, ({ orders, first, replayed }) => {
        const state = run([...first, ...replayed])
        // The order that would be obeyed if it were the only one, and is the latest on its lever.
        const good = orders.filter((each) => each.signedBy === HUB && each.order.expiresAt > NOW)
        const standing = ordersFor(
          me,
          good.map((each) => each.order),
          NOW,
        )
        const held = Object.values(state.held).sort((one, two) => one.sequence - two.sequence)
        assert.deepEqual(held, standing)
      }),
    )
  })

  test('O1 what somebody else signed leaves no trace', () => {
    fc.assert(
      fc.property(any, (orders) => {
        const ours = orders.filter((each) => each.signedBy === HUB)
        assert.deepEqual(run(orders), run(ours))
      }),
    )
  })
})

describe('what holds', () => {
  const ownerOf = (agent: AgentId) => (agent === me.agent ? me.owner : undefined)
  const names = (orders: readonly ControlOrder[]) => orders.map(({ id }) => id).join(' ')
  const expired = { expiresAt: NOW }

  // biome-ignore format: a table is read by its columns
  const rows: [rule: string, orders: readonly ControlOrder[], forMe: string, forAnybody: string][] = [
    ['one order',                             [order(1)],                                            'o1',    'o1'],
    ['one for somebody else',                 [order(1, { to: toOther })],                           '',      'o1'],
    ['the latest of each lever',              [order(2), order(1), order(3, { action: OFF })],       'o2 o3', 'o2 o3'],
    ['nothing that has expired',              [order(1, expired)],                                   '',      ''],
    ['nor what that replaced',                [order(1), order(2, expired)],                         '',      ''],
    ['the later one to all',                  [order(1), order(2, { to: toAll })],                   'o2',    'o2'],
    ['the later one to its owner',            [order(1), order(2, { to: toMine })],                  'o2',    'o2'],
    ['the later one to an agent is its own',  [order(1, { to: toAll }), order(2)],                   'o2',    'o1 o2'],
    ['and so is one to an owner',             [order(1, { to: toAll }), order(2, { to: toMine })],   'o2',    'o1 o2'],
    ['all replace owners too',                [order(1, { to: toMine }), order(2, { to: toAll })],   'o2',    'o2'],
    ['not on another lever',                  [order(1), order(2, { to: toAll, action: OFF })],      'o1 o2', 'o1 o2'],
    ['other agents are not replaced by ours', [order(1, { to: toOther }), order(2, { to: toMine })], 'o2',    'o1 o2'],
  ]
  for (const [rule, orders, forMe, forAnybody] of rows) {
    test(rule, () => {
      assert.equal(names(ordersFor(me, orders, NOW)), forMe)
      assert.equal(names(ordersInForce(orders, ownerOf, NOW)), forAnybody)
    })
  }
})

describe('what an order does', () => {
  // biome-ignore format: a table is read by its columns
  const rows: [rule: string, before: Steering, after: Steering, condition: ConditionName, told: string][] = [
    ['pauses',                                 {},                   { running: 'pause' },  'working',  'pause'],
    ['drains',                                 {},                   { running: 'drain' },  'paused',   'drain'],
    ['resumes, whoever paused it',             {},                   { running: 'resume' }, 'paused',   'resume'],
    ['pauses what drains, by a detour',        { running: 'drain' }, { running: 'pause' },  'draining', 'resume pause'],
    ['says nothing twice',                     { running: 'pause' }, { running: 'pause' },  'idle',     ''],
    ['a pause that expires ends',              { running: 'pause' }, {},                    'paused',   'resume'],
    ['a drain that expires ends',              { running: 'drain' }, {},                    'draining', 'resume'],
    ['not what somebody did in the meantime',  { running: 'pause' }, {},                    'error',    ''],
    ['a resume that expires ends nothing',     { running: 'resume' }, {},                   'draining', ''],
  ]
  for (const [rule, before, after, condition, told] of rows) {
    test(rule, () => {
      const commands = conditionCommands(before, after, condition)
      assert.equal(commands.map(({ type }) => type).join(' '), told)
    })
  }

  const digest = (eighth: number) => `${(eighth * 2).toString(16)}0000000`.padEnd(64, '0') as Digest
  const move = (rollout = openRollout(NOW), command = rolloutCommandOf(ON), now = NOW) => {
    const decision = decideRollout(rollout, command ?? 'switch_on', now)
    return decision.ok ? decision.facts.reduce(applyRollout, rollout) : rollout
  }
  const canary = move()
  const everybody = move(canary, rolloutCommandOf(share(1)), NOW + LIMITS.canaryMs)
  const may = (steering: Steering, rollout = canary) =>
    [0, 1, 2, 3, 4, 5, 6, 7]
      .filter((each) => mayPublishUnder(steering, rollout, { digest: digest(each) }))
      .join('')

  test('SF-11 the toggle and the canary share decide who publishes', () => {
    assert.deepEqual([canary.stage, everybody.stage], ['canary', 'everybody'])
    assert.equal(may({}), '0', 'the usual share')
    assert.equal(may({ canaryShare: 0.5 }), '0123')
    assert.equal(may({ canaryShare: 0 }), '')
    assert.equal(may({ publishing: false, canaryShare: 0.5 }), '')
    assert.equal(may({ publishing: true }, openRollout(NOW)), '', 'an order in words alone')
    assert.equal(may({}, everybody), '01234567')
    assert.equal(may({ canaryShare: 0.25 }, everybody), '01', 'a share narrows everybody')
    assert.equal(may({ publishing: false }, everybody), '')
  })

  test('SF-13 a share of one opens to everybody only after the canary has had its time', () => {
    assert.equal(may({ canaryShare: 1 }), '0')
    const early = move(canary, rolloutCommandOf(share(1)), NOW + LIMITS.canaryMs - 1)
    assert.equal(early.stage, 'canary')
    assert.equal(rolloutCommandOf(share(0.99)), undefined)
    assert.equal(rolloutCommandOf(PAUSE), undefined)
  })

  test('O3, SF-11 what was switched off stays off when the order expires', () => {
    const off = move(everybody, rolloutCommandOf(OFF), NOW + LIMITS.canaryMs)
    assert.equal(may({ publishing: false }, off), '')
    assert.equal(may({}, off), '')
    assert.equal(may({}, move(off, rolloutCommandOf(ON), NOW + LIMITS.canaryMs + 1)), '01234567')
  })

  test('O4, SF-13 what trouble switched off, an order of before does not switch on', () => {
    const cause = 'schema' as const
    const off = applyRollout(everybody, { type: 'rollout_switched_off', cause, at: NOW })
    assert.equal(may({ publishing: true }, off), '')
    assert.equal(mayPublish(move(off), digest(0)), true, 'a new order begins with the canary')
    assert.equal(mayPublish(move(off), digest(7)), false)
  })

  test('SF-11 a larger share only adds agents', () => {
    const of = fc.double({ min: 0, max: 1, noNaN: true })
    const hex = fc.stringMatching(/^[0-9a-f]{64}$/)
    fc.assert(
      fc.property(of, of, hex, (one, other, text) => {
        const [less, more] = [Math.min(one, other), Math.max(one, other)]
        const name = { digest: text as Digest }
        const narrow = mayPublishUnder({ canaryShare: less }, everybody, name)
        assert.ok(!narrow || mayPublishUnder({ canaryShare: more }, everybody, name))
      }),
    )
  })
})
