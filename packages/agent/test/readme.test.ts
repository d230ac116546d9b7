/**
 * The two programs of the README, as they stand there but for the hub's port, each in a process of
 * its own against a real hub.
 */
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { runHub, type TestHub } from '@chimera/hub/testing/running'
import { afterAll, beforeAll, test } from 'vitest'
import { until } from './serving.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const TSX = import.meta.resolve('tsx')
const PRINTED_HUB = 'http://127.0.0.1:4600'

let hub: TestHub
let home: string

beforeAll(async () => {
  hub = await runHub({ allowNet: ['127.0.0.1'] })
  home = await mkdtemp(join(tmpdir(), 'chimera-readme-'))
  // What a reader has after installing.
  await symlink(join(ROOT, 'node_modules'), join(home, 'node_modules'))
})
afterAll(async () => {
  await hub?.stop()
  await rm(home, { recursive: true, force: true })
})

/** The one block of the README that begins with this line; answers how to run it. */
async function programOf(firstLine: string): Promise<readonly string[]> {
  const readme = await readFile(join(ROOT, 'README.md'), 'utf8')
  const blocks = [...readme.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, block]) => block ?? '')
  const [program, ...others] = blocks.filter((block) => block.startsWith(`${firstLine}\n`))
  assert.ok(program, `the README has a program that begins with: ${firstLine}`)
  assert.equal(others.length, 0)
  assert.ok(program.includes(PRINTED_HUB))
  const file = join(home, `program-${firstLine.length}.mts`)
  await writeFile(file, program.replaceAll(PRINTED_HUB, hub.address))
  return ['--import', TSX, '--conditions=chimera-source', file]
}

test('an author serves with the first, and a hirer hires with the second', async () => {
  const serve = await programOf("import { createAgent, defineSkill, Type } from '@chimera/agent'")
  const hire = await programOf("import { connect } from '@chimera/agent'")
  const agent = spawn(process.execPath, serve, {
    cwd: home,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  try {
    const isFound = async (): Promise<boolean> => {
      assert.equal(agent.exitCode, null, 'the agent runs')
      const { body } = await hub.get('/discover?skill=word_count')
      return (body.agents as unknown[]).length === 1
    }
    await until(isFound, 1_200)
    const { stdout } = await promisify(execFile)(process.execPath, hire, { cwd: home })
    assert.equal(stdout.trim(), '{ words: 6 } 0.05')
  } finally {
    agent.kill('SIGTERM')
    assert.deepEqual(await once(agent, 'exit'), [0, null])
  }
})
