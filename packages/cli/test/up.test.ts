/**
 * The first quarter of an hour of a stranger: one command, a text that waits, an approval, a post.
 * Then Ctrl-C, and everything is still there.
 */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CampaignSeen, ReviewSeen } from '@chimera/dialects/chimera'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { chimera, type Going, startChimera } from './command.ts'

let cwd: string
let up: Going
let address: string

const start = async (): Promise<void> => {
  up = startChimera(['up', '--listen', '127.0.0.1:0'], {}, cwd)
  const [, where = ''] = await up.says(/Chimera is up: (http:\/\/[\d.:]+)/)
  address = where
  await up.says(/Ctrl-C stops/)
}
const json = async (...words: readonly string[]) => {
  const ran = await chimera([...words, '--json'], {}, { cwd })
  assert.equal(ran.status, 0, ran.err)
  return JSON.parse(ran.out)
}
async function until<Found>(look: () => Promise<Found | undefined>): Promise<Found> {
  for (;;) {
    const found = await look()
    if (found !== undefined) return found
  }
}
const campaigns = async (): Promise<readonly CampaignSeen[]> =>
  (await json('campaign', 'list')).campaigns

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'chimera-up-'))
  await start()
}, 180_000)

afterAll(async () => {
  up?.signal('SIGINT')
  await up?.ended
  await rm(cwd, { recursive: true, force: true })
}, 60_000)

describe('chimera up', { timeout: 180_000 }, () => {
  test('SK-16 a text waits for a person, is approved in the terminal and published', async () => {
    const review = await until(async () => {
      const [first]: readonly ReviewSeen[] = (await json('review', 'list')).reviews
      return first
    })
    const shown = await chimera(['review', 'show', review.review_id.slice(0, 8)], {}, { cwd })
    assert.match(shown.out, /confidence/)
    assert.match(shown.out, /#sample/)
    const yes = ['review', 'approve', review.review_id.slice(0, 8), '--reviewer', 'Ada']
    const approved = await chimera(yes, {}, { cwd })
    assert.equal(approved.status, 0, approved.err)
    assert.match(approved.err, /it will be published on twitter/)

    const [campaign] = await until(async () => {
      const all = await campaigns()
      return all.every(({ status }) => status === 'completed') ? all : undefined
    })
    const url = campaign?.pieces.find(({ post_url }) => post_url)?.post_url ?? ''
    assert.ok(url.startsWith(address), url)
    assert.match(await (await fetch(url)).text(), /Ada/)
    const listed = await chimera(['campaign', 'show', '7'], {}, { cwd })
    assert.match(listed.out, /publish_content\s+done/)
  })

  test('its own sentences tell what is wrong', async () => {
    const unknown = await chimera(['review', 'show', 'ffffffff'], {}, { cwd })
    assert.deepEqual([unknown.status, unknown.err.trim()], [1, 'No review is known under this id.'])
    const wordless = await chimera(['review', 'reject', 'ffffffff'], {}, { cwd })
    assert.equal(wordless.status, 2)
    // A hub that is named is meant, and hears no token of this folder.
    const elsewhere = await chimera(['review', 'list', '--hub', address], {}, { cwd })
    assert.match(elsewhere.err, /present a token/)
  })

  test('stopped by Ctrl-C and started again, everything is still there', async () => {
    const before = await campaigns()
    up.signal('SIGINT')
    const { status } = await up.ended
    assert.equal(status, 0)
    await start()
    assert.deepEqual(await campaigns(), before)
  })
})
