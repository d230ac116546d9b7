/**
 * The same ask twice is one ask: in one process, after its restart, and when it was killed in the
 * middle.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createVirtualClock } from '@chimera/host/virtual-clock'
import fc from 'fast-check'
import { afterAll, describe, test } from 'vitest'
import { createStage, hang, type Step, skillOf, steps } from '../test/stage.ts'
import { type Answers, createMemoryAnswers } from './answers.ts'
import type { CallOutcome } from './calls.ts'
import type { Reconciled } from './contract.ts'
import { SkillFailure } from './failure.ts'
import { openFileAnswers } from './file-answers.ts'

const folders: string[] = []
afterAll(async () => {
  for (const each of folders) await rm(each, { recursive: true, force: true })
})

const shown = (outcome: CallOutcome): string =>
  outcome.ok ? `${JSON.stringify(outcome.output)} from ${outcome.from}` : outcome.error.code
const numbers = () => {
  let n = 0
  return steps(() => {
    n += 1
    return { n }
  })
}
const net = new SkillFailure('UNAVAILABLE')
const key = 'k'

describe('P-4 a repeat under its key', () => {
  // biome-ignore format: a table is read by its columns
  const rows: [rule: string, does: Step[], asks: [n: number, key: string, caller: string][], answers: string[]][] = [
    ['gets the same answer',                     [],                  [[1, 'k', 'c'], [1, 'k', 'c']], ['{"n":1} from run', '{"n":1} from answers']],
    ['with another key is another ask',          [],                  [[1, 'k', 'c'], [1, 'l', 'c']], ['{"n":1} from run', '{"n":2} from run']],
    ['of another caller is another ask',         [],                  [[1, 'k', 'c'], [1, 'k', 'd']], ['{"n":1} from run', '{"n":2} from run']],
    ['with other content is a conflict',         [],                  [[1, 'k', 'c'], [2, 'k', 'c']], ['{"n":1} from run', 'CONFLICT']],
    ['of what failed for good fails the same',   [new SkillFailure('NOT_FOUND'), { n: 9 }], [[1, 'k', 'c'], [1, 'k', 'c']], ['NOT_FOUND', 'NOT_FOUND']],
    ['of what may pass is tried anew',           [net, { n: 9 }],     [[1, 'k', 'c'], [1, 'k', 'c']], ['UNAVAILABLE', '{"n":9} from run']],
  ]
  for (const [rule, does, asks, answers] of rows) {
    test(rule, async () => {
      const skill = does.length > 0 ? steps(...does) : numbers()
      const { runner } = createStage({ skills: [skillOf(skill.run)] })
      const got: string[] = []
      for (const [n, each, caller] of asks) {
        got.push(shown(await runner.run('double', { n }, { key: each, caller })))
      }
      assert.deepEqual(got, answers)
    })
  }

  test('at another agent is another ask, though both keep their answers in one place', async () => {
    const answers = createMemoryAnswers({ clock: createVirtualClock() })
    const skill = numbers()
    const got: string[] = []
    for (const id of ['agent-1', 'agent-2', 'agent-1']) {
      const { runner } = createStage({ skills: [skillOf(skill.run)], agent: () => id, answers })
      got.push(shown(await runner.run('double', { n: 1 }, { key, caller: 'c' })))
    }
    assert.deepEqual(got, ['{"n":1} from run', '{"n":2} from run', '{"n":1} from answers'])
  })

  test('at once joins what runs; other content at once is a conflict', async () => {
    const skill = numbers()
    const stage = createStage({ skills: [skillOf(skill.run)] })
    const asks = [1, 1, 2].map((n) => stage.runner.run('double', { n }, { key }))
    const { answer } = await stage.until(Promise.all(asks))
    assert.deepEqual(answer.map(shown), ['{"n":1} from run', '{"n":1} from flight', 'CONFLICT'])
  })

  test('is forgotten after its time, and not before', async () => {
    const skill = numbers()
    const { runner, clock } = createStage({ skills: [skillOf(skill.run)] })
    const ask = async () => shown(await runner.run('double', { n: 1 }, { key }))
    await ask()
    await clock.advanceBy(86_400_000 - 1)
    assert.equal(await ask(), '{"n":1} from answers')
    await clock.advanceBy(1)
    assert.equal(await ask(), '{"n":2} from run')
  })

  test('the skill itself may say what the key is, whose it is and what it covers', async () => {
    const skill = numbers()
    const idempotency = {
      by: ({ n }: { n: number }) => `even ${n % 2}`,
      same: ({ n }: { n: number }) => n % 2,
      across: 'everybody',
      keep: 'for ever',
    } as const
    const { runner, clock } = createStage({ skills: [skillOf(skill.run, { idempotency })] })
    const ask = async (n: number, caller: string) =>
      shown(await runner.run('double', { n }, { caller }))
    assert.equal(await ask(1, 'c'), '{"n":1} from run')
    await clock.advanceBy(10 * 365 * 86_400_000)
    assert.equal(await ask(3, 'd'), '{"n":1} from answers')
    assert.equal(await ask(2, 'c'), '{"n":2} from run')
  })
})

/** A new runner on what the old one kept, as after a restart. */
const restarted = (answers: Answers, run: ReturnType<typeof steps>, more = {}) =>
  createStage({ skills: [skillOf(run.run, more)], answers })

describe('P-3 what may run once only', () => {
  const onceOnly = { idempotency: { once: true } }
  const memory = () => createMemoryAnswers({ clock: createVirtualClock() })

  test('is not tried again by the runner when nobody knows how it ended', async () => {
    const skill = steps(hang, { n: 1 })
    const stage = restarted(memory(), skill, onceOnly)
    const first = await stage.until(stage.runner.run('double', { n: 1 }, { key }))
    assert.equal(shown(first.answer), 'OUTCOME_UNKNOWN')
    const again = await stage.runner.run('double', { n: 1 }, { key })
    assert.equal(shown(again), 'OUTCOME_UNKNOWN')
    assert.ok(!again.ok && again.error.retryable && again.error.needs === 'same_key')
    assert.equal(skill.calls(), 1)
  })

  test('is not recovered from when nobody knows how it ended', async () => {
    const TIMEOUT = { words: 'Late.', retryable: true, retries: 0, ending: 'empty' } as const
    const more = { ...onceOnly, errors: { TIMEOUT }, recover: () => ({ n: 0 }) }
    const skill = steps(hang, { n: 1 })
    const stage = restarted(memory(), skill, more)
    const ask = () => stage.until(stage.runner.run('double', { n: 1 }, { key }))
    assert.equal(shown((await ask()).answer), 'OUTCOME_UNKNOWN')
    assert.equal(shown((await ask()).answer), 'OUTCOME_UNKNOWN')
    assert.equal(skill.calls(), 1)
  })

  test('whose rule for the cache throws has not begun', async () => {
    let broken = true
    const by = () => {
      if (broken) throw new Error('rule')
      return 1
    }
    const skill = steps({ n: 1 })
    const more = { ...onceOnly, cache: { ttl: '1m', by } } as const
    const { runner } = restarted(memory(), skill, more)
    assert.equal(shown(await runner.run('double', { n: 1 }, { key })), 'INTERNAL_ERROR')
    broken = false
    // It failed for good, and does so again under its key; under another one it runs.
    assert.equal(shown(await runner.run('double', { n: 1 }, { key })), 'INTERNAL_ERROR')
    assert.equal(shown(await runner.run('double', { n: 1 }, { key: 'l' })), '{"n":1} from run')
  })

  test('is tried again when the skill says that nothing happened', async () => {
    const skill = steps(new SkillFailure('NETWORK_ERROR'), net, { n: 1 })
    const stage = restarted(memory(), skill, onceOnly)
    const first = await stage.until(stage.runner.run('double', { n: 1 }, { key }))
    assert.equal(shown(first.answer), 'UNAVAILABLE')
    assert.equal(shown(await stage.runner.run('double', { n: 1 }, { key })), '{"n":1} from run')
  })

  test('needs a key, and is not claimed by who leaves before it begins', async () => {
    const skill = steps({ n: 1 })
    const { runner } = restarted(memory(), skill, onceOnly)
    const keyless = await runner.run('double', { n: 1 })
    assert.equal(!keyless.ok && keyless.error.issues[0]?.path, 'key')
    const leaving = new AbortController()
    const pending = runner.run('double', { n: 1 }, { key, signal: leaving.signal })
    leaving.abort()
    assert.equal(shown(await pending), 'CANCELLED')
    assert.equal(shown(await runner.run('double', { n: 1 }, { key })), '{"n":1} from run')
    assert.equal(skill.calls(), 1)
  })

  test('stays claimed when its caller leaves in the middle', async () => {
    const answers = memory()
    const skill = steps(hang)
    const stage = restarted(answers, skill, onceOnly)
    const leaving = new AbortController()
    const pending = stage.runner.run('double', { n: 1 }, { key, signal: leaving.signal })
    await stage.clock.advanceBy(10)
    leaving.abort()
    assert.equal(shown(await pending), 'CANCELLED')
    const again = await restarted(answers, skill, onceOnly).runner.run('double', { n: 1 }, { key })
    assert.equal(shown(again), 'OUTCOME_UNKNOWN')
    assert.equal(skill.calls(), 1)
  })

  // biome-ignore format: a table is read by its columns
  const found: [rule: string, reconciled: () => unknown, answer: string, again: string, calls: number][] = [
    ['done: its answer is the answer',   () => ({ is: 'done', output: { n: 7 } }),   '{"n":7} from reconciled', '{"n":7} from answers', 0],
    ['not done: it is done now',         () => ({ is: 'not_done' }),                 '{"n":1} from run',        '{"n":1} from answers', 1],
    ['unknown: it stays so',             () => ({ is: 'unknown' }),                  'OUTCOME_UNKNOWN',         'OUTCOME_UNKNOWN',      0],
    ['rubbish: it stays unknown',        () => ({ is: 'done', output: { n: 'x' } }), 'OUTCOME_UNKNOWN',         'OUTCOME_UNKNOWN',      0],
    ['it throws: it stays unknown',      () => { throw new Error('no') },            'OUTCOME_UNKNOWN',         'OUTCOME_UNKNOWN',      0],
  ]
  for (const [rule, reconciled, answer, again, calls] of found) {
    test(`is looked up after a crash; ${rule}`, async () => {
      const answers = memory()
      // The first process dies in the middle: it is never heard of again.
      const dead = restarted(answers, steps(hang), onceOnly)
      void dead.runner.run('double', { n: 1 }, { key })
      await dead.clock.advanceBy(10)

      const skill = steps({ n: 1 })
      const reconcile = () => reconciled() as Reconciled<{ n: number }>
      const more = { idempotency: { once: true, reconcile } }
      const stage = restarted(answers, skill, more)
      assert.equal(shown(await stage.runner.run('double', { n: 1 }, { key })), answer)
      assert.equal(shown(await stage.runner.run('double', { n: 1 }, { key })), again)
      assert.equal(skill.calls(), calls)
    })
  }

  test('with several processes on one keeper, one that may still run is left to it', async () => {
    const { alone: _, ...shared } = memory()
    const dead = restarted(shared, steps(hang), onceOnly)
    void dead.runner.run('double', { n: 1 }, { key })
    await dead.clock.advanceBy(10)
    const chance = { fraction: () => 0, uuid: () => 'another' }
    const stage = createStage({
      skills: [skillOf(steps({ n: 1 }).run, onceOnly)],
      answers: shared,
      chance,
    })
    const early = await stage.runner.run('double', { n: 1 }, { key })
    assert.deepEqual([shown(early), !early.ok && early.error.why], ['TOO_EARLY', 'under_way'])
    await stage.clock.advanceBy(4 * 5_000 + 3 * 60_000 + 30_000 + 10)
    assert.equal(shown(await stage.runner.run('double', { n: 1 }, { key })), 'OUTCOME_UNKNOWN')
  })

  test('what may be repeated is simply run again after a crash', async () => {
    const answers = memory()
    const dead = restarted(answers, steps(hang))
    void dead.runner.run('double', { n: 1 }, { key })
    await dead.clock.advanceBy(10)
    const stage = restarted(answers, steps({ n: 1 }))
    assert.equal(shown(await stage.runner.run('double', { n: 1 }, { key })), '{"n":1} from run')
  })
})

test('P-3, P-4 over any asks, crashes and failures a deed is done at most once', async () => {
  const act = fc.constantFrom('ask', 'ask_twice', 'crash', 'leave')
  const end = fc.constantFrom('good', 'passing', 'final', 'throws', 'hangs')
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(act, end, fc.constantFrom('k', 'l')), { maxLength: 12 }),
      async (acts) => {
        const answers = createMemoryAnswers({ clock: createVirtualClock() })
        const deeds = new Map<string, number>()
        const told = new Map<string, string>()
        let next = 'good'
        const run = steps((input, context) => {
          const which = context.key ?? ''
          if (next === 'passing') throw net
          deeds.set(which, (deeds.get(which) ?? 0) + 1)
          if (next === 'hangs') return hang(input, context)
          if (next === 'throws') throw new Error('after the deed')
          if (next === 'final') throw new SkillFailure('NOT_FOUND')
          return { n: deeds.get(which) ?? 0 }
        })
        let stage = restarted(answers, run, { idempotency: { once: true } })
        for (const [does, how, each] of acts) {
          next = how
          if (does === 'crash') {
            void stage.runner.run('double', { n: 1 }, { key: each })
            await stage.clock.advanceBy(1)
            stage = restarted(answers, run, { idempotency: { once: true } })
            continue
          }
          const leaving = new AbortController()
          const asks = Array.from({ length: does === 'ask_twice' ? 2 : 1 }, () =>
            stage.runner.run('double', { n: 1 }, { key: each, signal: leaving.signal }),
          )
          if (does === 'leave') leaving.abort()
          const { answer } = await stage.until(Promise.all(asks))
          for (const outcome of answer) {
            if (!outcome.ok) continue
            const said = JSON.stringify(outcome.output)
            assert.equal(told.get(each) ?? said, said, 'one answer under one key')
            told.set(each, said)
          }
        }
        for (const count of deeds.values()) assert.ok(count <= 1)
      },
    ),
    { seed: 5, numRuns: 60 },
  )
})

test('P-3, P-4 killed in the middle: what ended is answered, what began is unknown', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'chimera-killed-'))
  folders.push(folder)
  const path = join(folder, 'answers.jsonl')
  const program = fileURLToPath(new URL('../test/killed.ts', import.meta.url))
  const args = ['--conditions=chimera-source', '--import', 'tsx', program, path]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const [said] = await once(child.stdout, 'data')
  assert.match(String(said), /begun/)
  child.kill('SIGKILL')
  await once(child, 'exit')

  const clock = createVirtualClock({ startAt: Date.now() })
  const answers = await openFileAnswers({ path, clock })
  const skill = steps({ n: 99 })
  const { runner } = createStage({
    skills: [skillOf(skill.run, { idempotency: { once: true } })],
    answers,
    clock,
  })
  const ask = async (each: string) => shown(await runner.run('double', { n: 1 }, { key: each }))
  assert.equal(await ask('ended'), '{"n":1} from answers')
  assert.equal(await ask('begun'), 'OUTCOME_UNKNOWN')
  assert.equal(await ask('fresh'), '{"n":99} from run')
  await answers.close()
})
