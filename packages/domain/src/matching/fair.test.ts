/** The share of newcomers, over many draws (P-14). */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import type { AgentId, OwnerId } from '../ids.ts'
import type { Candidate, Search } from './candidate.ts'
import { FAIR_TERMS, fairOrder, rankFairly } from './fair.ts'
import { rank, rankForDiscovery } from './matching.ts'

const NOW = 1_000_000
const writing: Search = { skills: ['write'], match: 'all' }

const candidate = (agent: string, change: Partial<Candidate> = {}): Candidate => ({
  agent: agent as AgentId,
  owner: 'ann' as OwnerId,
  offers: [{ skill: 'write', costCents: 10 }],
  scoreMicro: 80_000_000,
  successes: 40,
  failures: 2,
  settledCount: 42,
  slotsFree: 1,
  slotsTotal: 2,
  seenAt: NOW,
  online: true,
  accepting: true,
  ...change,
})
const fresh = { scoreMicro: 50_000_000, settledCount: 0 }
const old = [candidate('a'), candidate('b'), candidate('c')]
const young = [candidate('x', fresh), candidate('y', fresh), candidate('z', fresh)]
const first = (all: readonly Candidate[], draw: number, search = writing) =>
  rankFairly(search, all, NOW, { draw }).hits[0]?.candidate.agent

const draws = (count: number) => Array.from({ length: count }, (_, index) => index / count)
const agents = (items: readonly { candidate: Candidate }[]) =>
  items.map((each) => each.candidate.agent)

describe('P-14 newcomers get a share of the work', () => {
  test('over all draws a tenth, and each newcomer as much of it as the others', () => {
    const firsts = draws(3_000).map((draw) => first([...old, ...young], draw))
    const share = (agent: string) => firsts.filter((each) => each === agent).length
    assert.deepEqual(['a', 'x', 'y', 'z'].map(share), [2_700, 100, 100, 100])
  })

  test('the promised share is kept whatever it is and however many there are', () => {
    const anyShare = fc.integer({ min: 0, max: 100 })
    fc.assert(
      fc.property(anyShare, fc.integer({ min: 1, max: 5 }), (percent, count) => {
        const newcomers = Array.from({ length: count }, (_, index) => candidate(`x${index}`, fresh))
        const ranked = rank(writing, [...old, ...newcomers], NOW)
        const terms = { ...FAIR_TERMS, share: percent / 100 }
        const turns = draws(2_000).filter(
          (draw) => fairOrder(ranked, draw, terms).turn !== undefined,
        )
        assert.ok(Math.abs(turns.length - percent * 20) <= 1)
      }),
      { numRuns: 40 },
    )
  })

  test('the others keep their order, and nobody is lost', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (draw) => {
        const ranked = rank(writing, [...old, ...young], NOW)
        const { order, turn } = fairOrder(ranked, draw)
        assert.equal(turn !== undefined, draw < 0.1)
        assert.deepEqual(
          order.filter((each) => each !== turn),
          ranked.filter((each) => each !== turn),
        )
        assert.equal(order.length, ranked.length)
        if (turn !== undefined) assert.equal(order[0], turn)
        assert.deepEqual(fairOrder(ranked, draw), { order, ...(turn && { turn }) })
      }),
    )
  })

  const tried = candidate('x', { scoreMicro: 50_000_000, settledCount: 10 })
  const nearly = candidate('x', { scoreMicro: 50_000_000, settledCount: 9 })
  const full = candidate('x', { ...fresh, slotsFree: 0 })
  const away = candidate('x', { ...fresh, online: false })
  const dear = { ...writing, maxCostCents: 9 }
  const proven = { ...writing, minScoreMicro: 60_000_000 }
  const costly = candidate('x', { ...fresh, offers: [{ skill: 'write', costCents: 10 }] })
  const cheap = old.map((each) => ({ ...each, offers: [{ skill: 'write', costCents: 5 }] }))

  // biome-ignore format: a table is read by its columns
  const rows: [rule: string, all: Candidate[], draw: number, search: Search, first: string][] = [
    ['a draw below the share gives the turn', [...old, nearly],   0.099, writing, 'x'],
    ['a draw at the share does not',          [...old, nearly],   0.1,   writing, 'a'],
    ['without a newcomer nothing changes',    old,                0,     writing, 'a'],
    ['who has ten outcomes is none',          [...old, tried],    0,     writing, 'a'],
    ['a full one gets no turn',               [...old, full],     0,     writing, 'a'],
    ['an offline one gets no turn',           [...old, away],     0,     writing, 'a'],
    ['a filter on cost holds for a turn too', [...cheap, costly], 0,     dear,    'a'],
    ['and so does one on score',              [...old, nearly],   0,     proven,  'a'],
  ]
  for (const [rule, all, draw, search, expected] of rows) {
    test(rule, () => assert.equal(first(all, draw, search), expected))
  }

  test('P-6 a turn is told to the one who got it and to the one who lost the place', () => {
    const { hits } = rankFairly(writing, [...old, ...young], NOW, { draw: 0 })
    assert.deepEqual(agents(hits), ['x', 'a', 'b', 'c', 'y', 'z'])
    assert.deepEqual(
      hits.map((hit) => hit.place),
      [1, 2, 3, 4, 5, 6],
    )
    assert.deepEqual(hits[0]?.reasons[0], { code: 'newcomer_turn', settledCount: 0, share: 0.1 })
    assert.equal(hits[0]?.behind, undefined)
    assert.deepEqual(
      hits.map((hit) => hit.behind?.by),
      [undefined, 'newcomer_turn', 'id', 'id', 'score', 'id'],
    )
  })

  test('a newcomer that leads anyway needs no turn and is not said to have had one', () => {
    const best = candidate('x', { scoreMicro: 90_000_000, settledCount: 3 })
    const { hits } = rankFairly(writing, [...old, best], NOW, { draw: 0 })
    assert.equal(hits[0]?.reasons[0]?.code, 'offers')
    assert.equal(hits[1]?.behind?.by, 'score')
  })

  test('pages of one draw make up one order', () => {
    const all = [...old, ...young]
    const page = (offset: number) =>
      rankFairly(writing, all, NOW, { draw: 0.05, offset, limit: 2 }).hits
    const whole = rankFairly(writing, all, NOW, { draw: 0.05 })
    assert.deepEqual([...page(0), ...page(2), ...page(4)], whole.hits)
    assert.equal(whole.total, 6)
  })

  test('discovery itself stays strictly by score', () => {
    const { hits } = rankForDiscovery(writing, [...young, ...old], NOW)
    assert.deepEqual(agents(hits), ['a', 'b', 'c', 'x', 'y', 'z'])
  })
})
