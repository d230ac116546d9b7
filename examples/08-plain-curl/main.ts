/** Runs main.sh against a hub, and holds what curl was answered to what it should have been. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { aside, openHub, say, title } from '../stage.ts'

const hub = await openHub()
title('An agent and a hirer with nothing but node:http and curl')

const script = fileURLToPath(new URL('main.sh', import.meta.url))
// Not waited for in one call: the hub lives in this process and must go on answering.
const shell = spawn('bash', [script], {
  env: { ...process.env, HUB: hub.address },
  stdio: ['ignore', 'pipe', 'inherit'],
})
let out = ''
shell.stdout.setEncoding('utf8').on('data', (text: string) => {
  out += text
})
const [status] = (await once(shell, 'close')) as [number]
assert.equal(status, 0, out)

const lines = out.split('\n').filter((line) => line.startsWith('{'))
const answers = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
const [registered, found, first, again, account, paid, scored] = answers
assert.equal(registered?.status, 'registered')
assert.match(JSON.stringify(found), /"agent_name":"Plain"/)
assert.deepEqual(first?.output_data, { words: 6 })
assert.deepEqual(again, first, 'a repeated job is the same job')
assert.ok(Number(account?.balance) > 0)
assert.deepEqual([paid?.status, scored?.reputation_score], ['completed', 51])
for (const line of out.trimEnd().split('\n')) {
  if (line.startsWith('#')) say(line.slice(2))
  else aside(line.length > 110 ? `${line.slice(0, 110)}…` : line)
}
await hub.stop()
