/** Plans in a file: what is out is not forgotten, and what a dead process had in hand is free. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Digest } from '@chimera/domain/ids'
import { afterEach, beforeEach, test } from 'vitest'
import { CONTENT } from '../../test/content.ts'
import type { LocalUse } from '../approvals/local-desk.ts'
import { type FileKeep, type FilePost, openFileKeep } from './file-keep.ts'
import type { Planned } from './keep.ts'

const SENDING: Planned = {
  stage: 'sending',
  content: CONTENT,
  bytes: 'b' as Digest,
  platform: 'twitter',
  acceptedAt: 1,
  approval: { id: 'approval', reviewer: 'ann' } as Planned['approval'],
  token: 't' as Digest,
  failures: 0,
  holder: 'the dead one',
  sentAt: 2,
}

let home: string
let path: string
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'chimera-keep-'))
  path = join(home, 'publications.jsonl')
})
afterEach(() => rm(home, { recursive: true, force: true }))

test('SK-10 the lease of whoever had the file before is over', async () => {
  const far = Date.now() + 60_000
  const sending: Planned = { ...SENDING, leaseUntil: far }
  const before = await openFileKeep({ path, uuid: randomUUID })
  await before.keep.add({ key: 'sent', wakeAt: far, kept: sending })
  await before.keep.add({ key: 'planned', wakeAt: far, kept: { ...sending, stage: 'ready' } })
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
})

test('SK-10 what is out is known for ever, from the file', async () => {
  const posted: Planned = {
    ...SENDING,
    stage: 'posted',
    posted: { postId: 'p', url: 'urn:p', publishedAt: 3 },
  }
  const use = { id: 'use', at: 1 } as unknown as LocalUse
  const post = { key: 'a', text: 'the one text' } as FilePost
  const first = await openFileKeep({ path, uuid: randomUUID })
  const added = await first.keep.add({ key: 'a', wakeAt: 5, kept: SENDING })
  const { wakeAt: _, ...awake } = added
  const changed = await first.keep.change({ ...awake, kept: posted })
  assert.deepEqual(changed, { key: 'a', version: 2, kept: posted })
  await first.uses.add(use)
  await first.posts.add(post)
  const { planner } = first.keep

  const check = async ({ keep, uses, posts }: FileKeep): Promise<void> => {
    assert.equal(keep.planner, planner)
    assert.deepEqual(await keep.find('a'), changed)
    assert.deepEqual(await keep.due(Number.MAX_SAFE_INTEGER, 10), [])
    assert.deepEqual(await keep.add({ key: 'a', kept: SENDING }), changed)
    assert.equal(await keep.change(added), undefined, 'over an older version')
    assert.deepEqual(await uses.find('use'), use)
    assert.deepEqual(await posts.add({ ...post, text: 'another' }), post)
    assert.equal(await posts.find('none'), undefined)
  }
  await check(first)
  await first.close()
  const second = await openFileKeep({ path, uuid: randomUUID })
  await check(second)
  // From `failed` a new approval leads on, and so from whatever lies in the file.
  const again = changed && (await second.keep.change({ ...changed, wakeAt: 1, kept: SENDING }))
  assert.deepEqual(await second.keep.due(2, 10), [again])
  await second.close()
})
