/** Times, figures and strangers' words, as people read them. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { bytesText, creditText, percentText, secondsText } from './figures.ts'
import { plainText, sentence, shortId } from './text.ts'
import { agoText, exactText, instantOf, spanText } from './time.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

describe('times', () => {
  for (const [ms, text] of [
    [-5, '0 s'],
    [59_999, '59 s'],
    [MINUTE, '1 min'],
    [HOUR - 1, '59 min'],
    [47 * HOUR, '47 h'],
    [48 * HOUR, '2 d'],
  ] as const) {
    test(`${ms} ms is ${text}`, () => assert.equal(spanText(ms), text))
  }
  test('now, the past and the future', () => {
    assert.equal(agoText(1_000, 1_500), 'now')
    assert.equal(agoText(0, 61_000), '1 min ago')
    assert.equal(agoText(HOUR, 0), 'in 1 h')
  })
  test('the exact one can be read back', () => {
    const at = Date.parse('2026-11-15T20:45:07.000Z')
    assert.equal(Date.parse(exactText(at)), at)
  })
  test('what is no time is none', () => assert.equal(instantOf('yesterday'), undefined))
})

describe('figures', () => {
  test('credits have two decimals', () => assert.equal(creditText(1234.5), '1,234.50'))
  test('shares', () => assert.equal(percentText(0.105), '11 %'))
  for (const [bytes, text] of [
    [999, '999 B'],
    [1_500, '1.5 kB'],
    [538_000_000, '538 MB'],
  ] as const) {
    test(text, () => assert.equal(bytesText(bytes), text))
  }
  for (const [seconds, text] of [
    [0.000_4, '400 µs'],
    [0.0042, '4.2 ms'],
    [0.25, '250 ms'],
    [2.5, '2.5 s'],
  ] as const) {
    test(text, () => assert.equal(secondsText(seconds), text))
  }
})

describe('strangers’ words', () => {
  for (const [why, text, shown] of [
    ['H1 the direction is not turned', 'a\u202Egnp.exe', 'a⟨202e⟩gnp.exe'],
    ['H1 nothing is hidden', 'pay\u200Bpal', 'pay⟨200b⟩pal'],
    ['H1 isolates are shown', '\u2066x\u2069', '⟨2066⟩x⟨2069⟩'],
    ['H1 no control character is kept', '\u0007bell', '⟨0007⟩bell'],
    ['H2 a name is one line', 'one\r\ntwo\tthree', 'one two three'],
    ['markup is text like any other', '<b>&amp;', '<b>&amp;'],
    ['other scripts are left alone', 'עברית and 日本語', 'עברית and 日本語'],
  ] as const) {
    test(why, () => assert.equal(plainText(text), shown))
  }
  test('ids are short, names are not cut', () => {
    assert.equal(shortId('7d0c3c0a-5b1e-4a52-9a53-6f1f0f6f7d11'), '7d0c3c0a')
    assert.equal(shortId('task-1'), 'task-1')
  })
  test('a kind becomes a sentence', () => assert.equal(sentence('hold_captured'), 'Hold captured'))
})
