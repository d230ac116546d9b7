/**
 * What the runner gives to every skill, rule by rule, on a virtual clock: validation, timeout,
 * retries, and skills that behave badly.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { createStage, hang, ignore, type Step, skillOf, steps } from '../test/stage.ts'
import type { CallOptions } from './calls.ts'
import type { SkillContext } from './contract.ts'
import { defineSkill, Type } from './define.ts'
import { SkillFailure } from './failure.ts'
import { createLeaver } from './leaving.ts'
import { createRunner } from './runner.ts'

const fails = (code: string) => new SkillFailure(code)
const double = steps(({ n }) => ({ n: 2 * n }))

describe('SK-2 validation in and out', () => {
  // biome-ignore format: a table is read by its columns
  const inputs: [rule: string, input: unknown, code: string, path: string][] = [
    ['a field of the wrong type',   { n: 'one' },                              'INVALID_INPUT',   '/n'],
    ['a field that is missing',     {},                                        'INVALID_INPUT',   '/n'],
    ['a number out of bounds',      { n: 1_001 },                              'INVALID_INPUT',   '/n'],
    ['nothing at all',              undefined,                                 'INVALID_INPUT',   ''],
    ['what JSON cannot hold',       { n: 1n },                                 'INVALID_INPUT',   '/n'],
    ['half of a character',         { n: 1, x: '\ud800' },                     'INVALID_INPUT',   '/x'],
    ['nesting without end',         { n: 1, x: nested(40) },                   'INPUT_TOO_LARGE', `/x${'/a'.repeat(31)}`],
    ['too many values',             { n: 1, x: Array(50_001).fill(0) },        'INPUT_TOO_LARGE', '/x'],
    ['too much text',               { n: 1, x: 'a'.repeat(5_000_000) },        'INPUT_TOO_LARGE', '/x'],
  ]
  for (const [rule, input, code, path] of inputs) {
    test(`${rule} is ${code}, and nothing runs`, async () => {
      const skill = steps({ n: 1 })
      const { runner } = createStage({ skills: [skillOf(skill.run)] })
      const outcome = await runner.run('double', input)
      assert.ok(!outcome.ok)
      assert.equal(outcome.error.code, code)
      assert.equal(outcome.error.issues[0]?.path, path)
      assert.equal(skill.calls(), 0)
    })
  }

  test('an issue names the field, what was expected and what came', async () => {
    const { runner } = createStage({ skills: [skillOf(double.run)] })
    const outcome = await runner.run('double', { n: 'secret' })
    assert.ok(!outcome.ok)
    assert.deepEqual(outcome.error.issues, [
      { path: '/n', expected: 'must be integer', got: 'a string' },
    ])
  })

  const circle: Record<string, unknown> = {}
  circle.self = circle
  // biome-ignore format: a table is read by its columns
  const outputs: [rule: string, output: unknown, why: string][] = [
    ['a wrong field',            { n: 'one' },                                         'output_invalid'],
    ['nothing',                  undefined,                                            'unserialisable'],
    ['a function',               { n: () => 1 },                                       'unserialisable'],
    ['a bigint',                 { n: 1n },                                            'unserialisable'],
    ['not a number',             { n: Number.NaN },                                    'unserialisable'],
    ['a date',                   { n: 1, at: new Date(0) },                            'unserialisable'],
    ['a circle',                 circle,                                               'output_invalid'],
    ['a member that throws',     { get n() { throw new Error('no') } },                'unserialisable'],
    ['another prototype',        JSON.parse('{"n":1,"__proto__":{"a":1}}'),            'unserialisable'],
    ['more than the limit',      { n: 1, x: 'a'.repeat(5_000_000) },                   'output_invalid'],
  ]
  for (const [rule, output, why] of outputs) {
    test(`${rule} as an output fails with a classified error`, async () => {
      const skill = skillOf(() => output as { n: number })
      const { runner, events } = createStage({ skills: [skill] })
      const outcome = await runner.run(skill, { n: 1 })
      assert.ok(!outcome.ok)
      assert.deepEqual([outcome.error.code, outcome.error.why], ['INTERNAL_ERROR', why])
      assert.equal(events[0]?.is, 'failed')
    })
  }

  test('defaults are filled in after the check, and rules between fields hold', async () => {
    const seen: unknown[] = []
    const skill = defineSkill({
      name: 'a',
      version: '1.0',
      input: Type.Object({
        from: Type.Integer(),
        to: Type.Optional(Type.Integer({ default: 10 })),
      }),
      output: Type.Object({}),
      check: {
        input: ({ from, to = 10 }) =>
          from <= to ? [] : [{ path: '/from', expected: 'at most `to`', got: 'more' }],
      },
      codes: { input: [['/from', 'NOT_FOUND']] },
      run: (input) => {
        seen.push(input)
        return {}
      },
    })
    const runner = createRunner({ skills: [skill] })
    assert.ok((await runner.run(skill, { from: 1 })).ok)
    assert.deepEqual(seen, [{ from: 1, to: 10 }])
    const refused = await runner.run(skill, { from: 11 })
    assert.equal(!refused.ok && refused.error.code, 'NOT_FOUND')
  })
})

function nested(levels: number): unknown {
  return levels === 0 ? 1 : { a: nested(levels - 1) }
}

describe('SK-2 retries for retryable codes only, with waits of 1, 2 and 4 s', () => {
  const errors = {
    QUOTA: { words: 'Later.', retryable: true, retries: 2 },
    MAYBE: { words: 'Later.', retryable: true, retries: 0 },
    NEVER: 'No.',
  }
  const good = { n: 1 }
  const [net, out, no] = [fails('NETWORK_ERROR'), fails('TIMEOUT'), fails('NEVER')]
  const [quota, plain] = [fails('QUOTA'), new Error('boom')]
  // biome-ignore format: a table is read by its columns
  const rows: [rule: string, does: Step[], answer: string, calls: number, tookMs: number][] = [
    ['a good answer needs no second try',         [good],                        'ok',             1, 0],
    ['one failure is waited out',                 [net, good],                   'ok',             2, 1_000],
    ['three failures are',                        [net, out, net, good],         'ok',             4, 7_000],
    ['the fourth is the end',                     [net],                         'NETWORK_ERROR',  4, 7_000],
    ['an error has its own number of tries',      [quota],                       'QUOTA',          3, 3_000],
    ['which may be none',                         [fails('MAYBE')],              'MAYBE',          1, 0],
    ['a final error is final',                    [no, good],                    'NEVER',          1, 0],
    ['also after others',                         [net, no, good],               'NEVER',          2, 1_000],
    ['an exception is nobody\'s code',            [plain, good],                 'INTERNAL_ERROR', 1, 0],
    ['a code that is not in its table',           [fails('STRANGE'), good],      'INTERNAL_ERROR', 1, 0],
    ['a timeout is tried again',                  [hang, good],                  'ok',             2, 6_000],
    ['each attempt has the whole timeout',        [hang],                        'TIMEOUT',        4, 27_000],
    ['a broken connection is known by its code',  [Object.assign(new Error('fetch failed'), { cause: { code: 'ECONNREFUSED' } }), good], 'ok', 2, 1_000],
    ['a provider\'s own wait is kept to',         [new SkillFailure('RATE_LIMITED', { retryAfter: '30s' }), good], 'ok', 2, 30_000],
  ]
  for (const [rule, does, answer, calls, tookMs] of rows) {
    test(rule, async () => {
      const skill = steps(...does)
      const stage = createStage({ skills: [skillOf(skill.run, { errors })] })
      const ended = await stage.until(stage.runner.run('double', { n: 1 }))
      const outcome = ended.answer
      assert.equal(outcome.ok ? 'ok' : outcome.error.code, answer)
      assert.deepEqual([skill.calls(), ended.tookMs], [calls, tookMs])
      assert.equal(outcome.retries, calls - 1)
      assert.deepEqual(stage.clock.pending(), [])
    })
  }

  // biome-ignore format: a table is read by its columns
  const deadlines: [rule: string, does: Step[], withinMs: number, answer: string, calls: number, tookMs: number][] = [
    ['SK-2 the deadline cuts an attempt',            [hang],      2_000,  'TIMEOUT',           1, 2_000],
    ['SK-2 and all attempts together',               [hang],      8_000,  'TIMEOUT',           2, 8_000],
    ['SK-2 no try begins that could only be late',   [net],       2_500,  'NETWORK_ERROR',     2, 1_000],
    ['SK-2 one that has passed is refused',          [{ n: 1 }],  0,      'DEADLINE_TOO_SOON', 0, 0],
    ['SK-2 one that is far changes nothing',         [{ n: 1 }],  99_000, 'ok',                1, 0],
  ]
  for (const [rule, does, withinMs, answer, calls, tookMs] of deadlines) {
    test(rule, async () => {
      const skill = steps(...does)
      const { runner, clock, until } = createStage({ skills: [skillOf(skill.run)] })
      const deadline = clock.now() + withinMs
      const ended = await until(runner.run('double', { n: 1 }, { deadline }))
      assert.equal(ended.answer.ok ? 'ok' : ended.answer.error.code, answer)
      assert.deepEqual([skill.calls(), ended.tookMs], [calls, tookMs])
      assert.deepEqual(clock.pending(), [])
    })
  }

  test('an attempt sees which it is, whom to ask instead, and its own end', async () => {
    const seen: [number, string | undefined, number][] = []
    const note = (_: unknown, { attempt, fallback, until, now }: SkillContext) => {
      seen.push([attempt, fallback, until - now()])
      throw fails('DOWN')
    }
    const fallback = { to: 'source', fromRetry: 2 } as const
    const down = { words: 'Down.', retryable: true, retries: 3, fallback }
    const skill = skillOf(note, { errors: { DOWN: down } })
    const { runner, until } = createStage({ skills: [skill] })
    await until(runner.run(skill, { n: 1 }))
    const source = 'source'
    assert.deepEqual(seen, [
      [1, undefined, 5_000],
      [2, undefined, 5_000],
      [3, source, 5_000],
      [4, source, 5_000],
    ])
  })
})

describe('SK-2 a timeout that really cancels', () => {
  test('whoever leaves may say why, and the skill hears it', async () => {
    const heard: unknown[] = []
    const waits = steps(
      (_, { signal }) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            heard.push(signal.reason.name, signal.reason.message)
            resolve({ n: 1 })
          })
        }),
    )
    const stage = createStage({ skills: [skillOf(waits.run)] })
    for (const why of ['cancelled', undefined]) {
      const leaving = createLeaver()
      const run = stage.runner.run('double', { n: 1 }, { leaving })
      await stage.clock.advanceBy(1)
      leaving.leave(why)
      const { answer } = await stage.until(run)
      assert.equal(!answer.ok && answer.error.code, 'CANCELLED')
    }
    assert.deepEqual(heard, ['AbortError', 'cancelled', 'AbortError', 'left'])
  })

  test('the signal is aborted, and what comes later is dropped', async () => {
    let heard: unknown
    const late = steps((_, { signal, progress }) => {
      signal.addEventListener('abort', () => {
        heard = signal.reason
        void Promise.resolve().then(() => progress(1))
      })
      return new Promise((resolve) => {
        signal.addEventListener('abort', () => resolve({ n: 7 }))
      })
    })
    const stage = createStage({ skills: [skillOf(late.run, { errors: { TIMEOUT: 'Late.' } })] })
    const progress: unknown[] = []
    const call: CallOptions = { onProgress: (each) => progress.push(each) }
    const { answer } = await stage.until(stage.runner.run('double', { n: 1 }, call))
    assert.equal(!answer.ok && answer.error.code, 'TIMEOUT')
    assert.ok(heard instanceof DOMException && heard.name === 'TimeoutError')
    assert.deepEqual(progress, [])
    await stage.clock.advanceBy(60_000)
    assert.deepEqual(
      stage.events.filter((each) => each.is === 'stray'),
      [],
    )
  })

  test('a skill that ignores its signal is reported, not run twice, then left alone', async () => {
    const skill = steps(ignore)
    const stage = createStage({ skills: [skillOf(skill.run)] })
    for (let call = 0; call < 10; call += 1) {
      const { answer } = await stage.until(stage.runner.run('double', { n: call }))
      assert.equal(!answer.ok && answer.error.code, 'TIMEOUT')
      assert.equal(answer.retries, 0)
    }
    await stage.clock.advanceBy(1_000)
    assert.equal(stage.events.filter((each) => each.is === 'stray').length, 10)
    const { answer } = await stage.until(stage.runner.run('double', { n: 1 }))
    assert.equal(!answer.ok && answer.error.why, 'strays')
    assert.equal(skill.calls(), 10)
  })

  test('one that blocks the event loop beyond its time has timed out, result or not', async () => {
    const stage = createStage(blocking())
    const { answer } = await stage.until(stage.runner.run('double', { n: 1 }))
    assert.equal(!answer.ok && answer.error.code, 'TIMEOUT')
  })

  test('a caller that leaves is told at once, and the skill is stopped', async () => {
    let stopped = false
    const skill = skillOf((input, context) => {
      context.signal.addEventListener('abort', () => {
        stopped = true
      })
      return hang(input, context)
    })
    const { runner, clock, until } = createStage({ skills: [skill] })
    const leaving = new AbortController()
    const pending = runner.run(skill, { n: 1 }, { signal: leaving.signal })
    await clock.advanceBy(10)
    leaving.abort()
    const { answer, tookMs } = await until(pending)
    assert.deepEqual([!answer.ok && answer.error.code, tookMs, stopped], ['CANCELLED', 0, true])
  })

  test('who leaves while it waits for the next try leaves nothing behind', async () => {
    const skill = steps(fails('NETWORK_ERROR'))
    const { runner, clock } = createStage({ skills: [skillOf(skill.run)] })
    const leaving = new AbortController()
    const pending = runner.run('double', { n: 1 }, { signal: leaving.signal })
    await clock.advanceBy(500)
    leaving.abort()
    const outcome = await pending
    await clock.advanceBy(60_000)
    assert.equal(!outcome.ok && outcome.error.code, 'CANCELLED')
    assert.deepEqual([skill.calls(), clock.pending()], [1, []])
  })

  test('closing stops what runs and refuses what comes', async () => {
    const { runner, until } = createStage({ skills: [skillOf(hang)] })
    const pending = runner.run('double', { n: 1 })
    const { answer } = await until(runner.close().then(() => pending))
    assert.equal(!answer.ok && answer.error.code, 'CANCELLED')
    const after = await runner.run('double', { n: 1 })
    assert.equal(!after.ok && after.error.code, 'UNAVAILABLE')
  })
})

/** A clock that a skill moves by itself, as a busy loop does. */
function blocking() {
  let now = 1_000
  const timers: (() => void)[] = []
  const clock = {
    now: () => now,
    after: (_: number, run: () => void) => ({ cancel: () => timers.push(run) }),
  }
  const skill = skillOf(
    () => {
      now += 6_000
      return { n: 1 }
    },
    { errors: { TIMEOUT: 'Late.' } },
  )
  return { skills: [skill], clock }
}

describe('bad skills fail their own call and nothing else', () => {
  const hostile = new Proxy(
    {},
    {
      get: () => {
        throw new Error('no')
      },
    },
  )
  // biome-ignore format: a table is read by its columns
  const rows: [rule: string, thrown: unknown, why: string][] = [
    ['a string',              'boom',                                                     'threw'],
    ['nothing',               undefined,                                                  'threw'],
    ['null',                  null,                                                       'threw'],
    ['what cannot be looked at', hostile,                                                 'threw'],
    ['a circle of causes',    Object.assign(new Error('a'), { cause: undefined }),        'threw'],
    ['a stack that overflows', new RangeError('Maximum call stack size exceeded'),        'threw'],
    ['a failure of its table', { code: 'AGENT_NOT_FOUND' },                               'declared'],
    ['a code of nobody\'s',   new SkillFailure('WHO_KNOWS'),                              'undeclared'],
    ['a name every object has', { code: 'constructor' },                                  'threw'],
  ]
  for (const [rule, thrown, why] of rows) {
    test(`throwing ${rule}`, async () => {
      const skill = skillOf(() => {
        throw thrown
      })
      const { runner } = createStage({ skills: [skill] })
      const outcome = await runner.run(skill, { n: 1 })
      assert.equal(!outcome.ok && outcome.error.why, why)
    })
  }

  test('the caller reads the words of the row, the operator the detail', async () => {
    const skill = skillOf(() => {
      throw new Error('password hunter2 is wrong')
    })
    const { runner, events } = createStage({ skills: [skill] })
    const outcome = await runner.run(skill, { n: 1 })
    assert.ok(!JSON.stringify(outcome).includes('hunter2'))
    assert.ok(events.some((each) => each.is === 'failed' && each.detail.includes('hunter2')))
  })

  test('a skill cannot change what its caller holds, nor a caller what others got', async () => {
    const given = { n: 1 }
    const skill = skillOf(
      (input) => {
        Object.assign(input, { n: 99 })
        return { n: 5 }
      },
      { cache: { ttl: '1m' } },
    )
    const { runner } = createStage({ skills: [skill] })
    const first = await runner.run(skill, given)
    assert.equal(given.n, 1)
    assert.ok(first.ok && Object.isFrozen(first.output))
  })

  test('U4 ports that throw do not fail a call, and are reported', async () => {
    const broken = (): never => {
      throw new Error('broken')
    }
    const answers = { find: broken, once: broken, forgetAt: broken }
    const metrics = { counter: broken, gauge: broken, histogram: broken }
    const stage = createStage({
      skills: [
        skillOf((_, { log, progress }) => {
          log.info('a')
          progress(1)
          return { n: 1 }
        }),
      ],
      record: broken,
      log: broken,
      metrics,
      answers,
    })
    const outcome = await stage.runner.run('double', { n: 1 }, { onProgress: broken })
    assert.ok(outcome.ok)
    const ports = stage.events.flatMap((each) => (each.is === 'trouble' ? [each.port] : []))
    assert.deepEqual(ports, ['log', 'progress', 'record', 'metrics'])
    const keyed = await stage.runner.run('double', { n: 1 }, { key: 'k' })
    assert.equal(!keyed.ok && keyed.error.why, 'answers_down')
  })

  test("an author's rule that throws fails the call", async () => {
    const throws = (): never => {
      throw new Error('rule')
    }
    for (const more of [
      { cache: { ttl: '1m', by: throws } },
      { idempotency: { by: throws } },
      { idempotency: { same: throws } },
      { provider: throws },
      { check: { input: throws } },
      { check: { output: throws } },
    ] as const) {
      const { runner } = createStage({ skills: [skillOf(() => ({ n: 1 }), more)] })
      const outcome = await runner.run(
        'double',
        { n: 1 },
        'idempotency' in more && 'same' in more.idempotency ? { key: 'k' } : {},
      )
      assert.equal(
        !outcome.ok && outcome.error.code,
        'INTERNAL_ERROR',
        JSON.stringify(Object.keys(more)),
      )
    }
  })

  test('more calls at once than are allowed are refused', async () => {
    const { runner } = createStage({ skills: [skillOf(hang)], calls: 2 })
    void runner.run('double', { n: 1 })
    void runner.run('double', { n: 2 })
    const third = await runner.run('double', { n: 3 })
    assert.equal(!third.ok && third.error.why, 'overloaded')
    assert.ok(!third.ok && third.error.retryable)
  })
})
