/**
 * `tsx tools/tidy.ts`: reads every source of the checkout against the rules in tools/tidy and
 * prints one line for each violation. Exits 1 when there is any.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { idsOf, parseRequirements, REQUIREMENTS_PATH } from './requirement-table.ts'
import { inspect } from './tidy/inspect.ts'
import { ROOT, readTree } from './tree.ts'

const known = idsOf(parseRequirements(readFileSync(join(ROOT, REQUIREMENTS_PATH), 'utf8')))
const files = [...readTree(ROOT)].sort((one, other) => (one.path < other.path ? -1 : 1))
const violations = files.flatMap((file) => inspect(file, known))

for (const { path, line, rule, advice } of violations) {
  console.log(`${path}:${line} ${rule} — ${advice}`)
}
console.log(`${files.length} files, ${violations.length} violations`)
process.exitCode = violations.length > 0 ? 1 : 0
