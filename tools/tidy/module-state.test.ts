/** What a shipped file may have at its top: one row, one statement. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { inspect } from './inspect.ts'

function found(code: string, path = 'packages/domain/src/a.ts'): string[] {
  const text = `/** A source for the tests. */\n${code}\n`
  return inspect({ path, text }, new Set())
    .filter((each) => ['on-import', 'module-state', 'syntax'].includes(each.rule))
    .map((each) => `${each.line} ${each.rule}`)
}

// biome-ignore format: a table is read by its columns
const rows: [rule: string, code: string, stopped: string[]][] = [
  ['declarations stand still',         `import { b } from './b.ts'\nexport type A = 1\nexport function c() {}\nexport class D {}\nexport { b }`, []],
  ['so does a constant',               `export const A = { b: [1, 2] } as const`,                                    []],
  ['and one that is computed',         `export const A = [1, 2].map((each) => each * 2)`,                            []],
  ['and a table that is full',         `const A = new Set(['b'])\nexport const has = (x: string) => A.has(x)`,       []],
  ['and an ambient name',              `declare let brand: symbol\nexport type A = typeof brand`,                    []],
  ['no call',                          `start()`,                                                                    ['2 on-import']],
  ['no assignment',                    `Error.stackTraceLimit = 3`,                                                  ['2 on-import']],
  ['no loop',                          `for (const each of [1]) each`,                                               ['2 on-import']],
  ['no condition',                     `if (1) start()`,                                                             ['2 on-import']],
  ['no try',                           `try { start() } catch {}`,                                                   ['2 on-import']],
  ['no throw',                         `throw new Error('x')`,                                                       ['2 on-import']],
  ['no waiting',                       `export const a = await load()`,                                              ['2 on-import']],
  ['waiting inside a function is fine', `export const a = async () => await load()`,                                 []],
  ['no import for its effect',         `import './b.ts'`,                                                            ['2 on-import']],
  ['but for a type nothing happens',   `import type { B } from './b.ts'\nexport type A = B`,                         []],
  ['no let',                           `let count = 0\nexport const next = () => count`,                             ['2 module-state']],
  ['no exported let',                  `export let count = 0`,                                                       ['2 module-state']],
  ['no var',                           `var count = 0\nexport { count }`,                                            ['2 module-state']],
  ['no empty map',                     `const seen = new Map<string, number>()\nexport { seen }`,                    ['2 module-state']],
  ['no cache, weak or not',            `export const seen = new WeakMap()`,                                          ['2 module-state']],
  ['no filling',                       `const all: string[] = []\nexport const add = (x: string) => all.push(x)`,    ['3 module-state']],
  ['no writing to a member',           `const all = { last: 1 }\nexport const put = (x: number) => { all.last = x }`, ['3 module-state']],
  ['no counting in a member',          `const all = { n: 1 }\nexport const put = () => { all.n++ }`,                 ['3 module-state']],
  ['no deleting of a member',          `const all: { n?: 1 } = {}\nexport const cut = () => { delete all.n }`,       ['3 module-state']],
  ['no sorting in place',              `const all = [2, 1]\nexport const first = () => all.sort()[0]`,               ['3 module-state']],
  ['one of a function is its own',     `export function a() { const all = new Map(); all.set(1, 2); let n = 0; n += 1; return [all, n] }`, []],
  ['even under the same name',         `const all = [1]\nexport const a = (all: number[]) => all.push(2)`,           []],
  ['a pattern that remembers',         `const A = /x/g\nexport const a = (x: string) => A.test(x)`,                  ['3 module-state']],
  ['is fine where it starts anew',     `const A = /x/g\nexport const a = (x: string) => x.replace(A, 'y')`,          []],
  ['one that does not remember',       `const A = /x/\nexport const a = (x: string) => A.test(x)`,                   []],
]

describe('module state', () => {
  for (const [rule, code, stopped] of rows) {
    test(rule, () => assert.deepEqual(found(code), stopped))
  }

  test('entry points start, and tests do what they like', () => {
    for (const path of [
      'packages/cli/src/main.ts',
      'packages/console/src/main.tsx',
      'packages/store/src/pglite-worker.ts',
      'packages/cli/bin/chimera.js',
      'packages/domain/src/a.test.ts',
      'tools/a.ts',
    ]) {
      assert.deepEqual(found('let a = 0\na += 1', path), [], path)
    }
  })
})
