/** What a stranger wrote, cleaned: ordinary text stays, what steers or hides goes. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { cleanText, cleanValue, readData } from './clean.ts'

describe('text', () => {
  const rows: readonly (readonly [rule: string, text: string, clean: string])[] = [
    ['ordinary text stays', 'Zürich, 東京, ኢትዮጵያ – “calm”', 'Zürich, 東京, ኢትዮጵያ – “calm”'],
    ['emoji stay whole', '👩‍👩‍👧 🏳️‍🌈', '👩‍👩‍👧 🏳️‍🌈'],
    ['lines become one', 'a\r\nb\u2028c\td', 'a b c d'],
    ['terminals are not steered', '\u001b[2J\u0007x\u009b1m', '[2Jx1m'],
    ['writing is not turned', 'abc\u202edef\u2066g', 'abcdefg'],
    ['nothing hides', 'a\u200bb\ufeffc\u{e0049}\u{e0067}', 'abc'],
    ['halves of pairs go', 'a\ud800b', 'ab'],
  ]
  for (const [rule, text, clean] of rows) {
    test(rule, () => assert.equal(cleanText(text), clean))
  }

  test('what is clean is left as it is', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 0x10_ffff })), (codes) => {
        const text = String.fromCodePoint(...codes)
        const clean = cleanText(text)
        assert.equal(cleanText(clean), clean)
        assert.doesNotMatch(clean, /[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]/u)
      }),
    )
  })
})

describe('values', () => {
  const deep = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels)
  const rows: readonly (readonly [rule: string, text: string, data: unknown])[] = [
    ['JSON, cleaned at every depth', '{"a\\u0007":[{"b":"c\\u202e"}]}', { a: [{ b: 'c' }] }],
    ['no JSON', 'hello', undefined],
    ['as deep as is read', deep(30), JSON.parse(deep(30))],
    ['too deep', deep(40), undefined],
    ['far too deep', deep(1_000_000), undefined],
    ['brackets in a text are text', `"${'['.repeat(100)}\\""`, `${'['.repeat(100)}"`],
    ['too many values', `[${'0,'.repeat(100_001)}0]`, undefined],
  ]
  for (const [rule, text, data] of rows) {
    test(rule, () => assert.deepEqual(readData(text), data))
  }

  test('a name is a name and nothing more', () => {
    const clean = cleanValue(JSON.parse('{"__proto__":{"polluted":true}}'))
    assert.equal(Object.getPrototypeOf(clean), Object.prototype)
    assert.deepEqual(Object.keys(Object(clean)), ['__proto__'])
    assert.equal(Reflect.get({}, 'polluted'), undefined)
  })
})
