/** The order of a discovery and the reasons of each place (CH-2, P-6). */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import type { AgentId, OwnerId } from '../ids.ts'
import { type Candidate, explainExclusion, type Search } from './candidate.ts'
import {
  compareByTable,
  compareKeys,
  type Hit,
  type Page,
  type RankKey,
  rankForDiscovery,
  roughPlace,
} from './matching.ts'

const NOW = 1_000_000

const candidate = (agent: string, change: Partial<Candidate> = {}): Candidate => ({
  agent: agent as AgentId,
  owner: 'ann' as OwnerId,
  offers: [{ skill: 'write', costCents: 10 }],
  scoreMicro: 50_000_000,
  successes: 3,
  failures: 1,
  settledCount: 10,
  slotsFree: 1,
  slotsTotal: 2,
  load: { cpu: 0.5, mem: 0.5 },
  seenAt: NOW - 4_000,
  online: true,
  accepting: true,
  ...change,
})
const writing: Search = { skills: ['write'], match: 'all' }
const priced = (costCents: number) => ({ offers: [{ skill: 'write', costCents }] })
const loaded = (cpu: number) => ({ load: { cpu, mem: 0 } })
const places = (hits: readonly Hit[]) => hits.map((hit) => hit.candidate.agent)

// biome-ignore format: a table is read by its columns
const rows: [rule: string, first: Candidate, second: Candidate, by: string][] = [
  ['the higher score comes first',         candidate('b', { scoreMicro: 50_000_001 }), candidate('a'), 'score'],
  ['however dear and busy it is',          candidate('b', { scoreMicro: 60_000_000, ...priced(99), ...loaded(1) }), candidate('a', priced(1)), 'score'],
  ['at one score the lower cost',          candidate('b', priced(9)), candidate('a'), 'cost'],
  ['however busy it is',                   candidate('b', { ...priced(9), ...loaded(1) }), candidate('a', loaded(0)), 'cost'],
  ['at one cost the lower load',           candidate('b', loaded(0.1)), candidate('a', loaded(0.2)), 'load'],
  ['alike in all, the id decides',         candidate('a'), candidate('b'), 'id'],
]

describe('CH-2 P-6 the order of discovery, and what decided it', () => {
  for (const [rule, first, second, by] of rows) {
    test(rule, () => {
      for (const given of [
        [first, second],
        [second, first],
      ]) {
        const { hits } = rankForDiscovery(writing, given, NOW)
        assert.deepEqual(places(hits), [first.agent, second.agent])
        assert.equal(hits[0]?.behind, undefined)
        assert.deepEqual([hits[1]?.behind?.by, hits[1]?.behind?.above], [by, first.agent])
      }
    })
  }

  test('P-6 a hit shows the figures it stands on', () => {
    const cheaper = candidate('b', priced(7))
    const [, hit] = rankForDiscovery(writing, [candidate('a'), cheaper], NOW).hits
    assert.deepEqual(hit, {
      place: 2,
      candidate: candidate('a'),
      costCents: 10,
      reasons: [
        { code: 'offers', offers: [{ skill: 'write', costCents: 10 }] },
        { code: 'score', scoreMicro: 50_000_000, successes: 3, failures: 1 },
        { code: 'cost', costCents: 10 },
        { code: 'load', loadMicro: 500_000, announced: true },
        { code: 'heartbeat', ageMs: 4_000 },
        { code: 'room', slotsFree: 1, slotsTotal: 2 },
      ],
      behind: { above: 'b', by: 'cost', own: 10, theirs: 7 },
    })
  })

  test('X-1 discovery ranks by the running score, whatever the window says', () => {
    // The window score is not even among a candidate's fields; settled work is not looked at.
    const busy = candidate('a', { settledCount: 1_000 })
    const liked = candidate('b', { scoreMicro: 51_000_000, settledCount: 1 })
    assert.deepEqual(places(rankForDiscovery(writing, [busy, liked], NOW).hits), ['b', 'a'])
  })
})

const few = (...of: number[]) => fc.constantFrom(...of)
// Few values each, so that ties of every depth are common.
const anyCandidate = fc.record({
  offers: fc.array(
    fc.record({ skill: fc.constantFrom('write', 'draw', 'sing'), costCents: few(0, 5, 10) }),
    { maxLength: 3 },
  ),
  scoreMicro: few(45_500_000, 50_000_000, 51_000_000),
  slotsFree: few(0, 1, 4),
  load: fc.record({ cpu: few(0, 0.5, 1, Number.NaN), mem: few(0, 0.5) }),
  online: fc.boolean(),
  accepting: fc.boolean(),
})
const anyCandidates = fc
  .array(anyCandidate, { maxLength: 60 })
  .map((all) => all.map((each, index) => candidate(`a${String(index).padStart(3, '0')}`, each)))
const anySearch: fc.Arbitrary<Search> = fc.record(
  {
    skills: fc.uniqueArray(fc.constantFrom('write', 'draw', 'sing'), { maxLength: 2 }),
    match: fc.constantFrom('all' as const, 'any' as const),
    minScoreMicro: few(0, 50_000_000, 50_500_000),
    maxCostCents: few(0, 5, 20),
    minSlotsFree: few(0, 1),
  },
  { requiredKeys: ['skills', 'match'] },
)
const withShuffle = anyCandidates.chain((all) =>
  fc.tuple(
    fc.constant(all),
    fc.shuffledSubarray(all, { minLength: all.length, maxLength: all.length }),
  ),
)

describe('CH-2 P-6 over any candidates and any search', () => {
  test('the order is total: it does not depend on the order they came in', () => {
    fc.assert(
      fc.property(withShuffle, anySearch, ([all, shuffled], search) => {
        const [first, second] = [all, shuffled].map((each) => rankForDiscovery(search, each, NOW))
        assert.deepEqual(first, second)
      }),
    )
  })

  test('nobody offline is listed, and nobody whom a filter excludes', () => {
    fc.assert(
      fc.property(anyCandidates, anySearch, (all, search) => {
        const { hits } = rankForDiscovery(search, all, NOW)
        for (const { candidate: who, costCents } of hits) {
          assert.ok(who.online && who.accepting)
          assert.ok(who.scoreMicro >= (search.minScoreMicro ?? 0))
          assert.ok(who.slotsFree >= (search.minSlotsFree ?? 0))
          const affordable = who.offers
            .filter((each) => each.costCents <= (search.maxCostCents ?? 1_000))
            .map((each) => each.skill)
          const has = (skill: string) => affordable.includes(skill)
          if (search.skills.length === 0) assert.ok(affordable.length > 0)
          else if (search.match === 'all') assert.ok(search.skills.every(has))
          else assert.ok(search.skills.some(has))
          assert.ok(costCents >= 0 && Number.isSafeInteger(costCents))
        }
        const listed = new Set(places(hits))
        for (const who of all) {
          assert.equal(explainExclusion(search, who, NOW).length === 0, listed.has(who.agent))
        }
      }),
    )
  })

  test('what each hit says about its place is so', () => {
    fc.assert(
      fc.property(anyCandidates, anySearch, (all, search) => {
        const { hits } = rankForDiscovery(search, all, NOW)
        for (const [index, hit] of hits.entries()) {
          assert.equal(hit.place, index + 1)
          const above = hits[index - 1]
          assert.equal(hit.behind?.above, above?.candidate.agent)
          if (above === undefined) continue
          const [own, its] = [figures(hit), figures(above)]
          const order = ['score', 'cost', 'load', 'id'] as const
          const by = order.find((each) => own[each] !== its[each])
          assert.ok(by !== undefined)
          assert.deepEqual(hit.behind, {
            above: above.candidate.agent,
            by,
            own: own[by],
            theirs: its[by],
          })
          assert.ok(by === 'score' ? own[by] < its[by] : own[by] > its[by])
        }
      }),
    )
  })

  test('pages make up the whole, by offset and by cursor', () => {
    fc.assert(
      fc.property(
        anyCandidates,
        anySearch,
        fc.integer({ min: 1, max: 7 }),
        (all, search, limit) => {
          const whole = rankForDiscovery(search, all, NOW)
          const byOffset: Hit[] = []
          for (let offset = 0; offset < whole.total; offset += limit) {
            byOffset.push(...rankForDiscovery(search, all, NOW, { limit, offset }).hits)
          }
          assert.deepEqual(byOffset, whole.hits)
          assert.deepEqual(
            follow(search, () => all, limit),
            whole.hits,
          )
        },
      ),
    )
  })

  test('what comes and goes between two pages neither repeats nor hides the others', () => {
    fc.assert(
      fc.property(anyCandidates, anyCandidates, fc.func(fc.boolean()), (all, more, flickers) => {
        const steady = all.filter((each) => !flickers(each.agent))
        const others = more.map((each) => ({ ...each, agent: `x${each.agent}` as AgentId }))
        let turn = 0
        const seen = follow(writing, () => (turn++ % 2 === 0 ? all : [...steady, ...others]), 3)
        const expected = places(rankForDiscovery(writing, steady, NOW).hits)
        const kept = new Set(expected)
        assert.deepEqual(
          places(seen).filter((agent) => kept.has(agent)),
          expected,
        )
      }),
    )
  })
})

test('CH-2 the order written out is that of the table, and the rough one follows it', () => {
  const key = fc.record({
    scoreMicro: fc.oneof(few(0, 50_000_000, 100_000_000), fc.integer({ min: 0, max: 100_000_000 })),
    costCents: fc.oneof(few(0, 5, 65_535, 65_536), fc.integer({ min: 0, max: 10_000_000_000 })),
    loadMicro: fc.oneof(few(0, 999, 1_000, 1_000_000), fc.integer({ min: 0, max: 1_000_000 })),
    id: fc.constantFrom('a', 'b', 'b/i'),
  })
  fc.assert(
    fc.property(key, key, (a, b) => {
      const order = compareByTable(a, b)
      assert.equal(compareKeys(a, b), order)
      const rough = roughPlace(a) - roughPlace(b)
      assert.ok(rough === 0 || rough < 0 === order < 0)
      assert.ok(Number.isSafeInteger(roughPlace(a)))
    }),
    { numRuns: 1_000 },
  )
})

test('CH-2 a page has at least one hit and at most a hundred', () => {
  const all = Array.from({ length: 150 }, (_, index) => candidate(`a${index}`))
  const lengthOf = (page: Page) => rankForDiscovery(writing, all, NOW, page).hits.length
  assert.deepEqual([lengthOf({}), lengthOf({ limit: 999 }), lengthOf({ limit: 0 })], [100, 100, 1])
  assert.equal(rankForDiscovery(writing, all, NOW).total, 150)
  assert.equal(lengthOf({ offset: 140 }), 10)
  assert.equal(rankForDiscovery(writing, all, NOW, { offset: 100 }).next, undefined)
})

test('CH-2 each of ten thousand candidates is looked at a few times, not once per other', () => {
  const reads = (count: number) => {
    let read = 0
    const ids = Array.from({ length: count }, (_, index) => (index * 7_919) % count)
    const all = ids.map((id) => {
      const who = candidate(`a${id}`, { scoreMicro: 50_000_000 + id })
      return Object.defineProperty(who, 'scoreMicro', {
        get: () => {
          read += 1
          return 50_000_000 + id
        },
      })
    })
    const { hits, total } = rankForDiscovery(writing, all, NOW)
    assert.deepEqual([hits[0]?.candidate.agent, total], [`a${count - 1}`, count])
    return read
  }
  // Each candidate is looked at a few times and sorted by its key; pairs are compared by key only.
  assert.ok(reads(10_000) < 10_000 * 5)
})

// A square of this many takes minutes; the limit is wide, since the machine may be busy.
test('CH-2 fifty thousand candidates are ranked while one waits', { timeout: 30_000 }, () => {
  const all = Array.from({ length: 50_000 }, (_, index) =>
    candidate(`a${index}`, { scoreMicro: (index * 7_919) % 100_000_000, ...loaded(index % 7) }),
  )
  assert.equal(rankForDiscovery(writing, all, NOW).total, 50_000)
})

function follow(search: Search, from: () => readonly Candidate[], limit: number): Hit[] {
  const seen: Hit[] = []
  let after: RankKey | undefined
  let pages = 0
  do {
    pages += 1
    assert.ok(pages < 1_000, 'the cursor does not advance')
    const page: Page = after === undefined ? { limit } : { limit, after }
    const { hits, next } = rankForDiscovery(search, from(), NOW, page)
    seen.push(...hits)
    after = next
  } while (after !== undefined)
  return seen
}

function figures({ candidate: who, costCents }: Hit) {
  const { cpu = 1, mem = 1 } = who.load ?? {}
  const load = Number.isNaN(cpu) ? 1_000_000 : Math.max(cpu, mem) * 1_000_000
  return { score: who.scoreMicro, cost: costCents, load, id: who.agent }
}
