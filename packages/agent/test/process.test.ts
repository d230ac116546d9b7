/** The agent of the README in a process of its own, with nothing but what it says there. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runHub } from '@chimera/hub/testing/running'
import { readyBundle, testProgram } from '@chimera/tools/bundle'
import { test } from 'vitest'
import { call, job, until } from './serving.ts'

test('AV-5 it starts, works, is the same one again, and leaves when it is told to', async () => {
  const hub = await runHub()
  const cwd = await mkdtemp(join(tmpdir(), 'chimera-process-'))
  const counter = await readyBundle(testProgram(new URL('counter.ts', import.meta.url)))
  const start = () =>
    spawn(process.execPath, [counter, hub.address], { cwd, stdio: ['ignore', 'ignore', 'inherit'] })
  async function foundAt(): Promise<string> {
    const { body } = await hub.get('/discover?skill=word_count')
    const [found] = body.agents as { agent_id: string; api_endpoint: string }[]
    return found?.api_endpoint ?? ''
  }
  let child = start()
  try {
    await until(async () => (await foundAt()) !== '', 1_200)
    const first = await foundAt()
    const { body } = await call(`${first}/jobs`, { body: job() })
    assert.deepEqual([body.status, body.output_data], ['SUCCESS', { words: 3 }])
    const kept = join(cwd, '.chimera', 'chimera-counter')
    assert.equal((await stat(join(kept, 'key.json'))).mode & 0o077, 0)
    const { agent_id: id } = JSON.parse(await readFile(join(kept, 'agent.json'), 'utf8'))
    assert.equal(body.agent_id, id)

    child.kill('SIGTERM')
    assert.deepEqual(await once(child, 'exit'), [0, null])
    assert.equal(await foundAt(), '', 'nobody who has left is found')

    child = start()
    await until(async () => (await foundAt()) !== '', 1_200)
    const again = await call(`${await foundAt()}/jobs`, { body: job() })
    assert.equal(again.body.agent_id, id)
  } finally {
    if (child.exitCode === null) {
      child.kill('SIGTERM')
      await once(child, 'exit')
    }
    await hub.stop()
    await rm(cwd, { recursive: true, force: true })
  }
})
