/**
 * Before the tests: builds the command line, so that those who start it as a process of its own
 * start what is shipped, in a third of the time that the sources take to load. Seconds at first,
 * and hardly anything when nothing has changed; nothing at all where no such test was asked for.
 */
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
// The harness for the starter that `chimera new agent` makes, whose own test uses it.
const BUILT = ['packages/cli', 'packages/harness']
const COMPILER = fileURLToPath(new URL('../node_modules/typescript/bin/tsc', import.meta.url))
/** Where the command is started as a process. */
const STARTED_IN = 'packages/cli/test'

/**
 * As vitest has it, a word asks for the files whose path it is in; no word asks for all. What a
 * flag says of the files is vitest's own affair, so with one the command is built.
 */
function isAskedFor(words: readonly string[]): boolean {
  const asked = words.filter((word) => word !== 'run').map((word) => word.replace(/^\.\//, ''))
  if (asked.length === 0 || asked.some((word) => word.startsWith('-'))) return true
  const files = readdirSync(`${ROOT}${STARTED_IN}`).map((file) => `${ROOT}${STARTED_IN}/${file}`)
  return files.some((file) => asked.some((word) => file.includes(word)))
}

export function setup(): void {
  if (!isAskedFor(process.argv.slice(2))) return
  const { status, stdout } = spawnSync(process.execPath, [COMPILER, '-b', ...BUILT], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  // What does not type-check is built all the same; the tests say whether it works.
  if (status !== 0) console.error(stdout)
}
