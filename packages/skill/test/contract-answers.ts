/** What every keeper of answers must do, so that the runner can rely on any of them. */
import assert from 'node:assert/strict'
import type { Digest, IdempotencyKey, Instant } from '@chimera/domain/ids'
import { test } from 'vitest'
import type { Answers } from '../src/answers.ts'

export type Kept = {
  readonly answers: Answers
  readonly clock: { readonly now: () => Instant; readonly advanceBy: (ms: number) => Promise<void> }
}

let scopes = 0
const newScope = () => {
  scopes += 1
  return { requester: 'r', responder: 'a', key: `k${scopes}` as IdempotencyKey }
}
const [one, other] = ['1'.repeat(64) as Digest, '2'.repeat(64) as Digest]
const give = (answer: unknown, forgetAt?: Instant) => async () => ({
  answer,
  ...(forgetAt !== undefined && { forgetAt }),
})

export function contractOfAnswers(open: () => Promise<Kept>): void {
  test('P-4 what was answered is found again, and other content is a conflict', async () => {
    const { answers } = await open()
    const scope = newScope()
    assert.equal((await answers.find(scope, one)).kind, 'new')
    const made = await answers.once({ scope, content: one, work: give({ n: [1, null] }) })
    assert.equal(made.kind, 'new')
    assert.deepEqual(await answers.find(scope, one), { kind: 'same', answer: { n: [1, null] } })
    assert.equal((await answers.find(scope, other)).kind, 'conflict')
    assert.equal((await answers.once({ scope, content: other, work: give(2) })).kind, 'conflict')
  })

  test('Q1 of many that answer at once one is kept, and the others find it', async () => {
    const { answers } = await open()
    const scope = newScope()
    let made = 0
    const ask = () =>
      answers.once({
        scope,
        content: one,
        work: async () => {
          made += 1
          return { answer: 'first' }
        },
      })
    const all = await Promise.all(Array.from({ length: 8 }, ask))
    assert.deepEqual(all.map(({ kind }) => kind).sort(), ['new', ...Array(7).fill('same')])
    assert.ok(made >= 1)
    assert.deepEqual(await answers.find(scope, one), { kind: 'same', answer: 'first' })
  })

  test('Q2 what may be forgotten is forgotten at its time, and may be answered anew', async () => {
    const { answers, clock } = await open()
    const scope = newScope()
    await answers.once({ scope, content: one, work: give(1, clock.now() + 1_000) })
    await clock.advanceBy(999)
    assert.equal((await answers.find(scope, one)).kind, 'same')
    await clock.advanceBy(1)
    assert.equal((await answers.find(scope, one)).kind, 'new')
    assert.equal((await answers.once({ scope, content: other, work: give(2) })).kind, 'new')
  })

  test('an answer is given its time later, and one that is not there is not missed', async () => {
    const { answers, clock } = await open()
    const scope = newScope()
    await answers.once({ scope, content: one, work: give(1) })
    await answers.forgetAt(scope, clock.now())
    assert.equal((await answers.find(scope, one)).kind, 'new')
    await answers.forgetAt(newScope(), clock.now())
  })

  test('work that fails leaves nothing, and the next one may do it', async () => {
    const { answers } = await open()
    const scope = newScope()
    const fails = async () => {
      throw new Error('no')
    }
    await assert.rejects(answers.once({ scope, content: one, work: fails }), /no/)
    assert.equal((await answers.once({ scope, content: one, work: give(1) })).kind, 'new')
  })
}
