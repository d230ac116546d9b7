/** Rows for what one wave of probes means, and runs that hold the hub to its own cuts (B3). */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { LIMITS } from '../limits.ts'
import { BRAKE_OFF, type Brake } from './eviction.ts'
import {
  applyProbes,
  decideProbes,
  isForgettable,
  type Probe,
  type ProbeBook,
  type ProbeResult,
  probeDueAt,
  unansweredAt,
} from './probe.ts'

const NOW = 10_000_000
const EMPTY: ProbeBook = new Map()

const probe = (address: string, result: ProbeResult, sentAt = NOW): Probe => ({
  address,
  result,
  sentAt,
})
/** `+` answered, `-` not, `.` not dialled; the first is the latest. */
const RESULTS: Readonly<Record<string, ProbeResult>> = {
  '+': 'answered',
  '-': 'unanswered',
  '.': 'skipped',
}
const wave = (text: string, at = NOW, name = 'a'): readonly Probe[] =>
  [...text].map((each, place) => probe(`${name}${place}`, RESULTS[each] ?? 'skipped', at - place))

function after(book: ProbeBook, ended: readonly Probe[], now = NOW, brake: Brake = BRAKE_OFF) {
  return applyProbes(book, decideProbes(book, { ended, brake }, now).facts)
}
const heldAgainst = (book: ProbeBook): readonly string[] =>
  [...book.keys()].filter((address) => unansweredAt(book, address) !== undefined).sort()

const deaf: Brake = { on: true, since: NOW - 1, hearingSince: undefined }
const hearing: Brake = { on: true, since: NOW - 9, hearingSince: NOW - 5 }

// biome-ignore format: a table is read by its columns
const rows: [rule: string, before: string, ended: string, brake: Brake, held: readonly string[]][] = [
  ['AV-6 who does not answer among others that do is not reached', '',         '+-+',        BRAKE_OFF, ['a1']],
  ['P-13 alone it proves nothing: it may be the hub',              '',         '-',          BRAKE_OFF, []],
  ['P-13 when all fail it is the hub',                             '',         '------',     BRAKE_OFF, []],
  ['P-13 one answer of ten is enough to believe the others',       '',         '-----+----', BRAKE_OFF, ['a0', 'a1', 'a2', 'a3', 'a4', 'a6', 'a7', 'a8', 'a9']],
  ['P-13 one of eleven is not',                                    '',         '-----+-----', BRAKE_OFF, []],
  ['earlier answers speak for the hub where few were sent',        '++',       '-',          BRAKE_OFF, ['a0']],
  ['but no more than the last few',                                '+++++',    '-----',      BRAKE_OFF, []],
  ['what was not dialled speaks for nobody',                       '',         '...-',       BRAKE_OFF, []],
  ['and is not held against anybody',                              '++',       '.',          BRAKE_OFF, []],
  ['P-13 a hub that hears few learns about itself only',           '++',       '-+',         deaf,      []],
  ['under the brake, hearing most, a failure counts',              '++',       '-+',         hearing,   ['a0']],
]

describe('one wave', () => {
  for (const [rule, before, ended, brake, held] of rows) {
    test(rule, () => {
      const earlier = wave(before, NOW - 2 * LIMITS.probeWindowMs, 'b')
      const known = applyProbes(
        EMPTY,
        earlier.map((each) => ({ type: 'address_probed', probe: each })),
      )
      assert.deepEqual(heldAgainst(after(known, wave(ended), NOW, brake)), held)
    })
  }

  test('an answer clears what was held against the address', () => {
    const known = after(EMPTY, wave('+-'))
    assert.equal(unansweredAt(known, 'a1'), NOW - 1)
    const again = after(known, [probe('a1', 'answered', NOW + 1)], NOW + 1)
    assert.equal(unansweredAt(again, 'a1'), undefined)
  })
})

test('B1 the first probe falls anywhere in the period, the next ones a period apart', () => {
  const listed = { listedSince: NOW, draw: 0.25 }
  assert.equal(probeDueAt(undefined, listed), NOW + LIMITS.probeMs / 4)
  for (const result of ['answered', 'unanswered', 'disregarded', 'skipped'] as const) {
    const last = probe('a', result, NOW + 5)
    assert.equal(probeDueAt(last, listed), NOW + 5 + LIMITS.probeMs)
    assert.deepEqual(
      [LIMITS.probeMs - 1, LIMITS.probeMs].map((ms) => isForgettable(last, NOW + 5 + ms)),
      [false, true],
    )
  }
})

test('P-13 in a cut of any length, with any number known, few are ever held against', () => {
  const run = fc.record({
    known: fc.integer({ min: 5, max: 200 }),
    waves: fc.integer({ min: 1, max: 40 }),
  })
  fc.assert(
    fc.property(run, ({ known, waves }) => {
      // Each address once a period, all of them spread evenly, cut off from NOW on.
      const everyMs = LIMITS.probeMs / known
      let book: ProbeBook = new Map(
        Array.from({ length: known }, (_, place) => {
          const sentAt = NOW - LIMITS.probeMs + place * everyMs
          return [`a${place}`, probe(`a${place}`, 'answered', sentAt)]
        }),
      )
      let next = 0
      for (let step = 1; step <= waves; step += 1) {
        const now = NOW + step * LIMITS.probeWaveMs
        const ended: Probe[] = []
        for (; NOW + next * everyMs <= now; next += 1) {
          ended.push(probe(`a${next % known}`, 'unanswered', NOW + next * everyMs))
        }
        book = after(book, ended, now)
        // As many as a minute brings, or the few that are judged together where it brings less.
        const minute = Math.ceil(LIMITS.probeWindowMs / everyMs)
        const most = Math.max(minute, LIMITS.brakeInstances)
        assert.ok(heldAgainst(book).length < most, `${heldAgainst(book).length} of ${known}`)
      }
      const quiet = NOW + waves * LIMITS.probeWaveMs >= NOW + 2 * LIMITS.probeWindowMs
      if (quiet && known >= 50) assert.deepEqual(heldAgainst(book), [])
    }),
  )
})
