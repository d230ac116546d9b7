/** Marks in a text: by a table of spans, and by chance. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { type Span, splitMarks } from './marks.ts'

const TEXT = 'A 90 % rise, they say.'

describe('a marked text', () => {
  // biome-ignore format: a table is read by its columns
  const ROWS: readonly (readonly [string, readonly (Span | undefined)[], readonly string[]])[] = [
    ['nothing marked',           [],                                               [TEXT]],
    ['one in the middle',        [{ start: 2, end: 6 }],                           ['A ', '[0]90 %', ' rise, they say.']],
    ['at both ends',             [{ start: 0, end: 1 }, { start: 21, end: 22 }],   ['[0]A', ' 90 % rise, they say', '[1].']],
    ['overlapping ones',         [{ start: 0, end: 6 }, { start: 2, end: 11 }],    ['[0]A ', '[0,1]90 %', '[1] rise', ', they say.']],
    ['longer than the text',     [{ start: 17, end: 99 }],                         [TEXT.slice(0, 17), '[0] say.']],
    ['behind the text',          [{ start: 40, end: 50 }],                         [TEXT]],
    ['turned back',              [{ start: 6, end: 2 }],                           [TEXT]],
    ['empty',                    [{ start: 3, end: 3 }],                           [TEXT]],
    ['of another field',         [undefined, { start: 0, end: 1 }],                ['[1]A', TEXT.slice(1)]],
  ]
  for (const [name, spans, wanted] of ROWS) {
    test(name, () => {
      const parts = splitMarks(TEXT, spans).map(
        ({ text, marks }) => `${marks.length > 0 ? `[${marks.join()}]` : ''}${text}`,
      )
      assert.deepEqual(parts, wanted)
    })
  }

  test('no letter is cut in half', () => {
    const parts = splitMarks('a🎈b', [{ start: 2, end: 4 }])
    assert.deepEqual(
      parts.map(({ text }) => text),
      ['a', '🎈b'],
    )
  })

  test('put together it is the text again, whatever is marked', () => {
    const span = fc.record({ start: fc.nat(40), end: fc.nat(40) })
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 30 }), fc.array(span), (text, spans) => {
        const parts = splitMarks(text, spans)
        assert.equal(parts.map((each) => each.text).join(''), text)
        assert.ok(parts.every((each) => !/\p{Surrogate}/u.test(each.text)))
      }),
    )
  })
})
