/**
 * The breaker by a table of stories, and its invariants over any run of calls. A story is a word
 * for each thing that happens: `+` a success, `-` a failure, `?` a call that says nothing, `<` a
 * call that leaves and stays out, `wait` the time that an open breaker asks for.
 */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { LIMITS } from '../limits.ts'
import {
  applyVerdict,
  type Breaker,
  CLOSED,
  decidePass,
  type Pass,
  type Verdict,
} from './breaker.ts'

const NOW = 1_000
const VERDICTS: Readonly<Record<string, Verdict>> = { '+': 'works', '-': 'fails', '?': 'unsaid' }

function tell(story: string): { breaker: Breaker; refused: number; now: number } {
  let breaker = CLOSED
  let [now, refused] = [NOW, 0]
  for (const word of story.split(' ')) {
    if (word === 'wait') {
      if (breaker.is === 'open') now = breaker.until
      continue
    }
    const passed = decidePass(breaker, now)
    breaker = passed.breaker
    if (!passed.ok) refused += 1
    const verdict = VERDICTS[word]
    if (!passed.ok || verdict === undefined) continue
    breaker = applyVerdict(breaker, { pass: passed.pass, verdict, chance: 0 }, now)
  }
  return { breaker, refused, now }
}

const trip = '- - - - -'
// biome-ignore format: a table is read by its columns
const rows: [rule: string, story: string, is: Breaker['is'], refused: number][] = [
  ['failures below the number leave it closed', '- - - -',                  'closed',    0],
  ['the fifth in a row opens it',               trip,                       'open',      0],
  ['a success begins anew',                     '- - - - + - - - -',        'closed',    0],
  ['what says nothing does not',                '- - - - ? -',              'open',      0],
  ['open, nobody passes',                       `${trip} + +`,              'open',      2],
  ['after its time one passes',                 `${trip} wait <`,           'half_open', 0],
  ['and one only',                              `${trip} wait < < <`,       'half_open', 2],
  ['its success closes',                        `${trip} wait + < <`,       'closed',    0],
  ['its failure opens again',                   `${trip} wait - <`,         'open',      1],
  ['its silence lets the next one try',         `${trip} wait ? <`,         'half_open', 0],
  ['closed again, it counts from nothing',      `${trip} wait + - - - -`,   'closed',    0],
]

describe('a breaker', () => {
  for (const [rule, story, is, refused] of rows) {
    test(rule, () => {
      const told = tell(story)
      assert.deepEqual([told.breaker.is, told.refused], [is, refused])
    })
  }

  test('K2 the time doubles with each trip, up to the longest, and begins anew once closed', () => {
    const waits = [trip, `${trip} wait -`, `${trip} wait - wait -`, `${trip} wait - wait + ${trip}`]
    const asked = waits.map((story) => {
      const { breaker, now } = tell(story)
      return breaker.is === 'open' ? breaker.until - now : 0
    })
    const first = LIMITS.breakerOpenMs
    assert.deepEqual(asked, [first, 2 * first, 4 * first, first])
    const { breaker, now } = tell(`${trip}${' wait -'.repeat(20)}`)
    assert.ok(breaker.is === 'open')
    assert.equal(breaker.until - now, LIMITS.breakerMostMs)
  })

  test('K4 what was sent before it opened neither closes nor prolongs it', () => {
    const early = decidePass(CLOSED, NOW)
    assert.ok(early.ok)
    const { breaker } = tell(trip)
    for (const verdict of ['works', 'fails'] as const) {
      const after = applyVerdict(breaker, { pass: early.pass, verdict, chance: 0 }, NOW)
      assert.deepEqual(after, breaker)
    }
  })

  test('K1–K3 hold over any run of calls', () => {
    const step = fc.record({
      does: fc.constantFrom('ask', 'works', 'fails', 'unsaid'),
      whichPass: fc.nat(10),
      laterMs: fc.nat(LIMITS.breakerOpenMs),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        let breaker = CLOSED
        let now = NOW
        const out: Pass[] = []
        for (const { does, whichPass, laterMs } of steps) {
          now += laterMs
          const before = breaker
          if (does === 'ask') {
            const passed = decidePass(breaker, now)
            breaker = passed.breaker
            if (passed.ok) out.push(passed.pass)
            else assert.ok(passed.retryAt > now)
            if (before.is === 'closed') assert.ok(passed.ok)
            if (before.is === 'open') assert.equal(passed.ok, now >= before.until)
            if (before.is === 'half_open') assert.equal(passed.ok, !before.trying)
          } else {
            const [pass] = out.splice(whichPass % Math.max(1, out.length), 1)
            const verdict: Verdict = does === 'works' || does === 'fails' ? does : 'unsaid'
            if (pass) breaker = applyVerdict(breaker, { pass, verdict, chance: 0.5 }, now)
          }
          const trying = out.filter(({ round }) => round === breaker.round).length
          if (breaker.is === 'half_open') assert.equal(trying, breaker.trying ? 1 : 0)
          if (breaker.is === 'closed') assert.ok(breaker.failures < LIMITS.breakerFailures)
        }
      }),
      { seed: 5 },
    )
  })
})
