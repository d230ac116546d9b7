/**
 * A program as a few large files instead of hundreds of small ones: most of a command's time was
 * spent on finding and reading those. Made from the sources, within a second, where it is missing
 * or older than they are. Plain JavaScript, since it runs before anything is compiled.
 *
 *   B1  What lies beside a module (a worker, a sample, a page) is found where it was: the address
 *       of a module stays that of the file it came from.
 *   B2  Of others' packages only those are taken in that are plain JavaScript and that nearly every
 *       command loads; the rest is found as it was installed.
 *   B3  Parts of an older bundle stay for a day: a command that runs may yet load one.
 */
import { mkdirSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const packages = join(root, 'packages')
const KEPT_MS = 24 * 3_600_000
const TAKEN_IN = [
  '@chimera',
  '@opentelemetry',
  'cli-table3',
  'commander',
  'ipaddr.js',
  'jose',
  'structured-headers',
  'typebox',
  'undici',
]

/**
 * What to bundle, into which folder, and beside which files it finds what it does not contain: the
 * sources, or what was built of them.
 *
 * @typedef {{ entry: string, folder: string, beside: 'sources' | 'built' }} Program
 */

/** @param {'sources' | 'built'} beside @returns {Program} */
export function commandLine(beside) {
  const folder = join(packages, 'cli/dist', beside === 'built' ? 'bundle' : 'from-sources')
  return { entry: join(packages, 'cli/src/main.ts'), folder, beside }
}

/**
 * A program of a test's, which is started more than once.
 *
 * @param {URL} address
 * @returns {Program}
 */
export function testProgram(address) {
  const entry = fileURLToPath(address)
  const name = `${basename(dirname(dirname(entry)))}-${basename(entry, '.ts')}`
  const folder = join(root, 'node_modules/.cache/chimera/programs', name)
  return { entry, folder, beside: 'sources' }
}

/**
 * The file to start, after whatever had to be done for it.
 *
 * @param {Program} program
 * @returns {Promise<string>}
 */
export async function readyBundle({ entry, folder, beside }) {
  const main = join(folder, 'main.js')
  const stamp = join(folder, 'made')
  if (isFresh(stamp, entry)) return main
  // Only now, since to load it takes longer than to see that nothing has changed.
  const { rolldown } = await import('rolldown')
  const begun = new Date()
  sweep(folder, begun)
  const bundle = await rolldown({
    input: { main: entry },
    platform: 'node',
    resolve: { conditionNames: ['chimera-source', 'chimera-testing', 'import', 'node'] },
    external: (id) => !id.startsWith('.') && !id.startsWith('/') && !isTakenIn(id),
    plugins: [
      { name: 'addresses', transform: (code, id) => withAddress(code, id, { folder, beside }) },
    ],
    logLevel: 'warn',
  })
  await bundle.write({ dir: folder, format: 'esm', chunkFileNames: '[name]-[hash].js' })
  await bundle.close()
  writeFileSync(stamp, '')
  utimesSync(stamp, begun, begun)
  return main
}

/** @param {string} stamp @param {string} entry */
function isFresh(stamp, entry) {
  const made = newestIn(stamp)
  const folders = readdirSync(packages).map((name) => join(packages, name, 'src'))
  const self = fileURLToPath(import.meta.url)
  const sources = [...folders, dirname(entry), join(root, 'package-lock.json'), self]
  return made > 0 && sources.every((each) => newestIn(each) <= made)
}

/** @param {string} path @returns {number} */
function newestIn(path) {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined || !found.isDirectory()) return found?.mtimeMs ?? 0
  return Math.max(found.mtimeMs, ...readdirSync(path).map((name) => newestIn(join(path, name))))
}

/** B3. @param {string} folder @param {Date} now */
function sweep(folder, now) {
  mkdirSync(folder, { recursive: true })
  for (const name of readdirSync(folder)) {
    const file = join(folder, name)
    if (now.getTime() - newestIn(file) > KEPT_MS) rmSync(file, { force: true })
  }
}

/** B2. @param {string} id */
const isTakenIn = (id) => TAKEN_IN.some((name) => id === name || id.startsWith(`${name}/`))

/**
 * B1. Relative to the bundle, as packages lie beside each other when they are installed too.
 *
 * @param {string} code @param {string} id @param {Pick<Program, 'folder' | 'beside'>} program
 */
function withAddress(code, id, { folder, beside }) {
  if (!id.startsWith(packages) || !code.includes('import.meta.url')) return undefined
  const built = id.replace('/src/', '/dist/').replace(/\.ts$/, '.js')
  const way = relative(folder, beside === 'built' ? built : id).replaceAll('\\', '/')
  return code.replaceAll('import.meta.url', `new URL('${way}', import.meta.url).href`)
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  await readyBundle(commandLine('built'))
}
