/**
 * Builds the page of the hub where it is missing or older than its sources: a second or two, and
 * nothing when nothing has changed. Plain JavaScript, since it runs before anything is compiled.
 */
import { spawnSync } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const page = join(root, 'packages/console/dist/page/index.html')
const sources = [
  'packages/console/src',
  'packages/console/index.html',
  'packages/console/vite.config.ts',
  // What it takes from them is compiled into it.
  'packages/domain/src/audit.ts',
  'packages/domain/src/claims.ts',
  'packages/domain/src/trust',
  'package-lock.json',
]

/** @param {string} path */
function changedAt(path) {
  try {
    return statSync(path).mtimeMs
  } catch {
    return 0
  }
}

/** @param {string} path @returns {number} */
function newestIn(path) {
  const own = changedAt(path)
  if (own === 0 || !statSync(path).isDirectory()) return own
  return Math.max(own, ...readdirSync(path).map((name) => newestIn(join(path, name))))
}

/** Whether it is there afterwards. What goes wrong is said, and ends nothing. */
export function readyPage() {
  const built = changedAt(page)
  if (built > 0 && sources.every((each) => newestIn(join(root, each)) <= built)) return true
  const vite = join(root, 'node_modules/vite/bin/vite.js')
  const folder = join(root, 'packages/console')
  const { status, stderr } = spawnSync(process.execPath, [vite, 'build', '--logLevel', 'warn'], {
    cwd: folder,
    encoding: 'utf8',
    // Also where tests ask for it, which say `test`: what is shipped is what they look at.
    env: { ...process.env, NODE_ENV: 'production' },
  })
  if (status !== 0) console.error(`The console could not be built:\n${stderr}`)
  return status === 0
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = readyPage() ? 0 : 1
