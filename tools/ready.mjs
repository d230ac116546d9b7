/**
 * Makes the checkout ready to run: installs with `npm ci` when node_modules does not match the
 * lock, this platform or this Node, and is silent and quick when it does. Before tests and
 * benchmarks it also looks for a nats-server, before tests for a Chromium and systemd too, and
 * installs them where it can do so unasked.
 *
 * Plain JavaScript without a dependency, because it runs before anything is installed. It is
 * called inline from the scripts rather than as `pretest`, which `ignore-scripts` would skip.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { accessSync, constants, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
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

/** Looked for rather than run, since a start costs more than a few looks. */
function isOnPath(/** @type {string} */ program) {
  const ending = process.platform === 'win32' ? '.exe' : ''
  // Debian puts it where the path of an ordinary user does not lead.
  return [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin'].some((folder) => {
    try {
      accessSync(join(folder, program + ending), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

/** Only a package of the system, and only where nobody has to be asked for a password. */
function installPackage(/** @type {string} */ name) {
  const install = ['install', '-y', '-qq', '--no-install-recommends', name]
  if (runApt(install)) return
  // Lists of packages that are missing or old are the usual reason.
  runApt(['update', '-qq'])
  runApt(install)
}

function canInstall() {
  return process.getuid?.() === 0 && isOnPath('apt-get')
}

function installBroker() {
  installPackage('nats-server')
  // The package starts a server that is open to the network. The tests start their own.
  spawnSync('systemctl', ['disable', '--now', 'nats-server'], { stdio: 'ignore' })
}

/** @param {readonly string[]} args */
function runApt(args) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  return spawnSync('apt-get', args, { env, stdio: ['ignore', 2, 2] }).status === 0
}

function readyBroker() {
  if (isOnPath('nats-server')) return
  if (canInstall()) {
    console.error('Installing nats-server for the tests (apt-get)…')
    installBroker()
    if (isOnPath('nats-server')) return
  }
  console.error(
    'nats-server is missing: tests of the bus and of several hubs will fail. Install it with\n' +
      '  Debian, Ubuntu  sudo apt-get install nats-server\n' +
      '  macOS           brew install nats-server\n' +
      'or take a release of nats-io/nats-server (2.9 or newer) onto the PATH.',
  )
}

/** Whichever is there; the tests of the page look for the same names. */
const hasBrowser = () =>
  process.env.CHIMERA_CHROMIUM !== undefined ||
  ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'].some(isOnPath)

function readyBrowser() {
  if (hasBrowser()) return
  if (canInstall()) {
    console.error('Installing chromium for the tests of the page (apt-get), about a minute…')
    installPackage('chromium')
    if (hasBrowser()) return
  }
  console.error(
    'Chromium is missing: tests of the page will fail. Install it with\n' +
      '  Debian, Ubuntu  sudo apt-get install chromium\n' +
      '  macOS           brew install chromium\n' +
      'or name the program of one in CHIMERA_CHROMIUM.',
  )
}

/** For what it says of our units; where it is not to be had, a table of ours looks alone. */
function readyUnits() {
  if (process.platform !== 'linux' || isOnPath('systemd-analyze') || !canInstall()) return
  console.error('Installing systemd for the tests of the units (apt-get); it is not started…')
  installPackage('systemd')
}

refuseOldNode()
const wanted = wantedStamp()
if (installedStamp() !== wanted) {
  console.error('Installing what is missing (npm ci), about half a minute…')
  install()
  // Written last: an install that was cut off is done again.
  writeFileSync(stampFile, wanted)
}
const script = process.env.npm_lifecycle_event ?? ''
if (['test', 'test:cluster', 'bench', 'soak'].includes(script)) readyBroker()
if (script === 'test') {
  readyBrowser()
  readyUnits()
}
