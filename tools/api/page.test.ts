/** What a page of the reference says of a module, and what it refuses to leave out. */
import assert from 'node:assert/strict'
import { test } from 'vitest'
import { readExports } from './exported.ts'
import { writePage } from './page.ts'

const FILES: Readonly<Record<string, string>> = {
  'packages/one/src/index.ts': `
    export { make, type Made } from './make.ts'
    export { Type } from 'typebox'
    export type { Far } from '@chimera/two/far'
  `,
  'packages/one/src/make.ts': `
import type { Given } from './given.ts'
export type { Given as Made }
/** Makes one. */
export function make(given: Given, times = 1): Promise<string> {
  return inner(given, times)
}
/** Not for others. */
function inner() {}
`,
  'packages/one/src/given.ts': `
/**
 * What is given.
 * In two lines.
 */
export type Given = {
  /** Its name. */
  readonly name: string
}
`,
  'packages/two/src/far.ts': `
export class Far extends Error {
  readonly code: 'far'
  constructor(code: 'far') { super(code); this.code = code }
}
`,
}
const read = (path: string): string => {
  const text = FILES[path]
  if (text === undefined) throw new Error(`no ${path}`)
  return text
}

test('names are followed to where they are declared, with their words', () => {
  const exported = readExports('packages/one/src/index.ts', read)
  const shown = exported.map((each) =>
    each.foreign ? [each.name, each.from] : [each.name, each.kind, each.doc, each.signature],
  )
  assert.deepEqual(shown, [
    ['make', 'function', 'Makes one.', 'function make(given: Given, times = 1): Promise<string>'],
    [
      'Made',
      'type',
      'What is given.\nIn two lines.',
      'type Given = {\n  /** Its name. */\n  readonly name: string\n}',
    ],
    ['Type', 'typebox'],
    [
      'Far',
      'class',
      '',
      "class Far extends Error {\n  readonly code: 'far'\n  constructor(code: 'far')\n}",
    ],
  ])
  const page = writePage({ package: 'one', about: 'It.', parts: [{ path: 'one', exported }] })
  assert.match(
    page,
    /# one\n\nIt\.\n\n## From `one`\n\n### Functions\n\n#### `make`\n\nMakes one\./,
  )
  assert.match(page, /- `Type` is that of `typebox`\.\n$/)
})

// biome-ignore format: a table is read by its columns
const rows: [what: string, text: string, says: RegExp][] = [
  ['everything at once',      "export * from './make.ts'",                    /not understood/],
  ['a default',               'export default 7',                             /not understood/],
  ['parts of a value',        'export const { a } = { a: 1 }',                /not understood/],
  ['a name that is nowhere',  'export { nothing }',                           /declared nowhere/],
  ['what does not parse',     'export const = 7',                             /./],
]
for (const [what, text, says] of rows) {
  test(`is an error rather than a gap: ${what}`, () => {
    assert.throws(
      () => readExports('x/index.ts', (path) => (path === 'x/index.ts' ? text : read(path))),
      says,
    )
  })
}
