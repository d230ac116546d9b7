/** What a skill file may export, and what is said of one that exports something else. */
import assert from 'node:assert/strict'
import { createAgent, defineSkill, Type } from '@chimera/agent'
import { describe, test } from 'vitest'
import { readExports } from './exports.ts'

const define = (name: string) => ({
  name,
  version: '1.0',
  input: Type.Object({}),
  output: Type.Object({}),
  run: () => ({}),
})
const one = defineSkill(define('one'))
const two = defineSkill(define('two'))

describe('what counts', () => {
  // biome-ignore format: a table is read by its columns
  const rows: [why: string, module: Record<string, unknown>, ids: string[], options?: object][] = [
    ['a skill by default',             { default: one },                               ['one@v1.0']],
    ['a skill by name',                { one },                                        ['one@v1.0']],
    ['several by name',                { one, two, other: 7, text: 'x' },              ['one@v1.0', 'two@v1.0']],
    ['a list',                         { default: [one, two] },                        ['one@v1.0', 'two@v1.0']],
    ['a list by name',                 { all: [one, two] },                            ['one@v1.0', 'two@v1.0']],
    ['the same twice is one',          { one, again: one, default: [one] },            ['one@v1.0']],
    ['options',                        { default: { owner: 'acme', skills: [one] } },  ['one@v1.0'], { owner: 'acme' }],
    ['options beside named skills',    { default: { owner: 'acme' }, one },            ['one@v1.0'], { owner: 'acme' }],
    ['lists of other things do not',   { one, words: ['a'], numbers: [] },             ['one@v1.0']],
    ['compiled CommonJS',              { default: { __esModule: true, default: one } }, ['one@v1.0']],
  ]
  for (const [why, module, ids, options = {}] of rows) {
    test(why, () => {
      const exported = readExports(module)
      assert.ok(exported.ok, 'lines' in exported ? exported.lines.join('\n') : '')
      assert.deepEqual(
        exported.skills.map(({ id }) => id),
        ids,
      )
      assert.deepEqual(exported.options, options)
    })
  }
})

describe('what is told', () => {
  const agent = createAgent({
    name: 'chimera-x',
    owner: 'a',
    hub: 'http://127.0.0.1:9',
    skills: [one],
    log: 'silent',
  })
  // biome-ignore format: a table is read by its columns
  const rows: [why: string, module: Record<string, unknown>, says: RegExp][] = [
    ['nothing',                    {},                                    /It exports nothing\..*defineSkill/s],
    ['something else',             { a: 1, b: () => 2 },                  /exports a, b: none of them is a skill\..*defineSkill/s],
    ['options without a skill',    { default: { owner: 'acme' } },        /exports default: none of them is a skill/],
    ['an agent',                   { default: agent },                    /made already.*export default \{/],
    ['a bare definition',          { default: define('one') },            /the default export is not a skill: expected what defineSkill/],
    ['a bare definition by name',  { one, two: define('two') },           /^two is not a skill/],
    ['one in a list',              { all: [one, define('two')] },         /^all\[1\] is not a skill/],
    ['one in the options',         { default: { skills: [one, 7] } },     /^`skills`\[1\] is not a skill/],
    ['skills that are no list',    { default: { skills: one } },          /`skills`: expected a list/],
  ]
  for (const [why, module, says] of rows) {
    test(why, () => {
      const exported = readExports(module)
      assert.equal(exported.ok, false)
      assert.match('lines' in exported ? exported.lines.join('\n') : '', says)
    })
  }
})
