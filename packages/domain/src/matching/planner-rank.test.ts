/** What a planner weighs: match, room and load (AV-7). */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import type { AgentId, InstanceId, OwnerId } from '../ids.ts'
import type { Candidate } from './candidate.ts'
import { type Need, PLANNER_WEIGHTS, rankForPlanner } from './planner-rank.ts'

const NOW = 1_000_000
const need: Need = { required: ['write'], preferred: ['draw'], slots: 1 }

const instance = (name: string, change: Partial<Candidate> = {}): Candidate => ({
  agent: 'a1' as AgentId,
  instance: name as InstanceId,
  owner: 'ann' as OwnerId,
  offers: [{ skill: 'write', costCents: 10 }],
  scoreMicro: 50_000_000,
  successes: 0,
  failures: 0,
  settledCount: 0,
  slotsFree: 2,
  slotsTotal: 8,
  load: { cpu: 0.5, mem: 0.5 },
  seenAt: NOW,
  online: true,
  accepting: true,
  ...change,
})
const both = {
  offers: [
    { skill: 'write', costCents: 10 },
    { skill: 'draw', costCents: 10 },
  ],
}
const idle = { load: { cpu: 0, mem: 0 } }
const order = (all: readonly Candidate[], asked = need) =>
  rankForPlanner(asked, all, NOW).map((hit) => hit.candidate.instance)

// biome-ignore format: a table is read by its columns
const rows: [rule: string, first: Candidate, second: Candidate][] = [
  ['the better match comes first',           instance('b', both),                instance('a')],
  ['more free slots come first',             instance('b', { slotsFree: 3 }),    instance('a')],
  ['the lower load comes first',             instance('b', idle),                instance('a')],
  ['one resource that is full is full',      instance('b'),                      instance('a', { load: { cpu: 0, mem: 1 } })],
  ['a match outweighs room and idleness',    instance('b', { ...both, slotsFree: 1 }), instance('a', { ...idle, slotsFree: 3 })],
  ['alike in these, the higher score',       instance('b', { scoreMicro: 51_000_000 }), instance('a')],
  ['then the lower cost',                    instance('b', { offers: [{ skill: 'write', costCents: 9 }] }), instance('a')],
  ['then the name',                          instance('a'),                      instance('b')],
]

describe('AV-7 capability match, free slots and load are weighed', () => {
  for (const [rule, first, second] of rows) {
    test(rule, () => {
      const expected = [first.instance, second.instance]
      assert.deepEqual(order([first, second]), expected)
      assert.deepEqual(order([second, first]), expected)
    })
  }

  test('each hit shows what each part brought in', () => {
    const [hit, next] = rankForPlanner(need, [instance('b'), instance('a', both)], NOW)
    assert.deepEqual(hit?.parts, [
      { of: 'match', shareMicro: 1_000_000, weight: 500, points: 500_000_000 },
      { of: 'room', shareMicro: 666_667, weight: 300, points: 200_000_100 },
      { of: 'idle', shareMicro: 500_000, weight: 200, points: 100_000_000 },
    ])
    assert.equal(hit?.points, 800_000_100)
    assert.deepEqual(next?.behind, {
      above: 'a1',
      aboveInstance: 'a',
      by: 'points',
      own: 550_000_100,
      theirs: 800_000_100,
    })
  })

  test('the weights are published, and add up to a thousand', () => {
    const { match, room, idle } = PLANNER_WEIGHTS
    assert.equal(match + room + idle, 1_000)
    const heavy = { match: 0, room: 0, idle: 1_000 }
    const all = [instance('a', both), instance('b', { load: { cpu: 0, mem: 0 } })]
    assert.equal(rankForPlanner(need, all, NOW, heavy)[0]?.candidate.instance, 'b')
  })

  // biome-ignore format: a table is read by its columns
  const unfit: [rule: string, change: Partial<Candidate>][] = [
    ['who lacks a required skill',  { offers: [{ skill: 'draw', costCents: 1 }] }],
    ['who has too few slots free',  { slotsFree: 0 }],
    ['who is offline',              { online: false }],
    ['who is draining',             { accepting: false }],
  ]
  for (const [rule, change] of unfit) {
    test(`${rule} is not weighed`, () => assert.deepEqual(order([instance('a', change)]), []))
  }

  test('a planner may bound cost and score', () => {
    const all = [instance('a'), instance('b', { scoreMicro: 60_000_000 })]
    assert.deepEqual(order(all, { ...need, minScoreMicro: 55_000_000 }), ['b'])
    assert.deepEqual(order(all, { ...need, maxCostCents: 9 }), [])
  })

  test('over any instances the order is total and says what it says', () => {
    const few = (...of: number[]) => fc.constantFrom(...of)
    const anyInstance = fc.record({
      offers: fc.constantFrom(both.offers, both.offers.slice(0, 1), both.offers.slice(1)),
      scoreMicro: few(50_000_000, 51_000_000),
      slotsFree: few(0, 1, 2, 8),
      load: fc.record({ cpu: few(0, 0.3, Number.NaN), mem: few(0, 0.9) }),
      online: fc.boolean(),
    })
    const instances = fc
      .array(anyInstance, { maxLength: 40 })
      .map((all) => all.map((each, index) => instance(`i${index}`, each)))
    const shuffled = instances.chain((all) =>
      fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
    )
    fc.assert(
      fc.property(shuffled, ([all, mixed]) => {
        const hits = rankForPlanner(need, all, NOW)
        assert.deepEqual(rankForPlanner(need, mixed, NOW), hits)
        for (const [index, hit] of hits.entries()) {
          const { candidate, points, parts, behind } = hit
          assert.ok(candidate.online && candidate.slotsFree >= 1)
          assert.equal(hit.place, index + 1)
          assert.equal(
            points,
            parts.reduce((sum, each) => sum + each.weight * each.shareMicro, 0),
          )
          const above = hits[index - 1]
          assert.equal(behind?.aboveInstance, above?.candidate.instance)
          if (above === undefined || behind === undefined) continue
          assert.ok(points <= above.points)
          assert.equal(behind.by === 'points', points < above.points)
          if (behind.by === 'points' || behind.by === 'score') assert.ok(behind.own < behind.theirs)
          else assert.ok(behind.own > behind.theirs)
        }
      }),
    )
  })
})
