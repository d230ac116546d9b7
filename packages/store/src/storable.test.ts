/** Which texts both engines keep as they are. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { test } from 'vitest'
import { isStorable } from './storable.ts'

test('a value can be kept exactly if no text in it has a NUL or half a character', () => {
  const unkept = /\0|\p{Surrogate}/u
  const text = fc.string({
    unit: fc.constantFrom(
      'a',
      '\\',
      'u',
      '0',
      'd',
      '8',
      '"',
      '\0',
      '\ud800',
      '\udc00',
      '\u{1f600}',
    ),
  })
  fc.assert(
    fc.property(text, text, (key, value) => {
      assert.equal(isStorable({ [key]: [value] }), !unkept.test(key) && !unkept.test(value))
    }),
  )
})
