/**
 * Cache, shared flights, breakers and what stands in for an error, through the runner and on a
 * virtual clock.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { createStage, hang, skillOf, steps } from '../test/stage.ts'
import type { CallOptions, CallOutcome } from './calls.ts'
import type { Ended } from './contract.ts'
import type { ErrorOption } from './error-rows.ts'
import { SkillFailure } from './failure.ts'

const counting = () => {
  let n = 0
  return steps(() => {
    n += 1
    return { n }
  })
}
const shown = (outcome: CallOutcome): string => {
  if (!outcome.ok) return outcome.error.code
  const { n } = outcome.output as { n: number }
  return `${n} from ${outcome.from}${outcome.stale ? ', stale' : ''}`
}

describe("SK-2 cache by the skill's rule", () => {
  test('the same input is answered from it until its time is over', async () => {
    const skill = counting()
    const { runner, clock } = createStage({
      skills: [skillOf(skill.run, { cache: { ttl: '5m' } })],
    })
    const ask = async (n: number) => shown(await runner.run('double', { n }))
    assert.equal(await ask(1), '1 from run')
    assert.equal(await ask(1), '1 from cache')
    assert.equal(await ask(2), '2 from run')
    await clock.advanceBy(299_999)
    assert.equal(await ask(1), '1 from cache')
    await clock.advanceBy(1)
    assert.equal(await ask(1), '3 from run')
  })

  test('without a rule nothing is cached, and nothing shared', async () => {
    const skill = counting()
    const { runner } = createStage({ skills: [skillOf(skill.run)] })
    const both = await Promise.all([runner.run('double', { n: 1 }), runner.run('double', { n: 1 })])
    assert.deepEqual(both.map(shown), ['1 from run', '2 from run'])
  })

  test('a rule of the skill says what the same input is', async () => {
    const skill = counting()
    const by = ({ n }: { n: number }) => n % 2
    const { runner } = createStage({ skills: [skillOf(skill.run, { cache: { ttl: '5m', by } })] })
    const ask = async (n: number) => shown(await runner.run('double', { n }))
    assert.deepEqual(
      [await ask(1), await ask(3), await ask(2)],
      ['1 from run', '1 from cache', '2 from run'],
    )
  })

  test('an error is not cached', async () => {
    const skill = steps(new SkillFailure('NOT_FOUND'), { n: 1 })
    const { runner } = createStage({ skills: [skillOf(skill.run, { cache: { ttl: '5m' } })] })
    const ask = async () => shown(await runner.run('double', { n: 1 }))
    assert.deepEqual(
      [await ask(), await ask(), await ask()],
      ['NOT_FOUND', '1 from run', '1 from cache'],
    )
  })

  test('it is bounded: what was used least lately goes', async () => {
    const skill = counting()
    const cache = { entries: 2 }
    const { runner } = createStage({
      skills: [skillOf(skill.run, { cache: { ttl: '5m' } })],
      cache,
    })
    const ask = async (n: number) => shown(await runner.run('double', { n }))
    for (const n of [1, 2, 1, 3]) await ask(n)
    assert.deepEqual(
      [await ask(1), await ask(3), await ask(2)],
      ['1 from cache', '3 from cache', '4 from run'],
    )
  })

  test('and in size', async () => {
    const skill = counting()
    const cache = { bytes: 10 }
    const { runner } = createStage({
      skills: [skillOf(skill.run, { cache: { ttl: '5m' } })],
      cache,
    })
    const ask = async () => shown(await runner.run('double', { n: 1 }))
    assert.deepEqual([await ask(), await ask()], ['1 from run', '2 from run'])
  })
})

describe('SK-2 callers that ask the same at once share one run', () => {
  const slow = (skill: ReturnType<typeof counting>) =>
    skillOf(
      async (input, context) => {
        await hangFor(1_000, context)
        return skill.run(input, context)
      },
      { cache: { ttl: '5m' } },
    )
  let clock: ReturnType<typeof createStage>['clock']
  const hangFor = (ms: number, { signal }: { signal: AbortSignal }) => clock.sleep(ms, signal)

  test('one run, one answer for all, and each has its record', async () => {
    const skill = counting()
    const stage = createStage({ skills: [slow(skill)] })
    clock = stage.clock
    const asks = [1, 2, 3].map((caller) =>
      stage.runner.run('double', { n: 1 }, { caller: `c${caller}` }),
    )
    const { answer } = await stage.until(Promise.all(asks))
    assert.deepEqual(answer.map(shown), ['1 from run', '1 from flight', '1 from flight'])
    assert.equal(skill.calls(), 1)
    assert.deepEqual(
      stage.records.map(({ agent }) => agent),
      ['c1', 'c2', 'c3'],
    )
  })

  test('one that leaves does not stop it; the last one does', async () => {
    const skill = counting()
    const stage = createStage({ skills: [slow(skill)] })
    clock = stage.clock
    const leaving = [new AbortController(), new AbortController()]
    const asks = leaving.map(({ signal }) => stage.runner.run('double', { n: 1 }, { signal }))
    await stage.clock.advanceBy(500)
    leaving[0]?.abort()
    const [first, second] = asks
    assert.equal(shown(await (first ?? assert.fail())), 'CANCELLED')
    assert.equal(stage.clock.pending().length, 2)
    leaving[1]?.abort()
    assert.equal(shown(await (second ?? assert.fail())), 'CANCELLED')
    await stage.clock.advanceBy(60_000)
    assert.deepEqual([skill.calls(), stage.clock.pending()], [0, []])
  })

  test('each keeps to its own deadline, and the flight to the latest', async () => {
    const skill = counting()
    const stage = createStage({ skills: [slow(skill)] })
    clock = stage.clock
    const within = (ms: number): CallOptions => ({ deadline: stage.clock.now() + ms })
    const asks = [within(300), within(2_000)].map((each) =>
      stage.runner.run('double', { n: 1 }, each),
    )
    const { answer } = await stage.until(Promise.all(asks))
    assert.deepEqual(answer.map(shown), ['TIMEOUT', '1 from flight'])
    assert.deepEqual(
      answer.map(({ durationMs }) => durationMs),
      [300, 1_000],
    )
  })
})

describe('a circuit breaker per provider', () => {
  const down = new SkillFailure('DOWN')
  const DOWN: ErrorOption = { words: 'Down.', retryable: true, retries: 0 }

  test('opens after five failures, tries one call after its time, closes on success', async () => {
    const skill = steps(down, down, down, down, down, { n: 1 })
    const stage = createStage({ skills: [skillOf(skill.run, { errors: { DOWN }, provider: 'p' })] })
    const ask = () => stage.runner.run('double', { n: 1 })
    for (let call = 0; call < 5; call += 1) assert.equal(shown(await ask()), 'DOWN')
    assert.deepEqual([...stage.runner.breakers()], [['p', 'open']])

    const refused = await ask()
    assert.ok(!refused.ok)
    assert.deepEqual([refused.error.code, refused.error.why], ['DOWN', 'provider_down'])
    assert.equal(refused.error.retryAfterMs, 10_000)
    assert.equal(skill.calls(), 5)

    await stage.clock.advanceBy(10_000)
    assert.equal(shown(await ask()), '1 from run')
    const changes = stage.events.flatMap((each) => (each.is === 'breaker' ? [each.to] : []))
    assert.deepEqual(changes, ['open', 'half_open', 'closed'])
  })

  test('another provider of the same skill is not touched by it', async () => {
    const skill = skillOf(
      ({ n }) => {
        if (n === 1) throw down
        return { n }
      },
      { errors: { DOWN }, provider: ({ n }) => `p${n}` },
    )
    const { runner } = createStage({ skills: [skill] })
    for (let call = 0; call < 5; call += 1) await runner.run('double', { n: 1 })
    assert.equal(shown(await runner.run('double', { n: 2 })), '2 from run')
    assert.deepEqual(
      [...runner.breakers()],
      [
        ['p1', 'open'],
        ['p2', 'closed'],
      ],
    )
  })

  test("errors that are not the provider's do not open it", async () => {
    const skill = steps(new SkillFailure('NOT_FOUND'), new Error('a bug'))
    const { runner } = createStage({ skills: [skillOf(skill.run, { provider: 'p' })] })
    for (let call = 0; call < 9; call += 1) await runner.run('double', { n: 1 })
    assert.deepEqual([...runner.breakers()], [['p', 'closed']])
  })

  test('where the recovery names somebody else, an open breaker sends there', async () => {
    const fallback = { to: 'source', fromRetry: 1 } as const
    const errors = { DOWN: { ...DOWN, retries: 1, fallback } }
    const asked: string[] = []
    const skill = skillOf(
      (_, context) => {
        asked.push(context.fallback ?? 'first')
        if (context.fallback === undefined) throw down
        return { n: 1 }
      },
      { errors, provider: (_, to) => to ?? 'first' },
    )
    const stage = createStage({ skills: [skill] })
    for (let call = 0; call < 6; call += 1) {
      const { answer } = await stage.until(stage.runner.run('double', { n: 1 }))
      assert.equal(shown(answer), '1 from run')
    }
    assert.equal(asked.filter((each) => each === 'first').length, 5)
    assert.equal(asked.filter((each) => each === 'source').length, 6)
  })
})

describe("SK-2 each error's recovery binds", () => {
  const rowOf = (more: object): ErrorOption => ({ words: 'No.', ...more })

  // biome-ignore format: a table is read by its columns
  const rows: [rule: string, row: object, recover: ((ended: Ended) => unknown) | undefined, answer: string][] = [
    ['an error is an error',                      {},                      undefined,          'ENDED'],
    ['an empty answer stands in for it',          { ending: 'empty' },     () => ({ n: 0 }),   '0 from run'],
    ['what was done until then does',             { ending: 'partial' },   ({ partial }) => partial, '7 from run'],
    ['no answer leaves the error',                { ending: 'empty' },     () => undefined,    'ENDED'],
    ['one that does not fit leaves the error',    { ending: 'empty' },     () => ({ n: 'x' }), 'ENDED'],
    ['one that throws leaves the error',          { ending: 'empty' },     () => { throw new Error('no') }, 'ENDED'],
    ['an error that refuses asks for none',       { ending: 'refuse' },    () => ({ n: 0 }),   'ENDED'],
    ['without a copy there is none to fall to',   { ending: 'cached' },    undefined,          'ENDED'],
  ]
  for (const [rule, row, recover, answer] of rows) {
    test(rule, async () => {
      const skill = skillOf(
        (_, { keep, failure }) => {
          keep({ n: 7 })
          throw failure('ENDED')
        },
        { errors: { ENDED: rowOf(row) }, ...(recover && { recover: recover as never }) },
      )
      const { runner, records } = createStage({ skills: [skill] })
      const outcome = await runner.run('double', { n: 1 })
      assert.equal(shown(outcome), answer)
      // The record tells of the error, whatever the caller was given.
      assert.equal(records[0]?.code, 'ENDED')
    })
  }

  test('the last known copy is better than none, and marked as old', async () => {
    const skill = steps({ n: 1 }, new SkillFailure('UNAVAILABLE'))
    const errors = { UNAVAILABLE: rowOf({ retryable: true, retries: 0, ending: 'cached' }) }
    const stage = createStage({ skills: [skillOf(skill.run, { errors, cache: { ttl: '10s' } })] })
    await stage.runner.run('double', { n: 1 })
    await stage.clock.advanceBy(10_000)
    assert.equal(shown(await stage.runner.run('double', { n: 1 })), '1 from run, stale')
    assert.equal(shown(await stage.runner.run('double', { n: 2 })), 'UNAVAILABLE')
  })

  test('what a timed-out skill had done is answered at the deadline', async () => {
    const skill = skillOf(
      (input, context) => {
        context.keep({ n: 3 })
        return hang(input, context)
      },
      {
        errors: { TIMEOUT: rowOf({ retryable: true, retries: 0, ending: 'partial' }) },
        recover: ({ partial }) => partial as { n: number },
      },
    )
    const stage = createStage({ skills: [skill] })
    const deadline = stage.clock.now() + 2_000
    const { answer, tookMs } = await stage.until(stage.runner.run('double', { n: 1 }, { deadline }))
    assert.deepEqual([shown(answer), tookMs], ['3 from run', 2_000])
  })

  // biome-ignore format: a table is read by its columns
  const people: [code: string, told: boolean][] = [
    ['RATE_LIMITED', true], ['INSUFFICIENT_BALANCE', true], ['TX_FAILED', true],
    ['WALLET_ERROR', true], ['NETWORK_ERROR', false], ['NOT_FOUND', false],
  ]
  for (const [code, told] of people) {
    test(`SK-2 a person is ${told ? '' : 'not '}told of ${code} in the end`, async () => {
      const skill = steps(new SkillFailure(code))
      const stage = createStage({ skills: [skillOf(skill.run)] })
      await stage.until(stage.runner.run('double', { n: 1 }))
      const escalated = stage.events.filter((each) => each.is === 'escalated')
      assert.deepEqual(
        escalated.map((each) => each.code),
        told ? [code] : [],
      )
    })
  }
})
