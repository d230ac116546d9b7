/**
 * `npm run coverage:requirements [-- --json]`: prints which requirements have a test and which do
 * not yet. Always exits 0.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { coverageOf, renderCoverage } from './coverage.ts'
import { parseRequirements, REQUIREMENTS_PATH } from './requirement-table.ts'
import { ROOT, readTree } from './tree.ts'

const families = parseRequirements(readFileSync(join(ROOT, REQUIREMENTS_PATH), 'utf8'))
const coverage = coverageOf(families, readTree(ROOT))
console.log(
  process.argv.includes('--json') ? JSON.stringify(coverage, null, 2) : renderCoverage(coverage),
)
