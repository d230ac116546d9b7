/** Printing, postponing, and tests that do not run: one row, one case. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { inspect } from './inspect.ts'

/** The first line of the code counts as line 1. */
function found(path: string, code: string): string[] {
  const text = `/** A source for the tests. */\n\n${code}\n`
  return inspect({ path, text }, new Set())
    .filter((each) => ['console', 'postponed', 'unrun', 'syntax'].includes(each.rule))
    .map((each) => `${each.line - 2} ${each.rule}`)
}

const SHIPPED = 'packages/hub/src/a.ts'
const TEST = 'packages/hub/src/a.test.ts'

// biome-ignore format: a table is read by its columns
const rows: [rule: string, path: string, code: string, stopped: string[]][] = [
  ['a library does not print',              SHIPPED,                  `export const a = () => console.log('x')`,                   ['1 console']],
  ['nor does its test',                     TEST,                     `export const a = () => console.error('x')`,                 ['1 console']],
  ['nor under another name',                SHIPPED,                  `export const a = console`,                                  ['1 console']],
  ['nor the conformance kit',               'conformance/run.ts',     `export const a = () => console.log('x')`,                   ['1 console']],
  ['the CLI does',                          'packages/cli/src/a.ts',  `export const a = () => console.log('x')`,                   []],
  ['and the tools',                         'tools/a.ts',             `export const a = () => console.log('x')`,                   []],
  ['and the benchmarks',                    'bench/a.ts',             `export const a = () => console.log('x')`,                   []],
  ['and the examples',                      'examples/a.ts',          `export const a = () => console.log('x')`,                   []],
  ['a page of that name is no console',     SHIPPED,                  `export const a = (hub: { console: string }) => hub.console`, []],
  ['no TODO',                               SHIPPED,                  `// TODO: later\nexport {}`,                                 ['1 postponed']],
  ['no FIXME, found on its line',           SHIPPED,                  `/*\n * FIXME this\n */\nexport {}`,                         ['2 postponed']],
  ['no XXX',                                'tools/a.ts',             `export {} // XXX`,                                          ['1 postponed']],
  ['a word with it inside is a word',       SHIPPED,                  `// the TODOS of a list\nexport {}`,                         []],
  ['a string is data',                      SHIPPED,                  `export const a = 'TODO'`,                                   []],
  ['no only',                               TEST,                     `test.only('a', () => {})`,                                  ['1 unrun']],
  ['on any runner',                         TEST,                     `describe.only('a', () => {})`,                              ['1 unrun']],
  ['at any place in the chain',             TEST,                     `it.concurrent.only('a', () => {})`,                         ['1 unrun']],
  ['not even with a reason',                TEST,                     `// while this is being found out\ntest.only('a', () => {})`, ['2 unrun']],
  ['no todo',                               TEST,                     `test.todo('a')`,                                            ['1 unrun']],
  ['no skip without a reason',              TEST,                     `test.skip('a', () => {})`,                                  ['1 unrun']],
  ['a reason stands above',                 TEST,                     `// needs a server that is not there\ntest.skip('a', () => {})`, []],
  ['or behind',                             TEST,                     `test.skip('a', () => {}) // needs a real server`,           []],
  ['but not further up',                    TEST,                     `// needs a real server\n\ntest.skip('a', () => {})`,        ['3 unrun']],
  ['nor below',                             TEST,                     `test.skip('a', () => {})\n// needs a real server`,          ['1 unrun']],
  ['a sign is no reason',                   TEST,                     `// flaky\ntest.skip('a', () => {})`,                        ['2 unrun']],
  ['a condition needs a reason too',        TEST,                     `test.skipIf(true)('a', () => {})`,                          ['1 unrun']],
  ['so does running only sometimes',        TEST,                     `test.runIf(true)('a', () => {})`,                           ['1 unrun']],
  ['as an option',                          TEST,                     `test('a', { skip: true }, () => {})`,                       ['1 unrun']],
  ['or only as one',                        TEST,                     `test('a', { only: true }, () => {})`,                       ['1 unrun']],
  ['an option that is off is off',          TEST,                     `test('a', { skip: false }, () => {})`,                      []],
  ['a skip of something else',              TEST,                     `list.skip(3)`,                                              []],
  ['a plain test runs',                     TEST,                     `test.each([1])('a', () => {})`,                             []],
  ['what does not parse is reported',       SHIPPED,                  `export const = 1`,                                          ['1 syntax']],
]

describe('manners', () => {
  for (const [rule, path, code, stopped] of rows) {
    test(rule, () => assert.deepEqual(found(path, code), stopped))
  }
})
