/** The keep in files: the contract of every keep, and what a crash leaves behind. */
import assert from 'node:assert/strict'
import { appendFile, cp, mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Digest, TaskId, WorkId } from '@chimera/domain/ids'
import type { WorkState } from '@chimera/domain/work/work'
import { createClock } from '@chimera/host/clock'
import { createVirtualClock } from '@chimera/host/virtual-clock'
import { afterAll, afterEach, beforeAll, describe, test } from 'vitest'
import { keepContract, keptAs } from '../../test/contract-keep.ts'
import { askFor, createGate, createStage } from '../../test/working.ts'
import { type FileKeep, openFileKeep } from './file-keep.ts'
import type { Keep } from './keep.ts'

let root: string
let count = 0
const opened: FileKeep[] = []
const newDirectory = () => {
  count += 1
  return join(root, `keep-${count}`)
}
async function openAt(directory: string, clock = createClock()): Promise<FileKeep> {
  const files = await openFileKeep({ directory, clock })
  opened.push(files)
  return files
}
/** What is on the disk now, as a process that was killed leaves it. */
async function crashed(directory: string): Promise<string> {
  const left = newDirectory()
  await cp(directory, left, { recursive: true, filter: (each) => !each.endsWith('.lock') })
  return left
}

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'chimera-keep-'))
})
afterEach(async () => {
  for (const each of opened.splice(0)) await each.close()
})
afterAll(() => rm(root, { recursive: true, force: true }))

describe('the keep in files', () =>
  keepContract(async (now) => (await openAt(newDirectory(), { ...createClock(), now })).keep))

test('what was acknowledged is there after a crash, as it was last', async () => {
  const directory = newDirectory()
  const { keep } = await openAt(directory)
  await keep.enter(keptAs('a'))
  await keep.save(keptAs('a', { durationMs: 7 }))
  await keep.enter(keptAs('b'))
  const after = await openAt(await crashed(directory))
  assert.equal((await after.keep.find('scope a'))?.durationMs, 7)
  const names = (await after.keep.unfinished()).map(({ work }) => work.ask.work)
  assert.deepEqual(names, ['work a', 'work b'])
})

test('a line that was cut off is passed over; a damaged one is told', async () => {
  const directory = newDirectory()
  const { keep } = await openAt(directory)
  await keep.enter(keptAs('a'))
  const cut = await crashed(directory)
  await appendFile(join(cut, 'work.jsonl'), '{"scope":"scope b","wor')
  const after = await openAt(cut)
  assert.ok(await after.keep.byWork('work a' as WorkId))

  const damaged = await crashed(directory)
  await appendFile(join(damaged, 'work.jsonl'), 'rubbish\n')
  await assert.rejects(openFileKeep({ directory: damaged, clock: createClock() }), {
    code: 'keep_damaged',
  })
})

test('old lines are cleared away, and nothing with them', async () => {
  const directory = newDirectory()
  const { keep } = await openAt(directory)
  await keep.enter(keptAs('a'))
  for (let at = 0; at < 25; at += 1) {
    const saves = Array.from({ length: 100 }, async () =>
      keep.save(keptAs('a', { durationMs: at })),
    )
    await Promise.all(saves)
  }
  const text = await readFile(join(directory, 'work.jsonl'), 'utf8')
  assert.ok(text.split('\n').length < 2_000)
  const after = await openAt(await crashed(directory))
  assert.equal((await after.keep.find('scope a'))?.durationMs, 24)
})

describe('work that has ended lies in the file', () => {
  const DONE: WorkState = { name: 'done', endedAt: 0, output: 'digest' as Digest }
  // Not of one byte each, and two of them do not fit into what is read at once.
  const text = (at: number) => 'ö'.repeat(at % 50 === 3 ? 400_000 : at + 1)
  const ended = (at: number) => keptAs(`e${at}`, { input: { text: text(at) } }, DONE)
  const MANY = 100

  async function holdsAll({ keep }: FileKeep): Promise<void> {
    for (const at of [0, 3, 4, 50, MANY - 1]) {
      assert.equal((await keep.find(`scope e${at}`))?.input.text, text(at), `${at}`)
    }
    assert.equal((await keep.byWork('work e7' as WorkId))?.scope, 'scope e7')
    assert.equal((await keep.byTask('task' as TaskId))?.scope, 'scope running')
    assert.equal((await keep.byTask('task' as TaskId, 'bob'))?.scope, 'scope bob')
    assert.equal((await keep.unfinished()).length, 1)
    assert.equal((await keep.enter(ended(4)))?.input.text, text(4))
    assert.equal(keep.enterEarly?.(ended(4)), undefined)
  }

  test('and is found whole: while it runs, when old lines go, after a crash', async () => {
    const directory = newDirectory()
    const files = await openAt(directory)
    const { keep } = files
    await keep.enter(keptAs('bob', { requester: { name: 'bob', proof: 'open' } }, DONE))
    const each = Array.from({ length: MANY }, (_, at) => at)
    await Promise.all(each.map(async (at) => keep.enter(keptAs(`e${at}`))))
    await Promise.all(each.map(async (at) => keep.save(ended(at))))
    await keep.enter(keptAs('running'))
    await holdsAll(files)
    const before = (await stat(join(directory, 'work.jsonl'))).ino
    const others = Array.from({ length: 1_000 }, (_, at) => keptAs(`o${at}`, { forgetAt: 1 }, DONE))
    await Promise.all(others.map(async (other) => keep.enter(other)))
    // Read at the same time, so that some of it falls into the turn in which the file changes.
    const reads = Array.from({ length: 20 }, () => holdsAll(files))
    await Promise.all([...reads, keep.save(keptAs('running', { durationMs: 7 }))])
    assert.notEqual((await stat(join(directory, 'work.jsonl'))).ino, before, 'not written anew')
    await holdsAll(files)
    await holdsAll(await openAt(await crashed(directory)))
  })
})

test('only its owner can read it, and only one process has it', async () => {
  const directory = newDirectory()
  await openAt(directory)
  assert.equal((await stat(join(directory, 'work.jsonl'))).mode & 0o077, 0)
  await assert.rejects(openFileKeep({ directory, clock: createClock() }), {
    code: 'answers_locked',
  })
})

test('P-3 OC-12 work that a crash cut off ends once, and a repeat finds it', async () => {
  const directory = newDirectory()
  const clock = createVirtualClock()
  const first = createGate()
  const files = await openAt(directory, clock)
  const before = createStage({ skills: [first.skill], clock, keep: files.keep })
  const asked = await before.ask()
  assert.ok(asked.ok)
  const { ask } = asked.kept.work

  const left = await openAt(await crashed(directory), clock)
  const second = createGate()
  const after = createStage({ skills: [second.skill], clock, keep: left.keep })
  await after.workshop.resume()
  while (second.runs.length === 0) await new Promise((resolve) => setImmediate(resolve))
  second.runs[0]?.end(4)
  while (after.hub.reports.length === 0) await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(
    after.hub.reports.map((each) => [each.collaboration_id, each.output_data]),
    [[ask.work, { words: 4 }]],
  )
  const kept = await left.keep.byWork(ask.work)
  assert.equal(kept?.report?.how, 'done')
})

describe('work that begins while it is written down', () => {
  test('nobody finds it before it is kept, and its scope is taken', async () => {
    const { keep } = await openAt(newDirectory())
    const entering = keep.enterEarly?.(keptAs('a'))
    assert.ok(entering)
    assert.equal(await keep.find('scope a'), undefined)
    assert.equal(keep.enterEarly?.(keptAs('a')), undefined)
    await entering.kept
    assert.ok(await keep.byWork('work a' as WorkId))
    assert.equal(keep.enterEarly?.(keptAs('a')), undefined)
  })

  test('what ends in the same turn is one line', async () => {
    const directory = newDirectory()
    const { keep } = await openAt(directory)
    const entering = keep.enterEarly?.(keptAs('a'))
    assert.equal(await keep.save(keptAs('a', { durationMs: 7 })), 'saved')
    await entering?.kept
    assert.equal((await keep.find('scope a'))?.durationMs, 7)
    const text = await readFile(join(directory, 'work.jsonl'), 'utf8')
    assert.equal(text.split('\n').length - 1, 1)
    const after = await openAt(await crashed(directory))
    assert.equal((await after.keep.find('scope a'))?.durationMs, 7)
  })

  test('P-4 a repeat in the same moment waits, and finds the one that began', async () => {
    const { keep } = await openAt(newDirectory())
    const gate = createGate()
    const stage = createStage({ skills: [gate.skill], keep })
    const asked = askFor()
    const both = [1, 2].map(async () =>
      stage.workshop.ask({ door: 'openclaw', asked, signer: undefined }),
    )
    const [one, other] = await Promise.all(both)
    assert.ok(one?.ok && other?.ok)
    assert.deepEqual([one.repeated, other.repeated], [false, true])
    assert.equal(gate.runs.length, 1)
    gate.runs[0]?.end()
  })

  test('a run whose work could not be kept is stopped, and the next ask begins anew', async () => {
    const { keep } = await openAt(newDirectory())
    let fails = true
    const failing: Keep = {
      ...keep,
      enterEarly: (kept) => {
        if (!fails) return keep.enterEarly?.(kept)
        fails = false
        return { kept: new Promise((_, reject) => setImmediate(() => reject(new Error('full')))) }
      },
    }
    const gate = createGate()
    const stage = createStage({ skills: [gate.skill], keep: failing })
    const asked = askFor()
    const ask = () => stage.workshop.ask({ door: 'openclaw', asked, signer: undefined })
    const refused = await ask()
    assert.ok(!refused.ok && refused.refusal === 'service_unavailable')
    while (stage.desk.workload(0).slotsFree === 0) await new Promise((done) => setImmediate(done))
    assert.equal(gate.stopped.length, 1)
    assert.ok((await ask()).ok)
    while (gate.runs.length < 2) await new Promise((done) => setImmediate(done))
    gate.runs[1]?.end()
  })
})
