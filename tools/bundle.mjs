/**
 * The command line as a few large files instead of hundreds of small ones: most of a command's
 * time was spent on finding and reading those. Made from the sources, within seconds, where it is
 * missing or older than they are. Plain JavaScript, since it runs before anything is compiled.
 *
 *   B1  What lies beside a module (a worker, a sample, a page) is found where it was: the address
 *       of a module stays that of the file it came from.
 *   B2  Of others' packages only those are taken in that are plain JavaScript and that every
 *       command loads; the rest is found as it was installed.
 *   B3  Parts of an older bundle stay for a day: a command that runs may yet load one.
 */
import { mkdirSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const packages = join(root, 'packages')
const entry = join(packages, 'cli/src/main.ts')
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
 * Where a bundle lies, and beside which files it finds what it does not contain: the sources, or
 * what was built of them.
 */
export const BUNDLES = {
  sources: { folder: join(packages, 'cli/dist/from-sources'), built: false },
  built: { folder: join(packages, 'cli/dist/bundle'), built: true },
}

/** @param {string} path @returns {number} */
function newestIn(path) {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined || !found.isDirectory()) return found?.mtimeMs ?? 0
  return Math.max(found.mtimeMs, ...readdirSync(path).map((name) => newestIn(join(path, name))))
}

/** @param {string} stamp */
function isFresh(stamp) {
  const made = newestIn(stamp)
  const sources = readdirSync(packages).map((name) => join(packages, name, 'src'))
  const all = [...sources, join(root, 'package-lock.json'), fileURLToPath(import.meta.url)]
  return made > 0 && all.every((each) => newestIn(each) <= made)
}

/**
 * The file to start, after whatever had to be done for it.
 *
 * @param {keyof typeof BUNDLES} which
 * @returns {Promise<string>}
 */
export async function readyBundle(which) {
  const { folder, built } = BUNDLES[which]
  const main = join(folder, 'main.js')
  const stamp = join(folder, 'made')
  if (isFresh(stamp)) return main
  // Only now, since to load it takes longer than to see that nothing has changed.
  const { rolldown } = await import('rolldown')
  const begun = new Date()
  sweep(folder, begun)
  const bundle = await rolldown({
    input: { main: entry },
    platform: 'node',
    resolve: { conditionNames: ['chimera-source', 'import', 'node'] },
    external: (id) => !id.startsWith('.') && !id.startsWith('/') && !isTakenIn(id),
    plugins: [{ name: 'addresses', transform: (code, id) => withAddress(code, id, folder, built) }],
    logLevel: 'warn',
  })
  await bundle.write({ dir: folder, format: 'esm', chunkFileNames: '[name]-[hash].js' })
  await bundle.close()
  writeFileSync(stamp, '')
  utimesSync(stamp, begun, begun)
  return main
}

/** B3. */
function sweep(/** @type {string} */ folder, /** @type {Date} */ now) {
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
 * @param {string} code @param {string} id @param {string} folder @param {boolean} built
 */
function withAddress(code, id, folder, built) {
  if (!id.startsWith(packages) || !code.includes('import.meta.url')) return undefined
  const file = built ? id.replace('/src/', '/dist/').replace(/\.ts$/, '.js') : id
  const way = relative(folder, file).replaceAll('\\', '/')
  return code.replaceAll('import.meta.url', `new URL('${way}', import.meta.url).href`)
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await readyBundle('built')
