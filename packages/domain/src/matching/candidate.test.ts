/** Who qualifies for a search, and why somebody does not. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type { AgentId, OwnerId } from '../ids.ts'
import {
  type Candidate,
  type Exclusion,
  explainExclusion,
  filterCandidates,
  loadMicro,
  type Search,
} from './candidate.ts'

const NOW = 1_000_000

const candidate = (change: Partial<Candidate> = {}): Candidate => ({
  agent: 'a1' as AgentId,
  owner: 'ann' as OwnerId,
  offers: [
    { skill: 'write', costCents: 10 },
    { skill: 'draw', costCents: 40 },
  ],
  scoreMicro: 60_000_000,
  successes: 10,
  failures: 0,
  settledCount: 10,
  slotsFree: 2,
  slotsTotal: 4,
  load: { cpu: 0.1, mem: 0.2 },
  seenAt: NOW - 5_000,
  online: true,
  accepting: true,
  ...change,
})
const search = (skills: string[], change: Partial<Search> = {}): Search => ({
  skills,
  match: 'all',
  ...change,
})
const any = { match: 'any' } as const
const me = candidate()
const twice = candidate({
  offers: [
    { skill: 'write', costCents: 30 },
    { skill: 'write', costCents: 20 },
  ],
})

// biome-ignore format: a table is read by its columns
const fits: [rule: string, asked: Search, who: Candidate, cost: number | undefined][] = [
  ['one skill costs what it costs',               search(['write']),                       me, 10],
  ['a skill that it lacks',                       search(['sing']),                        me, undefined],
  ['all of several cost their sum',               search(['write', 'draw']),               me, 50],
  ['all of several, one lacking',                 search(['write', 'sing']),               me, undefined],
  ['any of several, one lacking',                 search(['write', 'sing'], any),          me, 10],
  ['any of several costs the cheapest',           search(['draw', 'write'], any),          me, 10],
  ['any of several, all lacking',                 search(['sing', 'dance'], any),          me, undefined],
  ['a skill asked for twice is asked for once',   search(['write', 'write']),              me, 10],
  ['no skill asked for is any',                   search([]),                              me, 10],
  ['of two versions the cheaper one compares',    search(['write']),                       twice, 20],
  ['at the highest cost',                         search(['write'], { maxCostCents: 10 }), me, 10],
  ['above it',                                    search(['write'], { maxCostCents: 9 }),  me, undefined],
  ['the bound is for one call, not for the sum',  search(['write', 'draw'], { maxCostCents: 40 }), me, 50],
  ['all of several, one too dear',                search(['write', 'draw'], { maxCostCents: 39 }), me, undefined],
  ['any of several, one too dear',                search(['draw', 'write'], { ...any, maxCostCents: 39 }), me, 10],
  ['at the least score',                          search(['write'], { minScoreMicro: 60_000_000 }), me, 10],
  ['a millionth below it',                        search(['write'], { minScoreMicro: 60_000_001 }), me, undefined],
  ['with the slots wanted',                       search(['write'], { minSlotsFree: 2 }),  me, 10],
  ['with fewer',                                  search(['write'], { minSlotsFree: 3 }),  me, undefined],
  ['full, where no slot is asked for',            search(['write']), candidate({ slotsFree: 0 }), 10],
  ['offline',                                     search(['write']), candidate({ online: false }), undefined],
  ['not accepting',                               search(['write']), candidate({ accepting: false }), undefined],
  ['offering nothing at all',                     search([]), candidate({ offers: [] }), undefined],
]

describe('CH-2 who is considered', () => {
  for (const [rule, asked, who, cost] of fits) {
    test(rule, () => {
      assert.equal(filterCandidates(asked, [who], NOW)[0]?.costCents, cost)
      assert.equal(explainExclusion(asked, who, NOW).length === 0, cost !== undefined)
    })
  }
})

const draw = { skill: 'draw', costCents: 40 }
const write = { skill: 'write', costCents: 10 }

// biome-ignore format: a table is read by its columns
const reasons: [rule: string, asked: Search, who: Candidate, why: Exclusion[]][] = [
  ['who fits has no reason',     search(['write']),                  me, []],
  ['offline says since when',    search(['write']), candidate({ online: false }), [{ code: 'offline', silentMs: 5_000 }]],
  ['missing skills are named',   search(['sing', 'write', 'dance']), me, [{ code: 'skill_missing', skills: ['sing', 'dance'] }]],
  ['too dear says by what',      search(['draw'], { maxCostCents: 5 }), me, [{ code: 'cost_above', offers: [draw], mostCents: 5 }]],
  ['any: only what was too dear', search(['draw', 'sing'], { ...any, maxCostCents: 5 }), me, [{ code: 'cost_above', offers: [draw], mostCents: 5 }]],
  ['all: missing and too dear',  search(['draw', 'sing'], { maxCostCents: 5 }), me, [
    { code: 'skill_missing', skills: ['sing'] },
    { code: 'cost_above', offers: [draw], mostCents: 5 },
  ]],
  ['every reason is given',
    search(['write'], { maxCostCents: 5, minScoreMicro: 70_000_000, minSlotsFree: 3 }),
    candidate({ online: false, accepting: false }), [
      { code: 'offline', silentMs: 5_000 },
      { code: 'not_accepting' },
      { code: 'cost_above', offers: [write], mostCents: 5 },
      { code: 'score_below', scoreMicro: 60_000_000, leastMicro: 70_000_000 },
      { code: 'slots_short', slotsFree: 2, leastFree: 3 },
    ]],
]

describe('P-6 who is left out is told why', () => {
  for (const [rule, asked, who, why] of reasons) {
    test(rule, () => assert.deepEqual(explainExclusion(asked, who, NOW), why))
  }
})

describe('load', () => {
  // biome-ignore format: a table is read by its columns
  const loads: [rule: string, load: Candidate['load'], micro: number][] = [
    ['is that of the tighter resource',     { cpu: 0.12, mem: 0.48 },      480_000],
    ['is at most full',                     { cpu: 3, mem: 0 },            1_000_000],
    ['is never below idle',                 { cpu: -1, mem: -1 },          0],
    ['that is no number is full',           { cpu: Number.NaN, mem: 0.1 }, 1_000_000],
    ['that nobody announced is full',       undefined,                     1_000_000],
  ]
  for (const [rule, load, micro] of loads) {
    test(rule, () => {
      const { load: _, ...silent } = candidate()
      assert.equal(loadMicro(load === undefined ? silent : { ...silent, load }), micro)
    })
  }
})
