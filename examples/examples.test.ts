/**
 * Every example starts, asserts what it shows, and exits 0. All of them but the tour run one after
 * the other in one process on one hub, which saves minutes of starting; the first also runs alone,
 * as a reader would run it. That the process ends by itself shows that nobody left anything open.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { runHub } from '@chimera/hub/testing/running'
import { createDirectories } from '@chimera/store/testing/embedded'
import { beforeAll, describe, test } from 'vitest'

const here = fileURLToPath(new URL('.', import.meta.url))
const names = readdirSync(here, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && entry.name !== 'node_modules')
  .map((entry) => entry.name)
const together = names.filter((name) => /^\d\d-/.test(name))
const alone = ['tour', '01-hello-agent']

type Ran = { readonly status: number; readonly out: string }

/** With a hub and a database of the test's; without them each example starts its own. */
type Lent = { readonly CHIMERA_HUB?: string; readonly CHIMERA_DATABASE?: string }

function run(args: readonly string[], lent: Lent = {}): Promise<Ran> {
  const node = ['--conditions=chimera-source', '--import', 'tsx', ...args]
  const env = { ...process.env, CHIMERA_HUB: '', CHIMERA_DATABASE: '', ...lent }
  return new Promise((resolve) => {
    execFile(process.execPath, node, { env, cwd: here }, (error, stdout, stderr) => {
      const status = error === null ? 0 : Number(error.code ?? 1)
      resolve({ status, out: `${stdout}\n${stderr}` })
    })
  })
}

const mains = together.map((name) => [name, pathToFileURL(join(here, name, 'main.ts')).href])

/** Runs each to its end, and says so. What one that failed has left open must not keep it. */
const EVERY = `void (async () => {
  for (const [name, main] of ${JSON.stringify(mains)}) {
    try {
      await import(main)
      console.log('ended: ' + name)
    } catch (error) {
      console.error(name, error)
      process.exitCode = 1
      setTimeout(() => process.exit(), 20_000).unref()
    }
  }
})()`

describe('on one hub', () => {
  let ran: Ran
  beforeAll(async () => {
    const hub = await runHub({ allowNet: ['127.0.0.1'] })
    const directories = createDirectories()
    ran = await run(['--eval', EVERY], {
      CHIMERA_HUB: hub.address,
      CHIMERA_DATABASE: await directories.newMigrated(),
    })
    await hub.stop()
    await directories.removeAll()
  })

  test('the process that ran them ends by itself', () => assert.equal(ran.status, 0, ran.out))
  for (const name of together) {
    test(`examples/${name} runs to its end`, () => {
      assert.ok(ran.out.includes(`ended: ${name}\n`), ran.out)
    })
  }
})

for (const name of alone) {
  test(`examples/${name} runs to its end by itself`, async () => {
    const { status, out } = await run([join(here, name, 'main.ts')])
    assert.equal(status, 0, out)
    assert.ok(out.length > 0)
  })
}
