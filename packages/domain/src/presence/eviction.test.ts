/**
 * A table for one sweep; then a small world in which instances post every ten seconds, more or
 * less, and some of them, or the hub's line, go silent.
 */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { LIMITS } from '../limits.ts'
import {
  applyBrake,
  BRAKE_OFF,
  type Brake,
  decideEvictions,
  type EvictionFact,
  nextSweepAt,
  type Pulse,
  suspectsOf,
} from './eviction.ts'

const NOW = 10_000_000
const CADENCE = 10_000
const MINUTE = 60_000

const pulse = (who: string, silentMs: number): Pulse<string> => ({
  who,
  seenAt: NOW - silentMs,
  cadenceMs: CADENCE,
  lapsesAt: NOW - silentMs + 3 * CADENCE,
})
/** The first are lapsed, then come the quiet ones, then those just heard. */
const roll = (lapsed: number, quiet: number, heard: number): readonly Pulse<string>[] => [
  ...Array.from({ length: lapsed }, (_, i) => pulse(`lapsed-${i}`, 30_000)),
  ...Array.from({ length: quiet }, (_, i) => pulse(`quiet-${i}`, 20_000)),
  ...Array.from({ length: heard }, (_, i) => pulse(`heard-${i}`, 5_000)),
]
const told = (facts: readonly EvictionFact<string>[]) => {
  const gone = facts.filter((fact) => fact.type === 'pulse_lost').map((fact) => fact.who)
  const brake = facts.find((fact) => fact.type !== 'pulse_lost')
  return [...(brake === undefined ? [] : [brake.type]), ...gone].join(' ')
}
/** Set so long ago; and more than half heard for so long, if they are. */
const since = (agoMs: number, hearingMs?: number): Brake => ({
  on: true,
  since: NOW - agoMs,
  hearingSince: hearingMs === undefined ? undefined : NOW - hearingMs,
})
const nobody: ReadonlyMap<string, number> = new Map()
const probed = (agoMs: number) => new Map([['lapsed-0', NOW - agoMs]])

describe('one sweep', () => {
  // biome-ignore format: a table is read by its columns
  const rows: [rule: string, pulses: readonly Pulse<string>[], brake: Brake, unanswered: ReadonlyMap<string, number>, answer: string][] = [
    ['nobody is late, nobody leaves',                        roll(0, 0, 9), BRAKE_OFF,         nobody,        ''],
    ['one that lapsed leaves',                               roll(1, 0, 8), BRAKE_OFF,         nobody,        'pulse_lost'],
    ['P-13 a third of all may leave at once',                roll(2, 1, 6), BRAKE_OFF,         nobody,        'pulse_lost'],
    ['P-13 more than a third set the brake',                 roll(1, 3, 5), BRAKE_OFF,         nobody,        'brake_set'],
    ['P-13 and then nobody leaves',                          roll(9, 0, 0), BRAKE_OFF,         nobody,        'brake_set'],
    ['quiet ones alone set no brake: nobody would leave',    roll(0, 9, 0), BRAKE_OFF,         nobody,        ''],
    ['P-13 four are too few for a brake',                    roll(4, 0, 0), BRAKE_OFF,         nobody,        'pulse_lost'],
    ['P-13 five are enough',                                 roll(5, 0, 0), BRAKE_OFF,         nobody,        'brake_set'],
    ['P-13 under the brake a lapsed one stays',              roll(2, 0, 4), since(20_000, 9_000), nobody,     ''],
    ['P-13 one that answers no probe leaves',                roll(2, 0, 4), since(20_000, 9_000), probed(9_000), 'pulse_lost'],
    ['P-13 not for a probe from before the hub heard half',  roll(2, 0, 4), since(20_000, 9_000), probed(9_001), ''],
    ['P-13 nor for one from before its last post',           roll(2, 0, 4), since(60_000, 40_000), probed(30_000), ''],
    ['P-13 nor if the hub hears none',                       roll(6, 0, 0), since(20_000),     probed(1_000), ''],
    ['P-13 more than half heard are noticed',                roll(2, 0, 4), since(20_000),     probed(1_000), 'hearing_changed'],
    ['P-13 half are not more than half',                     roll(3, 0, 3), since(20_000),     probed(1_000), ''],
    ['P-13 nor are posts from before the brake counted',     roll(2, 0, 4), since(5_000),      probed(1_000), ''],
    ['P-13 that they are heard no more is noticed too',      roll(3, 0, 3), since(20_000, 9_000), probed(1_000), 'hearing_changed'],
    ['P-13 quiet ones are no more heard',                    roll(2, 4, 0), since(60_000, 9_000), probed(1_000), 'hearing_changed'],
    ['P-13 all but a sixth heard end it',                    roll(1, 0, 5), since(60_000, 15_000), nobody,    'brake_released'],
    ['P-13 once the others had the time to post',            roll(1, 0, 5), since(60_000, 14_999), nobody,    ''],
    ['P-13 fewer do not',                                    roll(2, 0, 9), since(60_000, 15_000), nobody,    ''],
    ['P-13 when nobody is silent it ends at once',           roll(0, 0, 6), since(20_000),     nobody,        'brake_released'],
    ['P-13 its time ends it',                                roll(6, 0, 0), since(LIMITS.brakeMs), nobody,    'brake_released'],
    ['P-13 but not a moment sooner',                         roll(6, 0, 0), since(LIMITS.brakeMs - 1), nobody, ''],
    ['P-13 an empty directory needs no brake',               [],            since(20_000),     nobody,        'brake_released'],
  ]
  for (const [rule, pulses, brake, unanswered, answer] of rows) {
    test(rule, () => {
      const { facts } = decideEvictions({ pulses, unanswered }, brake, NOW)
      assert.equal(facts[0]?.type ?? '', answer)
    })
  }

  test('exactly those that lapsed leave', () => {
    const { facts } = decideEvictions({ pulses: roll(2, 1, 6), unanswered: nobody }, BRAKE_OFF, NOW)
    assert.equal(told(facts), 'lapsed-0 lapsed-1')
  })

  test('P-13 one whose post expired early is as silent as any', () => {
    const brief = Array.from({ length: 5 }, (_, i) => ({ ...pulse(`i${i}`, 5_000), lapsesAt: NOW }))
    const { facts } = decideEvictions({ pulses: brief, unanswered: nobody }, BRAKE_OFF, NOW)
    assert.equal(told(facts), 'brake_set')
  })

  test('P-13 what the hub hears is kept with the brake, and goes with it', () => {
    const set = applyBrake(BRAKE_OFF, { type: 'brake_set', at: 1, quiet: 5, known: 9 })
    assert.deepEqual(set, { on: true, since: 1, hearingSince: undefined })
    const hearing = applyBrake(set, { type: 'hearing_changed', at: 2, hearing: true })
    assert.deepEqual(hearing, { on: true, since: 1, hearingSince: 2 })
    assert.deepEqual(applyBrake(hearing, { type: 'hearing_changed', at: 3, hearing: false }), set)
    const released = { type: 'brake_released', at: 4, cause: 'heard' } as const
    assert.deepEqual(applyBrake(hearing, released), BRAKE_OFF)
  })

  test('P-13 by an unanswered probe only the probed one leaves', () => {
    const asked = { pulses: roll(2, 0, 4), unanswered: probed(1_000) }
    const { facts } = decideEvictions(asked, since(20_000, 9_000), NOW)
    assert.equal(told(facts), 'lapsed-0')
  })

  test('P-13 an unanswered probe does not outweigh a post', () => {
    const unanswered = new Map([['heard-0', NOW - 1_000]])
    const { facts } = decideEvictions(
      { pulses: roll(2, 0, 4), unanswered },
      since(20_000, 9_000),
      NOW,
    )
    assert.equal(told(facts), '')
  })

  test('P-13 when the brake ends, whoever is still silent leaves', () => {
    const ended = { pulses: roll(3, 1, 0), unanswered: nobody }
    const { facts } = decideEvictions(ended, since(LIMITS.brakeMs), NOW)
    assert.equal(told(facts), 'brake_released lapsed-0 lapsed-1 lapsed-2')
  })

  test('P-13 E1 without the brake no sweep evicts more than its share', () => {
    fc.assert(
      fc.property(fc.nat(40), fc.nat(40), fc.nat(40), (lapsed, quiet, heard) => {
        const pulses = roll(lapsed, quiet, heard)
        const { facts } = decideEvictions({ pulses, unanswered: nobody }, BRAKE_OFF, NOW)
        const gone = facts.filter((fact) => fact.type === 'pulse_lost').length
        if (pulses.length < LIMITS.brakeInstances) assert.equal(gone, lapsed)
        else assert.ok(gone <= pulses.length * LIMITS.brakeShare)
      }),
    )
  })
})

describe('when to look again', () => {
  test('when the first lapses', () => {
    assert.equal(nextSweepAt(roll(0, 2, 2), BRAKE_OFF, NOW), NOW + 10_000)
  })
  test('not more often than a sweep is worth', () => {
    assert.equal(nextSweepAt(roll(1, 0, 2), BRAKE_OFF, NOW), NOW + LIMITS.sweepMs)
  })
  test('never, when nobody is listed', () => {
    assert.equal(nextSweepAt([], BRAKE_OFF, NOW), undefined)
  })
  test('P-13 under the brake after a cadence', () => {
    assert.equal(nextSweepAt(roll(6, 0, 0), since(20_000), NOW), NOW + CADENCE)
  })
  test('P-13 and when its time is over', () => {
    assert.equal(nextSweepAt(roll(6, 0, 0), since(LIMITS.brakeMs - 7), NOW), NOW + 7)
  })
})

describe('suspects', () => {
  test('P-13 are who is kept by the brake alone', () => {
    assert.deepEqual(suspectsOf(roll(2, 1, 1), since(20_000), NOW), ['lapsed-0', 'lapsed-1'])
    assert.deepEqual(suspectsOf(roll(2, 1, 1), BRAKE_OFF, NOW), [])
  })
})

/** Instances post every cadence, late by up to half a second; `speaks` says who is heard when. */
type World = {
  readonly phases: readonly number[]
  readonly speaks: (index: number, at: number) => boolean
  /** Who answers a probe when; the same, unless told otherwise. */
  readonly answers?: (index: number, at: number) => boolean
  readonly untilMs: number
}

function run({ phases, speaks, answers = speaks, untilMs }: World) {
  const seen = new Map(phases.map((phase, i) => [`i${i}`, phase - CADENCE]))
  const lost = new Map<string, number>()
  const unanswered = new Map<string, number>()
  const brakes: EvictionFact<string>[] = []
  let brake = BRAKE_OFF
  let sweepAt = 0
  for (let now = 0; now <= untilMs; now += 100) {
    for (const [i, phase] of phases.entries()) {
      // Each post is late by its own, repeatable, share of half a second.
      const beat = Math.floor((now - phase) / CADENCE)
      const late = ((beat * 7 + i * 3) % 6) * 100
      if (beat >= 0 && now === phase + beat * CADENCE + late && speaks(i, now)) {
        seen.set(`i${i}`, now)
      }
    }
    if (now < sweepAt) continue
    const pulses = [...seen]
      .filter(([who]) => !lost.has(who))
      .map(([who, at]) => ({ who, seenAt: at, cadenceMs: CADENCE, lapsesAt: at + 3 * CADENCE }))
    const { facts } = decideEvictions({ pulses, unanswered }, brake, now)
    for (const fact of facts) {
      brake = applyBrake(brake, fact)
      if (fact.type === 'pulse_lost') lost.set(fact.who, now)
      else brakes.push(fact)
    }
    // The answer to a probe is a post.
    for (const who of suspectsOf(pulses, brake, now)) {
      if (answers(Number(who.slice(1)), now)) seen.set(who, now)
      else unanswered.set(who, now)
    }
    sweepAt = nextSweepAt(pulses, brake, now) ?? now + CADENCE
  }
  return { lost, brakes, brake }
}

const fleet = fc.array(
  fc.nat(99).map((tenths) => tenths * 100),
  { minLength: 5, maxLength: 25 },
)

describe('a hub that is cut off', () => {
  const cutAt = 2 * MINUTE

  test('P-13 evicts nobody while the brake holds, whatever the phases', () => {
    fc.assert(
      fc.property(fleet, (phases) => {
        const speaks = (_: number, at: number) => at < cutAt
        const { lost, brakes } = run({ phases, speaks, untilMs: cutAt + 9 * MINUTE })
        assert.equal(lost.size, 0)
        assert.deepEqual(
          brakes.map((fact) => fact.type),
          ['brake_set'],
        )
      }),
      { numRuns: 25 },
    )
  })

  describe('for five minutes', () => {
    const healsAt = cutAt + 5 * MINUTE
    const anyReturn = fc.array(fc.nat(4 * MINUTE), { minLength: 25, maxLength: 25 })
    const released = (brakes: readonly EvictionFact<string>[]) =>
      brakes.flatMap((fact) => (fact.type === 'brake_released' ? [fact.cause] : []))
    const whole = (_: number, at: number) => at < cutAt || at > healsAt

    test('P-13 loses nobody, if they return together', () => {
      fc.assert(
        fc.property(fleet, (phases) => {
          const world = { phases, speaks: whole, answers: () => false }
          const { lost, brakes } = run({ ...world, untilMs: healsAt + 2 * MINUTE })
          assert.equal(lost.size, 0)
          assert.deepEqual(released(brakes), ['heard'])
        }),
        { numRuns: 25 },
      )
    })

    test('P-13 nor soon after, if they are slow to post but answer probes', () => {
      fc.assert(
        fc.property(fleet, anyReturn, (phases, backMs) => {
          const speaks = (i: number, at: number) => at < cutAt || at > healsAt + (backMs[i] ?? 0)
          // The answer is worth one post, so that it carries for three cadences.
          const world = { phases, speaks, answers: whole, untilMs: healsAt + 3 * CADENCE }
          assert.equal(run(world).lost.size, 0)
        }),
        { numRuns: 25 },
      )
    })

    test('P-13 and drops stragglers only once it hears more than half of all', () => {
      fc.assert(
        fc.property(fleet, anyReturn, (phases, backMs) => {
          const speaks = (i: number, at: number) => at < cutAt || at > healsAt + (backMs[i] ?? 0)
          const { lost, brakes } = run({ phases, speaks, untilMs: healsAt + 5 * MINUTE })
          const heard = (at: number) => phases.filter((_, i) => speaks(i, at)).length
          for (const at of lost.values()) assert.ok(heard(at) * 2 > phases.length)
          assert.deepEqual(released(brakes), ['heard'])
        }),
        { numRuns: 25 },
      )
    })
  })

  test('P-13 keeps nobody on old news for ever', () => {
    const phases = [0, 1_000, 2_000, 3_000, 4_000, 5_000]
    const speaks = (_: number, at: number) => at < cutAt
    const { lost } = run({ phases, speaks, untilMs: cutAt + 11 * MINUTE })
    assert.equal(lost.size, phases.length)
  })

  test('P-13 is not fooled by agents in its own process, if they are the fewer', () => {
    const phases = Array.from({ length: 10 }, (_, i) => i * 900)
    const speaks = (i: number, at: number) => i < 4 || at < cutAt
    const { lost } = run({ phases, speaks, untilMs: cutAt + 9 * MINUTE })
    assert.equal(lost.size, 0)
  })
})

describe('a hub that is not', () => {
  const dieAt = 2 * MINUTE

  test('P-13 lets two fifths that really died go, as soon as probes say so', () => {
    const phases = Array.from({ length: 10 }, (_, i) => i * 900)
    const speaks = (i: number, at: number) => i >= 4 || at < dieAt
    const { lost } = run({ phases, speaks, untilMs: dieAt + 2 * MINUTE })
    assert.deepEqual([...lost.keys()].sort(), ['i0', 'i1', 'i2', 'i3'])
  })

  test('P-13 lets single deaths go without a brake', () => {
    const phases = Array.from({ length: 10 }, (_, i) => i * 900)
    const speaks = (i: number, at: number) => i >= 3 || at < dieAt
    const { lost, brakes } = run({ phases, speaks, untilMs: dieAt + MINUTE })
    assert.equal(brakes.length, 0)
    assert.equal(lost.size, 3)
    for (const at of lost.values()) assert.ok(at <= dieAt + 3 * CADENCE + LIMITS.sweepMs)
  })

  test('nobody leaves who posts', () => {
    fc.assert(
      fc.property(fleet, (phases) => {
        const { lost, brakes } = run({ phases, speaks: () => true, untilMs: 2 * MINUTE })
        assert.equal(lost.size + brakes.length, 0)
      }),
      { numRuns: 25 },
    )
  })
})
