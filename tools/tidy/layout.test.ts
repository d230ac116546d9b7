/** How a file opens, how wide its lines are, and how many it may have. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { inspect } from './inspect.ts'

const PATH = 'packages/hub/src/a.ts'
const OPENING = '/** A source for the tests. */\n'

function found(text: string, path = PATH): string[] {
  return inspect({ path, text }, new Set())
    .filter((each) => ['opening', 'columns', 'lines'].includes(each.rule))
    .map((each) => `${each.line} ${each.rule}`)
}

const wide = (columns: number): string => `// ${'x '.repeat(columns).slice(0, columns - 3)}\n`

describe('the opening', () => {
  // biome-ignore format: a table is read by its columns
  const rows: [rule: string, text: string, stopped: boolean][] = [
    ['a block that says what it is',       '/** Money in hundredths. */\nexport const a = 1\n',                           false],
    ['a line that does',                   '// Money in hundredths.\nexport const a = 1\n',                               false],
    ['after the line that starts it',      '#!/usr/bin/env node\n/** Starts the hub. */\nexport const a = 1\n',           false],
    ['after a reference',                  '/// <reference path="./b.d.ts" />\n/** Verifies many at once. */\nexport {}\n', false],
    ['none',                               'export const a = 1\n',                                                        true],
    ['one that comes after the imports',   `import { b } from './b.ts'\n/** Money in hundredths. */\nexport { b }\n`,     true],
    ['a directive is none',                '// biome-ignore format: a table is read by columns\nexport const a = 1\n',    true],
    ['a word is none',                     '/** Money. */\nexport const a = 1\n',                                         true],
  ]
  for (const [rule, text, stopped] of rows) {
    test(rule, () => assert.deepEqual(found(text), stopped ? ['1 opening'] : []))
  }

  test('is asked of tests too', () => {
    assert.deepEqual(found('export {}\n', 'packages/hub/src/a.test.ts'), ['1 opening'])
  })
})

describe('columns', () => {
  const long = 'x'.repeat(90)
  const table = `// biome-ignore format: a table is read by its columns\nexport const a = {\n`

  // biome-ignore format: a table is read by its columns
  const rows: [rule: string, text: string, stopped: string[]][] = [
    ['a hundred fit',                     wide(100),                                                              []],
    ['one more does not',                 wide(101),                                                              ['2 columns']],
    ['signs are counted, not bytes',      `// ${'é '.repeat(48)}\n`,                                              []],
    ['in a string with blanks',           `export const a = '${'x y '.repeat(30)}'\n`,                            ['2 columns']],
    ['a key has no place to break',       `export const a = b('${long}', '${long}')\n`,                           []],
    ['nor has an address',                `// See https://example.org/${long}\n`,                                 []],
    ['nor has a pattern',                 `export const a = /${'x | '.repeat(30)}/\n`,                            []],
    ['a table is as wide as its columns', `${table}  b: '${'x y '.repeat(30)}',\n  c: '${'x y '.repeat(30)}',\n}\n`, []],
    ['what follows a table is not',       `${table}  b: 1,\n}\n${wide(101)}`,                                     ['6 columns']],
  ]
  for (const [rule, text, stopped] of rows) {
    test(rule, () => assert.deepEqual(found(OPENING + text), stopped))
  }
})

describe('lines', () => {
  test('five hundred fit', () => {
    assert.deepEqual(found(OPENING + 'export {}\n'.repeat(499)), [])
  })

  test('one more does not', () => {
    assert.deepEqual(found(OPENING + 'export {}\n'.repeat(500)), ['1 lines'])
  })
})
