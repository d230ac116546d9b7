/**
 * The lock of a data directory: one holder, named to whoever comes second; a dead one is followed.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'vitest'
import { hasCode } from '../failure.ts'
import { lockDirectory } from './lock.ts'

let directory = ''
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'chimera-lock-'))
})
afterEach(() => rm(directory, { recursive: true }))

const locks = async () => (await readdir(directory)).sort()
const heldBy = (pid: number | undefined) => (error: unknown) =>
  hasCode(error, 'directory_locked') && error.detail.includes(`process ${pid}`)

async function sleeper() {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)'])
  await new Promise((resolve) => child.once('spawn', resolve))
  return child
}

test('a second one is refused, and told who has it', async () => {
  const { release } = await lockDirectory(directory)
  await assert.rejects(lockDirectory(directory), heldBy(process.pid))
  await release()
  await (await lockDirectory(directory)).release()
  assert.deepEqual(await locks(), ['lock.2'], 'what is over is cleared away')
})

test('another living process keeps it, and loses it by dying', async () => {
  const child = await sleeper()
  await writeFile(join(directory, 'lock.7'), JSON.stringify({ pid: child.pid }))
  await assert.rejects(lockDirectory(directory), heldBy(child.pid))
  const dead = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGKILL')
  await dead
  await lockDirectory(directory)
  assert.deepEqual(await locks(), ['lock.8'])
})

test('a process with the number of a dead one is not taken for it', async () => {
  const child = await sleeper()
  const stale = { pid: child.pid, birth: 'an earlier boot:1' }
  await writeFile(join(directory, 'lock.1'), JSON.stringify(stale))
  if (process.platform === 'linux') await lockDirectory(directory)
  else await assert.rejects(lockDirectory(directory), heldBy(child.pid))
  child.kill('SIGKILL')
})

test('of many at once one gets it, also over a dead one', async () => {
  for (const before of [[], ['lock.3']]) {
    for (const name of before) await writeFile(join(directory, name), '{"pid":2147483646}')
    const tried = await Promise.allSettled(
      Array.from({ length: 12 }, () => lockDirectory(directory)),
    )
    const got = tried.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
    assert.equal(got.length, 1)
    for (const each of tried) {
      assert.ok(each.status === 'fulfilled' || hasCode(each.reason, 'directory_locked'))
    }
    await got[0]?.release()
  }
})

test('a file that says nothing is nobody', async () => {
  await writeFile(join(directory, 'lock.1'), 'half a li')
  await lockDirectory(directory)
})
