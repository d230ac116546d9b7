/** The requirement table as it is in the docs, and as it must not be. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { idsOf, parseRequirements, REQUIREMENTS_PATH } from './requirement-table.ts'
import { ROOT } from './tree.ts'

const row = (id: string): string => `| ${id} | What must be true. |`

describe('the table', () => {
  test('has families with their rows in order', () => {
    const first = `## X — one system\n\n${row('X-1')}\n${row('X-2')}\n`
    const families = parseRequirements(`${first}\n## CH — Chorus\n\n${row('CH-1')}\n`)
    assert.deepEqual(
      families.map(({ id, title, rows }) => [id, title, rows.map((each) => each.id)]),
      [
        ['X', 'one system', ['X-1', 'X-2']],
        ['CH', 'Chorus', ['CH-1']],
      ],
    )
  })

  test('takes no other table for its own', () => {
    assert.equal(
      idsOf(parseRequirements('## X — one\n| ID | Requirement |\n| idle | X-1 |\n')).size,
      0,
    )
  })

  test('refuses a row twice, and a row under another family', () => {
    assert.throws(() => parseRequirements(`## X — one\n${row('X-1')}\n${row('X-1')}\n`), /twice/)
    assert.throws(() => parseRequirements(`## X — one\n${row('CH-1')}\n`), /another family/)
    assert.throws(() => parseRequirements(row('X-1')), /another family/)
  })

  test('of the docs is read whole', () => {
    const families = parseRequirements(readFileSync(join(ROOT, REQUIREMENTS_PATH), 'utf8'))
    for (const { id, rows } of families) {
      const numbers = rows.map((each) => Number(each.id.slice(id.length + 1)))
      assert.deepEqual(
        numbers,
        rows.map((_, index) => index + 1),
        `${id} counts without a gap`,
      )
    }
    assert.deepEqual(
      families.map(({ id }) => id),
      ['X', 'OC', 'CH', 'SF', 'SK', 'AV', 'P'],
    )
  })
})
