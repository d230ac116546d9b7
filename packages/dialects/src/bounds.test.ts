/** The bounds that hold for every message, and where a complaint points. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { findOutOfBounds } from './bounds.ts'

/** Lists and objects in turn, so many of them, around the value. */
const wrapped = (levels: number, value: unknown): unknown =>
  levels === 0
    ? value
    : levels % 2 === 0
      ? { k: wrapped(levels - 1, value) }
      : [wrapped(levels - 1, value)]

// biome-ignore format: a table is read by its columns
const rows: [why: string, value: unknown, path: string | undefined][] = [
  ['nothing at all',                  null,                                undefined],
  ['a whole pair',                    { a: ['\u{1f980}'] },                undefined],
  ['half a pair, alone',              '\ud800',                            ''],
  ['half a pair in a list',           { a: ['x', 'y\udc00'] },             '/a/1'],
  ['half a pair before another half', { a: { b: '\ud800\ud800\udc00' } },  '/a/b'],
  ['half a pair in a name',           { a: { '\ud800': 1 } },              '/a'],
  ['half a pair in a long text',      [`${'-'.repeat(9_999)}\udfff`],      '/0'],
  ['a character that cannot be kept', { a: 'x\u0000y' },                   '/a'],
  ['as deep as is allowed',           wrapped(32, 1),                      undefined],
  ['one level deeper',                wrapped(33, 1),                      '/0/k'.repeat(16)],
  ['as many as are allowed',          { a: Array(49_999).fill(0) },        undefined],
  ['one more',                        { a: Array(50_000).fill(0) },        '/a'],
]
describe('X-3 bounds', () => {
  for (const [why, value, path] of rows) {
    test(why, () => assert.equal(findOutOfBounds(value)?.path, path))
  }
  test('whatever JSON holds is told from what it cannot hold by where it stands', () => {
    const place = fc.array(fc.oneof(fc.string({ maxLength: 5 }), fc.nat(3)), { maxLength: 6 })
    fc.assert(
      fc.property(place, fc.jsonValue({ maxDepth: 3 }), (steps, sound) => {
        const broken = steps.reduceRight<unknown>(
          (inner, step) =>
            typeof step === 'number'
              ? [...Array(step).fill(sound), inner]
              : Object.fromEntries([
                  ['sound', sound],
                  [`${step}!`, inner],
                ]),
          '\ud800',
        )
        const expected = steps.map((step) => (typeof step === 'number' ? step : `${step}!`))
        assert.equal(findOutOfBounds(sound), undefined)
        assert.equal(findOutOfBounds(broken)?.path, expected.map((step) => `/${step}`).join(''))
      }),
    )
  })
})
