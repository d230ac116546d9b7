/**
 * A process that is killed between using the approval, keeping the intent, publishing and
 * recording: after a restart there is exactly one post, and it is the one that is answered.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDirectories } from '@chimera/store/testing/embedded'
import { readyBundle, testProgram } from '@chimera/tools/bundle'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { type Platform, startPlatform } from './platform-server.ts'
import { approvedInput, contentOf } from './publishing.ts'
import { type Asked, type Cut, openPublisher } from './publishing-child.ts'

/** Longer than a lease. */
const LATER_MS = 65_000

async function killed(asked: Asked): Promise<void> {
  const script = await readyBundle(testProgram(new URL('./publishing-child.ts', import.meta.url)))
  const child = spawn(process.execPath, [script, 'publish', JSON.stringify(asked)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const heard: string[] = []
  child.stdout.on('data', (text) => heard.push(String(text)))
  child.stderr.on('data', (text) => heard.push(String(text)))
  const signal = await new Promise((resolve) => child.on('close', (_, how) => resolve(how)))
  assert.equal(signal, 'SIGKILL', heard.join(''))
}

describe('killed while it publishes', { timeout: 180_000 }, () => {
  const directories = createDirectories()
  let platform: Platform
  let home: string

  beforeAll(async () => {
    platform = await startPlatform()
    home = await mkdtemp(join(tmpdir(), 'chimera-publish-'))
  })
  afterAll(async () => {
    await platform.stop()
    await rm(home, { recursive: true, force: true })
    await directories.removeAll()
  })

  // biome-ignore format: a table is read by its columns
  const rows: [cut: Cut, keep: 'file' | 'database', there: number][] = [
    ['used',      'file',     0],
    ['kept',      'file',     0],
    ['sending',   'file',     0],
    ['published', 'file',     1],
    ['recorded',  'file',     1],
    ['published', 'database', 1],
  ]
  for (const [cut, keep, there] of rows) {
    test(`SK-10 once it is ${cut}, with a ${keep}: one post after a restart`, async () => {
      platform.reset()
      const folder = await mkdtemp(join(home, 'one-'))
      const place = {
        platform: platform.address,
        folder,
        ...(keep === 'database' && { database: await directories.newMigrated() }),
      }
      const before = await openPublisher({ platform: platform.address, folder, cut: 'none' })
      const input = await approvedInput(before.desk, { content: contentOf() })
      await before.close()
      await killed({ ...place, cut, input })
      assert.equal(platform.posts.length, there, 'where it was cut off')

      const after = await openPublisher({ ...place, cut: 'none', aheadMs: LATER_MS })
      const [first, again] = [await after.publish(input), await after.publish(input)]
      await after.close()
      assert.ok(first.ok && again.ok, JSON.stringify(first))
      assert.equal(first.output.post_id, platform.posts[0]?.id)
      assert.equal(again.output.post_id, first.output.post_id)
      assert.equal(platform.posts.length, 1)
    })
  }
})
