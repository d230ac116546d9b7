/**
 * The tables say what one outcome does to both scores. The runs below hold the whole book to two
 * others: one kept row by row as a store would, and one written without any of this code.
 */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import type { AgentId, OwnerId, WorkId } from '../ids.ts'
import type { Ending, Outcome } from './outcome.ts'
import { NO_PAIR_HISTORY, type PairHistory, pairKey } from './pair-limit.ts'
import { applyOutcome, type MoveReason, NEWCOMER, recomputeScores, type Standing } from './trust.ts'
import { measureWindow, windowScore } from './window-score.ts'

const HOUR_MS = 3_600_000
const NOW = 1_000 * 24 * HOUR_MS
const done: Ending = { how: 'done' }
const failed: Ending = { how: 'failed', cause: 'deadline' }
const cancelled: Ending = { how: 'cancelled' }

const outcome = (change: Partial<Outcome> = {}): Outcome => ({
  work: 'w1' as WorkId,
  agent: 'ann-1' as AgentId,
  owner: 'ann' as OwnerId,
  hirerOwner: 'bob' as OwnerId,
  hirerAgent: 'bob-1' as AgentId,
  ending: done,
  priceCents: 10,
  receivedAt: NOW,
  respondedAt: NOW,
  endedAt: NOW + 10,
  settledAt: NOW + 20,
  ...change,
})

const full: PairHistory = { countedAt: Array.from({ length: 10 }, () => NOW) }
const high: Standing = { ...NEWCOMER, running: { ...NEWCOMER.running, scoreMicro: 99_000_000 } }
const low: Standing = { ...NEWCOMER, running: { ...NEWCOMER.running, scoreMicro: 4_000_000 } }
const own = outcome({ hirerOwner: 'ann' as OwnerId })
const { hirerAgent: _, ...byStranger } = outcome()
const HIRER = 80_000_000

type Row = [
  rule: string,
  before: Standing,
  given: Outcome,
  hirer: number | undefined,
  pair: PairHistory,
  window: [by: number, reasons: MoveReason[]],
  running: [by: number, reasons: MoveReason[]],
]
const none = NO_PAIR_HISTORY
const late = outcome({ estimatedEnd: NOW })
const failure = outcome({ ending: failed, priceCents: 0 })
const unpaid = outcome({ priceCents: 0 })
const gone = outcome({ ending: cancelled })

// biome-ignore format: a table is read by its columns
const rows: Row[] = [
  ['a success moves both',           NEWCOMER, outcome(),  HIRER,     none, [500_000, ['done']],          [1_600_000, ['done']]],
  ['a late one the window less',     NEWCOMER, late,       HIRER,     none, [200_000, ['done_late']],     [1_600_000, ['done']]],
  ['a stranger hires as a newcomer', NEWCOMER, byStranger, undefined, none, [500_000, ['done']],          [1_000_000, ['done', 'hirer_unregistered']]],
  ['a failure moves both down',      NEWCOMER, failure,    HIRER,     none, [-400_000, ['failed_deadline']], [-4_500_000, ['failed_deadline']]],
  ['one owner moves the window only', NEWCOMER, own,       HIRER,     none, [500_000, ['done']],          [0, ['same_owner']]],
  ['so does unpaid work',            NEWCOMER, unpaid,     HIRER,     none, [500_000, ['done']],          [0, ['unpaid']]],
  ['and work beyond the limit',      NEWCOMER, outcome(),  HIRER,     full, [500_000, ['done']],          [0, ['pair_limit']]],
  ['cancelled work moves nothing',   NEWCOMER, gone,       HIRER,     none, [0, ['cancelled']],           [0, ['cancelled']]],
  ['the top is the top',             high,     outcome(),  HIRER,     none, [500_000, ['done']],          [1_000_000, ['done', 'highest_reached']]],
  ['the bottom is the bottom',       low,      failure,    HIRER,     none, [-400_000, ['failed_deadline']], [-4_000_000, ['failed_deadline', 'lowest_reached']]],
]

describe('X-1 CH-10 CH-12 one outcome, two scores, each with its reasons', () => {
  for (const [rule, before, given, hirer, pair, window, running] of rows) {
    test(rule, () => {
      const moved = applyOutcome(before, given, hirer, pair)
      const { window: first, running: second } = moved
      assert.deepEqual([first.afterMicro - first.beforeMicro, first.reasons], window)
      assert.deepEqual([second.afterMicro - second.beforeMicro, second.reasons], running)
      assert.equal(moved.standing.running.scoreMicro, second.afterMicro)
      assert.equal(windowScore(measureWindow(moved.standing.window)), first.afterMicro)
      if (!second.counted) assert.deepEqual(moved.pair, pair)
    })
  }

  test('OC-8 a full window says that its oldest outcome left', () => {
    const outcomes = Array.from({ length: 100 }, () => own)
    const standing = recomputeScores(outcomes).standings.get(own.agent) ?? NEWCOMER
    const { reasons } = applyOutcome(standing, own, HIRER, none).window
    assert.deepEqual(reasons, ['done', 'oldest_left'])
  })

  test('CH-12 only a counted success uses up the limit of its pair', () => {
    const uses = (given: Outcome) =>
      applyOutcome(NEWCOMER, given, HIRER, none).pair.countedAt.length
    assert.deepEqual([outcome(), failure, own, unpaid, gone].map(uses), [1, 0, 0, 0, 0])
  })

  test('CH-12 an outcome counts by the rules that it was settled under', () => {
    const rules = { pairSuccesses: 1, pairWindowMs: HOUR_MS }
    const used = { countedAt: [NOW] }
    const counts = (change: Partial<Outcome>) =>
      applyOutcome(NEWCOMER, outcome(change), HIRER, used).running.counted
    assert.deepEqual([counts({}), counts({ rules })], [true, false])
    assert.equal(counts({ rules, settledAt: NOW + HOUR_MS }), true)
  })

  test('CH-10 the hirer counts as it stood before, and is not moved by hiring', () => {
    const swapped = outcome({
      agent: 'bob-1' as AgentId,
      owner: 'bob' as OwnerId,
      hirerOwner: 'ann' as OwnerId,
      hirerAgent: 'ann-1' as AgentId,
    })
    const { standings } = recomputeScores([outcome(), swapped])
    assert.equal(standings.get('ann-1' as AgentId)?.running.scoreMicro, 51_000_000)
    assert.equal(standings.get('bob-1' as AgentId)?.running.scoreMicro, 51_020_000)
  })

  test('CH-12 the limit is of owners: a second agent of the same owner finds it used up', () => {
    const second = outcome({ agent: 'ann-2' as AgentId, hirerAgent: 'bob-2' as AgentId })
    const { standings } = recomputeScores([...Array.from({ length: 10 }, () => outcome()), second])
    assert.equal(standings.get('ann-2' as AgentId)?.running.scoreMicro, 50_000_000)
    assert.equal(standings.get('ann-2' as AgentId)?.window.doneCount, 1)
  })
})

const people = ['ann', 'bob', 'cyn'] as const
const anyStep = fc.record({
  owner: fc.constantFrom(...people),
  agent: fc.constantFrom('1', '2'),
  hirerOwner: fc.constantFrom(...people),
  hirer: fc.option(fc.constantFrom('1', '2')),
  // Mostly paid successes, or no pair would ever come near its limit.
  ending: fc.constantFrom(done, done, done, done, done, done, done, failed, cancelled),
  priceCents: fc.constantFrom(0, 1, 1, 10, 10, 25, 99),
  waitMs: fc.nat(20_000),
  tookMs: fc.nat(60_000),
  estimateMs: fc.option(fc.nat(60_000)),
  // Close together, so that limits are reached, with a few long breaks, so that they lapse.
  apartMs: fc.oneof(
    { weight: 60, arbitrary: fc.nat(4 * HOUR_MS) },
    { weight: 1, arbitrary: fc.nat(40 * 24 * HOUR_MS) },
  ),
})
const anyTrail = fc.array(anyStep, { minLength: 1, maxLength: 400, size: 'max' }).map((steps) => {
  let now = NOW
  return steps.map((step, index): Outcome => {
    now += step.apartMs
    const { hirer, estimateMs } = step
    const base = {
      work: `w${index}` as WorkId,
      agent: `${step.owner}-${step.agent}` as AgentId,
      owner: step.owner as OwnerId,
      hirerOwner: step.hirerOwner as OwnerId,
      ending: step.ending,
      priceCents: step.priceCents,
      receivedAt: now,
      respondedAt: now + step.waitMs,
      endedAt: now + step.tookMs,
      settledAt: now + 60_000,
    }
    const hired =
      hirer === null ? base : { ...base, hirerAgent: `${step.hirerOwner}-${hirer}` as AgentId }
    return estimateMs === null ? hired : { ...hired, estimatedEnd: now + estimateMs }
  })
})

describe('P-2 anyone can recompute the scores from the trail', () => {
  test('row by row through a store, the same book comes out', () => {
    fc.assert(
      fc.property(anyTrail, (trail) => {
        const book = recomputeScores(trail)
        const rows = new Map<string, string>()
        const load = <Row>(key: string, fresh: Row): Row =>
          JSON.parse(rows.get(key) ?? 'null') ?? fresh
        for (const each of trail) {
          const key = pairKey(each)
          const hirer = each.hirerAgent && load(`agent ${each.hirerAgent}`, NEWCOMER)
          const moved = applyOutcome(
            load(`agent ${each.agent}`, NEWCOMER),
            each,
            hirer?.running.scoreMicro,
            load(`pair ${key}`, NO_PAIR_HISTORY),
          )
          rows.set(`agent ${each.agent}`, JSON.stringify(moved.standing))
          rows.set(`pair ${key}`, JSON.stringify(moved.pair))
        }
        for (const [agent, standing] of book.standings) {
          assert.deepEqual(load(`agent ${agent}`, NEWCOMER), standing)
        }
        for (const { countedAt } of book.pairs.values()) assert.ok(countedAt.length <= 10)
      }),
      { numRuns: 50 },
    )
  })

  test('OC-8 CH-10 CH-12 and so it does when written from the documents alone', () => {
    fc.assert(
      fc.property(anyTrail, (trail) => {
        const { standings } = recomputeScores(trail)
        const expected = fromDocuments(trail)
        for (const [agent, standing] of standings) {
          assert.equal(standing.running.scoreMicro, Number(expected.scores.get(agent) ?? START))
          const last = (expected.lives.get(agent) ?? []).slice(-100)
          const good = last.filter((each) => each.ending.how === 'done').length
          const rate = measureWindow(standing.window)?.successMicro
          assert.equal(standing.window.recent.length, last.length)
          if (last.length > 0) assert.equal(rate, Math.round((good / last.length) * 1_000_000))
        }
        assert.equal(standings.size, new Set(trail.map((each) => each.agent)).size)
      }),
      { numRuns: 50 },
    )
  })
})

const START = 50_000_000n

/** Slow and plain: the whole trail is looked through for every limit, in exact fractions. */
function fromDocuments(trail: readonly Outcome[]) {
  const scores = new Map<string, bigint>()
  const lives = new Map<string, Outcome[]>()
  const vouched: Outcome[] = []
  for (const each of trail) {
    if (each.ending.how === 'cancelled') continue
    lives.set(each.agent, [...(lives.get(each.agent) ?? []), each])
    if (each.owner === each.hirerOwner) continue
    const score = scores.get(each.agent) ?? START
    if (each.ending.how === 'failed') {
      scores.set(each.agent, score < 4_500_000n ? 0n : score - 4_500_000n)
      continue
    }
    const before = vouched.filter(
      (other) =>
        other.owner === each.owner &&
        other.hirerOwner === each.hirerOwner &&
        each.settledAt - other.settledAt < 30 * 24 * HOUR_MS,
    )
    if (each.priceCents === 0 || before.length >= 10) continue
    vouched.push(each)
    const hirer = scores.get(each.hirerAgent ?? '') ?? START
    const sum = score * 50n + hirer
    const below = sum / 50n
    const rest = sum % 50n
    const up = rest > 25n || (rest === 25n && below % 2n === 1n)
    const next = up ? below + 1n : below
    scores.set(each.agent, next > 100_000_000n ? 100_000_000n : next)
  }
  return { scores, lives }
}
