/** One goes at once, many go together, and each has its own outcome. */
import assert from 'node:assert/strict'
import { refuse } from '@chimera/domain/decision'
import { test } from 'vitest'
import type { HubAnswer } from '../hub/client.ts'
import { createReports } from './reports.ts'

type Told = { readonly path: string; readonly body: unknown; answer: (told: HubAnswer) => void }

const DONE: HubAnswer = { ok: true, status: 204, body: undefined }
const outcomes = (...taken: boolean[]): HubAnswer => ({
  ok: true,
  status: 200,
  body: {
    outcomes: taken.map((each) =>
      each ? { taken: true } : { taken: false, error: { ...ENDED, code: 'work_ended' } },
    ),
  },
})
const ENDED = { message: 'It has ended.', retryable: false }
const refused = (refusal: 'message_oversized'): HubAnswer => ({
  ok: false,
  kind: 'refused',
  status: 413,
  code: refusal,
  refusal,
  sentence: '',
  retryable: false,
})
const AWAY: HubAnswer = { ok: false, kind: 'unanswered', code: 'network', detail: '' }

function openHub() {
  const told: Told[] = []
  const { report, reportAll } = createReports({
    hub: {
      post: (path, body) => new Promise((answer) => void told.push({ path, body, answer })),
    },
    doneBy: (answer) => (answer.ok ? { ok: true } : refuse('service_unavailable')),
  })
  return { told, report, reportAll, paths: () => told.map(({ path }) => path) }
}
const turn = () => new Promise((resolve) => setImmediate(resolve))
const ALONE = '/openclaw/v1/results'
const TOGETHER = '/v1/results'

test('what comes while two are under way goes together, each with its outcome', async () => {
  const { told, report, paths } = openHub()
  const all = [1, 2, 3, 4, 5].map((at) => report({ at }))
  assert.deepEqual(paths(), [ALONE, ALONE])
  told[0]?.answer(DONE)
  await turn()
  assert.deepEqual(paths(), [ALONE, ALONE, TOGETHER])
  assert.deepEqual(told[2]?.body, { results: [{ at: 3 }, { at: 4 }, { at: 5 }] })
  told[1]?.answer(DONE)
  told[2]?.answer(outcomes(true, false, true))
  const done = await Promise.all(all)
  assert.deepEqual(
    done.map((each) => (each.ok ? 'taken' : each.refusal)),
    ['taken', 'taken', 'taken', 'work_ended', 'taken'],
  )
})

test('a message that is not answered, or not for each, says nothing of any', async () => {
  for (const answer of [AWAY, outcomes(true)]) {
    const { told, report } = openHub()
    const all = [1, 2, 3, 4].map((at) => report({ at }))
    told[0]?.answer(DONE)
    told[1]?.answer(DONE)
    await turn()
    told[2]?.answer(answer)
    const [, , third, fourth] = await Promise.all(all)
    assert.deepEqual([third?.ok, fourth?.ok], [false, false])
  }
})

test('one that is too large is taken apart', async () => {
  const { told, report, paths } = openHub()
  const all = [1, 2, 3, 4].map((at) => report({ at }))
  told[0]?.answer(DONE)
  told[1]?.answer(DONE)
  await turn()
  told[2]?.answer(refused('message_oversized'))
  await turn()
  told[3]?.answer(DONE)
  await turn()
  told[4]?.answer(DONE)
  assert.ok((await Promise.all(all)).every(({ ok }) => ok))
  assert.deepEqual(paths(), [ALONE, ALONE, TOGETHER, ALONE, ALONE])
})

test('what is told together goes together, and one of it alone', async () => {
  const { told, reportAll, paths } = openHub()
  const many = reportAll([{ at: 1 }, { at: 2 }])
  const one = reportAll([{ at: 3 }])
  assert.deepEqual(paths(), [TOGETHER, ALONE])
  told[0]?.answer(outcomes(true, false))
  told[1]?.answer(DONE)
  assert.deepEqual(
    [...(await many), ...(await one)].map(({ ok }) => ok),
    [true, false, true],
  )
  assert.deepEqual(await reportAll([]), [])
})
