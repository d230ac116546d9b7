/** The reference page says what the program says now. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, test } from 'vitest'
import { createProgram, loadVerbs } from './program.ts'
import { describeCommands } from './reference.ts'

describe('docs/reference/cli.md', () => {
  test('is what tools/reference-cli.ts would write', async () => {
    const page = await readFile(new URL('../../../docs/reference/cli.md', import.meta.url), 'utf8')
    const [made = '', ...rest] = page.split('\n\n')
    assert.match(made, /^<!-- Written by tools\/reference-cli\.ts/)
    const wanted = describeCommands(await loadVerbs(createProgram()))
    assert.equal(rest.join('\n\n'), wanted, 'run tools/reference-cli.ts')
  })

  test('every verb teaches with an example', async () => {
    const program = await loadVerbs(createProgram())
    const page = describeCommands(program)
    for (const verb of program.commands) {
      const name = `chimera ${verb.name()}`
      const [, part = ''] = page.split(`\n## ${name}\n`)
      assert.match(part.split('\n## ')[0] ?? '', /Examples:\n {2}chimera /, name)
    }
  })
})
