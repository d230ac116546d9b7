/**
 * One limit over several hubs: the account by table, and L1 and L3 over any run of hubs that ask,
 * use, give back, lose answers and die.
 */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import {
  type Ahead,
  type Allowance,
  type AllowanceAsked,
  type AllowanceDecided,
  applyAllowance,
  decideAllowance,
  forgottenAt,
  UNTOUCHED,
} from './allowance.ts'
import type { Pace } from './pace.ts'
import {
  applyAnswer,
  applyLetIn,
  askFor,
  decideAlone,
  decideShare,
  isIdle,
  isOverdue,
  NO_SHARE,
  type Question,
  type Share,
} from './share.ts'

const SECOND = 1_800_000_000
const NOW = SECOND * 1_000
const MINUTE_MS = 60_000

const counted = (...counts: readonly [after: number, count: number][]): Pace =>
  counts.map(([after, count]) => ({ second: SECOND + after, count }))
const account = (...counts: readonly [after: number, count: number][]): Allowance => ({
  at: SECOND,
  counts: counted(...counts),
})
const ask = (wanted: number, more: Partial<AllowanceAsked> = {}): AllowanceAsked => ({
  perMinute: 64,
  wanted,
  uncovered: [],
  ...more,
})
const ahead = (count: number, after = 0): Ahead => ({
  count,
  from: SECOND + after,
  until: SECOND + after + 59,
})

type Row = [
  rule: string,
  before: Allowance,
  asked: AllowanceAsked,
  granted: number,
  ahead: number,
  after: Pace,
]
// biome-ignore format: a table is read by its columns
const rows: Row[] = [
  ['the first is given a 64th ahead',             UNTOUCHED,                ask(1),                               1, 1,  counted([0, 1], [59, 1])],
  ['a small limit has no 64th',                   UNTOUCHED,                ask(1, { perMinute: 60 }),            1, 0,  counted([0, 1])],
  ['a large one has more',                        UNTOUCHED,                ask(9, { perMinute: 6_400 }),         9, 100, counted([0, 9], [59, 100])],
  ['but no more than an eighth of what is left',  account([-1, 6_300]),     ask(1, { perMinute: 6_400 }),         1, 12, counted([-1, 6_300], [0, 1], [59, 12])],
  ['the last ones are given one by one',          account([-1, 57]),        ask(1)              ,               1, 0,  counted([-1, 57], [0, 1])],
  ['no more than there is room for',              account([-1, 60]),        ask(9),                               4, 0,  counted([-1, 60], [0, 4])],
  ['where there is none, none',                   account([-1, 64]),        ask(1),                               0, 0,  counted([-1, 64])],
  ['what has left the minute gives room',         account([-61, 60], [-60, 4]), ask(60),                          60, 0, counted([-60, 4], [0, 60])],
  ['what others have ahead is counted',           account([20, 63]),        ask(2),                               1, 0,  counted([0, 1], [20, 63])],
  ['what was not used comes back',                account([0, 1], [59, 8]), ask(0, { returned: { ahead: ahead(8), used: [] } }), 0, 0, counted([0, 1])],
  ['what was used moves to when it was',          account([59, 8]),         ask(0, { returned: { ahead: ahead(8), used: counted([-3, 2]) } }), 0, 0, counted([-3, 2])],
  ['beside what others have in the same second',  account([59, 11]),        ask(0, { returned: { ahead: ahead(8), used: [] } }), 0, 0, counted([59, 3])],
  ['what was used long ago is not counted',       account([-40, 8]),        ask(64, { returned: { ahead: ahead(8, -99), used: counted([-61, 8]) } }), 64, 0, counted([0, 64])],
  ['what nobody was asked for is counted',        UNTOUCHED,                ask(9, { uncovered: counted([-2, 60]) }), 4, 0, counted([-2, 60], [0, 4])],
  ['also beyond the limit',                       account([-1, 64]),        ask(1, { uncovered: counted([-2, 60]) }), 0, 0, counted([-2, 60], [-1, 64])],
]

describe('the allowance of all hubs', () => {
  for (const [rule, before, asked, granted, given, after] of rows) {
    test(rule, () => {
      const { fact, shut } = decideAllowance(before, asked, NOW)
      assert.deepEqual([fact.granted, fact.ahead?.count ?? 0], [granted, given])
      const isFull = after.reduce((sum, each) => sum + each.count, 0) >= asked.perMinute
      assert.equal(shut !== undefined, isFull && asked.wanted > 0)
      assert.ok(isFull || granted === asked.wanted)
      assert.deepEqual(applyAllowance(before, fact), { at: SECOND, counts: after })
    })
  }

  test('is shut until the time given, or for a second while others may give back', () => {
    const shutBy = (before: Allowance, now = NOW) => decideAllowance(before, ask(1), now).shut
    assert.equal(shutBy(account([-10, 64]))?.until, NOW + 51_000)
    assert.equal(shutBy(account([-10, 64]))?.refused.particulars.retryAt, NOW + 51_000)
    assert.equal(shutBy(account([-10, 60], [9, 4]), NOW + 300)?.until, NOW + 1_000)
    assert.equal(shutBy(account([-60, 60], [9, 4]), NOW + 300)?.until, NOW + 1_000)
  })

  test('goes by the latest clock, but not by one that is wrong', () => {
    const at = (ahead: number) => ({ at: SECOND + ahead, counts: counted([ahead - 60, 64]) })
    assert.equal(decideAllowance(at(20), ask(1), NOW).fact.granted, 0, 'nothing opens again')
    assert.equal(decideAllowance(at(20), ask(1), NOW).fact.at, SECOND + 20)
    const wrong = { at: SECOND + 3_600, counts: counted([3_600, 64]) }
    const { fact } = decideAllowance(wrong, ask(1), NOW)
    assert.deepEqual([fact.at, fact.granted], [SECOND, 1])
  })

  test('is forgotten when the last second that counts has left the minute', () => {
    assert.equal(forgottenAt(account([0, 1], [59, 1])), NOW + 120_000)
    assert.ok(forgottenAt(UNTOUCHED) < NOW)
  })
})

describe('the share of a hub', () => {
  const asked = (share: Share, wanted = 1, now = NOW) =>
    askFor(share, { wanted, perMinute: 64 }, now)
  const answered = (share: Share, decided: AllowanceDecided) => applyAnswer(share, decided)

  test('S1 is given back with the next question, and not used meanwhile', () => {
    const { fact } = decideAllowance(UNTOUCHED, ask(1), NOW)
    const share = applyLetIn(answered(NO_SHARE, { fact }), 'granted', NOW)
    assert.deepEqual(decideShare(share, NOW), { ok: true, cover: 'ahead' })
    assert.deepEqual(decideShare(share, NOW + 59_999), { ok: true, cover: 'ahead' })
    assert.deepEqual(decideShare(share, NOW + 60_000), { ok: true, cover: 'ask' })
    assert.deepEqual(
      [isOverdue(share, NOW + 59_999), isOverdue(share, NOW + 60_000)],
      [false, true],
    )
    const used = applyLetIn(share, 'ahead', NOW + 2_000)
    assert.deepEqual(decideShare(used, NOW), { ok: true, cover: 'ask' })
    const question = asked(used, 1, NOW + 3_000)
    assert.deepEqual(question.asked.returned, { ahead: ahead(1), used: counted([2, 1]) })
    assert.equal(question.share.given, undefined)
    assert.equal(isIdle(used, NOW + 100_000), false, 'until it has told')
    assert.deepEqual(
      [isIdle(question.share, NOW + 62_999), isIdle(question.share, NOW + 63_000)],
      [false, true],
    )
  })

  test('S2 alone it goes by what it let in itself, and tells it later', () => {
    let share = NO_SHARE
    for (let at = 0; at < 3; at += 1) {
      assert.ok(decideAlone(share, 3, NOW).ok)
      share = applyLetIn(share, 'uncovered', NOW)
    }
    assert.equal(decideAlone(share, 3, NOW).ok, false)
    assert.deepEqual(asked(share).asked.uncovered, counted([0, 3]))
    assert.deepEqual(asked(share, 1, NOW + 61_000).asked.uncovered, [])
    const { fact } = decideAllowance(UNTOUCHED, ask(1), NOW)
    assert.deepEqual(asked(answered(share, { fact })).asked.uncovered, [], 'once')
  })

  test('is shut for as long as it was told', () => {
    const share = answered(NO_SHARE, decideAllowance(account([-10, 64]), ask(1), NOW))
    assert.equal(decideShare(share, NOW + 50_999).ok, false)
    assert.deepEqual(decideShare(share, NOW + 51_000), { ok: true, cover: 'ask' })
    assert.deepEqual([isIdle(share, NOW), isIdle(share, NOW + 51_000)], [false, true])
  })
})

type Step = { readonly hub: number; readonly does: string; readonly pause: number }

/** Hubs that ask one account, as far as the order of what happens between them goes. */
function createRun(perMinute: number, hubs: number) {
  let allowance = UNTOUCHED
  let at = NOW
  const letIn: number[] = []
  const shares: Share[] = Array.from({ length: hubs }, () => NO_SHARE)
  const asking = new Map<number, Question & { readonly answer?: AllowanceDecided }>()
  const shareOf = (hub: number) => shares[hub] ?? NO_SHARE

  function request(hub: number): boolean | undefined {
    if (asking.has(hub)) return undefined
    const decision = decideShare(shareOf(hub), at)
    if (!decision.ok) return false
    if (decision.cover === 'ahead') {
      letIn.push(at)
      shares[hub] = applyLetIn(shareOf(hub), 'ahead', at)
      return true
    }
    const question = askFor(shareOf(hub), { wanted: 1 + (letIn.length % 9), perMinute }, at)
    shares[hub] = question.share
    asking.set(hub, question)
    return undefined
  }
  function arrive(hub: number): void {
    const question = asking.get(hub)
    if (question === undefined || question.answer !== undefined) return
    const answer = decideAllowance(allowance, question.asked, at)
    allowance = applyAllowance(allowance, answer.fact)
    asking.set(hub, { ...question, answer })
    // Let in when it was counted; that the answer takes a while moves no request.
    for (let each = 0; each < answer.fact.granted; each += 1) letIn.push(at)
    assert.ok(allowance.counts.length <= 61 + 60)
  }
  function hear(hub: number): void {
    const answer = asking.get(hub)?.answer
    if (answer === undefined) return
    asking.delete(hub)
    shares[hub] = applyAnswer(shareOf(hub), answer)
    for (let each = 0; each < answer.fact.granted; each += 1) {
      shares[hub] = applyLetIn(shareOf(hub), 'granted', at)
    }
  }
  const kill = (hub: number): void => {
    asking.delete(hub)
    shares[hub] = NO_SHARE
  }
  const giveBack = (hub: number): void => {
    if (asking.has(hub)) return
    const { asked, share } = askFor(shareOf(hub), { wanted: 0, perMinute }, at)
    shares[hub] = share
    allowance = applyAllowance(allowance, decideAllowance(allowance, asked, at).fact)
  }
  /** All of it at once, as one caller that waits for its answer sees it. */
  function ask(hub: number): boolean {
    const before = letIn.length
    const answer = request(hub)
    if (answer !== undefined) return answer
    arrive(hub)
    hear(hub)
    return letIn.length > before
  }
  const burst = (hub: number): void => {
    for (let each = 0; each < 40; each += 1) ask(hub)
  }
  const one = { request, arrive, hear, kill, giveBack, burst }
  const does: Record<string, (hub: number) => unknown> = one
  return {
    letIn,
    step({ hub, does: what, pause }: Step): void {
      at += pause
      does[what]?.(hub)
    },
    pass: (ms: number): void => {
      at += ms
    },
    ask,
    inMinute: () => letIn.filter((each) => each > at - MINUTE_MS).length,
    aheadOf: (hub: number): number => shareOf(hub).given?.ahead.count ?? 0,
  }
}

const SEED = Number(process.env.SEED ?? 1)

describe(`over any run (SEED=${SEED})`, () => {
  const steps = fc.array(
    fc.record({
      hub: fc.integer({ min: 0, max: 3 }),
      does: fc.oneof(
        { weight: 4, arbitrary: fc.constantFrom('burst', 'request') },
        { weight: 1, arbitrary: fc.constantFrom('arrive', 'hear', 'kill', 'giveBack') },
      ),
      pause: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 900 }), fc.constant(9_700)),
    }),
    { minLength: 100, maxLength: 200 },
  )

  test('L1 all hubs together never let in more than the limit in a minute', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 300 }), steps, (perMinute, all) => {
        const run = createRun(perMinute, 4)
        for (const each of all) {
          run.step(each)
          assert.ok(run.inMinute() <= perMinute, `${run.inMinute()} of ${perMinute}`)
        }
      }),
      { seed: SEED, numRuns: 200 },
    )
  })

  test('L3 who asks at one hub alone is let in exactly as often as the limit says', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 300 }),
        fc.array(fc.integer({ min: 0, max: 90 }), { minLength: 320, maxLength: 320 }),
        (perMinute, pauses) => {
          const run = createRun(perMinute, 1)
          for (const pause of pauses) {
            run.pass(pause)
            run.ask(0)
          }
          assert.equal(run.letIn.length, perMinute)
          run.pass(61_000)
          for (const _ of pauses) run.ask(0)
          assert.equal(run.letIn.length, 2 * perMinute, 'and again when the minute has turned')
        },
      ),
      { seed: SEED, numRuns: 60 },
    )
  })

  test('L4 who is spread over hubs is turned away by no more than the others have ahead', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 2_000 }),
        fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 20, maxLength: 20 }),
        (perMinute, places) => {
          const run = createRun(perMinute, 3)
          for (let asks = 0; ; asks += 1) {
            const hub = places[asks % places.length] ?? 0
            if (run.ask(hub)) continue
            const others = [0, 1, 2].filter((each) => each !== hub)
            const elsewhere = others.reduce((sum, each) => sum + run.aheadOf(each), 0)
            assert.ok(run.letIn.length + elsewhere >= perMinute)
            assert.ok(elsewhere <= (2 * perMinute) / 64, `${elsewhere} elsewhere`)
            return
          }
        },
      ),
      { seed: SEED, numRuns: 100 },
    )
  })
})
