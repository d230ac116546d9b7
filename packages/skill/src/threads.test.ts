/**
 * Skills in threads of their own, in real time: what a good one gives, and that a bad one takes
 * only its own call with it.
 */
import assert from 'node:assert/strict'
import { afterAll, describe, test } from 'vitest'
import { Asked, Given } from '../test/stage.ts'
import type { CallOutcome, RunnerEvent } from './calls.ts'
import type { Progress, SubHiring } from './contract.ts'
import { defineSkill } from './define.ts'
import { createRunner, type Runner } from './runner.ts'
import type { LogLine } from './trying.ts'

const module = new URL('../test/threaded.js', import.meta.url)
const runners: Runner[] = []
afterAll(async () => {
  for (const each of runners) await each.close()
})

const once = (words: string) => ({ words, retryable: true, retries: 0 })

function stage(more: object = {}) {
  const lines: LogLine[] = []
  const events: RunnerEvent[] = []
  const errors = {
    TIMEOUT: once('Late.'),
    NETWORK_ERROR: once('No network.'),
    RATE_LIMITED: once('Slower.'),
  }
  const skill = defineSkill({
    name: 'threaded',
    version: '1.0',
    input: Asked,
    output: Given,
    timeout: '10s',
    errors,
    module,
    memoryMb: 32,
    threads: 2,
    ...more,
  })
  const runner = createRunner({
    skills: [skill],
    log: (each) => lines.push(each),
    watch: (each) => events.push(each),
  })
  runners.push(runner)
  return { runner, lines, events }
}

const shown = (outcome: CallOutcome): string =>
  outcome.ok ? JSON.stringify(outcome.output) : `${outcome.error.code} ${outcome.error.why}`

describe('a skill in a thread', () => {
  test('gives its answer, its progress and its log lines, and is used again', async () => {
    const { runner, lines } = stage()
    const progress: Progress[] = []
    const call = { key: 'k', onProgress: (each: Progress) => progress.push(each) }
    assert.equal(shown(await runner.run('threaded', { n: 1 }, call)), '{"n":2}')
    assert.deepEqual(progress, [{ share: 0.5, note: 'half' }])
    assert.deepEqual(
      lines.map(({ message, fields }) => [message, fields]),
      [['at work', { attempt: 1, key: 'k' }]],
    )
    assert.equal(shown(await runner.run('threaded', { n: 1 })), '{"n":2}')
  })

  // biome-ignore format: a table is read by its columns
  const rows: [rule: string, n: number, answer: string][] = [
    ['allocates without end',                3,  'INTERNAL_ERROR out_of_memory'],
    ['fails with a code of its table',       4,  'RATE_LIMITED declared'],
    ['rejects where nobody listens',         5,  'INTERNAL_ERROR thread_died'],
    ['ends the thread',                      6,  'INTERNAL_ERROR thread_died'],
    ['gives what cannot leave the thread',   7,  'INTERNAL_ERROR unserialisable'],
    ['throws',                               10, 'INTERNAL_ERROR threw'],
    ['finds no network',                     11, 'NETWORK_ERROR network'],
  ]
  const { runner } = stage()
  for (const [rule, n, answer] of rows) {
    test(`one that ${rule} takes only its own call with it`, async () => {
      assert.equal(shown(await runner.run('threaded', { n })), answer)
      assert.equal(shown(await runner.run('threaded', { n: 1 })), '{"n":2}')
    })
  }

  test('SK-2 one that spins for ever is ended at its timeout; nothing runs on', async () => {
    const { runner: quick, events } = stage({ timeout: '400ms' })
    assert.equal(shown(await quick.run('threaded', { n: 2 })), 'TIMEOUT timed_out')
    // It waits for the threads: with one that still spins this would not end.
    await quick.close()
    assert.deepEqual(
      events.filter(({ is }) => is === 'stray'),
      [],
    )
  })

  test('one that does not react is ended early where the author wants it', async () => {
    const { runner: watched } = stage({ blocked: '300ms' })
    assert.equal(shown(await watched.run('threaded', { n: 2 })), 'TIMEOUT blocked')
  })

  test('one that waits hears its signal and stops by itself', async () => {
    const { runner: quick, events } = stage({ timeout: '3s' })
    assert.equal(shown(await quick.run('threaded', { n: 8 })), 'TIMEOUT timed_out')
    assert.equal(shown(await quick.run('threaded', { n: 1 })), '{"n":2}')
    assert.deepEqual(
      events.filter(({ is }) => is === 'stray'),
      [],
    )
  })

  test('one that talks without end is heard only so much', async () => {
    const heard: Progress[] = []
    const call = { onProgress: (each: Progress) => heard.push(each) }
    assert.equal(shown(await runner.run('threaded', { n: 9 }, call)), '{"n":9}')
    assert.ok(heard.length <= 100, `${heard.length}`)
  })

  test('one that hires others does so through whoever runs it (P-9)', async () => {
    const { runner: hiring, lines } = stage()
    const asked: unknown[] = []
    const hire: SubHiring = async ({ skill, input, terms, attempt }) => {
      asked.push([skill, input, terms, attempt])
      if (skill === 'nobody') throw Object.assign(new Error('nobody does'), { code: 'none' })
      return { output: { n: 13 }, cost: 0.02 }
    }
    assert.equal(shown(await hiring.run('threaded', { n: 12 }, { hire })), '{"n":13}')
    assert.deepEqual(asked, [
      ['add', { n: 12 }, { budget: 0.02 }, 1],
      ['nobody', {}, {}, 1],
    ])
    assert.deepEqual(
      lines.map(({ message, fields }) => [message, fields]),
      [['nobody does', { code: 'none' }]],
    )
    assert.match(shown(await hiring.run('threaded', { n: 12 })), /^INTERNAL_ERROR/)
  })

  test('more at once than there are threads are refused', async () => {
    const { runner: two } = stage({ timeout: '300ms' })
    const asks = [8, 8, 8].map((n) => two.run('threaded', { n }))
    const answers = (await Promise.all(asks)).map(shown)
    assert.equal(answers.filter((each) => each === 'UNAVAILABLE overloaded').length, 1)
  })

  test('a module that is not there, or exports no function, fails the call', async () => {
    const missing = stage({ module: new URL('../test/nowhere.js', import.meta.url) })
    assert.match(shown(await missing.runner.run('threaded', { n: 1 })), /^INTERNAL_ERROR/)
    const other = stage({ export: 'notOne' })
    assert.equal(shown(await other.runner.run('threaded', { n: 1 })), 'INTERNAL_ERROR threw')
  })
})
