/**
 * The plans are played out: settled work is run through the scores and the limits that a hub uses,
 * and the money through a purse. Nothing here believes the figures that are tested.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type { AgentId, OwnerId, WorkId } from '../ids.ts'
import { feeOf } from '../money/amount.ts'
import type { Outcome } from './outcome.ts'
import { TRUST_RULES } from './pair-limit.ts'
import { priceRing, type RingCost, type RingSettlement, type RingTerms } from './ring-cost.ts'
import { recomputeScores } from './trust.ts'

const DAY_MS = 86_400_000
const TEN_POINTS = 10_000_000
const terms = (owners: number, change: Partial<RingTerms> = {}): RingTerms => ({
  ...TRUST_RULES,
  owners,
  gainMicro: TEN_POINTS,
  feeBasisPoints: 0,
  priceCents: 1,
  ...change,
})
function cost(given: RingTerms): RingCost {
  const priced = priceRing(given)
  assert.ok(priced !== undefined)
  return priced
}

/** The scores that the ring's agents really reach, lowest first. */
function play(plan: readonly RingSettlement[], given: RingTerms): number[] {
  const outcomes = plan.map(({ hirer, agent, afterMs }, index): Outcome => {
    const at = 1_000 * DAY_MS + afterMs
    return {
      work: `w${index}` as WorkId,
      agent: `agent-${agent}` as AgentId,
      owner: `owner-${agent}` as OwnerId,
      hirerOwner: `owner-${hirer}` as OwnerId,
      hirerAgent: `agent-${hirer}` as AgentId,
      ending: { how: 'done' },
      priceCents: given.priceCents,
      receivedAt: at,
      respondedAt: at,
      endedAt: at,
      settledAt: at,
    }
  })
  const { standings } = recomputeScores(outcomes, given)
  const all = Array.from({ length: given.owners }, (_, index) => `agent-${index}` as AgentId)
  return all
    .map((agent) => standings.get(agent)?.running.scoreMicro ?? 50_000_000)
    .sort((a, b) => a - b)
}

/** One purse that goes from hand to hand: what it holds in the end, undefined if it ran dry. */
function spend(capitalCents: number, plan: readonly RingSettlement[], given: RingTerms) {
  let purse = capitalCents
  for (const _ of plan) {
    if (purse < given.priceCents) return undefined
    purse -= feeOf(given.priceCents, given)
  }
  return purse
}

const tight = { pairSuccesses: 1 }
const quick = { pairSuccesses: 2, pairWindowMs: 7 * DAY_MS }

// biome-ignore format: a table is read by its columns
const rings: [ring: string, given: RingTerms, settlements: number, days: number][] = [
  ['two owners',                    terms(2),        19,   0],
  ['three',                         terms(3),        28,   0],
  ['ten',                           terms(10),       85,   0],
  ['fifty, led by one at the top',  terms(50),       295,  0],
  ['two, one success in 30 days',   terms(2, tight), 20,   270],
  ['ten, one success in 30 days',   terms(10, tight), 96,  30],
  ['three, two in a week',          terms(3, quick), 29,   14],
  ['a fee changes no settlement',   terms(10, { feeBasisPoints: 500 }), 85, 0],
]

describe('P-2 what it costs a ring to gain ten points', () => {
  for (const [ring, given, settlements, days] of rings) {
    test(`${ring}: ${settlements} settlements in ${days} days`, () => {
      const priced = cost(given)
      assert.equal(priced.settlements, settlements)
      assert.equal(priced.tookMs, days * DAY_MS)
      assert.equal(priced.plan.length, settlements)
      assert.ok(priced.floorSettlements <= settlements)
    })

    test(`${ring}: played out, every agent gains ten points and no settlement is spare`, () => {
      const { plan } = cost(given)
      const [lowest = 0] = play(plan, given)
      assert.ok(lowest >= 60_000_000, `the lowest stands at ${lowest}`)
      const [short = 0] = play(plan.slice(0, -1), given)
      assert.ok(short < 60_000_000)
    })

    test(`${ring}: the capital suffices to the hundredth, and only the fees are lost`, () => {
      const { plan, capitalCents, feesCents } = cost(given)
      assert.equal(spend(capitalCents, plan, given), capitalCents - feesCents)
      assert.equal(spend(capitalCents - 1, plan, given), undefined)
    })
  }

  test('played at once, a plan that takes days fails: it is the limit that makes it wait', () => {
    const given = terms(2, tight)
    const rushed = cost(given).plan.map((each) => ({ ...each, afterMs: 0 }))
    const [lowest = 0] = play(rushed, given)
    assert.ok(lowest < 52_000_000)
  })

  test('of all orders in which two owners could hire each other, none is shorter', () => {
    assert.equal(canLift(18), false)
    assert.equal(canLift(19), true)
  })

  test('no ring gains ten points with fewer than five settlements an agent', () => {
    // Not even when hired by the best there is: 2.0 points a success.
    for (const owners of [2, 10, 50]) assert.equal(cost(terms(owners)).floorSettlements, owners * 5)
  })

  test('at a fee of 0 the price is near nothing: a hundredth goes round and none is lost', () => {
    for (const owners of [2, 10, 50]) {
      const { feesCents, capitalCents, tookMs } = cost(terms(owners))
      assert.deepEqual([feesCents, capitalCents, tookMs], [0, 1, 0])
    }
  })

  // biome-ignore format: a table is read by its columns
  const fees: [basisPoints: number, priceCents: number, feesCents: number, capitalCents: number][] = [
    [1,      1,   19,    19],
    [500,    1,   19,    19],
    [10_000, 1,   19,    19],
    [500,    100, 95,    190],
  ]
  for (const [feeBasisPoints, priceCents, feesCents, capitalCents] of fees) {
    test(`${feeBasisPoints} basis points on ${priceCents} cost two owners ${feesCents}`, () => {
      const priced = cost(terms(2, { feeBasisPoints, priceCents }))
      assert.deepEqual([priced.feesCents, priced.capitalCents], [feesCents, capitalCents])
    })
  }

  // biome-ignore format: a table is read by its columns
  const hopeless: [rule: string, given: RingTerms][] = [
    ['one owner cannot hire itself with effect', terms(1)],
    ['a limit of none lets nobody rise',         terms(5, { pairSuccesses: 0 })],
    ['what is free does not count',              terms(5, { priceCents: 0 })],
    ['nobody rises above 100',                   terms(5, { gainMicro: 50_000_001 })],
  ]
  for (const [rule, given] of hopeless) {
    test(rule, () => assert.equal(priceRing(given), undefined))
  }
})

/** Tries every order of so many settlements between two agents, in plain numbers. */
function canLift(settlements: number, first = 50, second = 50): boolean {
  if (first >= 60 && second >= 60) return true
  if (settlements === 0) return false
  // Even if each success brought its most, which is the better hirer's score with all that is left.
  const most = (Math.max(first, second) + 2 * settlements) / 50
  const needed = Math.ceil((60 - first) / most) + Math.ceil((60 - second) / most)
  if (first < 60 && second < 60 && needed > settlements) return false
  return (
    canLift(settlements - 1, first + second / 50, second) ||
    canLift(settlements - 1, first, second + first / 50)
  )
}
