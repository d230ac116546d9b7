/** What counts as a proof of a requirement, and what the report says of it. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { coverageOf, renderCoverage } from './coverage.ts'
import { parseRequirements } from './requirement-table.ts'

const families = parseRequirements(
  '## X — one system\n| X-1 | **Decision.** One model. |\n| X-2 | One lifecycle. |\n' +
    '## CH — Chorus\n| CH-1 | Registering. |\n',
)

const covered = (code: string, path = 'packages/domain/src/a.test.ts') => {
  const { families: all } = coverageOf(families, [
    { path, text: `/** For the tests. */\n${code}\n` },
  ])
  return all.flatMap(({ rows }) => rows.filter((each) => each.tests.length > 0)).map(({ id }) => id)
}

describe('coverage', () => {
  // biome-ignore format: a table is read by its columns
  const rows: [rule: string, code: string, ids: string[]][] = [
    ['a title proves its row',              `test('X-1 holds', () => {})`,            ['X-1']],
    ['a title may prove two',               `test('X-2 and CH-1 hold', () => {})`,    ['X-2', 'CH-1']],
    ['a row of a table is a title',         `const rows = [['CH-1 registers', 1]]`,   ['CH-1']],
    ['a skipped test proves nothing',       `test.skip('X-1 holds', () => {})`,       []],
    ['a comment proves nothing',            `// X-1 holds`,                           []],
    ['a row that is not there is not one',  `test('X-9 holds', () => {})`,            []],
    ['a longer number is another row',      `test('X-12 holds', () => {})`,           []],
  ]
  for (const [rule, code, ids] of rows) test(rule, () => assert.deepEqual(covered(code), ids))

  test('only tests prove, and not those of the tools', () => {
    assert.deepEqual(covered(`test('X-1 holds', () => {})`, 'packages/domain/src/a.ts'), [])
    assert.deepEqual(covered(`test('X-1 holds', () => {})`, 'tools/a.test.ts'), [])
  })

  test('the report counts by family and together, and says what is missing', () => {
    const text = `/** For the tests. */\ntest('X-1 holds', () => {})\n`
    const report = renderCoverage(coverageOf(families, [{ path: 'bench/a.test.ts', text }]))
    assert.deepEqual(report.split('\n'), [
      'X — one system: 1 of 2',
      '  ✓  X-1    1 title in bench/a.test.ts',
      '  ·  X-2    not yet: One lifecycle.',
      '',
      'CH — Chorus: 0 of 1',
      '  ·  CH-1   not yet: Registering.',
      '',
      '1 of 3 requirements have a test',
    ])
  })
})
