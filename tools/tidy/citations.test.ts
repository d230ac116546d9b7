/** Which titles cite which rows, and that a row that is not there cannot be cited. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { titlesOf } from './citations.ts'
import { inspect } from './inspect.ts'
import { parseSource } from './source.ts'

const KNOWN = new Set(['OC-1', 'OC-14', 'CH-3', 'P-13'])
const OPENING = '/** A source for the tests. */\n'

function unknown(code: string, path = 'packages/domain/src/a.test.ts'): string[] {
  return inspect({ path, text: OPENING + code }, KNOWN)
    .filter((each) => each.rule === 'citation')
    .map((each) => /no (\S+) in/.exec(each.advice)?.[1] ?? '')
}

// biome-ignore format: a table is read by its columns
const rows: [rule: string, code: string, unknown: string[]][] = [
  ['a row that is there',             `test('OC-14 rejects', () => {})`,                          []],
  ['one that is not',                 `test('OC-15 rejects', () => {})`,                          ['OC-15']],
  ['in any runner',                   `describe('CH-4 heartbeats', () => {})`,                    ['CH-4']],
  ['anywhere in the title',           `it('rejects late work (OC-99)', () => {})`,                ['OC-99']],
  ['more than one',                   `test('OC-1, OC-2 and CH-9 hold', () => {})`,               ['OC-2', 'CH-9']],
  ['in a template',                   `test(\`OC-77 \${1} of many\`, () => {})`,                  ['OC-77']],
  ['behind a table',                  `test.each([1])('OC-78 takes %s', () => {})`,               ['OC-78']],
  ['in a row of a table',             `const rows = [['OC-79 rejects', 1]]`,                      ['OC-79']],
  ['a family that is mistyped',       `test('CO-3 rejects', () => {})`,                           ['CO-3']],
  ['a longer number is another row',  `test('OC-140 rejects', () => {})`,                         ['OC-140']],
  ['a curve is no promise',           `test('P-256 keys are refused', () => {})`,                 []],
  ['nor is an encoding',              `test('UTF-8 and ISO-8601', () => {})`,                     []],
  ['nor a part of a name',            `test('reads the header X-OC-99-Y', () => {})`,             []],
  ['at either end',                   `test('reads OC-99-Y', () => {})`,                          []],
  ['a string that is no title',       `const other = 'see OC-99'`,                                []],
  ['an ID alone is data',             `const other = ['OC-99']`,                                  []],
]

describe('citations', () => {
  for (const [rule, code, expected] of rows) {
    test(rule, () => assert.deepEqual(unknown(code), expected))
  }

  test('only tests have titles', () => {
    assert.deepEqual(unknown(`test('OC-99 rejects', () => {})`, 'packages/domain/src/a.ts'), [])
  })
})

describe('titles', () => {
  const titles = (code: string) => {
    const parsed = parseSource({ path: 'tools/a.test.ts', text: OPENING + code })
    assert.ok(parsed.ok)
    return titlesOf(parsed.source).map(({ text, runs }) => [text, runs])
  }

  test('a test that runs proves what it says', () => {
    assert.deepEqual(titles(`test('OC-14 rejects', () => {})`), [['OC-14 rejects', true]])
  })

  test('one that is skipped proves nothing', () => {
    assert.deepEqual(titles(`test.skip('OC-14 rejects', () => {})`), [['OC-14 rejects', false]])
  })
})
