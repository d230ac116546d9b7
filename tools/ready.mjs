/**
 * Makes the checkout ready to run: installs with `npm ci` when node_modules does not match the
 * lock, this platform or this Node, and is silent and quick when it does.
 *
 * Plain JavaScript without a dependency, because it runs before anything is installed. It is
 * called inline from the scripts rather than as `pretest`, which `ignore-scripts` would skip.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const stampFile = `${root}node_modules/.chimera-ready`
const oldestNode = /** @type {const} */ ([20, 19])

function refuseOldNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major > oldestNode[0] || (major === oldestNode[0] && minor >= oldestNode[1])) return
  console.error(
    `Chimera needs Node ${oldestNode.join('.')} or newer; this is ${process.versions.node}.`,
  )
  process.exit(1)
}

/** What node_modules must have been installed for: the lock, the platform and the ABI. */
function wantedStamp() {
  const lock = createHash('sha256')
    .update(readFileSync(`${root}package-lock.json`))
    .digest('hex')
  return [lock, process.platform, process.arch, process.versions.modules].join(' ')
}

function installedStamp() {
  try {
    return readFileSync(stampFile, 'utf8')
  } catch {
    return ''
  }
}

function install() {
  // An outer `npm --workspace x run …` or `--omit=dev` must not narrow what is installed here.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^npm_config_(workspaces?|omit|include|production|prefix)$/i.test(name),
    ),
  )
  const npm = process.env.npm_execpath
  const args = ['ci', '--no-audit', '--no-fund', '--loglevel=error']
  const [command, commandArgs] = npm ? [process.execPath, [npm, ...args]] : ['npm', args]
  // What npm says goes to standard error, so that a `--json` output stays clean.
  const { status, error } = spawnSync(command, commandArgs, {
    cwd: root,
    env,
    stdio: ['ignore', 2, 2],
    shell: !npm && process.platform === 'win32',
  })
  if (status === 0) return
  console.error(`npm ci failed${error ? `: ${error.message}` : ''}. The lines above say why.`)
  process.exit(status ?? 1)
}

refuseOldNode()
const wanted = wantedStamp()
if (installedStamp() !== wanted) {
  console.error('Installing what is missing (npm ci), about half a minute…')
  install()
  // Written last: an install that was cut off is done again.
  writeFileSync(stampFile, wanted)
}
