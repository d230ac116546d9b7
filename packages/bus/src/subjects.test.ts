/** Subjects and patterns: the table is the rule, and the property holds it to a slower one. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { test } from 'vitest'
import { isPattern, isSubject, matches } from './subjects.ts'

// biome-ignore format: a table is read by its columns
const rows: [text: string, subject: boolean, pattern: boolean][] = [
  ['moltbook.presence.openswarm', true,  true],
  ['_INBOX.a-b_c.1',              true,  true],
  ['a',                           true,  true],
  ['a.*',                         false, true],
  ['*.b',                         false, true],
  ['a.>',                         false, true],
  ['>',                           false, true],
  ['a.>.b',                       false, false],
  ['a*',                          false, false],
  ['a.b*',                        false, false],
  ['a>',                          false, false],
  ['',                            false, false],
  ['.a',                          false, false],
  ['a.',                          false, false],
  ['a..b',                        false, false],
  ['a b',                         false, false],
  ['a\n',                         false, false],
  ['$JS.API.INFO',                false, false],
  ['ä',                           false, false],
  ['x'.repeat(255),               true,  true],
  ['x'.repeat(256),               false, false],
  [Array(16).fill('a').join('.'), true,  true],
  [Array(17).fill('a').join('.'), false, false],
]
for (const [text, subject, pattern] of rows) {
  test(`${JSON.stringify(text).slice(0, 40)} is ${subject ? 'a' : 'no'} subject`, () => {
    assert.equal(isSubject(text), subject)
    assert.equal(isPattern(text), pattern)
  })
}

test('a pattern matches what its regular expression does', () => {
  const word = fc.constantFrom('a', 'b', 'ab')
  const subject = fc.array(word, { minLength: 1, maxLength: 4 }).map((words) => words.join('.'))
  const wild = fc.array(fc.oneof(word, fc.constant('*')), { minLength: 1, maxLength: 4 })
  const pattern = fc
    .tuple(wild, fc.boolean())
    .map(([words, open]) => [...words, ...(open ? ['>'] : [])].join('.'))
  fc.assert(
    fc.property(pattern, subject, (given, text) => {
      const source = given.replaceAll('.', '\\.').replaceAll('*', '[^.]+').replace('>', '.+')
      assert.equal(matches(given, text), new RegExp(`^${source}$`).test(text))
    }),
  )
})
