/**
 * Before the tests: builds the command line, so that those who start it as a process of its own
 * start what is shipped, in a third of the time that the sources take to load. Seconds at first,
 * and hardly anything when nothing has changed.
 */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
// The harness for the starter that `chimera new agent` makes, whose own test uses it.
const BUILT = ['packages/cli', 'packages/harness']
const COMPILER = fileURLToPath(new URL('../node_modules/typescript/bin/tsc', import.meta.url))

export function setup(): void {
  const { status, stdout } = spawnSync(process.execPath, [COMPILER, '-b', ...BUILT], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  // What does not type-check is built all the same; the tests say whether it works.
  if (status !== 0) console.error(stdout)
}
