/**
 * Before the tests: builds what some of them start or look at as it is shipped. The command line,
 * so that it starts in a third of the time that the sources take to load; and the page of the hub.
 * Seconds at first, and hardly anything when nothing has changed; nothing where no such test was
 * asked for.
 */
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { commandLine, readyBundle } from './bundle.mjs'
import { readyPage } from './page.mjs'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
// The harness for the starter that `chimera new agent` makes, whose own test uses it.
const BUILT = ['packages/cli', 'packages/harness']
const COMPILER = fileURLToPath(new URL('../node_modules/typescript/bin/tsc', import.meta.url))
/** Where the command is started as a process, and where the page is looked at. */
const STARTED_IN = ['packages/cli/test', 'packages/cli/src', 'packages/cli/src/verbs']
const LOOKED_AT_IN = ['packages/console/test']

/**
 * As vitest has it, a word asks for the files whose path it is in; no word asks for all. What a
 * flag says of the files is vitest's own affair, so with one everything is built.
 */
function isAskedFor(folders: readonly string[], words: readonly string[]): boolean {
  const asked = words.filter((word) => word !== 'run').map((word) => word.replace(/^\.\//, ''))
  if (asked.length === 0 || asked.some((word) => word.startsWith('-'))) return true
  const files = folders.flatMap((folder) =>
    readdirSync(`${ROOT}${folder}`).map((file) => `${ROOT}${folder}/${file}`),
  )
  return files.some((file) => asked.some((word) => file.includes(word)))
}

export async function setup(): Promise<void> {
  const words = process.argv.slice(2)
  if (isAskedFor(LOOKED_AT_IN, words)) readyPage()
  if (!isAskedFor(STARTED_IN, words)) return
  const { status, stdout } = spawnSync(process.execPath, [COMPILER, '-b', ...BUILT], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  // What does not type-check is built all the same; the tests say whether it works.
  if (status !== 0) console.error(stdout)
  await readyBundle(commandLine('built'))
}
