/** Offers that come together are shown together, and each has its own outcome (AV-8). */
import assert from 'node:assert/strict'
import { refuse } from '@chimera/domain/decision'
import { test } from 'vitest'
import type { HubAnswer } from '../hub/client.ts'
import { createPresenting } from './presenting.ts'

type Told = { readonly path: string; readonly body: unknown; answer: (told: HubAnswer) => void }

const ALONE = '/v1/holds'
const TOGETHER = '/v1/offers'
const reservation = {
  reservation_id: '2a9b7f10-9a3e-4c1d-8f25-0d3d6f1b7c03',
  instance_id: 'i',
  planner_id: 'p',
  task_id: 't',
  slots: 1,
  state: 'promised',
  expires_at: '2027-01-15T12:00:00Z',
}
const PROMISED: HubAnswer = { ok: true, status: 201, body: { reservation } }
const NO = { message: 'No credits.', retryable: false, code: 'funds_short' }
const outcomes = (...promised: boolean[]): HubAnswer => ({
  ok: true,
  status: 200,
  body: {
    outcomes: promised.map((each) =>
      each ? { promised: true, reservation } : { promised: false, error: NO },
    ),
  },
})
const refused = (status: number, refusal: 'message_oversized' | 'policy_violated'): HubAnswer => ({
  ok: false,
  kind: 'refused',
  status,
  code: refusal,
  refusal,
  sentence: '',
  retryable: false,
})
const AWAY: HubAnswer = { ok: false, kind: 'unanswered', code: 'network', detail: '' }

function openHub() {
  const told: Told[] = []
  const present = createPresenting({
    hub: { post: (path, body) => new Promise((answer) => void told.push({ path, body, answer })) },
    clock: { now: () => 0 },
    refusedBy: () => refuse('service_unavailable'),
    away: () => refuse('service_unavailable'),
  })
  const { signal } = new AbortController()
  const show = (count: number) => Array.from({ length: count }, (_, at) => present({ at }, signal))
  return { told, present, show, paths: () => told.map(({ path }) => path) }
}
const turn = () => new Promise((resolve) => setImmediate(resolve))

test('AV-8 what comes in one moment is one message, and each hears its own outcome', async () => {
  const { told, show, paths } = openHub()
  const all = show(3)
  await turn()
  assert.deepEqual(paths(), [TOGETHER])
  assert.deepEqual(told[0]?.body, { offers: [{ at: 0 }, { at: 1 }, { at: 2 }] })
  told[0]?.answer(outcomes(true, false, true))
  const done = await Promise.all(all)
  assert.deepEqual(
    done.map((each) => (each.ok ? each.reservation : each.refusal)),
    [reservation.reservation_id, 'funds_short', reservation.reservation_id],
  )
})

test('one by itself goes alone, and what comes behind two waits for one of them', async () => {
  const { told, show, paths } = openHub()
  const first = show(1)
  await turn()
  const second = show(1)
  await turn()
  const rest = show(2)
  await turn()
  assert.deepEqual(paths(), [ALONE, ALONE])
  told[0]?.answer(PROMISED)
  await turn()
  await turn()
  assert.deepEqual(paths(), [ALONE, ALONE, TOGETHER])
  told[1]?.answer(PROMISED)
  told[2]?.answer(outcomes(true, true))
  const done = await Promise.all([...first, ...second, ...rest])
  assert.ok(done.every(({ ok }) => ok))
})

test('a message that is not answered, or not for each, promises nobody anything', async () => {
  for (const answer of [AWAY, outcomes(true), { ok: true, status: 200, body: {} } as const]) {
    const { told, show } = openHub()
    const all = show(2)
    await turn()
    told[0]?.answer(answer)
    assert.deepEqual(
      (await Promise.all(all)).map(({ ok }) => ok),
      [false, false],
    )
  }
})

test('one that is too large is taken apart', async () => {
  const { told, show, paths } = openHub()
  const all = show(2)
  await turn()
  told[0]?.answer(refused(413, 'message_oversized'))
  await turn()
  assert.deepEqual(paths(), [TOGETHER, ALONE, ALONE])
  told[1]?.answer(PROMISED)
  told[2]?.answer(AWAY)
  assert.deepEqual(
    (await Promise.all(all)).map(({ ok }) => ok),
    [true, false],
  )
})

test('a hub that has no door for many is shown each alone from then on', async () => {
  const { told, show, paths } = openHub()
  const first = show(2)
  await turn()
  told[0]?.answer(refused(404, 'policy_violated'))
  await turn()
  for (const each of told.slice(1)) each.answer(PROMISED)
  await Promise.all(first)
  const second = show(2)
  await turn()
  await turn()
  for (const each of told.slice(3)) each.answer(PROMISED)
  await Promise.all(second)
  assert.deepEqual(paths(), [TOGETHER, ALONE, ALONE, ALONE, ALONE])
})

test('what was given up before its turn is not sent', async () => {
  const { told, present } = openHub()
  const outcome = await present({}, AbortSignal.abort())
  assert.ok(!outcome.ok && outcome.refusal === 'service_unavailable')
  assert.equal(told.length, 0)
})
