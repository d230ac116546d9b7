/** The toggle, the canary share and what switches publishing off (SF-11, SF-13). */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import type { Digest } from '../ids.ts'
import type { FailureReason } from './publishing.ts'
import {
  applyPublishEnd,
  applyRollout,
  decideRollout,
  decideSwitchOff,
  mayPublish,
  openRollout,
  type Rollout,
  type RolloutCommand,
} from './rollout.ts'

const T0 = 1_800_000_000_000
const MINUTE = 60_000
const HOUR = 60 * MINUTE

const off = openRollout(T0)
const canary: Rollout = { ...off, stage: 'canary' }
const everybody: Rollout = { ...off, stage: 'everybody', resumes: 'everybody' }
const digest = (name: string) => createHash('sha256').update(name).digest('hex') as Digest

function command(rollout: Rollout, asked: RolloutCommand, at: number): Rollout {
  const decision = decideRollout(rollout, asked, at)
  assert.ok(decision.ok)
  return decision.facts.reduce(applyRollout, rollout)
}
/** Ends one message after another, `apartMs` apart, as long as publishing is on. */
function end(rollout: Rollout, ends: readonly (FailureReason | undefined)[], apartMs = 100) {
  let at = T0
  let after = rollout
  for (const failure of ends) {
    after = applyPublishEnd(after, { failure, at })
    after = decideSwitchOff(after, at).facts.reduce(applyRollout, after)
    at += apartMs
  }
  return after
}
const times = <Item>(count: number, item: Item) => Array.from({ length: count }, () => item)

describe('the toggle and the stages', () => {
  // biome-ignore format: a table is read by its columns
  const rows: [rule: string, before: Rollout, asked: RolloutCommand, afterMs: number, answer: string][] = [
    ['SF-11 switched on, it begins with the canary', off,       'switch_on',         0,             'canary'],
    ['on is on',                                     canary,    'switch_on',         0,             'nothing new'],
    ['SF-11 it can be switched off',                 canary,    'switch_off',        0,             'off'],
    ['SF-11 also for everybody',                     everybody, 'switch_off',        0,             'off'],
    ['off is off',                                   off,       'switch_off',        0,             'nothing new'],
    ['SF-13 everybody only after 48 h of canary',    canary,    'open_to_everybody', 48 * HOUR - 1, 'transition_illegal'],
    ['SF-13 then they may',                          canary,    'open_to_everybody', 48 * HOUR,     'everybody'],
    ['SF-13 never from off',                         off,       'open_to_everybody', 99 * HOUR,     'transition_illegal'],
    ['everybody is everybody',                       everybody, 'open_to_everybody', 0,             'nothing new'],
  ]
  for (const [rule, before, asked, afterMs, answer] of rows) {
    test(rule, () => {
      const decision = decideRollout(before, asked, T0 + afterMs)
      if (!decision.ok) return assert.equal(decision.refusal, answer)
      if (decision.facts.length === 0) return assert.equal('nothing new', answer)
      assert.equal(decision.facts.reduce(applyRollout, before).stage, answer)
    })
  }

  test("SF-11 after an operator's pause everybody publishes again", () => {
    const paused = command(everybody, 'switch_off', T0 + 1)
    assert.equal(paused.since, T0 + 1)
    assert.equal(command(paused, 'switch_on', T0 + 2).stage, 'everybody')
  })

  test('SF-13 a canary that was paused starts its 48 h over', () => {
    const paused = command(canary, 'switch_off', T0 + 47 * HOUR)
    const again = command(paused, 'switch_on', T0 + 50 * HOUR)
    assert.equal(decideRollout(again, 'open_to_everybody', T0 + 97 * HOUR).ok, false)
    assert.equal(decideRollout(again, 'open_to_everybody', T0 + 98 * HOUR).ok, true)
  })

  test('SF-13 after trouble it is the canary again, for 48 h', () => {
    const tripped = end(everybody, ['schema'])
    assert.equal(tripped.stage, 'off')
    assert.equal(command(tripped, 'switch_on', T0 + HOUR).stage, 'canary')
  })
})

describe('SF-13 what switches publishing off', () => {
  const good = undefined
  // biome-ignore format: a table is read by its columns
  const rows: [rule: string, ends: readonly (FailureReason | undefined)[], stage: string][] = [
    ['nothing, when all goes well',                 times(200, good),                                   'everybody'],
    ['any schema rejection',                        [...times(200, good), 'schema'],                    'off'],
    ['two authentication failures are no habit',    [...times(200, good), ...times(2, 'unauthorised' as const)], 'everybody'],
    ['three are',                                   [...times(200, good), ...times(3, 'unauthorised' as const)], 'off'],
    ['also with successes between them',            ['unauthorised', ...times(99, good), 'unauthorised', ...times(99, good), 'unauthorised'], 'off'],
    ['five in a hundred are not over 5 %',          [...times(95, good), ...times(5, 'network' as const)], 'everybody'],
    ['six are',                                     [...times(94, good), ...times(6, 'network' as const)], 'off'],
    ['two failures are chance, whatever the share', times(2, 'network' as const),                       'everybody'],
    ['three out of three are not',                  times(3, 'server' as const),                        'off'],
  ]
  for (const [rule, ends, stage] of rows) {
    test(rule, () => assert.equal(end(everybody, ends).stage, stage))
  }

  test('in the canary as well', () => {
    assert.equal(end(canary, ['schema']).stage, 'off')
  })

  test('an alert names its cause', () => {
    const bad = applyPublishEnd(canary, { failure: 'schema', at: T0 })
    assert.equal(decideSwitchOff(bad, T0).facts[0]?.cause, 'schema')
  })

  test('failures older than ten minutes are forgotten', () => {
    assert.equal(end(everybody, times(20, 'network' as const), 6 * MINUTE).stage, 'everybody')
    assert.equal(end(everybody, times(20, 'network' as const), 4 * MINUTE).stage, 'off')
  })

  test('the thresholds are settings', () => {
    const lenient = { failureShare: 0.5, failures: 10 }
    let rollout = everybody
    for (let i = 0; i < 9; i += 1) {
      rollout = applyPublishEnd(rollout, { failure: 'unauthorised', at: T0 })
    }
    assert.equal(decideSwitchOff(rollout, T0, lenient).facts.length, 0)
    rollout = applyPublishEnd(rollout, { failure: 'unauthorised', at: T0 })
    assert.equal(decideSwitchOff(rollout, T0, lenient).facts[0]?.cause, 'unauthorised')
  })

  test('what ends after the switch-off does not count against the next try', () => {
    const late = applyPublishEnd(command(canary, 'switch_off', T0), { failure: 'schema', at: T0 })
    const again = command(late, 'switch_on', T0 + 1)
    assert.equal(decideSwitchOff(again, T0 + 1).facts.length, 0)
  })

  test('the window stays bounded, however long it runs', () => {
    const rollout = end(everybody, times(5_000, undefined), 7_000)
    assert.ok(rollout.buckets.length <= 10)
  })
})

describe('SF-11 the canary share', () => {
  const names = Array.from({ length: 2_000 }, (_, i) => digest(`agent-${i}`))
  const chosen = (share?: number) => names.filter((each) => mayPublish(canary, each, share))

  test('is a tenth unless told otherwise', () => {
    const share = chosen().length / names.length
    assert.ok(share > 0.08 && share < 0.12, `it is ${share}`)
    assert.deepEqual(chosen(), chosen(0.1))
  })

  test('is the same agents every time, and more of them for a larger share', () => {
    fc.assert(
      fc.property(
        fc.string(),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (name, one, two) => {
          const mine = digest(name)
          const [less, more] = one < two ? [one, two] : [two, one]
          assert.equal(mayPublish(canary, mine, one), mayPublish(canary, digest(name), one))
          if (mayPublish(canary, mine, less)) assert.ok(mayPublish(canary, mine, more))
        },
      ),
    )
  })

  test('nobody at 0, all at 1', () => {
    assert.equal(chosen(0).length, 0)
    assert.equal(mayPublish(canary, '0'.repeat(64) as Digest, 0), false)
    assert.equal(chosen(1).length, names.length)
  })

  test('does not matter when publishing is off, or open to everybody', () => {
    assert.ok(names.every((each) => !mayPublish(off, each, 1)))
    assert.ok(names.every((each) => mayPublish(everybody, each, 0)))
  })
})
