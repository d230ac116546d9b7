/** What a part of a skill's work is hired under (P-9); the money is in test/sub-hire.test.ts. */
import assert from 'node:assert/strict'
import type { AgentId, CorrelationId, HoldId, TaskId, WorkId } from '@chimera/domain/ids'
import type { SubTerms } from '@chimera/skill/contract'
import { describe, test } from 'vitest'
import { HireFailure, type HireFailureCode } from './failure.ts'
import type { HireTerms } from './terms.ts'
import { createWithin } from './within.ts'

const WORK = {
  work: '4f8a1f3c-2f5e-4e58-8a37-0a3f6c1d9b22' as WorkId,
  correlation: '7c2d9e10-8b4a-4f6d-a1c3-5e7f9a0b1c33' as CorrelationId,
  hold: '0b6f2ab0-5f0e-4c1e-9f43-0c7a5b9d2e11' as HoldId,
  over: new AbortController().signal,
}
const NOW = 1_000_000
const UNTIL = NOW + 5_000

/** One process that runs the work; what its hires come to, in turn. */
function process(fails: readonly (HireFailureCode | undefined)[] = [], work = WORK) {
  const asked: HireTerms[] = []
  const hire = createWithin({
    clock: { now: () => NOW },
    network: () => ({
      hire: async (_skill, _input, terms = {}) => {
        asked.push(terms)
        const code = fails[asked.length - 1]
        if (code !== undefined) throw new HireFailure(code)
        return { output: {}, cost: 0, task: '' as TaskId, agent: '' as AgentId, declined: [] }
      },
    }),
  })(work)
  const stop = new AbortController()
  const { signal } = stop
  const run = (text: string, terms: SubTerms = {}, attempt = 1) =>
    hire({ skill: 'count', input: { text }, terms, attempt, until: UNTIL, signal }).then(
      () => 'done',
      (error: HireFailure) => error.code,
    )
  return { run, asked, stop }
}
const keys = ({ asked }: ReturnType<typeof process>) => asked.map(({ key }) => key)

describe('P-9 what is inherited', () => {
  test('hold, trace, signal and the end of the attempt', async () => {
    const one = process()
    await one.run('a', { budget: 0.02 })
    const [terms] = one.asked
    assert.equal(terms?.parent, WORK.hold)
    assert.equal(terms?.correlation, WORK.correlation)
    assert.equal(terms?.signal?.aborted, false)
    one.stop.abort()
    assert.equal(terms?.signal?.aborted, true)
    assert.equal(terms?.deadline, 5_000)
    assert.equal(terms?.budget, 0.02)
  })

  test('a deadline of its own counts while it is the earlier one', async () => {
    const one = process()
    await one.run('a', { deadline: '2s' })
    await one.run('a', { deadline: '1m' })
    assert.deepEqual(
      one.asked.map(({ deadline }) => deadline),
      [2_000, 5_000],
    )
  })

  test('without a hold only what is free is hired', async () => {
    const { hold: _, ...unpaid } = WORK
    const one = process([], unpaid as typeof WORK)
    assert.equal(await one.run('a', { budget: 0.01 }), 'terms_invalid')
    assert.equal(await one.run('a'), 'done')
    assert.equal(one.asked.length, 1)
    assert.equal(one.asked[0]?.parent, undefined)
  })
})

describe('P-3 under which name', () => {
  test('a run after a crash makes the same ones, whatever the order', async () => {
    const [before, after] = [process(), process()]
    for (const text of ['a', 'b', 'a']) await before.run(text)
    for (const text of ['b', 'a', 'a']) await after.run(text)
    assert.equal(new Set(keys(before)).size, 3)
    assert.deepEqual(new Set(keys(after)), new Set(keys(before)))
  })

  test('a second attempt finds what the first had done, and asks anew for the rest', async () => {
    const one = process([undefined, 'work_failed'])
    assert.deepEqual([await one.run('a'), await one.run('b')], ['done', 'work_failed'])
    await one.run('a', {}, 2)
    await one.run('b', {}, 2)
    const [a, b, again, other] = keys(one)
    assert.equal(again, a)
    assert.notEqual(other, b)
  })

  test('what an earlier process had called off is asked for anew, once', async () => {
    const one = process(['work_cancelled', undefined, 'work_cancelled'])
    assert.equal(await one.run('a'), 'done')
    assert.equal(await one.run('a', {}, 2), 'work_cancelled')
    const [first, second, third] = keys(one)
    assert.notEqual(second, first)
    assert.equal(third, second)
  })

  for (const code of ['outcome_unknown', 'hub_unanswered', 'nobody_found', 'nobody_accepted']) {
    test(`what came to ${code} has the name that a run after a crash makes`, async () => {
      const [one, after] = [process([code as HireFailure['code']]), process()]
      assert.equal(await one.run('a', { key: 'mine' }), code)
      assert.equal(await one.run('a', { key: 'mine' }), 'done')
      await after.run('a', { key: 'mine' })
      const [first, again] = keys(one)
      assert.equal(again, first)
      assert.deepEqual(keys(after), [again])
    })
  }

  test('a key of the skill’s own is one part, whatever goes in', async () => {
    const one = process()
    await one.run('a', { key: 'mine' })
    await one.run('b', { key: 'mine' })
    const [first, second] = keys(one)
    assert.equal(second, first)
  })
})
