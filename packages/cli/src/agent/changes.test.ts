/** Files in a real folder; the moment of quiet after a change is the virtual clock's. */
import assert from 'node:assert/strict'
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createVirtualClock } from '@chimera/host/virtual-clock'
import { afterAll, beforeAll, test } from 'vitest'
import { watchChanges } from './changes.ts'

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'chimera-changes-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

test('tells of a known file, also one that was put in its place, and of no other', async () => {
  const clock = createVirtualClock()
  const changes = watchChanges({ clock })
  const known = join(folder, 'known.ts')
  await writeFile(known, '1')
  changes.add(known)
  const quiet = async () => {
    // The system tells of a change when it likes; after it there is a timer.
    while (clock.pending().length === 0) await new Promise((resolve) => setImmediate(resolve))
    await clock.advanceBy(100)
  }

  await writeFile(join(folder, 'other.ts'), '1')
  await writeFile(join(folder, 'draft.ts'), '2')
  await rename(join(folder, 'draft.ts'), known)
  await quiet()
  assert.equal(await changes.next(), known, 'it came while nobody waited')

  changes.widen(true)
  await writeFile(join(folder, 'notes.txt'), '1')
  const missing = join(folder, 'missing.ts')
  await writeFile(missing, '1')
  const told: string[] = []
  // One change may be told in several pieces.
  while (!told.includes(missing)) {
    await quiet()
    told.push(await changes.next())
  }
  assert.ok(told.every((path) => path === known || path === missing))
  changes.close()
})
