/** Every example starts, asserts what it shows, and exits 0. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { test } from 'vitest'

const here = fileURLToPath(new URL('.', import.meta.url))
const names = readdirSync(here, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && entry.name !== 'node_modules')
  .map((entry) => entry.name)

for (const name of names) {
  test(`examples/${name} runs to its end`, { timeout: 60_000 }, () => {
    const args = ['--conditions=chimera-source', '--import', 'tsx', join(here, name, 'main.ts')]
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    assert.equal(status, 0, `${stdout}\n${stderr}`)
    assert.ok(stdout.length > 0)
  })
}
