/**
 * Writes docs/reference/cli.md from the verbs that the command line itself reads. With `--check` it
 * writes nothing, and fails when the page is not what it would write now.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createProgram, loadVerbs } from '@chimera/cli/program'
import { describeCommands } from '@chimera/cli/reference'
import { ROOT } from './tree.ts'

const PAGE = 'docs/reference/cli.md'
const MADE =
  '<!-- Written by tools/reference-cli.ts; change packages/cli/src/verbs instead. -->\n\n'

async function main(checkOnly: boolean): Promise<number> {
  const path = join(ROOT, PAGE)
  const program = await loadVerbs(createProgram())
  const wanted = `${MADE}${describeCommands(program)}`
  if (checkOnly) {
    if (textOf(path) === wanted) return 0
    console.error(
      `${PAGE} is stale: run npx tsx --conditions=chimera-source tools/reference-cli.ts`,
    )
    return 1
  }
  writeFileSync(path, wanted)
  console.log(`${PAGE}: ${program.commands.length} verbs`)
  return 0
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

process.exitCode = await main(process.argv.includes('--check'))
