/** Who hears what under which topic, and where a reader begins. One row, one rule. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type { Sealed } from './audit.ts'
import type { AgentId, CorrelationId, Digest, OwnerId, TaskId } from './ids.ts'
import {
  type Audience,
  aboutFact,
  aboutPost,
  comparePlaces,
  decideResume,
  decideTopic,
  type Kin,
  type LiveTopic,
} from './live.ts'

const ann = 'ann' as OwnerId
const bob = 'bob' as OwnerId
const eve = 'eve' as OwnerId
const worker = 'worker' as AgentId
const task = 'task' as TaskId

const sealed = (fact: object): Sealed<unknown> => ({
  seq: 7,
  prev: 'p' as Digest,
  hash: 'h' as Digest,
  fact,
  recordedAt: 5,
  correlation: 'trace' as CorrelationId,
})
/** As the store finds them beside a fact that names a hold. */
const kin: Kin = { payer: ann, payee: bob, funder: ann, agent: worker, agentOwner: bob, task }
const about = (fact: object, beside: Kin = kin) => aboutFact(sealed(fact), beside)

const paid = { type: 'hold_captured', hold: 'h', payment: { payer: ann, payee: bob, task } }
const failed = { type: 'hold_released', hold: 'h', because: 'failed' }
const withdrawn = { type: 'hold_released', hold: 'h', because: 'withdrawn' }
const slots = { type: 'slots_freed', work: 'w', agent: worker, instance: 'i' }
const joined = { type: 'agent_registered', id: worker, owner: bob }
const denied = { type: 'access_denied', by: 'stranger' }
const novel = { type: 'of_tomorrow' }

const EVERY: readonly LiveTopic[] = ['presence', 'work', 'ledger', 'trust', 'audit']
const NARROW = EVERY.slice(0, 4)
const as = (
  owner: OwnerId | undefined,
  topics: readonly LiveTopic[] = NARROW,
  filter = {},
): Audience => ({
  topics,
  all: false,
  ...(owner !== undefined && { owner }),
  filter,
})
const operator = (topics: readonly LiveTopic[] = NARROW, filter = {}): Audience => ({
  topics,
  all: true,
  filter,
})

// biome-ignore format: a table is read by its columns
const rows: [rule: string, fact: object, audience: Audience, topic: LiveTopic | undefined][] = [
  ['a payment is told to its payer',                paid,      as(ann),                              'ledger'],
  ['and to its payee',                              paid,      as(bob),                              'ledger'],
  ['to others it is an outcome',                    paid,      as(eve),                              'trust'],
  ['to a party too, if it asks for no money',       paid,      as(ann, ['trust']),                   'trust'],
  ['others hear no money',                          paid,      as(eve, ['ledger']),                  undefined],
  ['who has no owner is a party to nothing',        paid,      as(undefined, ['ledger', 'work']),    undefined],
  ['a failure is an outcome',                       failed,    as(eve),                              'trust'],
  ['a withdrawal is none',                          withdrawn, as(eve),                              undefined],
  ['a withdrawal is told to its parties',           withdrawn, as(bob),                              'ledger'],
  ['slots are told to the owner of the agent',      slots,     as(bob),                              'work'],
  ['and to nobody else',                            slots,     as(eve),                              undefined],
  ['agents come and go for all to see',             joined,    as(eve),                              'presence'],
  ['denials are for operators who audit',           denied,    operator(EVERY),                      'audit'],
  ['and stand under no other topic',                denied,    operator(),                           undefined],
  ['what is not known here is audited',             novel,     operator(['audit']),                  'audit'],
  ['who audits hears each fact once, whole',        paid,      operator(EVERY),                      'audit'],
  ['nobody audits who may not',                     denied,    as(ann, EVERY),                       undefined],
  ['an operator hears the money of all',            paid,      operator(),                           'ledger'],
  ['a filter by payer is for the parties',          paid,      as(ann, NARROW, { owner: bob }),      'ledger'],
  ['and tells others nothing',                      paid,      as(eve, NARROW, { owner: ann }),      undefined],
  ['the owner of the agent is public',              paid,      as(eve, NARROW, { owner: bob }),      'trust'],
  ['a filter by task tells others nothing',         paid,      as(eve, NARROW, { task }),            undefined],
  ['nor one by correlation',                        paid,      as(eve, NARROW, { correlation: 'trace' as CorrelationId }), undefined],
  ['X-4 what settles work is found by its task too', paid,     as(ann, NARROW, { correlation: 'task' as CorrelationId }), 'ledger'],
  ['and not by any other id',                       paid,      as(ann, NARROW, { correlation: 'x' as CorrelationId }), undefined],
  ['nor by strangers',                              paid,      as(eve, NARROW, { correlation: 'task' as CorrelationId }), undefined],
  ['a filter by task',                              paid,      as(ann, NARROW, { task }),            'ledger'],
  ['by another task',                               paid,      as(ann, NARROW, { task: 'x' as TaskId }), undefined],
  ['by the agent that a hold names',                withdrawn, as(ann, NARROW, { agent: worker }),   'ledger'],
  ['by another agent',                              withdrawn, as(ann, NARROW, { agent: 'x' as AgentId }), undefined],
  ['a filter is for those who audit too',           paid,      operator(['audit'], { owner: eve }),  undefined],
]

describe('F2 F3 who hears what', () => {
  for (const [rule, fact, audience, topic] of rows) {
    test(rule, () => assert.equal(decideTopic(about(fact), true, audience), topic))
  }
  test('a post is presence, and no fact to audit', () => {
    const post = aboutPost({
      agent: worker,
      owner: bob,
      instance: 'i' as never,
      availability: 'available',
      slotsTotal: 1,
      slotsFree: 1,
      at: 3,
    })
    assert.equal(decideTopic(post, false, operator(EVERY)), 'presence')
    assert.equal(decideTopic(post, false, operator(['audit'])), undefined)
    assert.equal(decideTopic(post, false, as(eve, NARROW, { owner: bob })), 'presence')
    assert.equal(decideTopic(post, false, as(eve, NARROW, { task })), undefined)
  })
  test('a refund concerns those who were paid and paid, found beside it', () => {
    const refund = about({ type: 'credits_refunded', refund: { transfer: 't', of: 'p' } }, kin)
    assert.deepEqual([...refund.parties].sort(), [ann, bob])
  })
})

describe('P-7 where a reader begins', () => {
  const now = { seq: 10, tx: 100, event: '' }
  const from = (place: object | undefined, droppedTx = 50, topics: readonly LiveTopic[] = EVERY) =>
    decideResume({ text: 'asked', place: place as never }, { now, droppedTx }, topics)
  const whys = (...args: Parameters<typeof from>) => from(...args).gap?.why

  test('without an id from now', () => {
    assert.deepEqual(decideResume(undefined, { now, droppedTx: 50 }, EVERY), { from: now })
  })
  test('behind its place, if everything behind it is kept', () => {
    const place = { seq: 3, tx: 51, event: 'e' }
    assert.deepEqual(from(place), { from: place })
  })
  test('a place before what was dropped is a gap, for those who follow posts', () => {
    const place = { seq: 3, tx: 50, event: 'e' }
    const { from: begins, gap } = from(place)
    assert.deepEqual(begins, place)
    assert.deepEqual(gap?.to, { seq: 3, tx: 51, event: '' })
    assert.deepEqual(gap?.topics, ['presence'])
    assert.equal(whys(place, 50, ['audit', 'ledger']), undefined)
  })
  test('a place ahead of everything is a gap, and so is none', () => {
    assert.equal(whys({ seq: 11, tx: 60, event: '' }), 'unknown')
    assert.equal(whys({ seq: 3, tx: 101, event: '' }), 'unknown')
    assert.deepEqual(from({ seq: 3, tx: 101, event: '' }).from, { seq: 3, tx: 100, event: '' })
    assert.equal(whys(undefined), 'unknown')
    assert.deepEqual(from(undefined).from, now)
  })
  test('F4 places rise by fact, then by post', () => {
    const places = [
      { seq: 1, tx: 9, event: '' },
      { seq: 2, tx: 5, event: '' },
      { seq: 2, tx: 6, event: 'a' },
      { seq: 2, tx: 6, event: 'b' },
    ]
    assert.deepEqual([...places].reverse().sort(comparePlaces), places)
    assert.equal(comparePlaces({ seq: 1, tx: 1, event: 'a' }, { seq: 1, tx: 1, event: 'a' }), 0)
  })
})
