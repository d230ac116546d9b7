/**
 * Tables for single moments; then a virtual clock that plays random changes against the voice, with
 * timers that fire late, and holds every promise of the three documents to what was sent.
 */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import {
  applyChange,
  applySpoken,
  decideRepeat,
  decideSpeak,
  hasSaidAll,
  MANNERS,
  type Manner,
  nextRepeatAt,
  nextSpeakAt,
  openVoice,
  type Rhythm,
  type Saying,
  type Spoken,
  type Voice,
} from './cadence.ts'

const T0 = 1_000_000
const SECOND = 1_000
const MINUTE = 60_000

const idle: Saying<string> = { state: 'idle', rhythm: 'steady' }
const busy: Saying<string> = { state: 'busy', rhythm: 'steady' }
const draining: Saying<string> = { state: 'draining', rhythm: 'slow' }
const review: Saying<string> = { state: 'review', rhythm: 'silent' }

/** Speaks now if the voice wants to, and gives back what it said. */
function speak(voice: Voice<string>, now: number): [Voice<string>, Spoken<string> | undefined] {
  const said = decideSpeak(voice, now).facts[0]
  return [said === undefined ? voice : applySpoken(voice, said), said]
}
/** A voice that has just said `saying`. */
function opened(manner: Manner, saying: Saying<string>, at = T0): Voice<string> {
  return speak(openVoice(manner, saying, at), at)[0]
}

describe('when it is next due', () => {
  const feed = opened(MANNERS.feed, idle)
  const claw = opened(MANNERS.openclaw, idle)
  const presence = opened(MANNERS.presence, idle)
  const after = (voice: Voice<string>, next: Saying<string>, ms: number, urgent = false) =>
    applyChange(voice, next, T0 + ms, urgent ? 'urgent' : 'usual')
  // biome-ignore format: a table is read by its columns
  const rows: [rule: string, voice: Voice<string>, afterMs: number | undefined][] = [
    ['a voice begins by speaking',                          openVoice(MANNERS.feed, idle, T0),            0],
    ['also one with a silent rhythm',                       openVoice(MANNERS.feed, review, T0),          0],
    ['SF-3 the feed repeats every 60 s',                    feed,                                         60 * SECOND],
    ['OC-4 OpenClaw at least every 60 s, with time to spare', claw,                                       55 * SECOND],
    ['AV-1 presence every 10 s',                            presence,                                     10 * SECOND],
    ['AV-5 draining every 30 s',                            opened(MANNERS.presence, draining),           30 * SECOND],
    ['SF-3 what waits for a person needs no heartbeat',     opened(MANNERS.feed, review),                 undefined],
    ['OpenClaw renews a maintenance before its hour ends',  opened(MANNERS.openclaw, draining),           50 * MINUTE],
    ['SF-4 a change is said at once',                       after(feed, busy, 20 * SECOND),               20 * SECOND],
    ['OC-3 also by OpenClaw',                               after(claw, busy, 20 * SECOND),               20 * SECOND],
    ['SF-4 soon after a publish it is folded',              after(feed, busy, 100),                       4_500],
    ['SF-4 with all that follow, at the same time',         after(after(feed, busy, 100), idle, 4_000),   4_500],
    ['SF-4 there and back is told as well',                 after(after(feed, busy, 100), idle, 200),     4_500],
    ['no change is no change',                              after(feed, idle, 100),                       60 * SECOND],
    ['AV-5 draining is said without folding',               after(presence, draining, 100, true),         100],
    ['AV-5 even if a folded change was waiting',            after(after(presence, busy, 100), draining, 200, true), 100],
    ['AV-5 and it stays urgent if more changes',            after(after(presence, draining, 100, true), busy, 200), 100],
    ['presence folds for a second',                         after(presence, busy, 100),                   1_000],
    ['a change does not put off a heartbeat',               after(feed, busy, 59_999),                    59_999],
  ]
  for (const [rule, voice, afterMs] of rows) {
    test(rule, () => {
      const at = nextSpeakAt(voice)
      assert.equal(at, afterMs === undefined ? undefined : T0 + afterMs)
      // What it announces is what it does, to the millisecond.
      if (at === undefined) return
      assert.equal(decideSpeak(voice, at).facts.length, 1)
    })
  }

  test('it says nothing before it is due', () => {
    assert.equal(decideSpeak(feed, T0 + 59_999).facts.length, 0)
    assert.equal(decideSpeak(opened(MANNERS.feed, review), T0 + 1e9).facts.length, 0)
    assert.equal(decideSpeak(applyChange(feed, busy, T0 + 1), T0 + 4_499).facts.length, 0)
  })
})

describe('what it says', () => {
  test('OC-3 a change names what was said before', () => {
    const changed = applyChange(opened(MANNERS.openclaw, idle), busy, T0 + 10 * SECOND)
    const [, said] = speak(changed, T0 + 10 * SECOND)
    assert.deepEqual([said?.why, said?.state, said?.previous], ['change', 'busy', 'idle'])
  })

  test('OC-3 after folding, what the listeners heard, not what they never heard', () => {
    const folded = applyChange(
      applyChange(opened(MANNERS.openclaw, idle), busy, T0 + 1),
      review,
      T0 + 2,
    )
    const [, said] = speak(folded, T0 + 4_500)
    assert.deepEqual([said?.state, said?.previous], ['review', 'idle'])
  })

  test('SF-3 every publish restarts the timer', () => {
    const changed = applyChange(opened(MANNERS.feed, idle), busy, T0 + 50 * SECOND)
    const [voice] = speak(changed, T0 + 50 * SECOND)
    assert.equal(nextSpeakAt(voice), T0 + 110 * SECOND)
  })

  test('what must be announced before it begins can see that it was', () => {
    const changed = applyChange(opened(MANNERS.openclaw, idle), draining, T0 + 1, 'urgent')
    assert.equal(hasSaidAll(changed), false)
    assert.equal(hasSaidAll(speak(changed, T0 + 1)[0]), true)
  })

  test('only the urgent change is urgent', () => {
    const urgent = applyChange(opened(MANNERS.presence, idle), draining, T0 + 1, 'urgent')
    const [voice] = speak(urgent, T0 + 1)
    assert.equal(nextSpeakAt(applyChange(voice, busy, T0 + 2)), T0 + 1_001)
  })

  test('SF-3 K3 stamps rise even if two are sent in one millisecond', () => {
    const changed = applyChange(opened(MANNERS.presence, idle), draining, T0, 'urgent')
    const [, said] = speak(changed, T0)
    assert.equal(said?.stamp, T0 + 1)
  })

  test('SF-3 K5 a clock that is set back neither silences us nor turns a stamp back', () => {
    const [voice, said] = speak(opened(MANNERS.feed, idle), T0 - 60 * MINUTE)
    assert.equal(said?.why, 'heartbeat')
    assert.equal(said?.stamp, T0 + 1)
    assert.equal(nextSpeakAt(voice), T0 - 59 * MINUTE)
  })

  test('K5 not even if the minute was full', () => {
    const narrow: Manner = { ...MANNERS.feed, mostPerMinute: 1 }
    const [, said] = speak(opened(narrow, idle), T0 - 60 * MINUTE)
    assert.equal(said?.why, 'heartbeat')
  })
})

describe('speaking again, because the last did not arrive', () => {
  const voice = opened(MANNERS.feed, idle)

  test('a retry is the same message', () => {
    const said = decideRepeat(voice, 'retry', T0 + 1_000).facts[0]
    assert.deepEqual([said?.stamp, said?.state, said?.at], [T0, 'idle', T0 + 1_000])
  })

  test('unless something changed', () => {
    const changed = applyChange(voice, busy, T0 + 500)
    const said = decideRepeat(changed, 'retry', T0 + 1_000).facts[0]
    assert.ok(said)
    assert.deepEqual([said.stamp, said.state], [T0 + 1_000, 'busy'])
    assert.ok(hasSaidAll(applySpoken(changed, said)))
  })

  test('SF-5 a probe is a new message with what is so now', () => {
    const said = decideRepeat(applyChange(voice, busy, T0 + 500), 'probe', T0 + MINUTE).facts[0]
    assert.deepEqual([said?.stamp, said?.state, said?.why], [T0 + MINUTE, 'busy', 'probe'])
  })

  test('SF-4 K2 neither passes the limit of a minute', () => {
    let full = voice
    for (let i = 1; i < 60; i += 1) {
      const said = decideRepeat(full, 'retry', T0 + i).facts[0]
      assert.ok(said)
      full = applySpoken(full, said)
    }
    assert.equal(decideRepeat(full, 'retry', T0 + MINUTE - 1).facts.length, 0)
    assert.equal(decideRepeat(full, 'probe', T0 + MINUTE - 1).facts.length, 0)
    assert.equal(nextRepeatAt(full, T0 + 100), T0 + MINUTE)
    assert.equal(decideRepeat(full, 'retry', T0 + MINUTE).facts.length, 1)
  })
})

type Step = {
  readonly afterMs: number
  readonly saying: Saying<string>
  readonly urgent: boolean
  /** How late the timer fires that was set before this change. */
  readonly lateMs: number
}
type Run = {
  /** What was sent, and what was so at that moment, by the test's own book. */
  readonly sent: readonly (Spoken<string> & { readonly so: Saying<string> })[]
  /** What changed, and how many messages had been sent before it. */
  readonly changes: readonly { readonly at: number; readonly sentBefore: number }[]
  readonly last: Saying<string>
  readonly endsAt: number
}

/** Plays the changes, and then three quiet minutes. */
function play(manner: Manner, steps: readonly Step[]): Run {
  let now = T0
  let so = idle
  let voice = openVoice(manner, so, now)
  const sent: (Spoken<string> & { readonly so: Saying<string> })[] = []
  const changes = [{ at: now, sentBefore: 0 }]
  const trySpeak = () => {
    const [next, said] = speak(voice, now)
    voice = next
    if (said !== undefined) sent.push({ ...said, so })
  }
  const wait = (until: number, lateMs: number) => {
    for (;;) {
      const at = nextSpeakAt(voice)
      if (at === undefined || at + lateMs > until) break
      now = Math.max(now, at + lateMs)
      const before = sent.length
      trySpeak()
      assert.equal(sent.length, before + 1, 'a timer that was asked for is used')
    }
    now = until
  }
  trySpeak()
  for (const { afterMs, saying, urgent, lateMs } of steps) {
    wait(now + afterMs, lateMs)
    if (saying.state !== so.state || saying.rhythm !== so.rhythm) {
      changes.push({ at: now, sentBefore: sent.length })
    }
    so = saying
    voice = applyChange(voice, saying, now, urgent ? 'urgent' : 'usual')
    trySpeak()
  }
  wait(now + 3 * MINUTE, 0)
  return { sent, changes, last: so, endsAt: now }
}

const anySaying = fc.record({
  state: fc.constantFrom('a', 'b', 'c'),
  rhythm: fc.constantFrom<Rhythm>('steady', 'slow', 'silent'),
})
/** Bursts, pauses and everything between. */
const anyGap = fc.oneof(fc.nat(50), fc.nat(2_000), fc.nat(10_000), fc.nat(150_000))
const stepsOf = (urgent: fc.Arbitrary<boolean>) =>
  fc.array(fc.record({ afterMs: anyGap, saying: anySaying, urgent, lateMs: fc.nat(450) }), {
    maxLength: 120,
  })
const usualSteps = stepsOf(fc.constant(false))
const anySteps = stepsOf(fc.boolean())

function checkChangesTold({ sent, changes }: Run, withinMs: number) {
  for (const { at, sentBefore } of changes) {
    const told = sent[sentBefore]
    assert.ok(told && told.at - at <= withinMs, `the change at ${at} is told in time`)
  }
  for (const { state, so } of sent) assert.equal(state, so.state)
}

function checkLimit({ sent }: Run, most: number) {
  for (const [i, each] of sent.entries()) {
    const later = sent[i + most]
    if (later !== undefined) assert.ok(later.at - each.at >= MINUTE, `too many from ${each.at}`)
  }
}

function checkStamps({ sent }: Run) {
  for (const [i, each] of sent.entries()) {
    const next = sent[i + 1]
    if (next !== undefined) assert.ok(next.stamp > each.stamp)
  }
}

/** While a rhythm holds, messages are no further apart than its beat and the timers' lateness. */
function checkBeats(run: Run, manner: Manner) {
  for (const [i, each] of run.sent.entries()) {
    const { rhythm } = each.so
    const next = run.sent[i + 1]
    const gapMs = (next?.at ?? run.endsAt) - each.at
    assert.ok(gapMs <= manner.beatMs[rhythm] + 450, `silent for ${gapMs} while ${rhythm}`)
    if (next?.why === 'heartbeat') assert.ok(gapMs >= manner.beatMs[rhythm])
  }
}

describe('any sequence of changes', () => {
  const voices = [
    ['SF-3 SF-4 status feed', MANNERS.feed],
    ['OC-3 OC-4 OpenClaw status', MANNERS.openclaw],
    ['AV-1 AV-5 presence', MANNERS.presence],
  ] as const
  for (const [name, manner] of voices) {
    test(`${name}: changes told in 5 s, beats kept, 60 a minute at most, stamps rise`, () => {
      fc.assert(
        fc.property(usualSteps, (steps) => {
          const run = play(manner, steps)
          checkChangesTold(run, 5 * SECOND)
          checkLimit(run, 60)
          checkStamps(run)
          checkBeats(run, manner)
        }),
      )
    })
  }

  test('SF-3 OC-4 the feed beats within 60 ± 5 s, OpenClaw within 60 s, timers late or not', () => {
    fc.assert(
      fc.property(usualSteps, (steps) => {
        for (const { manner, least, most } of [
          { manner: MANNERS.feed, least: 55 * SECOND, most: 65 * SECOND },
          { manner: MANNERS.openclaw, least: 0, most: 60 * SECOND },
        ]) {
          const run = play(manner, steps)
          for (const [i, each] of run.sent.entries()) {
            if (each.so.rhythm !== 'steady') continue
            const next = run.sent[i + 1]
            assert.ok((next?.at ?? run.endsAt) - each.at <= most)
            if (next?.why === 'heartbeat') assert.ok(next.at - each.at >= least)
          }
        }
      }),
    )
  })

  test('SF-4 the limit of a minute holds whatever the numbers, urgent or not', () => {
    const anyManner = fc.record({
      beatMs: fc.record({
        steady: fc.integer({ min: 50, max: 60_000 }),
        slow: fc.integer({ min: 50, max: 60_000 }),
        silent: fc.constant(Infinity),
      }),
      foldMs: fc.nat(5_000),
      mostPerMinute: fc.integer({ min: 1, max: 60 }),
    })
    fc.assert(
      fc.property(anyManner, anySteps, (manner, steps) => {
        const run = play(manner, steps)
        checkLimit(run, manner.mostPerMinute)
        checkStamps(run)
        // However tight the limit, the last word is always told in the end.
        assert.equal(run.sent.at(-1)?.state, run.last.state)
      }),
    )
  })
})
