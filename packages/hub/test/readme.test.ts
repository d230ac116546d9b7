/** The round with `curl` in the README, line by line as it stands there, against a real hub. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, test } from 'vitest'
import { runHub, type TestHub } from './running.ts'

let hub: TestHub
beforeAll(async () => {
  haveCurl()
  hub = await runHub()
}, 180_000)
afterAll(() => hub.stop())

/** On Debian as root it is installed; elsewhere somebody must do it, and is told so. */
function haveCurl(): void {
  const found = () => spawnSync('curl', ['--version']).status === 0
  if (found()) return
  spawnSync('apt-get', ['install', '-y', 'curl'])
  if (!found()) throw new Error('The README is written for curl, which is missing: install curl')
}

/** The one block of the README that begins with the hub's address. */
function roundInReadme(): string {
  const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8')
  const blocks = [...readme.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block]) => block ?? '')
  const round = blocks.find((block) => block.startsWith('HUB='))
  assert.ok(round, 'the README has a round with curl')
  return round
}

/** Runs beside the hub, which lives in this process and must go on answering. */
function run(script: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const shell = spawn('bash', ['-e', '-c', script])
    let out = ''
    shell.stdout.on('data', (text) => {
      out += text
    })
    shell.on('error', reject)
    shell.on('close', (status) =>
      status === 0 ? resolve(out) : reject(new Error(`exit ${status}: ${out}`)),
    )
  })
}

test('the round in the README works as it is printed', { timeout: 60_000 }, async () => {
  const script = roundInReadme().replace(/^HUB=.*$/m, `HUB=${hub.address}`)
  const answers = JSON.parse(`[${(await run(script)).replaceAll('}{', '},{')}]`)
  const [registered, beat, found, account, paid, again, scored, scoredAgain, audit] = answers
  assert.equal(answers.length, 9)
  assert.deepEqual([registered.status, beat.status, account.balance], ['registered', 'ok', 100])
  assert.equal(found.agents[0].agent_name, 'Counter')
  assert.ok(found.agents[0].why.length > 0)
  assert.deepEqual([paid.status, paid.sender_balance], ['completed', 99.95])
  assert.deepEqual(again, paid)
  assert.deepEqual([scored.reputation_score, scoredAgain.reputation_score], [51, 51])
  assert.equal(audit.transactions.length, 1)
})
