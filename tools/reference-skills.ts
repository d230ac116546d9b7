/**
 * Writes docs/reference/skills.md from the contracts that the skills are checked by. With `--check`
 * it writes nothing, and fails when the page is not what it would write now.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describeSkills } from '@chimera/skills/reference'
import { ROOT } from './tree.ts'

const PAGE = 'docs/reference/skills.md'
const MADE =
  '<!-- Written by tools/reference-skills.ts; change packages/dialects/src/skills instead. -->\n\n'

function main(checkOnly: boolean): number {
  const path = join(ROOT, PAGE)
  const wanted = `${MADE}${describeSkills()}`
  if (checkOnly) {
    if (textOf(path) === wanted) return 0
    console.error(
      `${PAGE} is stale: run npx tsx --conditions=chimera-source tools/reference-skills.ts`,
    )
    return 1
  }
  writeFileSync(path, wanted)
  console.log(`${PAGE}: written`)
  return 0
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

process.exitCode = main(process.argv.includes('--check'))
