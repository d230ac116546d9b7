/** SF-6: secrets are rotated while the program runs. Time is moved, files are in memory. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { createVirtualClock } from '../virtual-clock.ts'
import { secret } from './declare.ts'
import { text } from './kinds.ts'
import { resolveSettings } from './resolve.ts'
import { type Refreshed, watchSecrets } from './secret-files.ts'

const kind = text({ least: 4, most: 20 })
const declared = {
  token: secret(kind, { about: 'The token.', reload: true }),
  fixed: secret(kind, { about: 'Read once.' }),
}

async function setUp() {
  const files = new Map([
    ['t', 'first\n'],
    ['f', 'fixed\n'],
  ])
  let reads = 0
  const read = async (path: string): Promise<string> => {
    reads += 1
    const found = files.get(path)
    if (found === undefined) throw Object.assign(new Error(), { code: 'ENOENT' })
    return found
  }
  const env = { CHIMERA_TOKEN_FILE: 't', CHIMERA_FIXED_FILE: 'f' }
  const resolved = await resolveSettings(declared, { env, read })
  assert.ok(resolved.ok)
  const { token, fixed } = resolved.values
  const now = () => [token?.reveal(), fixed?.reveal()]
  return { files, now, secretFiles: resolved.secretFiles, reads: () => reads }
}

describe('SF-6 a secret that is replaced in its file', () => {
  test('holds after a refresh, by the same handle; one that is not followed stays', async () => {
    const { files, now, secretFiles } = await setUp()
    files.set('t', 'second\n').set('f', 'other\n')
    assert.deepEqual(now(), ['first', 'fixed'])
    assert.deepEqual(await secretFiles.refresh(), { changed: ['token'], problems: [] })
    assert.deepEqual(now(), ['second', 'fixed'])
    assert.deepEqual(await secretFiles.refresh(), { changed: [], problems: [] })
  })

  test('F2 while it is missing or wrong the old one stays, and that is told', async () => {
    const { files, now, secretFiles } = await setUp()
    files.delete('t')
    const missing = await secretFiles.refresh()
    files.set('t', 'no\n')
    const wrong = await secretFiles.refresh()
    assert.deepEqual(
      [missing, wrong].map(({ changed, problems }) => [changed, problems.length]),
      [
        [[], 1],
        [[], 1],
      ],
    )
    assert.deepEqual(now(), ['first', 'fixed'])
  })

  test('F3 two refreshes at once are one reading', async () => {
    const { secretFiles, reads } = await setUp()
    const before = reads()
    const [one, other] = await Promise.all([secretFiles.refresh(), secretFiles.refresh()])
    assert.equal(one, other)
    assert.equal(reads(), before + 1)
  })
})

test('X-8 SF-6 files are looked at by the clock, until that is stopped', async () => {
  const { files, now, secretFiles } = await setUp()
  const clock = createVirtualClock()
  const told: Refreshed[] = []
  const stop = watchSecrets(secretFiles, {
    clock,
    everyMs: 1_000,
    onRefreshed: (refreshed) => told.push(refreshed),
  })
  await clock.advanceBy(5_000)
  assert.equal(told.length, 0, 'nothing to tell')
  files.set('t', 'second\n')
  await clock.advanceBy(999)
  assert.deepEqual(now(), ['first', 'fixed'])
  await clock.advanceBy(1)
  assert.deepEqual(now(), ['second', 'fixed'])
  files.delete('t')
  await clock.advanceBy(1_000)
  assert.deepEqual(
    told.map(({ changed, problems }) => [changed.length, problems.length]),
    [
      [1, 0],
      [0, 1],
    ],
  )
  stop()
  files.set('t', 'third\n')
  await clock.advanceBy(10_000)
  assert.deepEqual(now(), ['second', 'fixed'])
  assert.deepEqual(clock.pending(), [])
})
