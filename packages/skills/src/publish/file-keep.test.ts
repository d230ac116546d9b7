/** Plans in a file: what a process that was killed had in hand is free for the next one. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Digest } from '@chimera/domain/ids'
import { test } from 'vitest'
import { CONTENT } from '../../test/content.ts'
import { openFileKeep } from './file-keep.ts'
import type { Planned } from './keep.ts'

test('SK-10 the lease of whoever had the file before is over', async () => {
  const home = await mkdtemp(join(tmpdir(), 'chimera-keep-'))
  const path = join(home, 'publications.jsonl')
  const far = Date.now() + 60_000
  const sending: Planned = {
    stage: 'sending',
    content: CONTENT,
    bytes: 'b' as Digest,
    platform: 'twitter',
    acceptedAt: 1,
    approval: { id: 'approval', reviewer: 'ann' } as Planned['approval'],
    token: 't' as Digest,
    failures: 0,
    holder: 'the dead one',
    leaseUntil: far,
    sentAt: 2,
  }
  const ready: Planned = { ...sending, stage: 'ready' }
  try {
    const before = await openFileKeep({ path, uuid: randomUUID })
    await before.keep.add({ key: 'sent', wakeAt: far, kept: sending })
    await before.keep.add({ key: 'planned', wakeAt: far, kept: ready })
    assert.equal((await before.keep.find('sent'))?.kept.leaseUntil, far)
    await before.close()

    const { keep, close } = await openFileKeep({ path, uuid: randomUUID })
    const found = await keep.find('sent')
    assert.deepEqual([found?.kept.leaseUntil, found?.kept.sentAt], [undefined, 2])
    const due = await keep.due(Date.now(), 10)
    assert.deepEqual(
      due.map(({ key }) => key),
      ['sent'],
    )
    await close()
  } finally {
    await rm(home, { recursive: true, force: true })
  }
})
