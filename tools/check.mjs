/**
 * `npm run check [-- <step> …]`: everything but the tests that must hold before anything lands.
 * Runs all steps, or those named, two at a time; goes on after a failure, lists what failed at the
 * end, and exits 1 when anything did.
 */
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runSteps } from './steps.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const source = '--conditions=chimera-source'

const steps = [
  step('format', 'biome', ['ci', '--colors=off', '.'], '@biomejs/biome'),
  step('lint', 'oxlint', ['--type-aware', '--deny-warnings', '--format=unix']),
  // The tests and the tools are one of the projects (tsconfig.test.json), so this checks them too.
  inTurn(
    'types',
    step('build', 'tsc', ['-b'], 'typescript'),
    { name: 'bundle', run: () => start(['tools/bundle.mjs']) },
    { name: 'run', run: () => start(['tools/built.mjs']) },
  ),
  step('tidy', 'tsx', [source, 'tools/tidy.ts']),
  step('dead code', 'knip', ['--no-progress', '--no-config-hints']),
  generator('schemas', 'tools/schemas.ts'),
  generator('reference', 'tools/reference.ts'),
  generator('api', 'tools/reference-api.ts'),
  generator('verbs', 'tools/reference-cli.ts'),
  generator('skills', 'tools/reference-skills.ts'),
]

/** What is generated must be what its generator would write now. @param {string} file */
function generator(/** @type {string} */ name, file) {
  const made = step(name, 'tsx', [source, file, '--check'])
  return existsSync(join(root, file)) ? made : { ...made, skip: `${file} is not written yet` }
}

/**
 * One after the other, as far as they go well.
 *
 * @param {string} name
 * @param {readonly ReturnType<typeof step>[]} parts
 */
function inTurn(name, ...parts) {
  return {
    name,
    run: async () => {
      let done = { ok: true, output: '' }
      for (const { run } of parts) if (done.ok) done = await run()
      return done
    },
  }
}

/**
 * A tool of node_modules, started by its script, so that no shell and no `npx` is needed.
 *
 * @param {string} name
 * @param {string} command
 * @param {readonly string[]} args
 */
function step(name, command, args, from = command) {
  return { name, run: () => start([toolScript(from, command), ...args]) }
}

/**
 * @param {string} from
 * @param {string} command
 */
function toolScript(from, command) {
  const folder = join(root, 'node_modules', from)
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  return join(folder, typeof bin === 'string' ? bin : bin[command])
}

/**
 * @param {readonly string[]} args
 * @returns {Promise<{ ok: boolean, output: string }>}
 */
function start(args) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output += text
      })
    }
    child.on('error', reject)
    child.on('close', (status) => resolve({ ok: status === 0, output }))
  })
}

const wanted = process.argv.slice(2)
const unknown = wanted.filter((name) => !steps.some((each) => each.name === name))
if (unknown.length > 0) {
  const names = steps.map(({ name }) => name)
  console.error(`No such step: ${unknown.join(', ')}. There are: ${names.join(', ')}`)
  process.exit(2)
}

const failed = await runSteps(
  steps.filter(({ name }) => wanted.length === 0 || wanted.includes(name)),
  { atOnce: 2, now: () => performance.now(), print: (text) => console.log(text) },
)
console.log(failed.length > 0 ? `\nFailed: ${failed.join(', ')}` : '\nAll is well.')
process.exitCode = failed.length > 0 ? 1 : 0
