/**
 * Each row is a life: `+` a post, `-` a fall, `~` an absence longer than the directory remembers,
 * ten seconds apart. The last word is whether a rise to available counts now.
 */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { LIMITS } from '../limits.ts'
import { afterFall, afterPost, STEADY, type Steadiness } from './flap.ts'

function live(life: string): Steadiness {
  let at = 0
  let steadiness = STEADY
  for (const step of life) {
    at += step === '~' ? LIMITS.flapMemoryMs : 10_000
    if (step === '+') steadiness = afterPost(steadiness, at)
    if (step === '-') steadiness = afterFall(steadiness, at)
  }
  return steadiness
}

// biome-ignore format: a table is read by its columns
const rows: [rule: string, life: string, is: Steadiness['is']][] = [
  ['a first-ever post counts at once',                  '+',       'steady'],
  ['a fall is a fall',                                  '+-',      'down'],
  ['the first post after a flap does not count',        '+-+',     'returning'],
  ['the second in a row does',                          '+-++',    'steady'],
  ['a fall between the two starts anew',                '+-+-+',   'returning'],
  ['and then two are needed again',                     '+-+-++',  'steady'],
  ['many flaps need no more than two',                  '+-+-+-++', 'steady'],
  ['after a long absence the first post counts',        '+-~+',    'steady'],
  ['one that only ever said offline has fallen too',    '-+',      'returning'],
  ['saying offline again does not prolong the absence', '+-~-+',   'steady'],
]

describe('AV-6 P-13 a rise after a flap needs two posts in a row', () => {
  for (const [rule, life, is] of rows) {
    test(rule, () => assert.equal(live(life).is, is))
  }

  test('the memory of a fall ends to the millisecond', () => {
    const down = afterFall(STEADY, 1_000)
    assert.equal(afterPost(down, 1_000 + LIMITS.flapMemoryMs - 1).is, 'returning')
    assert.equal(afterPost(down, 1_000 + LIMITS.flapMemoryMs).is, 'steady')
  })

  test('F2 whatever came before, it takes exactly two', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[+-]{0,20}$/), (life) => {
        const before = life.endsWith('-') ? life : `${life}-`
        assert.equal(live(`${before}+`).is, 'returning')
        assert.equal(live(`${before}++`).is, 'steady')
      }),
      // A life of twenty falls lasts 200 s, well inside the memory of 600 s.
      { numRuns: 200 },
    )
  })
})
