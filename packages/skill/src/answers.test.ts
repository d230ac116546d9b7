/**
 * Answers in memory, in a file and in the store: one contract for all of them, and what is the
 * file's alone: crashes, damage, locks, tidying.
 */
import assert from 'node:assert/strict'
import { appendFile, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Digest, IdempotencyKey } from '@chimera/domain/ids'
import { createSeededChance } from '@chimera/host/chance'
import { createVirtualClock } from '@chimera/host/virtual-clock'
import { createAnswers } from '@chimera/store/answers'
import { openPglite } from '@chimera/store/engine/pglite'
import { createDirectories } from '@chimera/store/testing/embedded'
import { afterAll, describe, test } from 'vitest'
import { contractOfAnswers } from '../test/contract-answers.ts'
import { type Answers, AnswersFull, createMemoryAnswers } from './answers.ts'
import { openFileAnswers } from './file-answers.ts'

const ends: (() => Promise<unknown>)[] = []
afterAll(async () => {
  for (const end of ends.reverse()) await end()
})

const content = 'c'.repeat(64) as Digest
const scope = (key: string) => ({ requester: 'r', responder: 'a', key: key as IdempotencyKey })
const work = async () => ({ answer: 'yes' })

async function newPath(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'chimera-answers-'))
  ends.push(() => rm(folder, { recursive: true, force: true }))
  return join(folder, 'answers.jsonl')
}

describe('in memory', () => {
  contractOfAnswers(async () => {
    const clock = createVirtualClock()
    return { clock, answers: createMemoryAnswers({ clock }) }
  })

  test('Q3 a full one forgets what it may, and else says so', async () => {
    const clock = createVirtualClock()
    const answers = createMemoryAnswers({ clock, most: 2 })
    const soon = async () => ({ answer: 1, forgetAt: clock.now() + 1 })
    await answers.once({ scope: scope('a'), content, work: soon })
    await answers.once({ scope: scope('b'), content, work })
    await assert.rejects(answers.once({ scope: scope('c'), content, work }), AnswersFull)
    await clock.advanceBy(1)
    assert.equal((await answers.once({ scope: scope('c'), content, work })).kind, 'new')
    assert.equal((await answers.find(scope('b'), content)).kind, 'same')
  })
})

describe('in a file', () => {
  contractOfAnswers(async () => {
    const clock = createVirtualClock()
    const answers = await openFileAnswers({ path: await newPath(), clock })
    ends.push(answers.close)
    return { clock, answers }
  })

  const clock = createVirtualClock()
  const filled = async (path: string, keys: readonly string[]) => {
    const answers = await openFileAnswers({ path, clock })
    for (const key of keys) await answers.once({ scope: scope(key), content, work })
    await answers.close()
  }
  const known = async (answers: Answers, keys: readonly string[]) => {
    const found = await Promise.all(keys.map((key) => answers.find(scope(key), content)))
    return found.map(({ kind }) => kind)
  }

  test('P-4 all is there after a restart', async () => {
    const path = await newPath()
    await filled(path, ['a', 'b'])
    const again = await openFileAnswers({ path, clock })
    assert.deepEqual(await known(again, ['a', 'b', 'c']), ['same', 'same', 'new'])
    await again.close()
    assert.equal((await stat(path)).mode & 0o077, 0)
  })

  test('J2 a line that a crash cut off is passed over', async () => {
    const path = await newPath()
    await filled(path, ['a', 'b'])
    const text = await readFile(path, 'utf8')
    await writeFile(path, text.slice(0, -5))
    const again = await openFileAnswers({ path, clock })
    assert.deepEqual(await known(again, ['a', 'b']), ['same', 'new'])
    await again.once({ scope: scope('c'), content, work })
    await again.close()
    const third = await openFileAnswers({ path, clock })
    assert.deepEqual(await known(third, ['a', 'b', 'c']), ['same', 'new', 'same'])
    await third.close()
  })

  test('J2 a damaged line in the middle is not', async () => {
    const path = await newPath()
    await filled(path, ['a'])
    await appendFile(path, 'rubbish\n')
    await assert.rejects(openFileAnswers({ path, clock }), { code: 'answers_damaged' })
    // The lock is given back, so that whoever repairs the file can open it.
    await filled(await newPath(), ['a'])
    await assert.rejects(openFileAnswers({ path, clock }), { code: 'answers_damaged' })
  })

  test('W1 a second process is kept out, a dead one is not waited for', async () => {
    const path = await newPath()
    const first = await openFileAnswers({ path, clock })
    await assert.rejects(openFileAnswers({ path, clock }), { code: 'answers_locked' })
    await first.close()
    await writeFile(`${path}.lock`, JSON.stringify({ pid: 2 ** 22 + 1, birth: 'long ago' }))
    await (await openFileAnswers({ path, clock })).close()
    // The same number, born at another time: after a restart of a container.
    await writeFile(`${path}.lock`, JSON.stringify({ pid: process.pid, birth: 'long ago' }))
    await (await openFileAnswers({ path, clock })).close()
  })

  test('J3 the file does not grow with what is outdated', async () => {
    const path = await newPath()
    const answers = await openFileAnswers({ path, clock })
    await answers.once({ scope: scope('kept'), content, work })
    await answers.once({ scope: scope('moved'), content, work })
    for (let batch = 0; batch < 30; batch += 1) {
      const later = clock.now() + 1_000_000 + batch
      await Promise.all(Array.from({ length: 50 }, () => answers.forgetAt(scope('moved'), later)))
    }
    await answers.close()
    const lines = (await readFile(path, 'utf8')).split('\n').length
    assert.ok(lines < 1_200, `${lines} lines`)
    const again = await openFileAnswers({ path, clock })
    assert.deepEqual(await known(again, ['kept', 'moved']), ['same', 'same'])
    await again.close()
  })

  test('after its end nothing is taken', async () => {
    const answers = await openFileAnswers({ path: await newPath(), clock })
    await answers.close()
    const late = answers.once({ scope: scope('a'), content, work })
    await assert.rejects(late, { code: 'answers_closed' })
  })
})

describe('in the store, as it is', () => {
  let opened:
    | Promise<{ answers: Answers; clock: ReturnType<typeof createVirtualClock> }>
    | undefined
  const open = async () => {
    const directories = createDirectories()
    const database = await openPglite({ directory: await directories.newMigrated() })
    ends.push(directories.removeAll, () => database.close())
    const clock = createVirtualClock()
    // A retry after a lost race waits in real time: the clock of this test stands still.
    const waiting = { ...clock, sleep: async () => undefined }
    const chance = createSeededChance(5)
    return { clock, answers: createAnswers({ database, clock: waiting, chance }) }
  }
  contractOfAnswers(() => {
    opened ??= open()
    return opened
  })
})
