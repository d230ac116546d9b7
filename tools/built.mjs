/**
 * Runs what was built, as whoever installs the packages does: without the sources' condition and
 * without a loader. A hub in memory must come up, answer, and stop when it is told to.
 */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const command = fileURLToPath(new URL('../packages/cli/bin/chimera.js', import.meta.url))
const PATIENCE_MS = 60_000

const args = [command, 'hub', '--listen', '127.0.0.1:0', '--data', ':memory:']
const hub = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] })
const impatient = setTimeout(() => hub.kill('SIGKILL'), PATIENCE_MS)

let said = ''
hub.stderr.setEncoding('utf8').on('data', (text) => {
  const before = said
  said += text
  const [, address] = /ready on (http:\S+)/.exec(said) ?? []
  if (address !== undefined && !before.includes(address)) void ask(address)
})

/** @param {string} address */
async function ask(address) {
  const answered = await fetch(`${address}/health`).then(
    ({ ok }) => ok,
    () => false,
  )
  if (!answered) said += '\n/health did not answer'
  hub.kill(answered ? 'SIGTERM' : 'SIGKILL')
}

hub.on('close', (status) => {
  clearTimeout(impatient)
  if (status !== 0) console.error(`The built hub ended with ${status}:\n${said}`)
  process.exitCode = status === 0 ? 0 : 1
})
